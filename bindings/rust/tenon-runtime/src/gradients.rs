//! Gradients of closures, and custom gradients.

use std::os::raw::c_void;
use std::ptr;

use tenon_sys as sys;

use crate::error::{check, invalid, Result};
use crate::panics::{drop_payload, in_callback};
use crate::scope::current;
use crate::tape::{adopt_optional, gradient_options, Unreached};
use crate::tensor::Tensor;
use crate::tensors::{borrow_raw, write_outputs, Inputs, Tensors};
use crate::variable::Variable;

type Raw = *mut sys::tenon_tensor;

/// The C callback of a closure of tensors. `payload` points to the closure, which must outlive the
/// call.
pub(crate) unsafe extern "C" fn run_function<I: Tensors, O: Tensors, F: Fn(I) -> Result<O>>(
    payload: *mut c_void,
    scope: *mut sys::tenon_scope,
    inputs: *const Raw,
    n_inputs: usize,
    out_outputs: *mut Raw,
    n_outputs: usize,
) -> *mut sys::tenon_error {
    in_callback(scope, || {
        let function = &*(payload as *const F);
        let count = write_outputs(
            function(I::share(borrow_raw(inputs, n_inputs))?)?,
            out_outputs,
            n_outputs,
        )?;
        if count == n_outputs {
            return Ok(());
        }
        Err(invalid(format!(
            "a closure returned {count} tensors instead of {n_outputs}"
        )))
    })
}

/// The results of [`gradients`].
///
/// ```
/// let found = tenon::gradients((2., 3.), |(x, y): (tenon::Tensor, tenon::Tensor)| x * y)?;
/// assert_eq!(found.value.item::<f32>()?, 6.);
/// assert_eq!(found.by_argument[0].as_ref().unwrap().item::<f32>()?, 3.);
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct Gradients {
    /// The output of the closure.
    pub value: Tensor,
    /// The gradient with respect to each argument; `None` if the argument is not floating.
    pub by_argument: Vec<Option<Tensor>>,
    /// The gradient with respect to each trainable variable that the closure read, in order of
    /// first read.
    pub by_variable: Vec<(Variable, Tensor)>,
}

/// Calls a closure and differentiates its output with respect to its arguments and the trainable
/// variables that it reads. Calls can be nested, and can run while tapes record.
///
/// ```
/// use tenon::{gradients, tensor, Tensor, Variable};
///
/// let w = Variable::new(tensor![2., 3.])?;
/// let found = gradients(&tensor![1., 10.]?, |x: Tensor| (&w * x)?.sum())?;
/// assert_eq!(found.by_variable[0].1.to_vec::<f32>()?, [1., 10.]);
/// # tenon::Result::Ok(())
/// ```
pub fn gradients<I, F>(arguments: impl Inputs, function: F) -> Result<Gradients>
where
    I: Tensors,
    F: Fn(I) -> Result<Tensor>,
{
    let c_function = sys::tenon_tensor_function {
        function: Some(run_function::<I, Tensor, F>),
        payload: &function as *const F as *mut c_void,
        destroy: None,
    };
    let options = gradient_options(Unreached::Zeros);
    let scope = current()?;
    let mut value = ptr::null_mut();
    let mut variables = ptr::null_mut();
    let mut by_argument = Vec::new();
    // SAFETY: the closure and the arguments outlive the call.
    arguments.lend_inputs(|raw| unsafe {
        by_argument.resize(raw.len(), ptr::null_mut());
        check(sys::tenon_gradients(
            scope,
            c_function,
            raw.as_ptr(),
            raw.len(),
            &options,
            &mut value,
            1,
            by_argument.as_mut_ptr(),
            &mut variables,
        ))
    })??;
    // SAFETY: the caller owns all results; the list keeps its entries alive.
    unsafe {
        let list = VariableGradients::adopt(variables);
        let by_variable = (0..sys::tenon_variable_gradients_count(list.raw()))
            .map(|index| {
                (
                    Variable::share(sys::tenon_variable_gradients_variable(list.raw(), index)),
                    Tensor::share(sys::tenon_variable_gradients_gradient(list.raw(), index)),
                )
            })
            .collect();
        Ok(Gradients {
            value: Tensor::adopt(value),
            by_argument: adopt_optional(&by_argument),
            by_variable,
        })
    }
}

