//! Tensors, gradients and compiled functions. Devices are plugins.
//!
//! ```
//! use tenon::{tensor, Tape, Variable};
//!
//! let w = Variable::new(tensor![1., 2., 3.])?;
//! let tape = Tape::new()?;
//! let loss = (&w * tensor![1., 0., 1.]?)?.square()?.sum()?;
//! println!("{}", tape.gradient(&loss, &w)?); // [2. 0. 6.]
//! # tenon::Result::Ok(())
//! ```
//!
//! - A [`Tensor`] is an immutable value; [`tensor!`] creates one. Ops are methods, such as
//!   `x.softmax(1)`, and functions in [`ops`]. Operators take references or values, and return a
//!   [`Result`].
//! - A [`Variable`] holds a tensor that can be replaced. A [`Tape`] computes gradients with respect
//!   to variables and tensors; [`grad`] computes those of a closure.
//! - A [`Function`] traces a closure once and then runs the trace. [`cond`], [`while_loop`] and
//!   [`scan`] branch on tensor values, both eagerly and inside functions.
//! - [`CustomGradient`] and [`CustomOp`] add derivatives and ops. A panic in a closure becomes an
//!   [`Error`]; no panic crosses the C ABI.
//! - Calls run in the thread's current [`Scope`]. [`Scope::run`] makes another scope current, and
//!   [`Scope::attach`] does so for futures.
//!
//! Dropping a handle releases its object. Tensors, variables, functions and most other types are
//! [`Send`] and [`Sync`]; a scope is only [`Send`], and a tape is neither. The C headers have the
//! same rules.
#![warn(missing_docs, rust_2018_idioms)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(clippy::many_single_char_names, unsafe_op_in_unsafe_fn)]

#[macro_use]
mod handle;

mod call;
mod context;
mod context_options;
mod control;
mod custom_op;
mod device;
mod dlpack;
mod dtype;
mod dynamic_shapes;
mod effects;
mod error;
mod function;
mod function_options;
mod futures;
mod generator;
mod gradients;
mod host_array;
mod list;
mod literal;
#[cfg(feature = "ndarray")]
mod ndarray;
mod operand;
mod operators;
mod panics;
mod passes;
mod profiler;
mod program;
mod safetensors;
mod scope;
mod spec;
mod statics;
mod tape;
mod tensor;
mod tensors;
mod text;
mod trace;
mod variable;

#[rustfmt::skip]
#[path = "ops_gen.rs"]
#[allow(
    unused_imports,
    clippy::needless_lifetimes,
    clippy::too_many_arguments,
    clippy::should_implement_trait,
    clippy::type_complexity,
    clippy::wrong_self_convention
)]
pub mod ops;

pub use context::{version, version_number, Context, Plugin, PluginState};
pub use context_options::{ContextOptions, FallbackPolicy, LogLevel, NumericPolicy};
pub use control::{cond, scan, switch, while_loop, LoopPolicy, ScanOptions, WhileOptions};
pub use custom_op::{CustomOp, RegisteredOp};
pub use device::{Device, DeviceInfo, DeviceKind, MemoryInfo};
pub use dlpack::DlpackTensor;
pub use dtype::{DType, Element, BF16, F16};
pub use dynamic_shapes::{
    dynamic_broadcast_to, dynamic_full, dynamic_iota, dynamic_reshape, dynamic_slice,
};
pub use effects::{assert_that, host_call, print, set_print};
pub use error::{Code, Error, Result};
pub use function::{run_functions_eagerly, Function};
pub use function_options::FunctionOptions;
pub use futures::{Attached, Reading, Waiting};
pub use generator::Generator;
pub use gradients::{custom_gradient, grad, gradients, Backward, CustomGradient, Gradients};
pub use host_array::{HostArray, HostArrayMut, TensorType};
pub use list::List;
pub use literal::{Literal, Nested};
pub use operand::{Operand, OptionalOperand};
pub use passes::{passes, set_pass, Pass};
pub use profiler::{Clock, Profiler, ProfilerRow, SpanKind};
pub use program::{Program, ProgramFunction, ProgramSignature};
pub use safetensors::{Safetensors, SafetensorsEntry, SafetensorsWriter};
pub use scope::{with_device, Canceller, Scope, ScopeGuard};
pub use spec::InputSpec;
pub use statics::{Static, Statics};
pub use tape::{Tape, TapeOptions, Unreached};
pub use tensor::{Item, Tensor};
pub use tensors::{Inputs, Tensors};
pub use trace::Trace;
pub use variable::{Source, Value, Variable, VariableOptions};

#[cfg(feature = "ndarray")]
#[doc(hidden)]
pub use ndarray::from_array_parts;
