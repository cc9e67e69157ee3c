//! Owners of the C ABI's counted objects.

/// Defines a type that owns one count of an object and releases it when it is dropped.
macro_rules! handle {
    ($(#[$meta:meta])* $name:ident, $raw:ident, $release:ident) => {
        $(#[$meta])*
        pub struct $name {
            raw: std::ptr::NonNull<tenon_sys::$raw>,
        }

        impl $name {
            /// Takes ownership of the caller's object.
            ///
            /// # Safety
            /// `raw` is an object of this kind of which the caller owns a count.
            #[inline]
            #[allow(dead_code)]
            pub(crate) unsafe fn adopt(raw: *mut tenon_sys::$raw) -> Self {
                debug_assert!(!raw.is_null());
                Self { raw: std::ptr::NonNull::new_unchecked(raw) }
            }

            #[inline]
            #[allow(dead_code)]
            pub(crate) fn raw(&self) -> *mut tenon_sys::$raw {
                self.raw.as_ptr()
            }
        }

        impl Drop for $name {
            #[inline]
            fn drop(&mut self) {
                // SAFETY: the handle owns one count, which ends here.
                unsafe { tenon_sys::$release(self.raw()) }
            }
        }
    };
}

/// A handle that any thread may use and share: the headers mark its object `TENON_THREADS(any)`.
macro_rules! shared_handle {
    ($(#[$meta:meta])* $name:ident, $raw:ident, $retain:ident, $release:ident) => {
        handle!($(#[$meta])* $name, $raw, $release);

        // SAFETY: the C ABI allows each of its functions from any thread, several at once too.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl $name {
            /// Adds an owner to an object that is owned elsewhere.
            ///
            /// # Safety
            /// `raw` is a live object of this kind.
            #[inline]
            #[allow(dead_code)]
            pub(crate) unsafe fn share(raw: *mut tenon_sys::$raw) -> Self {
                tenon_sys::$retain(raw);
                Self::adopt(raw)
            }
        }

        impl Clone for $name {
            #[inline]
            fn clone(&self) -> Self {
                // SAFETY: the object lives as long as `self`.
                unsafe { Self::share(self.raw()) }
            }
        }
    };
}