handle! {
    /// A list of variables and their gradients.
    VariableGradients, tenon_variable_gradients, tenon_variable_gradients_release
}

/// Returns a closure that computes the gradient of a closure of one tensor.
///
/// ```
/// let square = |x: &tenon::Tensor| x.square();
/// let slope = tenon::grad(square);
/// assert_eq!(slope(&3f32.into())?.item::<f32>()?, 6.);
///
/// let curvature = tenon::grad(slope);
/// assert_eq!(curvature(&3f32.into())?.item::<f32>()?, 2.);
/// # tenon::Result::Ok(())
/// ```
pub fn grad(function: impl Fn(&Tensor) -> Result<Tensor>) -> impl Fn(&Tensor) -> Result<Tensor> {
    move |x| {
        let found = gradients(x, |x: Tensor| function(&x))?;
        let [by_x] = <[_; 1]>::try_from(found.by_argument).map_err(|all: Vec<_>| {
            invalid(format!("grad: {} gradients of one input", all.len()))
        })?;
        by_x.ok_or_else(|| invalid(format!("grad: {} has no gradients", x.dtype())))
    }
}

/// The arguments of a derivative.
///
/// ```
/// use tenon::{custom_gradient, Backward, CustomGradient, Result, Tensor};
///
/// struct Scale;
/// impl CustomGradient for Scale {
///     fn forward(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
///         Ok(vec![inputs[0].identity()?])
///     }
///     fn backward(&self, call: &Backward) -> Result<Vec<Option<Tensor>>> {
///         Ok(vec![Some((&call.cotangents[0] * 10)?)])
///     }
/// }
/// let slope = tenon::grad(|x| Ok(custom_gradient(Scale, x)?.remove(0)));
/// assert_eq!(slope(&2f32.into())?.item::<f32>()?, 10.);
/// # tenon::Result::Ok(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Backward {
    /// The inputs of the forward call.
    pub inputs: Vec<Tensor>,
    /// The outputs of the forward call.
    pub outputs: Vec<Tensor>,
    /// The gradient with respect to each output; zeros if no target depends on the output.
    pub cotangents: Vec<Tensor>,
}

impl Backward {
    /// # Safety
    /// The arrays of `args` are live during the call, which adds a reference to each tensor.
    pub(crate) unsafe fn share(args: &sys::tenon_backward_args) -> Result<Self> {
        Ok(Self {
            inputs: Vec::share(borrow_raw(args.inputs, args.n_inputs))?,
            outputs: Vec::share(borrow_raw(args.outputs, args.n_outputs))?,
            cotangents: Vec::share(borrow_raw(args.cotangents, args.n_outputs))?,
        })
    }
}

/// Writes the results of a `backward` closure to a C array.
///
/// # Safety
/// `out` has space for `room` handles.
pub(crate) unsafe fn write_gradients(
    given: Vec<Option<Tensor>>,
    out: *mut Raw,
    room: usize,
) -> Result<()> {
    if given.len() != room {
        return Err(invalid(format!(
            "a derivative returned {} gradients, but there are {room} inputs",
            given.len()
        )));
    }
    for (index, tensor) in given.into_iter().enumerate() {
        if let Some(tensor) = tensor {
            *out.add(index) = crate::operand::Lent::own(tensor).leak();
        }
    }
    Ok(())
}

