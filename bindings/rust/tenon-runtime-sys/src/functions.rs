//! Defines each function of the generated list: as a declaration to be linked, or, with the feature
//! `dynamic`, as a call through a table of addresses.

#[cfg(not(feature = "dynamic"))]
macro_rules! functions {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        extern "C" {
            $($(#[$meta])* pub fn $name($($argument: $kind),*) $(-> $result)?;)*
        }
    };
}

#[cfg(feature = "dynamic")]
macro_rules! functions {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        /// The addresses of all functions.
        #[allow(missing_debug_implementations)]
        pub(crate) struct Table {
            $($name: unsafe extern "C" fn($($argument: $kind),*) $(-> $result)?,)*
        }

        impl Table {
            /// Finds the address of each function. Fails with the name of the first one that is
            /// missing.
            ///
            /// # Safety
            /// `find` returns the functions of libtenon by name, or NULL.
            pub(crate) unsafe fn fill(
                find: impl Fn(&str) -> *mut c_void,
            ) -> Result<Table, &'static str> {
                Ok(Table {
                    $($name: {
                        let address = find(concat!(stringify!($name), "\0"));
                        if address.is_null() {
                            return Err(stringify!($name));
                        }
                        std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C" fn($($argument: $kind),*) $(-> $result)?,
                        >(address)
                    },)*
                })
            }
        }

        $(
            $(#[$meta])*
            #[inline]
            pub unsafe fn $name($($argument: $kind),*) $(-> $result)? {
                (crate::dynamic::table().$name)($($argument),*)
            }
        )*
    };
}
