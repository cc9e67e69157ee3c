//! Raw declarations of libtenon's C ABI. Use the crate `tenon-runtime` instead, which is safe.
//!
//! `./dev gen` writes the declarations: names, layouts and documentation are those of the C
//! headers. With the feature `dynamic`, no function is linked. All calls use one table of
//! addresses, which is filled when the library is loaded (see [`load`]).
//!
//! ```no_run
//! // SAFETY: reads a static text.
//! let version = unsafe { tenon_sys::tenon_version() };
//! let bytes = unsafe { std::slice::from_raw_parts(version.data.cast::<u8>(), version.size) };
//! println!("{}", String::from_utf8_lossy(bytes));
//! ```
#![allow(
    non_camel_case_types,
    non_upper_case_globals,
    clippy::too_many_arguments
)]
#![warn(missing_debug_implementations)]

use std::marker::{PhantomData, PhantomPinned};

#[macro_use]
mod functions;
#[allow(missing_debug_implementations, clippy::missing_safety_doc)]
#[rustfmt::skip]
mod bindings_gen;
#[cfg(feature = "dynamic")]
mod dynamic;

pub use bindings_gen::*;

/// Prevents handles from being moved, sent or shared: Rust code has only pointers to these types.
type Opaque = PhantomData<(*mut u8, PhantomPinned)>;

/// Packs an element type from its type code, its bits per lane and its number of lanes.
///
/// ```
/// assert_eq!(tenon_sys::TENON_FLOAT32, tenon_sys::dtype(2, 32, 1));
/// ```
pub const fn dtype(code: u32, bits: u32, lanes: u32) -> tenon_dtype {
    code | (bits << 8) | (lanes << 16)
}

pub const TENON_DTYPE_NONE: tenon_dtype = 0;
pub const TENON_BOOL: tenon_dtype = dtype(6, 8, 1);
pub const TENON_INT8: tenon_dtype = dtype(0, 8, 1);
pub const TENON_INT16: tenon_dtype = dtype(0, 16, 1);
pub const TENON_INT32: tenon_dtype = dtype(0, 32, 1);
pub const TENON_INT64: tenon_dtype = dtype(0, 64, 1);
pub const TENON_UINT8: tenon_dtype = dtype(1, 8, 1);
pub const TENON_UINT16: tenon_dtype = dtype(1, 16, 1);
pub const TENON_UINT32: tenon_dtype = dtype(1, 32, 1);
pub const TENON_UINT64: tenon_dtype = dtype(1, 64, 1);
pub const TENON_FLOAT16: tenon_dtype = dtype(2, 16, 1);
pub const TENON_BFLOAT16: tenon_dtype = dtype(4, 16, 1);
pub const TENON_FLOAT32: tenon_dtype = dtype(2, 32, 1);
pub const TENON_FLOAT64: tenon_dtype = dtype(2, 64, 1);
pub const TENON_FLOAT128: tenon_dtype = dtype(2, 128, 1);
pub const TENON_INT4: tenon_dtype = dtype(0, 4, 1);
pub const TENON_UINT4: tenon_dtype = dtype(1, 4, 1);
pub const TENON_INT2: tenon_dtype = dtype(0, 2, 1);
pub const TENON_UINT2: tenon_dtype = dtype(1, 2, 1);
pub const TENON_FLOAT8_E4M3FN: tenon_dtype = dtype(10, 8, 1);
pub const TENON_FLOAT8_E4M3FNUZ: tenon_dtype = dtype(11, 8, 1);
pub const TENON_FLOAT8_E5M2: tenon_dtype = dtype(12, 8, 1);
pub const TENON_FLOAT8_E5M2FNUZ: tenon_dtype = dtype(13, 8, 1);
pub const TENON_FLOAT8_E8M0FNU: tenon_dtype = dtype(14, 8, 1);
pub const TENON_FLOAT4_E2M1FN: tenon_dtype = dtype(17, 4, 1);
pub const TENON_MAX_RANK: usize = 16;
pub const TENON_SIZE_UNKNOWN: i64 = -1;
pub const TENON_DLPACK_READ_ONLY: u64 = 1;
pub const TENON_DLPACK_IS_COPIED: u64 = 2;
pub const TENON_DLPACK_SUBBYTE_PADDED: u64 = 4;

/// Loads libtenon. Does nothing without the feature `dynamic`. After a successful load,
/// later calls have no effect.
///
/// # Errors
/// Lists the files that were tried, and why each could not be loaded.
///
/// ```no_run
/// tenon_sys::load(None).expect("libtenon is installed");
/// ```
pub fn load(path: Option<&std::path::Path>) -> Result<(), String> {
    #[cfg(feature = "dynamic")]
    return dynamic::load(path);
    #[cfg(not(feature = "dynamic"))]
    {
        let _ = path;
        Ok(())
    }
}
