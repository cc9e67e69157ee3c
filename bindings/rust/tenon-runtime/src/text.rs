//! Strings that cross the C ABI.

use std::slice;

use tenon_sys as sys;

/// Returns a `tenon_string` that refers to the memory of `text`. It has no NUL at the end.
#[inline]
pub(crate) fn c_text(text: &str) -> sys::tenon_string {
    sys::tenon_string {
        data: text.as_ptr().cast(),
        size: text.len(),
    }
}

/// The bytes of a `tenon_string`; empty if its `data` is NULL.
///
/// # Safety
/// The string is valid for `'a`.
pub(crate) unsafe fn bytes<'a>(text: sys::tenon_string) -> &'a [u8] {
    if text.data.is_null() {
        return &[];
    }
    slice::from_raw_parts(text.data.cast(), text.size)
}

/// The text of a `tenon_string`, which must be UTF-8. Ends before the first invalid byte.
///
/// # Safety
/// The string is valid for `'a`.
pub(crate) unsafe fn view<'a>(text: sys::tenon_string) -> &'a str {
    let bytes = bytes(text);
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8_unchecked(&bytes[..error.valid_up_to()]),
    }
}

/// A `tenon_string` that Rust code owns. Dropping it releases the string.
pub(crate) struct OwnedText(pub(crate) sys::tenon_string);

impl OwnedText {
    pub(crate) const fn empty() -> Self {
        Self(sys::tenon_string {
            data: std::ptr::null(),
            size: 0,
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the string lives until `self` is dropped.
        unsafe { bytes(self.0) }
    }

    pub(crate) fn as_str(&self) -> &str {
        // SAFETY: the string lives until `self` is dropped.
        unsafe { view(self.0) }
    }
}

impl Drop for OwnedText {
    fn drop(&mut self) {
        // SAFETY: this value owns the string, which may be empty.
        unsafe { sys::tenon_string_release(self.0) }
    }
}
