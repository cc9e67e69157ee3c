//! Operands of ops: tensors, variables, numbers, and results of earlier ops.

use std::marker::PhantomData;
use std::mem;

use tenon_sys as sys;

use crate::error::Result;
use crate::tensor::Tensor;
use crate::variable::Variable;

/// A tensor that a call uses: borrowed from the caller, or owned and released after the call.
#[doc(hidden)]
pub struct Lent<'a> {
    raw: *mut sys::tenon_tensor,
    owned: bool,
    borrowed: PhantomData<&'a Tensor>,
}

impl<'a> Lent<'a> {
    #[inline(always)]
    pub(crate) fn borrow(tensor: &'a Tensor) -> Self {
        Self {
            raw: tensor.raw(),
            owned: false,
            borrowed: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn own(tensor: Tensor) -> Self {
        let raw = tensor.raw();
        mem::forget(tensor);
        Self {
            raw,
            owned: true,
            borrowed: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn raw(&self) -> *mut sys::tenon_tensor {
        self.raw
    }

    /// Transfers the reference of an owned tensor to the caller.
    pub(crate) fn leak(self) -> *mut sys::tenon_tensor {
        debug_assert!(self.owned);
        let raw = self.raw;
        mem::forget(self);
        raw
    }

    /// Converts the operand to a tensor that the caller owns.
    pub(crate) fn into_tensor(self) -> Tensor {
        let (raw, owned) = (self.raw, self.owned);
        mem::forget(self);
        // SAFETY: the tensor is live. An owned reference is moved; for a borrowed one, a reference
        // is added.
        unsafe {
            if owned {
                Tensor::adopt(raw)
            } else {
                Tensor::share(raw)
            }
        }
    }
}

impl Drop for Lent<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: `own` took ownership of this reference.
            unsafe { sys::tenon_tensor_release(self.raw) }
        }
    }
}

/// An operand of an op: a tensor or a variable, by reference or by value; a number, which adopts
/// the dtype of the other operand; or the result of an earlier op.
///
/// ```
/// use tenon::{tensor, Operand};
///
/// fn twice<'a>(x: impl Operand<'a>) -> tenon::Result<tenon::Tensor> {
///     tenon::ops::mul(x, 2)
/// }
/// assert_eq!(twice(tensor![1., 2.])?.to_vec::<f32>()?, [2., 4.]);
/// # tenon::Result::Ok(())
/// ```
pub trait Operand<'a> {
    /// The tensor of the operand.
    #[doc(hidden)]
    fn lend(self) -> Result<Lent<'a>>;
}

impl<'a> Operand<'a> for Lent<'a> {
    #[inline(always)]
    fn lend(self) -> Result<Lent<'a>> {
        Ok(self)
    }
}

impl<'a> Operand<'a> for &'a Tensor {
    #[inline(always)]
    fn lend(self) -> Result<Lent<'a>> {
        Ok(Lent::borrow(self))
    }
}

impl<'a> Operand<'a> for Tensor {
    #[inline(always)]
    fn lend(self) -> Result<Lent<'a>> {
        Ok(Lent::own(self))
    }
}

impl<'a> Operand<'a> for Result<Tensor> {
    #[inline(always)]
    fn lend(self) -> Result<Lent<'a>> {
        self.map(Lent::own)
    }
}

impl<'a> Operand<'a> for &'a Variable {
    #[inline]
    fn lend(self) -> Result<Lent<'a>> {
        self.read().map(Lent::own)
    }
}

impl<'a, T: ?Sized> Operand<'a> for &'a &'a T
where
    &'a T: Operand<'a>,
{
    #[inline(always)]
    fn lend(self) -> Result<Lent<'a>> {
        (*self).lend()
    }
}

macro_rules! numbers {
    ($($kind:ty),*) => {
        $(impl<'a> Operand<'a> for $kind {
            #[inline]
            fn lend(self) -> Result<Lent<'a>> {
                Ok(Lent::own(Tensor::from(self)))
            }
        })*
    };
}
numbers!(f32, f64, i32, i64, bool);

/// An optional input: an [`Operand`] or `None`.
///
/// ```
/// use tenon::tensor;
///
/// let (x, w) = (tensor![[1., 2.]]?, tensor![[1.], [1.]]?);
/// assert_eq!(x.dense(&w, None)?.to_vec::<f32>()?, [3.]);
/// assert_eq!(x.dense(&w, &tensor![10.]?)?.to_vec::<f32>()?, [13.]);
/// # tenon::Result::Ok(())
/// ```
pub trait OptionalOperand<'a> {
    /// The tensor of the operand, or `None`.
    #[doc(hidden)]
    fn lend_optional(self) -> Result<Option<Lent<'a>>>;
}

impl<'a> OptionalOperand<'a> for Option<&'a Tensor> {
    #[inline]
    fn lend_optional(self) -> Result<Option<Lent<'a>>> {
        Ok(self.map(Lent::borrow))
    }
}

macro_rules! optional {
    ($($kind:ty),*) => {
        $(impl<'a> OptionalOperand<'a> for $kind {
            #[inline]
            fn lend_optional(self) -> Result<Option<Lent<'a>>> {
                self.lend().map(Some)
            }
        })*
    };
}
optional!(
    &'a Tensor,
    Tensor,
    Result<Tensor>,
    &'a Variable,
    f32,
    f64,
    i32,
    i64
);

/// The handle of an optional input; NULL if it is omitted.
#[inline]
pub(crate) fn raw_or_null(lent: &Option<Lent<'_>>) -> *mut sys::tenon_tensor {
    lent.as_ref().map_or(std::ptr::null_mut(), Lent::raw)
}

/// Converts each operand to a tensor for the duration of a call.
pub(crate) fn lend_all<'a, T: Operand<'a>>(
    operands: impl IntoIterator<Item = T>,
) -> Result<Vec<Lent<'a>>> {
    operands.into_iter().map(Operand::lend).collect()
}

pub(crate) fn raws(lent: &[Lent<'_>]) -> Vec<*mut sys::tenon_tensor> {
    lent.iter().map(Lent::raw).collect()
}
