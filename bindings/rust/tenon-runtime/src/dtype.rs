//! Element types and the corresponding Rust types.

use std::fmt;

use tenon_sys as sys;

macro_rules! dtypes {
    ($($(#[$meta:meta])* $name:ident = $raw:ident, $text:literal;)*) => {
        /// An element type.
        ///
        /// ```
        /// use tenon::{tensor, DType};
        ///
        /// assert_eq!(tensor![1., 2.]?.dtype(), DType::F32);
        /// assert_eq!(DType::BF16.to_string(), "bf16");
        /// # tenon::Result::Ok(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DType {
            $($(#[$meta])* $name,)*
        }

        impl DType {
            #[inline]
            pub(crate) fn to_c(self) -> sys::tenon_dtype {
                match self { $(Self::$name => sys::$raw,)* }
            }

            pub(crate) fn from_c(raw: sys::tenon_dtype) -> Self {
                match raw { $(sys::$raw => Self::$name,)* _ => Self::None }
            }

            /// The name in messages and documentation, such as `"f32"`.
            ///
            /// ```
            /// assert_eq!(tenon::DType::F32.name(), "f32");
            /// ```
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

dtypes! {
    /// No dtype. Each use documents its meaning.
    None = TENON_DTYPE_NONE, "none";
    /// Booleans.
    Bool = TENON_BOOL, "bool";
    /// 8-bit signed integers.
    I8 = TENON_INT8, "i8";
    /// 16-bit signed integers.
    I16 = TENON_INT16, "i16";
    /// 32-bit signed integers.
    I32 = TENON_INT32, "i32";
    /// 64-bit signed integers.
    I64 = TENON_INT64, "i64";
    /// 8-bit unsigned integers.
    U8 = TENON_UINT8, "u8";
    /// 16-bit unsigned integers.
    U16 = TENON_UINT16, "u16";
    /// 32-bit unsigned integers.
    U32 = TENON_UINT32, "u32";
    /// 64-bit unsigned integers.
    U64 = TENON_UINT64, "u64";
    /// IEEE binary16.
    F16 = TENON_FLOAT16, "f16";
    /// bfloat16: the upper half of an IEEE binary32.
    BF16 = TENON_BFLOAT16, "bf16";
    /// IEEE binary32.
    F32 = TENON_FLOAT32, "f32";
    /// IEEE binary64.
    F64 = TENON_FLOAT64, "f64";
    /// IEEE binary128, for storage and conversion only.
    F128 = TENON_FLOAT128, "f128";
    /// 4-bit signed integers, one per byte, for storage and conversion only.
    I4 = TENON_INT4, "i4";
    /// 4-bit unsigned integers, one per byte, for storage and conversion only.
    U4 = TENON_UINT4, "u4";
    /// 2-bit signed integers, one per byte, for storage and conversion only.
    I2 = TENON_INT2, "i2";
    /// 2-bit unsigned integers, one per byte, for storage and conversion only.
    U2 = TENON_UINT2, "u2";
    /// 8-bit floats with 4 exponent bits, up to 448, without infinities, for storage and conversion
    /// only.
    F8E4M3FN = TENON_FLOAT8_E4M3FN, "f8e4m3fn";
    /// 8-bit floats with 4 exponent bits, up to 240, without infinities and -0, for storage and
    /// conversion only.
    F8E4M3FNUZ = TENON_FLOAT8_E4M3FNUZ, "f8e4m3fnuz";
    /// 8-bit floats with 5 exponent bits, up to 57344, for storage and conversion only.
    F8E5M2 = TENON_FLOAT8_E5M2, "f8e5m2";
    /// 8-bit floats with 5 exponent bits, up to 57344, without infinities and -0, for storage and
    /// conversion only.
    F8E5M2FNUZ = TENON_FLOAT8_E5M2FNUZ, "f8e5m2fnuz";
    /// Powers of two from 2^-127 to 2^127, for storage and conversion only.
    F8E8M0FNU = TENON_FLOAT8_E8M0FNU, "f8e8m0fnu";
    /// 4-bit floats up to 6, without infinities and NaN, one per byte, for storage and conversion
    /// only.
    F4E2M1FN = TENON_FLOAT4_E2M1FN, "f4e2m1fn";
}

impl DType {
    /// The size of one element in memory, in bytes.
    ///
    /// ```
    /// assert_eq!(tenon::DType::F16.size(), 2);
    /// assert_eq!(tenon::DType::I4.size(), 1);
    /// ```
    pub fn size(self) -> usize {
        (((self.to_c() >> 8) & 0xff) as usize + 7) / 8
    }
}

impl fmt::Display for DType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that corresponds to an element type.
///
/// ```
/// use tenon::{DType, Element};
///
/// assert_eq!(u8::DTYPE, DType::U8);
/// ```
pub trait Element: Copy + Send + Sync + sealed::Sealed + 'static {
    /// The element type of tensors with elements of this Rust type.
    ///
    /// ```
    /// use tenon::{DType, Element};
    ///
    /// assert_eq!(f64::DTYPE, DType::F64);
    /// ```
    const DTYPE: DType;

    /// The element whose value is zero.
    #[doc(hidden)]
    const ZERO: Self;
}

macro_rules! elements {
    ($($kind:ty: $dtype:ident, $zero:expr;)*) => {
        $(
            impl sealed::Sealed for $kind {}
            impl Element for $kind {
                const DTYPE: DType = DType::$dtype;
                const ZERO: Self = $zero;
            }
        )*
    };
}

elements! {
    bool: Bool, false;
    i8: I8, 0;
    i16: I16, 0;
    i32: I32, 0;
    i64: I64, 0;
    u8: U8, 0;
    u16: U16, 0;
    u32: U32, 0;
    u64: U64, 0;
    F16: F16, F16(0);
    BF16: BF16, BF16(0);
    f32: F32, 0.0;
    f64: F64, 0.0;
}

/// An IEEE binary16 number, as its bits.
///
/// ```
/// use tenon::F16;
///
/// assert_eq!(F16(0x3c00).to_f32(), 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct F16(pub u16);

impl F16 {
    /// Converts to f32 without loss.
    ///
    /// ```
    /// assert_eq!(tenon::F16(0xc000).to_f32(), -2.0);
    /// ```
    pub fn to_f32(self) -> f32 {
        let bits = u32::from(self.0);
        let (sign, exponent, fraction) = ((bits & 0x8000) << 16, (bits >> 10) & 0x1f, bits & 0x3ff);
        match exponent {
            0 => {
                let magnitude = fraction as f32 / 16_777_216.0;
                if sign == 0 {
                    magnitude
                } else {
                    -magnitude
                }
            }
            0x1f => f32::from_bits(sign | 0x7f80_0000 | (fraction << 13)),
            _ => f32::from_bits(sign | ((exponent + 112) << 23) | (fraction << 13)),
        }
    }
}

/// A bfloat16 number, as its bits.
///
/// ```
/// use tenon::BF16;
///
/// assert_eq!(BF16(0x3f80).to_f32(), 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct BF16(pub u16);

impl BF16 {
    /// Converts to f32 without loss.
    ///
    /// ```
    /// assert_eq!(tenon::BF16(0xc000).to_f32(), -2.0);
    /// ```
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}
