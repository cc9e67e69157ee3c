//! Arithmetic operators, and slices of tensors. An operator returns a `Result`; the next operator
//! accepts a `Result` as its right operand: `(&w * (&x + 1))?`.

use std::ops::{
    Add, BitAnd, BitOr, BitXor, Bound, Div, Mul, Neg, Not, RangeBounds, Rem, Shl, Shr, Sub,
};

use crate::dtype::DType;
use crate::error::{Code, Error, Result};
use crate::operand::Operand;
use crate::ops;
use crate::scope::is_tracing;
use crate::tensor::Tensor;
use crate::variable::Variable;

macro_rules! binary {
    ($($operator:ident, $method:ident, $op:ident;)*) => {
        $(
            binary!(@left $operator, $method, $op, &'a Tensor, &'a Variable);
            impl<'b, R: Operand<'b>> $operator<R> for Tensor {
                type Output = Result<Tensor>;
                #[inline]
                fn $method(self, right: R) -> Result<Tensor> {
                    ops::$op(&self, right.lend()?)
                }
            }
            binary!(@number $operator, $method, $op, f64, i64);
        )*
    };
    (@left $operator:ident, $method:ident, $op:ident, $($left:ty),*) => {
        $(impl<'a, 'b, R: Operand<'b>> $operator<R> for $left {
            type Output = Result<Tensor>;
            #[inline]
            fn $method(self, right: R) -> Result<Tensor> {
                ops::$op(self.lend()?, right.lend()?)
            }
        })*
    };
    (@number $operator:ident, $method:ident, $op:ident, $($left:ty),*) => {
        $(
            impl $operator<Tensor> for $left {
                type Output = Result<Tensor>;
                fn $method(self, right: Tensor) -> Result<Tensor> {
                    ops::$op(self, right)
                }
            }
            impl $operator<&Tensor> for $left {
                type Output = Result<Tensor>;
                fn $method(self, right: &Tensor) -> Result<Tensor> {
                    ops::$op(self, right)
                }
            }
            impl $operator<&Variable> for $left {
                type Output = Result<Tensor>;
                fn $method(self, right: &Variable) -> Result<Tensor> {
                    ops::$op(self, right)
                }
            }
        )*
    };
}

binary! {
    Add, add, add;
    Sub, sub, sub;
    Mul, mul, mul;
    Div, div, div;
    Rem, rem, mod_;
    BitAnd, bitand, bitwise_and;
    BitOr, bitor, bitwise_or;
    BitXor, bitxor, bitwise_xor;
    Shl, shl, shift_left;
    Shr, shr, shift_right;
}

macro_rules! unary {
    ($($operator:ident, $method:ident, $op:ident;)*) => {
        $(
            impl $operator for Tensor {
                type Output = Result<Tensor>;
                fn $method(self) -> Result<Tensor> {
                    ops::$op(&self)
                }
            }
            impl $operator for &Tensor {
                type Output = Result<Tensor>;
                fn $method(self) -> Result<Tensor> {
                    ops::$op(self)
                }
            }
            impl $operator for &Variable {
                type Output = Result<Tensor>;
                fn $method(self) -> Result<Tensor> {
                    ops::$op(self)
                }
            }
        )*
    };
}

unary! {
    Neg, neg, neg;
    Not, not, bitwise_not;
}

impl Tensor {
    /// Converts the elements to another dtype. [`Tensor::cast_with`] has further options.
    ///
    /// ```
    /// use tenon::DType;
    ///
    /// let x = tenon::tensor![1.75, -1.75]?;
    /// assert_eq!(x.cast(DType::I32)?.to_vec::<i32>()?, [1, -1]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn cast(&self, to: DType) -> Result<Tensor> {
        self.cast_with().to(to).run()
    }

    /// Returns the slice at `index` of an axis, without that axis. A negative index counts from the
    /// end.
    ///
    /// ```
    /// let x = tenon::tensor![[1., 2.], [3., 4.]]?;
    /// assert_eq!(x.select(0, -1)?.to_vec::<f32>()?, [3., 4.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn select(&self, axis: i64, index: i64) -> Result<Tensor> {
        // While tracing, do not read the size, so that one trace serves all sizes. If the index is
        // out of range, squeeze() fails.
        if !is_tracing()? {
            let size = self.size(axis)?;
            if index < -size || index >= size {
                return Err(Error::new(
                    Code::OutOfRange,
                    format!("select: index {index} is outside [-{size}, {size}) of axis {axis}"),
                ));
            }
        }
        self.slice_with()
            .starts(&[index])
            .ends(&[if index == -1 { i64::MAX } else { index + 1 }])
            .axes(&[axis])
            .run()?
            .squeeze(&[axis])
    }

    /// Returns the slice for a range of indices of an axis. The axis remains.
    ///
    /// ```
    /// let x = tenon::tensor![1, 2, 3, 4]?;
    /// assert_eq!(x.narrow(0, 1..3)?.to_vec::<i32>()?, [2, 3]);
    /// assert_eq!(x.narrow(0, 2..)?.to_vec::<i32>()?, [3, 4]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn narrow(&self, axis: i64, range: impl RangeBounds<i64>) -> Result<Tensor> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&start) => start + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(-1) => i64::MAX,
            Bound::Included(&end) => end + 1,
            Bound::Excluded(&end) => end,
            Bound::Unbounded => i64::MAX,
        };
        self.slice_with()
            .starts(&[start])
            .ends(&[end])
            .axes(&[axis])
            .run()
    }
}
