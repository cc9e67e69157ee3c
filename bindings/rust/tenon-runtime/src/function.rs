//! Functions: closures that are traced into graphs.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use tenon_sys as sys;

use crate::error::{check, Result};
use crate::function_options::FunctionOptions;
use crate::scope::current;
use crate::spec::{CSpecs, InputSpec};
use crate::statics::{CStatics, Statics};
use crate::tensor::Tensor;
use crate::tensors::{Inputs, Tensors};
use crate::text::OwnedText;
use crate::trace::Trace;

shared_handle! {
    /// Owns a reference to a C function.
    Shared, tenon_function, tenon_function_retain, tenon_function_release
}

/// A closure that is traced at its first call; later calls run the trace. `I` is its input type and
/// `O` its output type.
///
/// ```
/// use tenon::{tensor, Function, Tensor};
///
/// let step = Function::new(|(w, x): (Tensor, Tensor)| (w * x)?.tanh());
/// let y = step.call((&tensor![1., 2.]?, 0.5))?;
/// assert_eq!(step.count_traces(), 1);
/// # drop(y);
/// # tenon::Result::Ok(())
/// ```
///
/// Threads may share it, so its closure must be `Send` and `Sync`:
///
/// ```compile_fail,E0277
/// let count = std::rc::Rc::new(1);
/// let f = tenon::Function::new(move |x: tenon::Tensor| x * *count);
/// ```
pub struct Function<I = Vec<Tensor>, O = Vec<Tensor>> {
    /// The C function. It is created at the first call, in the context of that call's scope.
    shared: Shared,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O> Clone for Function<I, O> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            types: PhantomData,
        }
    }
}

impl<I, O> fmt::Debug for Function<I, O> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Function({:p})", self.shared.raw())
    }
}

impl<I: Tensors, O: Tensors> Function<I, O> {
    /// Creates a function from a closure, in the context of the current scope. Use
    /// [`FunctionOptions`] to set options.
    ///
    /// # Panics
    /// If libtenon is not found or host memory is exhausted. `FunctionOptions::create` returns an
    /// error instead.
    ///
    /// ```
    /// use tenon::{tensor, Function, Tensor};
    ///
    /// let total = Function::new(|xs: Vec<Tensor>| tenon::ops::stack(&xs, 0)?.sum());
    /// let y = total.call((&tensor![1.]?, &tensor![2.]?))?;
    /// # assert_eq!(y.item::<f32>()?, 3.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn new(body: impl Fn(I) -> Result<O> + Send + Sync + 'static) -> Self {
        match FunctionOptions::new().create(body) {
            Ok(function) => function,
            Err(error) => panic!("{error}"),
        }
    }

    /// Calls the function. Traces the closure first if no existing trace matches the inputs.
    ///
    /// ```
    /// # use tenon::{tensor, Function, Tensor};
    /// let double = Function::new(|x: Tensor| x * 2);
    /// assert_eq!(double.call(&tensor![1.]?)?.item::<f32>()?, 2.);
    /// # tenon::Result::Ok(())
    /// ```
    #[inline]
    pub fn call(&self, inputs: impl Inputs) -> Result<O> {
        let scope = current()?;
        inputs.lend_inputs(|inputs| {
            // SAFETY: the inputs outlive the call; `take` provides memory for the outputs.
            O::take(|out, room, count| unsafe {
                sys::tenon_function_call(
                    scope,
                    self.shared.raw(),
                    inputs.as_ptr(),
                    inputs.len(),
                    ptr::null(),
                    0,
                    out,
                    room,
                    count,
                )
            })
        })?
    }

    /// Calls the function with static arguments; see [`FunctionOptions::create_with_statics`].
    ///
    /// ```
    /// # use tenon::{tensor, Function, Statics, Tensor};
    /// let double = Function::new(|x: Tensor| x * 2);
    /// assert_eq!(double.call_with(&tensor![1.]?, &Statics::new())?.item::<f32>()?, 2.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn call_with(&self, inputs: impl Inputs, statics: &Statics) -> Result<O> {
        let scope = current()?;
        let statics = CStatics::new(statics);
        inputs.lend_inputs(|inputs| {
            // SAFETY: the inputs outlive the call; `take` provides memory for the outputs.
            O::take(|out, room, count| unsafe {
                sys::tenon_function_call(
                    scope,
                    self.shared.raw(),
                    inputs.as_ptr(),
                    inputs.len(),
                    statics.as_ptr(),
                    statics.len(),
                    out,
                    room,
                    count,
                )
            })
        })?
    }

    /// Returns a function with the same inputs that computes the gradients of the sum of the
    /// floating outputs with respect to each floating tensor input.
    ///
    /// ```
    /// # use tenon::{tensor, Function, Tensor};
    /// let slope = Function::new(|x: Tensor| x.square()).gradient::<Tensor>()?;
    /// assert_eq!(slope.call(&tensor![3.]?)?.item::<f32>()?, 6.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn gradient<G: Tensors>(&self) -> Result<Function<I, G>> {
        let mut raw = ptr::null_mut();
        // SAFETY: the function is live.
        unsafe {
            check(sys::tenon_function_gradient(self.shared.raw(), &mut raw))?;
            Ok(Function::adopt(raw))
        }
    }

    /// Returns the trace that a call with these inputs would use. Does not run it.
    ///
    /// ```
    /// # use tenon::{tensor, Function, Tensor};
    /// let double = Function::new(|x: Tensor| x * 2);
    /// println!("{}", double.trace_for(&tensor![1.]?)?);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn trace_for(&self, inputs: impl Inputs) -> Result<Trace> {
        let scope = current()?;
        inputs.lend_inputs(|inputs| {
            let mut raw = ptr::null_mut();
            // SAFETY: the inputs outlive the call.
            unsafe {
                check(sys::tenon_function_find_trace(
                    scope,
                    self.shared.raw(),
                    inputs.as_ptr(),
                    inputs.len(),
                    ptr::null(),
                    0,
                    &mut raw,
                ))?;
                Ok(Trace::adopt(raw))
            }
        })?
    }

    /// Returns the trace for inputs of these types. Traces if there is none.
    ///
    /// ```
    /// # use tenon::{DType, Function, InputSpec, Statics, Tensor};
    /// let double = Function::new(|x: Tensor| x * 2);
    /// let trace = double.trace(&[InputSpec::new(DType::F32, &[None])], &Statics::new())?;
    /// assert_eq!(trace.count_inputs(), 1);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn trace(&self, specs: &[InputSpec], statics: &Statics) -> Result<Trace> {
        let (specs, statics) = (CSpecs::new(specs), CStatics::new(statics));
        let mut raw = ptr::null_mut();
        // SAFETY: all arguments outlive the call.
        unsafe {
            check(sys::tenon_function_trace(
                current()?,
                self.shared.raw(),
                specs.as_ptr(),
                specs.len(),
                statics.as_ptr(),
                statics.len(),
                &mut raw,
            ))?;
            Ok(Trace::adopt(raw))
        }
    }
}

