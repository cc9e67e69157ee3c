//! Functions that call an op by its number. All generated ops use them.

use std::os::raw::c_void;
use std::ptr;

use tenon_sys as sys;

use crate::error::{check, Result};
use crate::scope::current;
use crate::tensor::Tensor;
use crate::text::c_text;

type Raw = *mut sys::tenon_tensor;

/// Calls an op and returns its `M` outputs. The caller owns one reference to each.
#[inline(always)]
pub(crate) fn call<const M: usize>(
    op: u32,
    attrs: *const c_void,
    inputs: &[Raw],
) -> Result<[Raw; M]> {
    let mut outputs = [ptr::null_mut(); M];
    let scope = current()?;
    // SAFETY: the scope belongs to this thread, inputs and attributes outlive the call, and the
    // generated code passes the attribute struct that belongs to the op.
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

/// Calls an op that has one output.
#[inline(always)]
pub(crate) fn call_one(op: u32, attrs: *const c_void, inputs: &[Raw]) -> Result<Tensor> {
    let [output] = call::<1>(op, attrs, inputs)?;
    // SAFETY: the caller owns the outputs of a successful call.
    Ok(unsafe { Tensor::adopt(output) })
}

/// Calls an op whose number of outputs varies. The caller specifies the number.
pub(crate) fn call_many(
    op: u32,
    attrs: *const c_void,
    inputs: &[Raw],
    n_outputs: usize,
) -> Result<Vec<Tensor>> {
    let mut outputs = vec![ptr::null_mut(); n_outputs];
    // SAFETY: the scope belongs to this thread; inputs and attributes outlive the call.
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

/// Calls an op with one output that takes some of its sizes as tensors.
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
    // SAFETY: the scope belongs to this thread; inputs, attributes, names and sizes outlive the
    // call.
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

/// Returns the address of an attribute struct, as the C ABI takes it.
#[inline(always)]
pub(crate) fn attrs<T>(attrs: &T) -> *const c_void {
    (attrs as *const T).cast()
}
