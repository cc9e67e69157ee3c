//! Conversion of arrays of the crate ndarray. The macros refer to the program's own ndarray, of any
//! version, so that this crate does not depend on it.

use crate::dtype::Element;
use crate::error::Result;
use crate::tensor::Tensor;

/// Copies an array of the crate `ndarray`, of any rank and memory layout, to a tensor.
///
/// ```ignore
/// let array = ndarray::array![[1f32, 2.], [3., 4.]];
/// let x = tenon::from_ndarray!(array.t())?;
/// assert_eq!(x.to_vec::<f32>()?, [1., 3., 2., 4.]);
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
#[macro_export]
macro_rules! from_ndarray {
    ($array:expr) => {{
        let array = &$array;
        $crate::from_array_parts(array.shape(), array.iter().copied())
    }};
}

/// Copies a tensor to an `ndarray::ArrayD` with elements of the given Rust type.
///
/// ```ignore
/// let array = tenon::to_ndarray!(x, f32)?;
/// assert_eq!(array.shape(), [2, 2]);
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
#[macro_export]
macro_rules! to_ndarray {
    ($tensor:expr, $kind:ty) => {{
        let tensor: &$crate::Tensor = &$tensor;
        tensor.to_vec::<$kind>().and_then(|elements| {
            let shape: ::std::vec::Vec<usize> =
                tensor.shape()?.iter().map(|&size| size as usize).collect();
            ::std::result::Result::Ok(
                ::ndarray::ArrayD::from_shape_vec(::ndarray::IxDyn(&shape), elements)
                    .expect("a tensor has as many elements as its shape says"),
            )
        })
    }};
}

/// Creates a tensor from row-major elements. Used by the macros of this file.
#[doc(hidden)]
pub fn from_array_parts<T: Element>(
    shape: &[usize],
    elements: impl Iterator<Item = T>,
) -> Result<Tensor> {
    let shape: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
    Tensor::from_vec(elements.collect(), &shape)
}