impl<I, O> Function<I, O> {
    /// # Safety
    /// `raw` is a function; the caller owns one reference to it.
    pub(crate) unsafe fn adopt(raw: *mut sys::tenon_function) -> Self {
        Self {
            shared: Shared::adopt(raw),
            types: PhantomData,
        }
    }

    /// The number of traces.
    ///
    /// ```
    /// # use tenon::{Function, Tensor};
    /// assert_eq!(Function::new(|x: Tensor| x * 2).count_traces(), 0);
    /// ```
    pub fn count_traces(&self) -> usize {
        // SAFETY: any thread may call the C function.
        unsafe { sys::tenon_function_count_traces(self.shared.raw()) }
    }

    /// The traces, in creation order.
    ///
    /// ```
    /// # use tenon::{tensor, Function, Tensor};
    /// let double = Function::new(|x: Tensor| x * 2);
    /// double.call(&tensor![1.]?)?;
    /// assert_eq!(double.traces()?.len(), 1);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn traces(&self) -> Result<Vec<Trace>> {
        (0..self.count_traces())
            .map(|index| {
                let mut raw = ptr::null_mut();
                // SAFETY: any thread may call the C function.
                unsafe {
                    check(sys::tenon_function_get_trace(
                        self.shared.raw(),
                        index,
                        &mut raw,
                    ))?;
                    Ok(Trace::adopt(raw))
                }
            })
            .collect()
    }

    /// A text that lists the traces with their signatures and why each was created.
    ///
    /// ```
    /// # use tenon::{tensor, Function, Tensor};
    /// let double = Function::new(|x: Tensor| x * 2);
    /// double.call(&tensor![1.]?)?;
    /// println!("{}", double.explain()?);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn explain(&self) -> Result<String> {
        let mut text = OwnedText::empty();
        // SAFETY: the caller owns the string.
        unsafe { check(sys::tenon_function_explain(self.shared.raw(), &mut text.0))? };
        Ok(text.as_str().to_owned())
    }
}

/// Sets whether the functions of the current context run their closures eagerly, for debugging.
///
/// ```
/// tenon::run_functions_eagerly(true)?;
/// tenon::run_functions_eagerly(false)?;
/// # tenon::Result::Ok(())
/// ```
pub fn run_functions_eagerly(eagerly: bool) -> Result<()> {
    // SAFETY: the current scope keeps its context alive.
    unsafe {
        sys::tenon_context_run_functions_eagerly(sys::tenon_scope_context(current()?), eagerly);
    }
    Ok(())
}
