//! Handles of the C ABI's reference-counted objects.

/// Defines a type that owns one reference to a C object and releases it when dropped.
macro_rules! handle {
    ($(#[$meta:meta])* $name:ident, $raw:ident, $release:ident) => {
        $(#[$meta])*
        pub struct $name {
            raw: std::ptr::NonNull<tenon_sys::$raw>,
        }

        impl $name {
            /// Takes ownership of one reference.
            ///
            /// # Safety
            /// `raw` is an object of this kind; the caller owns one reference to it.
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
                // SAFETY: this handle owns one reference, and releases it once.
                unsafe { tenon_sys::$release(self.raw()) }
            }
        }
    };
}

/// Defines a handle that is `Send` and `Sync`: the headers mark its object `TENON_THREADS(any)`.
macro_rules! shared_handle {
    ($(#[$meta:meta])* $name:ident, $raw:ident, $retain:ident, $release:ident) => {
        handle!($(#[$meta])* $name, $raw, $release);

        // SAFETY: any thread may call each C function of the object, also concurrently.
        unsafe impl Send for $name {}
        // SAFETY: any thread may call each C function of the object, also concurrently.
        unsafe impl Sync for $name {}

        impl $name {
            /// Adds a reference to an object that has another owner.
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
                // SAFETY: `self` keeps the object alive.
                unsafe { Self::share(self.raw()) }
            }
        }
    };
}
