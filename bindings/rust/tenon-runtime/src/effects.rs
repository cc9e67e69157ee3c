//! Printing, assertions and host calls. Inside a function they become part of its trace.

use std::os::raw::c_void;
use std::ptr;

use tenon_sys as sys;

use crate::error::{check, invalid, Result};
use crate::gradients::run_function;
use crate::operand::{lend_all, raws, Operand};
use crate::panics::{drop_payload, ignore_panic};
use crate::scope::current;
use crate::tensor::Tensor;
use crate::tensors::{Inputs, Tensors};
use crate::text::{c_text, view};

/// Prints a line in which each `{}` of the format is replaced by the next value. Inside a function
/// the line is printed at each call. An empty format prints the values only.
///
/// ```
/// tenon::print("loss: {}", [&tenon::tensor![0.5]?])?;
/// # tenon::Result::Ok(())
/// ```
pub fn print<'a, T: Operand<'a>>(format: &str, values: impl IntoIterator<Item = T>) -> Result<()> {
    let values = lend_all(values)?;
    let raw = raws(&values);
    // SAFETY: the values outlive the call.
    unsafe {
        check(sys::tenon_print(
            current()?,
            c_text(format),
            raw.as_ptr(),
            raw.len(),
            ptr::null(),
        ))
    }
}

/// Sends the text that [`print()`] prints in the current context to `receive`, which any thread may
/// call.
///
/// ```
/// tenon::set_print(|line| eprint!("{line}"))?;
/// # tenon::Result::Ok(())
/// ```
pub fn set_print<F: Fn(&str) + Send + Sync + 'static>(receive: F) -> Result<()> {
    unsafe extern "C" fn run<F: Fn(&str)>(payload: *mut c_void, text: sys::tenon_string) {
        let receive = &*(payload as *const F);
        ignore_panic(|| receive(view(text)));
    }
    let scope = current()?;
    let callback = sys::tenon_print_callback {
        function: Some(run::<F>),
        payload: Box::into_raw(Box::new(receive)).cast(),
        destroy: Some(drop_payload::<F>),
    };
    // SAFETY: the call owns the callback, even if it fails.
    unsafe {
        check(sys::tenon_context_set_print(
            sys::tenon_scope_context(scope),
            callback,
        ))
    }
}

/// Returns an error unless all elements of the bool tensor `condition` are true. Each `{}` in the
/// message is replaced by the next value. Inside a function, each call of the function checks the
/// condition.
///
/// ```
/// let x = tenon::tensor![1., 2.]?;
/// tenon::assert_that(x.greater(0)?, "x is positive, but is {}", [&x])?;
/// # tenon::Result::Ok(())
/// ```
pub fn assert_that<'a, T: Operand<'a>>(
    condition: impl Operand<'a>,
    message: &str,
    values: impl IntoIterator<Item = T>,
) -> Result<()> {
    let (condition, values) = (condition.lend()?, lend_all(values)?);
    let raw = raws(&values);
    // SAFETY: the condition and the values outlive the call.
    unsafe {
        check(sys::tenon_assert(
            current()?,
            condition.raw(),
            c_text(message),
            raw.as_ptr(),
            raw.len(),
        ))
    }
}

/// Calls a closure on the host, eagerly even inside a function, so that it may read values and
/// branch on them. Its outputs have the dtypes and shapes of `like`.
///
/// ```
/// use tenon::{host_call, tensor, Function, Tensor};
///
/// let median = Function::new(|x: Tensor| {
///     host_call(&x, &0f32.into(), |x: Tensor| {
///         let mut elements = x.to_vec::<f32>()?;
///         elements.sort_by(f32::total_cmp);
///         Tensor::from_slice(&[elements[elements.len() / 2]], &[])
///     })
/// });
/// assert_eq!(median.call(&tensor![3., 1., 2.]?)?.item::<f32>()?, 2.);
/// # tenon::Result::Ok(())
/// ```
pub fn host_call<I, O, F>(inputs: impl Inputs, like: &O, function: F) -> Result<O>
where
    I: Tensors,
    O: Tensors,
    F: Fn(I) -> Result<O> + Send + Sync + 'static,
{
    let scope = current()?;
    inputs.lend_inputs(|inputs| {
        like.with_raw(|like: &[*mut sys::tenon_tensor]| {
            let c_function = sys::tenon_tensor_function {
                function: Some(run_function::<I, O, F>),
                payload: Box::into_raw(Box::new(function)).cast(),
                destroy: Some(drop_payload::<F>),
            };
            let mut outputs = vec![ptr::null_mut(); like.len()];
            // SAFETY: the inputs outlive the call. The call owns the closure, even if it fails, and
            // transfers its outputs to the caller.
            unsafe {
                check(sys::tenon_host_call(
                    scope,
                    c_function,
                    inputs.as_ptr(),
                    inputs.len(),
                    like.as_ptr(),
                    outputs.as_mut_ptr(),
                    outputs.len(),
                ))?;
                let owned: Vec<_> = outputs.iter().map(|&raw| Tensor::adopt(raw)).collect();
                let outputs = O::share(&outputs);
                drop(owned);
                outputs.map_err(|error| invalid(format!("host_call: {error}")))
            }
        })
    })?
}
