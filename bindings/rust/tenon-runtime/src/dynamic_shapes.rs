//! Ops that take sizes as tensors. Inside a function, sizes computed from
//! [`Tensor::shape_tensor`](crate::Tensor::shape_tensor) stay symbolic, so that one trace serves
//! all sizes.

use std::ptr;

use tenon_sys as sys;

use crate::call::{attrs, call_sized};
use crate::dtype::DType;
use crate::error::{check, Result};
use crate::scope::current;
use crate::tensor::Tensor;

impl Tensor {
    /// Returns the sizes as a tensor. Inside a function, they are the sizes of `self` in each
    /// call.
    ///
    /// ```
    /// let x = tenon::tensor![[1., 2.]]?;
    /// assert_eq!(x.shape_tensor()?.to_vec::<i64>()?, [1, 2]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn shape_tensor(&self) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the tensor is live.
        unsafe {
            check(sys::tenon_shape(current()?, self.raw(), &mut raw))?;
            Ok(Self::adopt(raw))
        }
    }
}

/// Returns a tensor of the shape `sizes`, a rank-1 int64 tensor. Each element is `value`, a rank-0
/// tensor.
///
/// ```
/// let sizes = tenon::tensor![2i64, 1]?;
/// let y = tenon::dynamic_full(&sizes, &tenon::Tensor::from(3.0))?;
/// assert_eq!(y.shape()?, [2, 1]);
/// # tenon::Result::Ok(())
/// ```
pub fn dynamic_full(sizes: &Tensor, value: &Tensor) -> Result<Tensor> {
    call_sized(
        sys::TENON_OP_fill,
        ptr::null(),
        &[("shape", sizes)],
        &[value.raw()],
    )
}

/// Returns a tensor of the shape `sizes` whose elements are their indices along the first axis.
///
/// ```
/// let sizes = tenon::tensor![3i64]?;
/// let y = tenon::dynamic_iota(&sizes, tenon::DType::I64)?;
/// assert_eq!(y.to_vec::<i64>()?, [0, 1, 2]);
/// # tenon::Result::Ok(())
/// ```
pub fn dynamic_iota(sizes: &Tensor, dtype: DType) -> Result<Tensor> {
    let c_attrs = sys::tenon_iota_attrs {
        struct_size: std::mem::size_of::<sys::tenon_iota_attrs>() as u32,
        shape: ptr::null(),
        n_shape: 0,
        dtype: dtype.to_c(),
        axis: 0,
    };
    call_sized(
        sys::TENON_OP_iota,
        attrs(&c_attrs),
        &[("shape", sizes)],
        &[],
    )
}

/// Broadcasts `x` to the shape `sizes`.
///
/// ```
/// let sizes = tenon::tensor![2i64, 2]?;
/// let y = tenon::dynamic_broadcast_to(&tenon::tensor![1., 2.]?, &sizes)?;
/// assert_eq!(y.shape()?, [2, 2]);
/// # tenon::Result::Ok(())
/// ```
pub fn dynamic_broadcast_to(x: &Tensor, sizes: &Tensor) -> Result<Tensor> {
    call_sized(
        sys::TENON_OP_broadcast_to,
        ptr::null(),
        &[("shape", sizes)],
        &[x.raw()],
    )
}

/// Reshapes `x` to the shape `sizes`. One of the sizes may be the constant -1, and is inferred.
///
/// ```
/// let sizes = tenon::tensor![2i64, -1]?;
/// let y = tenon::dynamic_reshape(&tenon::tensor![1., 2., 3., 4.]?, &sizes)?;
/// assert_eq!(y.shape()?, [2, 2]);
/// # tenon::Result::Ok(())
/// ```
pub fn dynamic_reshape(x: &Tensor, sizes: &Tensor) -> Result<Tensor> {
    call_sized(
        sys::TENON_OP_reshape,
        ptr::null(),
        &[("shape", sizes)],
        &[x.raw()],
    )
}

/// Slices `x` from `starts` to `ends`, rank-1 int64 tensors with one element per axis of `x`.
///
/// ```
/// let (start, end) = (tenon::tensor![1i64]?, tenon::tensor![3i64]?);
/// let y = tenon::dynamic_slice(&tenon::tensor![1., 2., 3., 4.]?, &start, &end)?;
/// assert_eq!(y.to_vec::<f32>()?, [2., 3.]);
/// # tenon::Result::Ok(())
/// ```
pub fn dynamic_slice(x: &Tensor, starts: &Tensor, ends: &Tensor) -> Result<Tensor> {
    let sizes = [("starts", starts), ("ends", ends)];
    call_sized(sys::TENON_OP_slice, ptr::null(), &sizes, &[x.raw()])
}
