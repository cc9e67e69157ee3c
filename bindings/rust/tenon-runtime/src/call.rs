//! The one function through which every op is called.

use std::os::raw::c_void;
use std::ptr;

use tenon_sys as sys;

use crate::error::{check, Result};
use crate::scope::current;
use crate::tensor::Tensor;
use crate::text::c_text;

type Raw = *mut sys::tenon_tensor;

/// The outputs of an op, of which the caller owns a count each.
#[inline(always)]
pub(crate) fn call<const M: usize>(
    op: u32,
    attrs: *const c_void,
    inputs: &[Raw],
) -> Result<[Raw; M]> {
    let mut outputs = [ptr::null_mut(); M];
    let scope = current()?;
    // SAFETY: the scope is of this thread; inputs and attributes outlive the call, and the generated
    // code gives each op a struct of attributes of its own.
    unsafe {
        check(sys::tenon_call(
            scope,
            op,
            attrs,
            inputs.as_ptr(),
            inputs.len(),
            outputs.as_mut_ptr(),
            M,
        ))?;
    }
    Ok(outputs)
}

/// The output of an op that has one.
#[inline(always)]
pub(crate) fn call_one(op: u32, attrs: *const c_void, inputs: &[Raw]) -> Result<Tensor> {
    let [output] = call::<1>(op, attrs, inputs)?;
    // SAFETY: the caller owns the outputs of a successful call.
    Ok(unsafe { Tensor::adopt(output) })
}

/// The outputs of an op whose number the caller specifies.
pub(crate) fn call_many(
    op: u32,
    attrs: *const c_void,
    inputs: &[Raw],
    n_outputs: usize,
) -> Result<Vec<Tensor>> {
    let mut outputs = vec![ptr::null_mut(); n_outputs];
    // SAFETY: as in `call`.
    unsafe {
        check(sys::tenon_call(
            current()?,
            op,
            attrs,
            inputs.as_ptr(),
            inputs.len(),
            outputs.as_mut_ptr(),
            n_outputs,
        ))?;
        Ok(outputs.into_iter().map(|raw| Tensor::adopt(raw)).collect())
    }
}

/// The output of an op that takes some of its sizes from tensors.
pub(crate) fn call_sized(
    op: u32,
    attrs: *const c_void,
    sizes: &[(&str, &Tensor)],
    inputs: &[Raw],
) -> Result<Tensor> {
    let sizes: Vec<_> = sizes
        .iter()
        .map(|(name, value)| sys::tenon_size_argument {
            attribute: c_text(name),
            sizes: value.raw(),
        })
        .collect();
    let mut output = ptr::null_mut();
    // SAFETY: as in `call`; names and sizes outlive the call, too.
    unsafe {
        check(sys::tenon_call_sized(
            current()?,
            op,
            attrs,
            sizes.as_ptr(),
            sizes.len(),
            inputs.as_ptr(),
            inputs.len(),
            &mut output,
            1,
        ))?;
        Ok(Tensor::adopt(output))
    }
}

/// The address of a struct of attributes.
#[inline(always)]
pub(crate) fn attrs<T>(attrs: &T) -> *const c_void {
    (attrs as *const T).cast()
}
