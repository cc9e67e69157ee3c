//! Custom ops, which a program registers.

use std::marker::PhantomData;
use std::os::raw::c_void;
use std::ptr;

use tenon_sys as sys;

use crate::call::call_many;
use crate::context::Context;
use crate::error::{check, invalid, Code, Error, Result};
use crate::gradients::{write_gradients, Backward};
use crate::host_array::{HostArray, HostArrayMut, TensorType};
use crate::panics::{drop_payload, in_callback, no_panic};
use crate::tensor::Tensor;
use crate::tensors::{borrow_raw, write_outputs, Inputs, Tensors};
use crate::text::c_text;

type Raw = *mut sys::tenon_tensor;

/// A custom op; [`Context::register`] adds it to a context. It implements `compute`, or sets
/// `DECOMPOSES` and implements `decompose`.
///
/// ```
/// use tenon::{Context, CustomOp, HostArray, HostArrayMut, Result, Tensor, TensorType};
///
/// /// Adds a number to each element, on the host.
/// struct AddConstant(f32);
///
/// impl CustomOp for AddConstant {
///     const INPUTS: usize = 1;
///     fn infer(&self, inputs: &[TensorType]) -> Result<Vec<TensorType>> {
///         Ok(vec![inputs[0].clone()])
///     }
///     fn compute(&self, inputs: &[HostArray<'_>], outputs: &mut [HostArrayMut<'_>]) -> Result<()> {
///         for (y, x) in outputs[0].elements::<f32>()?.iter_mut().zip(inputs[0].elements::<f32>()?) {
///             *y = x + self.0;
///         }
///         Ok(())
///     }
/// }
///
/// let context = Context::current()?;
/// let add_seven = context.register("add_seven", AddConstant(7.))?;
/// let y: Tensor = add_seven.call(&tenon::tensor![1., 2.]?)?;
/// assert_eq!(y.to_vec::<f32>()?, [8., 9.]);
/// # tenon::Result::Ok(())
/// ```
pub trait CustomOp: Send + Sync + 'static {
    /// The number of inputs.
    ///
    /// ```
    /// # use tenon::{CustomOp, Result, TensorType};
    /// struct Nothing;
    /// impl CustomOp for Nothing {
    ///     const INPUTS: usize = 2;
    ///     fn infer(&self, inputs: &[TensorType]) -> Result<Vec<TensorType>> {
    ///         Ok(vec![inputs[0].clone()])
    ///     }
    /// }
    /// ```
    const INPUTS: usize;

    /// The number of outputs; at least one.
    ///
    /// ```
    /// # use tenon::{CustomOp, Result, TensorType};
    /// struct Pair;
    /// impl CustomOp for Pair {
    ///     const INPUTS: usize = 1;
    ///     const OUTPUTS: usize = 2;
    ///     fn infer(&self, inputs: &[TensorType]) -> Result<Vec<TensorType>> {
    ///         Ok(vec![inputs[0].clone(); 2])
    ///     }
    /// }
    /// ```
    const OUTPUTS: usize = 1;

    /// Whether [`CustomOp::decompose`] computes the op instead of [`CustomOp::compute`].
    ///
    /// ```
    /// # use tenon::{Context, CustomOp, Result, Tensor, TensorType};
    /// struct Cube;
    /// impl CustomOp for Cube {
    ///     const INPUTS: usize = 1;
    ///     const DECOMPOSES: bool = true;
    ///     fn infer(&self, inputs: &[TensorType]) -> Result<Vec<TensorType>> {
    ///         Ok(vec![inputs[0].clone()])
    ///     }
    ///     fn decompose(&self, x: &[Tensor]) -> Result<Vec<Tensor>> {
    ///         Ok(vec![(x[0].square()? * &x[0])?])
    ///     }
    /// }
    /// let cube = Context::current()?.register("cube", Cube)?;
    /// let y: Tensor = cube.call(&tenon::tensor![2.]?)?;
    /// assert_eq!(y.item::<f32>()?, 8.);
    /// # tenon::Result::Ok(())
    /// ```
    const DECOMPOSES: bool = false;

    /// Whether [`CustomOp::backward`] computes the derivative of the op. If false, Tenon
    /// differentiates the decomposition; an op with `compute` then has no derivative.
    ///
    /// ```
    /// # use tenon::{CustomOp, Result, TensorType};
    /// struct Smooth;
    /// impl CustomOp for Smooth {
    ///     const INPUTS: usize = 1;
    ///     const DIFFERENTIABLE: bool = true;
    ///     fn infer(&self, inputs: &[TensorType]) -> Result<Vec<TensorType>> {
    ///         Ok(vec![inputs[0].clone()])
    ///     }
    /// }
    /// ```
    const DIFFERENTIABLE: bool = false;

    /// Returns the types of the outputs. Returns an error if the inputs are invalid.
    ///
    /// ```
    /// # use tenon::{Result, TensorType};
    /// fn infer(inputs: &[TensorType]) -> Result<Vec<TensorType>> {
    ///     Ok(vec![inputs[0].clone()])
    /// }
    /// ```
    fn infer(&self, inputs: &[TensorType]) -> Result<Vec<TensorType>>;

    /// Computes the outputs in host memory. Used on every device. See [`CustomOp`].
    ///
    /// ```
    /// # use tenon::{HostArray, HostArrayMut, Result};
    /// fn compute(inputs: &[HostArray<'_>], outputs: &mut [HostArrayMut<'_>]) -> Result<()> {
    ///     outputs[0].elements::<f32>()?.copy_from_slice(inputs[0].elements()?);
    ///     Ok(())
    /// }
    /// ```
    fn compute(&self, inputs: &[HostArray<'_>], outputs: &mut [HostArrayMut<'_>]) -> Result<()> {
        let _ = (inputs, outputs);
        Err(Error::new(
            Code::Unimplemented,
            "compute is not implemented; implement it or set DECOMPOSES",
        ))
    }

    /// Computes the outputs by calling ops. See [`CustomOp::DECOMPOSES`].
    ///
    /// ```
    /// # use tenon::{Result, Tensor};
    /// fn decompose(inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    ///     Ok(vec![inputs[0].square()?])
    /// }
    /// ```
    fn decompose(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let _ = inputs;
        Err(Error::new(
            Code::Unimplemented,
            "decompose is not implemented, but DECOMPOSES is true",
        ))
    }

    /// Computes a gradient for each input. See [`CustomOp::DIFFERENTIABLE`].
    ///
    /// ```
    /// # use tenon::{Backward, Result, Tensor};
    /// fn backward(call: &Backward) -> Result<Vec<Option<Tensor>>> {
    ///     Ok(vec![Some((&call.cotangents[0] * 2)?)])
    /// }
    /// ```
    fn backward(&self, call: &Backward) -> Result<Vec<Option<Tensor>>> {
        let _ = call;
        Err(Error::new(
            Code::Unimplemented,
            "backward is not implemented, but DIFFERENTIABLE is true",
        ))
    }
}

