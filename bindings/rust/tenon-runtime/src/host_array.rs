//! Types and host memory of the tensors that custom ops take and return.

use std::ptr;

use tenon_sys as sys;

use crate::dtype::{DType, Element};
use crate::error::{invalid, Result};

/// The type of a tensor: a dtype and a shape.
///
/// ```
/// use tenon::{DType, TensorType};
///
/// let vector = TensorType::new(DType::F32, &[3]);
/// assert_eq!(vector.shape(), [3]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorType {
    dtype: DType,
    shape: Vec<i64>,
}

impl TensorType {
    /// Creates a type.
    ///
    /// ```
    /// # use tenon::{DType, TensorType};
    /// let scalar = TensorType::new(DType::F32, &[]);
    /// ```
    pub fn new(dtype: DType, shape: &[i64]) -> Self {
        Self {
            dtype,
            shape: shape.to_vec(),
        }
    }

    /// The element type; [`DType::None`] for an optional input that is absent.
    ///
    /// ```
    /// # use tenon::{DType, TensorType};
    /// assert_eq!(TensorType::new(DType::F32, &[]).dtype(), DType::F32);
    /// ```
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The sizes of the axes.
    ///
    /// ```
    /// # use tenon::{DType, TensorType};
    /// assert_eq!(TensorType::new(DType::F32, &[2]).shape(), [2]);
    /// ```
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    pub(crate) fn from_c(c: &sys::tenon_type) -> Self {
        Self {
            dtype: DType::from_c(c.dtype),
            shape: c.shape[..(c.rank as usize).min(sys::TENON_MAX_RANK)].to_vec(),
        }
    }

    pub(crate) fn write(&self, c: &mut sys::tenon_type) -> Result<()> {
        if self.shape.len() > sys::TENON_MAX_RANK {
            return Err(invalid(format!(
                "infer: rank {} exceeds the maximum of 16",
                self.shape.len()
            )));
        }
        c.dtype = self.dtype.to_c();
        c.rank = self.shape.len() as u32;
        c.shape[..self.shape.len()].copy_from_slice(&self.shape);
        Ok(())
    }
}

/// An input in host memory, row-major without gaps. See
/// [`CustomOp::compute`](crate::CustomOp::compute).
///
/// ```
/// fn first(input: &tenon::HostArray<'_>) -> tenon::Result<f32> {
///     Ok(input.elements::<f32>()?[0])
/// }
/// ```
pub struct HostArray<'a> {
    pub(crate) c: &'a sys::tenon_host_array,
}

impl<'a> HostArray<'a> {
    /// The sizes of the axes.
    ///
    /// ```
    /// fn rows(input: &tenon::HostArray<'_>) -> i64 {
    ///     input.shape()[0]
    /// }
    /// ```
    pub fn shape(&self) -> &'a [i64] {
        &self.c.type_.shape[..self.c.type_.rank as usize]
    }

    /// The element type.
    ///
    /// ```
    /// fn is_float(input: &tenon::HostArray<'_>) -> bool {
    ///     input.dtype() == tenon::DType::F32
    /// }
    /// ```
    pub fn dtype(&self) -> DType {
        DType::from_c(self.c.type_.dtype)
    }

    /// The elements. Returns an error if `T` is not their type.
    ///
    /// ```
    /// fn sum(input: &tenon::HostArray<'_>) -> tenon::Result<f32> {
    ///     Ok(input.elements::<f32>()?.iter().sum())
    /// }
    /// ```
    pub fn elements<T: Element>(&self) -> Result<&'a [T]> {
        require::<T>(self.c)?;
        if self.c.size == 0 {
            return Ok(&[]);
        }
        // SAFETY: Tenon aligns arrays for their dtype, and keeps them alive during the call.
        Ok(unsafe {
            std::slice::from_raw_parts(
                self.c.data.cast::<T>(),
                self.c.size / std::mem::size_of::<T>(),
            )
        })
    }
}

/// An output in host memory, which `compute` writes. See
/// [`CustomOp::compute`](crate::CustomOp::compute).
///
/// ```
/// fn clear(output: &mut tenon::HostArrayMut<'_>) -> tenon::Result<()> {
///     output.elements::<f32>()?.fill(0.);
///     Ok(())
/// }
/// ```
pub struct HostArrayMut<'a> {
    pub(crate) c: &'a sys::tenon_host_array,
}

impl HostArrayMut<'_> {
    /// The sizes of the axes.
    ///
    /// ```
    /// fn rows(output: &tenon::HostArrayMut<'_>) -> i64 {
    ///     output.shape()[0]
    /// }
    /// ```
    pub fn shape(&self) -> &[i64] {
        &self.c.type_.shape[..self.c.type_.rank as usize]
    }

    /// The elements, zeroed at first. Returns an error if `T` is not their type.
    ///
    /// ```
    /// fn set(output: &mut tenon::HostArrayMut<'_>) -> tenon::Result<()> {
    ///     output.elements::<f32>()?[0] = 1.;
    ///     Ok(())
    /// }
    /// ```
    pub fn elements<T: Element>(&mut self) -> Result<&mut [T]> {
        require::<T>(self.c)?;
        let count = self.c.size / std::mem::size_of::<T>();
        if count == 0 {
            return Ok(&mut []);
        }
        // SAFETY: only this call uses the memory. It is aligned for its dtype, and zeroed, so that
        // no uninitialised element can be read.
        unsafe {
            let data = self.c.data.cast::<T>();
            ptr::write_bytes(data, 0, count);
            Ok(std::slice::from_raw_parts_mut(data, count))
        }
    }
}

fn require<T: Element>(c: &sys::tenon_host_array) -> Result<()> {
    let dtype = DType::from_c(c.type_.dtype);
    if dtype == T::DTYPE {
        return Ok(());
    }
    Err(invalid(format!(
        "compute: the elements are {dtype}, not {}",
        T::DTYPE
    )))
}
