//! Tensors shared with other libraries through DLPack 1.x.

use std::mem;
use std::os::raw::c_void;
use std::ptr::{self, NonNull};

use tenon_sys as sys;

use crate::error::{check, Result};
use crate::scope::current;
use crate::tensor::Tensor;

/// A DLPack tensor, `DLManagedTensorVersioned`. Dropping it calls its deleter.
///
/// ```
/// use tenon::{tensor, Tensor};
///
/// let lent = tensor![1., 2.]?.to_dlpack()?;
/// let back = Tensor::from_dlpack(lent, false)?;
/// assert_eq!(back.to_vec::<f32>()?, [1., 2.]);
/// # tenon::Result::Ok(())
/// ```
pub struct DlpackTensor(NonNull<sys::tenon_dlpack>);

// SAFETY: any thread may call the deleter, and nobody writes to the memory.
unsafe impl Send for DlpackTensor {}

impl DlpackTensor {
    /// Takes ownership of a DLPack tensor of another library.
    ///
    /// # Safety
    /// `raw` is a `DLManagedTensorVersioned` of version 1 that the caller owns. Nobody writes to
    /// its memory before its deleter runs, and any thread may call the deleter.
    ///
    /// # Panics
    /// If `raw` is NULL.
    ///
    /// ```
    /// use tenon::{tensor, DlpackTensor};
    ///
    /// let raw = tensor![1.]?.to_dlpack()?.into_raw();
    /// // SAFETY: `into_raw` returned this pointer.
    /// let lent = unsafe { DlpackTensor::from_raw(raw) };
    /// # tenon::Result::Ok(())
    /// ```
    pub unsafe fn from_raw(raw: *mut c_void) -> Self {
        Self(
            NonNull::new(raw.cast()).expect("DlpackTensor::from_raw: the pointer must not be NULL"),
        )
    }

    /// Transfers ownership to another library, which must call the deleter.
    ///
    /// ```
    /// # use tenon::{tensor, DlpackTensor};
    /// let raw = tensor![1.]?.to_dlpack()?.into_raw();
    /// # drop(unsafe { DlpackTensor::from_raw(raw) });
    /// # tenon::Result::Ok(())
    /// ```
    pub fn into_raw(self) -> *mut c_void {
        let raw = self.0.as_ptr();
        mem::forget(self);
        raw.cast()
    }
}

impl Drop for DlpackTensor {
    fn drop(&mut self) {
        // SAFETY: this handle owns the tensor, so the deleter runs once.
        unsafe {
            if let Some(deleter) = self.0.as_ref().deleter {
                deleter(self.0.as_ptr());
            }
        }
    }
}

impl Tensor {
    /// Exports the tensor to another library without a copy. See [`DlpackTensor`].
    ///
    /// ```
    /// let lent = tenon::tensor![1., 2.]?.to_dlpack()?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn to_dlpack(&self) -> Result<DlpackTensor> {
        let mut raw = ptr::null_mut();
        // SAFETY: the exported tensor keeps the memory alive; NULL is the stream of host memory.
        unsafe {
            check(sys::tenon_tensor_to_dlpack(
                current()?,
                self.raw(),
                ptr::null_mut(),
                &mut raw,
            ))?;
            Ok(DlpackTensor(NonNull::new_unchecked(raw)))
        }
    }

    /// Imports a tensor from another library. Copies it only if `copy` is true or the device cannot
    /// use its memory. See [`DlpackTensor`].
    ///
    /// ```
    /// # use tenon::{tensor, Tensor};
    /// let copied = Tensor::from_dlpack(tensor![1., 2.]?.to_dlpack()?, true)?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn from_dlpack(lent: DlpackTensor, copy: bool) -> Result<Tensor> {
        let scope = current()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the call takes ownership, even if it fails.
        unsafe {
            check(sys::tenon_tensor_from_dlpack(
                scope,
                lent.into_raw().cast(),
                ptr::null_mut(),
                copy,
                &mut raw,
            ))?;
            Ok(Tensor::adopt(raw))
        }
    }
}