/// # Safety
/// `data` points to `count` items that outlive `'a`; it may be anything if `count` is 0.
unsafe fn list<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    std::slice::from_raw_parts(data, count)
}

unsafe extern "C" fn run_infer<T: CustomOp>(
    payload: *mut c_void,
    _attrs: *const c_void,
    inputs: *const sys::tenon_type,
    n_inputs: usize,
    out_types: *mut sys::tenon_type,
    n_outputs: usize,
) -> *mut sys::tenon_error {
    no_panic(|| {
        let inputs: Vec<_> = list(inputs, n_inputs)
            .iter()
            .map(TensorType::from_c)
            .collect();
        let types = (*(payload as *const T)).infer(&inputs)?;
        if types.len() != n_outputs {
            return Err(invalid(format!(
                "infer returned {} types, but the op has {n_outputs} outputs",
                types.len()
            )));
        }
        types
            .iter()
            .enumerate()
            .try_for_each(|(index, each)| each.write(&mut *out_types.add(index)))
    })
}

unsafe extern "C" fn run_compute<T: CustomOp>(
    payload: *mut c_void,
    _attrs: *const c_void,
    inputs: *const sys::tenon_host_array,
    n_inputs: usize,
    outputs: *const sys::tenon_host_array,
    n_outputs: usize,
) -> *mut sys::tenon_error {
    no_panic(|| {
        let inputs: Vec<_> = list(inputs, n_inputs)
            .iter()
            .map(|c| HostArray { c })
            .collect();
        let mut outputs: Vec<_> = list(outputs, n_outputs)
            .iter()
            .map(|c| HostArrayMut { c })
            .collect();
        (*(payload as *const T)).compute(&inputs, &mut outputs)
    })
}

unsafe extern "C" fn run_decompose<T: CustomOp>(
    payload: *mut c_void,
    scope: *mut sys::tenon_scope,
    _attrs: *const c_void,
    inputs: *const Raw,
    n_inputs: usize,
    out_outputs: *mut Raw,
    n_outputs: usize,
) -> *mut sys::tenon_error {
    in_callback(scope, || {
        let inputs: Vec<Tensor> = Tensors::share(borrow_raw(inputs, n_inputs))?;
        let outputs = (*(payload as *const T)).decompose(&inputs)?;
        if outputs.len() != n_outputs {
            let given = outputs.len();
            return Err(invalid(format!(
                "decompose returned {given} tensors, but the op has {n_outputs} outputs"
            )));
        }
        write_outputs(outputs, out_outputs, n_outputs).map(drop)
    })
}

unsafe extern "C" fn run_backward<T: CustomOp>(
    payload: *mut c_void,
    scope: *mut sys::tenon_scope,
    _attrs: *const c_void,
    args: *const sys::tenon_backward_args,
    out_grads: *mut Raw,
    n_grads: usize,
) -> *mut sys::tenon_error {
    in_callback(scope, || {
        let op = &*(payload as *const T);
        write_gradients(op.backward(&Backward::share(&*args)?)?, out_grads, n_grads)
    })
}