/// A computation with a custom gradient, which replaces the derivatives of its ops.
///
/// ```
/// use tenon::{custom_gradient, Backward, CustomGradient, Result, Tensor};
///
/// /// Passes a value on, and clips its gradient.
/// struct ClipGradient(f64);
///
/// impl CustomGradient for ClipGradient {
///     fn forward(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
///         Ok(vec![inputs[0].identity()?])
///     }
///     fn backward(&self, call: &Backward) -> Result<Vec<Option<Tensor>>> {
///         Ok(vec![Some(call.cotangents[0].clip(-self.0, self.0)?)])
///     }
/// }
///
/// let slope = tenon::grad(|x| custom_gradient(ClipGradient(0.5), x)?[0].square());
/// assert_eq!(slope(&3f32.into())?.item::<f32>()?, 0.5);
/// # tenon::Result::Ok(())
/// ```
pub trait CustomGradient: Send + Sync + 'static {
    /// The number of outputs.
    ///
    /// ```
    /// # use tenon::{Backward, CustomGradient, Result, Tensor};
    /// # struct Pair;
    /// impl CustomGradient for Pair {
    ///     const OUTPUTS: usize = 2;
    /// #   fn forward(&self, _: &[Tensor]) -> Result<Vec<Tensor>> { Ok(vec![]) }
    /// #   fn backward(&self, _: &Backward) -> Result<Vec<Option<Tensor>>> { Ok(vec![]) }
    ///     // ...
    /// }
    /// ```
    const OUTPUTS: usize = 1;

    /// Computes the outputs. Tapes do not record the ops that it calls.
    ///
    /// See [`CustomGradient`] for an example:
    ///
    /// ```
    /// # use tenon::{Result, Tensor};
    /// fn forward(inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    ///     Ok(vec![inputs[0].identity()?])
    /// }
    /// ```
    fn forward(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>>;

    /// Computes a gradient for each input, or `None`. If it calls only differentiable ops, the
    /// gradient can be differentiated again.
    ///
    /// See [`CustomGradient`] for an example:
    ///
    /// ```
    /// # use tenon::{Backward, Result, Tensor};
    /// fn backward(call: &Backward) -> Result<Vec<Option<Tensor>>> {
    ///     Ok(vec![Some(call.cotangents[0].clip(-1, 1)?)])
    /// }
    /// ```
    fn backward(&self, call: &Backward) -> Result<Vec<Option<Tensor>>>;
}

unsafe extern "C" fn run_backward<G: CustomGradient>(
    payload: *mut c_void,
    scope: *mut sys::tenon_scope,
    args: *const sys::tenon_backward_args,
    out_grads: *mut Raw,
    n_grads: usize,
) -> *mut sys::tenon_error {
    in_callback(scope, || {
        let gradient = &**(payload as *const std::sync::Arc<G>);
        write_gradients(
            gradient.backward(&Backward::share(&*args)?)?,
            out_grads,
            n_grads,
        )
    })
}

/// Calls a [`CustomGradient`]; see the example there.
///
/// ```
/// # use tenon::{custom_gradient, Backward, CustomGradient, Result, Tensor};
/// # struct Pass;
/// # impl CustomGradient for Pass {
/// #     fn forward(&self, x: &[Tensor]) -> Result<Vec<Tensor>> { Ok(vec![x[0].identity()?]) }
/// #     fn backward(&self, b: &Backward) -> Result<Vec<Option<Tensor>>> {
/// #         Ok(vec![Some(b.cotangents[0].clone())])
/// #     }
/// # }
/// let y = custom_gradient(Pass, &tenon::tensor![1.]?)?.remove(0);
/// # assert_eq!(y.item::<f32>()?, 1.);
/// # tenon::Result::Ok(())
/// ```
pub fn custom_gradient<G: CustomGradient>(gradient: G, inputs: impl Inputs) -> Result<Vec<Tensor>> {
    let gradient = std::sync::Arc::new(gradient);
    let forward = {
        let gradient = gradient.clone();
        move |inputs: Vec<Tensor>| gradient.forward(&inputs)
    };
    let scope = current()?;
    let mut raw = vec![ptr::null_mut(); G::OUTPUTS];
    let outputs = &mut raw;
    inputs.lend_inputs(|inputs| {
        let c_forward = tensor_function(&forward);
        let c_backward = sys::tenon_backward_function {
            function: Some(run_backward::<G>),
            payload: Box::into_raw(Box::new(gradient)).cast(),
            destroy: Some(drop_payload::<std::sync::Arc<G>>),
        };
        // SAFETY: `forward` and the inputs outlive the call, which owns the payload of `backward`.
        unsafe {
            check(sys::tenon_custom_gradient(
                scope,
                c_forward,
                inputs.as_ptr(),
                inputs.len(),
                c_backward,
                outputs.as_mut_ptr(),
                G::OUTPUTS,
            ))
        }
    })??;
    // SAFETY: the caller owns the outputs of a successful call.
    Ok(unsafe { raw.into_iter().map(|raw| Tensor::adopt(raw)).collect() })
}

/// Wraps a closure as a C tensor function. The closure must outlive the C call.
pub(crate) fn tensor_function<I: Tensors, O: Tensors, F: Fn(I) -> Result<O>>(
    function: &F,
) -> sys::tenon_tensor_function {
    sys::tenon_tensor_function {
        function: Some(run_function::<I, O, F>),
        payload: function as *const F as *mut c_void,
        destroy: None,
    }
}
