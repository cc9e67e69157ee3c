//! Tensor literals: `tensor![[1., 2.], [3., 4.]]`.

use crate::dtype::{Element, BF16, F16};
use crate::error::Result;
use crate::tensor::Tensor;

/// Creates a tensor from nested lists: `tensor![[1., 2.], [3., 4.]]`. An element type may precede
/// them: `tensor![f64; 1., 2.]`. Without it, f64 literals become f32, as in other tensor libraries;
/// all other types stay: `tensor![1, 2]` is i32.
///
/// ```
/// use tenon::{tensor, DType};
///
/// let x = tensor![[1., 2.], [3., 4.]]?;
/// assert_eq!((x.dtype(), x.shape()?), (DType::F32, &[2, 2][..]));
/// assert_eq!(tensor![f64; 1., 2.]?.dtype(), DType::F64);
/// assert_eq!(tensor![7u8]?.dtype(), DType::U8);
/// # tenon::Result::Ok(())
/// ```
#[macro_export]
macro_rules! tensor {
    ($kind:ident; $([$($row:tt)*]),+ $(,)?) => {
        $crate::Tensor::from_nested::<$kind, _>(&[$([$($row)*]),+])
    };
    ($kind:ident; $($element:expr),* $(,)?) => {
        $crate::Tensor::from_nested::<$kind, _>(&[$($element),*])
    };
    ($($element:expr),* $(,)?) => {
        $crate::Tensor::from_literal(&[$($element),*])
    };
}

/// Nested arrays of elements of type `T`.
///
/// ```
/// let x = tenon::Tensor::from_nested::<f32, _>(&[[1., 2.], [3., 4.]])?;
/// assert_eq!(x.shape()?, [2, 2]);
/// # tenon::Result::Ok(())
/// ```
pub trait Nested<T> {
    /// Appends the sizes of this array's axes to `shape`.
    #[doc(hidden)]
    fn sizes(shape: &mut Vec<i64>);
    /// Appends the elements to `elements`, row-major.
    #[doc(hidden)]
    fn flatten(&self, elements: &mut Vec<T>);
}

impl<T, N: Nested<T>, const SIZE: usize> Nested<T> for [N; SIZE] {
    fn sizes(shape: &mut Vec<i64>) {
        shape.push(SIZE as i64);
        N::sizes(shape);
    }
    fn flatten(&self, elements: &mut Vec<T>) {
        for item in self {
            item.flatten(elements);
        }
    }
}

/// Nested arrays that `tensor!` takes without an element type. Their f64 elements become f32.
///
/// ```
/// let x = tenon::Tensor::from_literal(&[1.0, 2.0])?;
/// assert_eq!(x.dtype(), tenon::DType::F32);
/// # tenon::Result::Ok(())
/// ```
pub trait Literal {
    /// The element type of the tensor.
    #[doc(hidden)]
    type Stored: Element;
    /// Appends the sizes of this array's axes to `shape`.
    #[doc(hidden)]
    fn sizes(shape: &mut Vec<i64>);
    /// Appends the elements to `elements`, row-major.
    #[doc(hidden)]
    fn flatten(&self, elements: &mut Vec<Self::Stored>);
}

impl<L: Literal, const SIZE: usize> Literal for [L; SIZE] {
    type Stored = L::Stored;
    fn sizes(shape: &mut Vec<i64>) {
        shape.push(SIZE as i64);
        L::sizes(shape);
    }
    fn flatten(&self, elements: &mut Vec<Self::Stored>) {
        for item in self {
            item.flatten(elements);
        }
    }
}

macro_rules! literals {
    ($($kind:ty as $stored:ty),*) => {
        $(
            impl Nested<$kind> for $kind {
                fn sizes(_: &mut Vec<i64>) {}
                fn flatten(&self, elements: &mut Vec<$kind>) {
                    elements.push(*self);
                }
            }
            impl Literal for $kind {
                type Stored = $stored;
                fn sizes(_: &mut Vec<i64>) {}
                fn flatten(&self, elements: &mut Vec<$stored>) {
                    elements.push(*self as $stored);
                }
            }
        )*
    };
}
literals!(
    bool as bool,
    i8 as i8,
    i16 as i16,
    i32 as i32,
    i64 as i64,
    u8 as u8,
    u16 as u16,
    u32 as u32,
    u64 as u64,
    F16 as F16,
    BF16 as BF16,
    f32 as f32,
    f64 as f32
);

impl Tensor {
    /// Creates a tensor from nested arrays of elements of type `T`.
    ///
    /// ```
    /// let x = tenon::Tensor::from_nested::<i64, _>(&[[1, 2, 3]])?;
    /// assert_eq!(x.shape()?, [1, 3]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn from_nested<T: Element, N: Nested<T>>(nested: &N) -> Result<Self> {
        let (mut shape, mut elements) = (Vec::new(), Vec::new());
        N::sizes(&mut shape);
        nested.flatten(&mut elements);
        Self::from_slice(&elements, &shape)
    }

    /// Creates a tensor from nested arrays, with the dtypes of `tensor!`: f64 becomes f32.
    ///
    /// ```
    /// let x = tenon::Tensor::from_literal(&[[1.0], [2.0]])?;
    /// assert_eq!(x.shape()?, [2, 1]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn from_literal<L: Literal>(literal: &L) -> Result<Self> {
        let (mut shape, mut elements) = (Vec::new(), Vec::new());
        L::sizes(&mut shape);
        literal.flatten(&mut elements);
        Self::from_slice(&elements, &shape)
    }
}