/// An op that a program registered in a context. See [`CustomOp`].
///
/// ```
/// # use tenon::{Context, CustomOp, RegisteredOp, Result, Tensor, TensorType};
/// # struct Twice;
/// # impl CustomOp for Twice {
/// #     const INPUTS: usize = 1;
/// #     const DECOMPOSES: bool = true;
/// #     fn infer(&self, x: &[TensorType]) -> Result<Vec<TensorType>> { Ok(x.to_vec()) }
/// #     fn decompose(&self, x: &[Tensor]) -> Result<Vec<Tensor>> { Ok(vec![(&x[0] * 2)?]) }
/// # }
/// let twice: RegisteredOp<Twice> = Context::current()?.register("twice", Twice)?;
/// let y: Tensor = twice.call(&tenon::tensor![1.]?)?;
/// # assert_eq!(y.item::<f32>()?, 2.);
/// # tenon::Result::Ok(())
/// ```
pub struct RegisteredOp<T> {
    number: u32,
    op: PhantomData<fn() -> T>,
}

impl<T: CustomOp> RegisteredOp<T> {
    /// Calls the op. The current scope must be of the context that the op is registered in.
    ///
    /// See [`RegisteredOp`]:
    ///
    /// ```
    /// # use tenon::{CustomOp, RegisteredOp, Result, Tensor};
    /// fn call<T: CustomOp>(op: &RegisteredOp<T>, x: &Tensor) -> Result<Tensor> {
    ///     op.call(x)
    /// }
    /// ```
    pub fn call<O: Tensors>(&self, inputs: impl Inputs) -> Result<O> {
        let outputs =
            inputs.lend_inputs(|raw| call_many(self.number, ptr::null(), raw, T::OUTPUTS))??;
        let raw: Vec<_> = outputs.iter().map(Tensor::raw).collect();
        // SAFETY: the handles live as long as `outputs`; `share` adds a reference to each.
        unsafe { O::share(&raw) }
    }
}

impl Context {
    /// Registers an op in the context, under a name of the form `[a-z][a-z0-9_.]*`. See
    /// [`CustomOp`].
    ///
    /// ```
    /// # use tenon::{Context, CustomOp, Result, TensorType};
    /// # struct Nothing;
    /// # impl CustomOp for Nothing {
    /// #     const INPUTS: usize = 1;
    /// #     fn infer(&self, x: &[TensorType]) -> Result<Vec<TensorType>> { Ok(x.to_vec()) }
    /// # }
    /// let error = Context::current()?.register("Bad Name", Nothing).err().unwrap();
    /// assert_eq!(error.code(), tenon::Code::InvalidArgument);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn register<T: CustomOp>(&self, name: &str, op: T) -> Result<RegisteredOp<T>> {
        // SAFETY: all fields may be zero.
        let mut c: sys::tenon_custom_op = unsafe { std::mem::zeroed() };
        c.struct_size = std::mem::size_of_val(&c) as u32;
        c.n_inputs = T::INPUTS as u32;
        c.n_outputs = T::OUTPUTS as u32;
        c.name = c_text(name);
        c.infer = Some(run_infer::<T>);
        if T::DECOMPOSES {
            c.decompose = Some(run_decompose::<T>);
        } else {
            c.compute = Some(run_compute::<T>);
        }
        if T::DIFFERENTIABLE {
            c.backward = Some(run_backward::<T>);
        }
        c.payload = Box::into_raw(Box::new(op)).cast();
        c.destroy = Some(drop_payload::<T>);
        let mut number = 0;
        // SAFETY: the call copies the struct and owns the payload, even if it fails.
        unsafe { check(sys::tenon_op_register(self.raw(), &c, &mut number))? };
        Ok(RegisteredOp {
            number,
            op: PhantomData,
        })
    }

    /// Returns the number of an op by its name: a built-in op, or a custom op of the context.
    ///
    /// ```
    /// let context = tenon::Context::current()?;
    /// let number = context.find_op("add")?;
    /// assert_eq!(context.op_name(number), Some("add"));
    /// # tenon::Result::Ok(())
    /// ```
    pub fn find_op(&self, name: &str) -> Result<u32> {
        let mut number = 0;
        // SAFETY: the name is borrowed until the call returns.
        unsafe { check(sys::tenon_op_find(self.raw(), c_text(name), &mut number))? };
        Ok(number)
    }

    /// Returns the name of an op by its number.
    ///
    /// ```
    /// assert_eq!(tenon::Context::current()?.op_name(0), None);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn op_name(&self, number: u32) -> Option<&str> {
        // SAFETY: the string lives as long as the context.
        let name = unsafe { crate::text::view(sys::tenon_op_name(self.raw(), number)) };
        (!name.is_empty()).then_some(name)
    }
}
