//! Runs callbacks of the C ABI so that no panic crosses the boundary.

use std::any::Any;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

use tenon_sys as sys;

use crate::error::{Code, Error, Result};
use crate::scope::Entered;

/// Runs the body of a C callback in the scope that C passed. Converts an error or a panic to the
/// error that the callback returns.
///
/// # Safety
/// `scope` is live while the body runs, and no other thread uses it meanwhile.
pub(crate) unsafe fn in_callback(
    scope: *mut sys::tenon_scope,
    body: impl FnOnce() -> Result<()>,
) -> *mut sys::tenon_error {
    let _entered = Entered::callback(scope);
    no_panic(body)
}

/// Runs the body of a C callback that has no scope. Converts a panic to an error.
pub(crate) fn no_panic(body: impl FnOnce() -> Result<()>) -> *mut sys::tenon_error {
    let error = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(error)) => error,
        Err(payload) => {
            let error = panic_error(&*payload);
            ignore_panic(|| drop(payload));
            error
        }
    };
    error.into_raw()
}

fn panic_error(payload: &(dyn Any + Send)) -> Error {
    let said = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    Error::new(
        Code::Internal,
        said.map_or_else(
            || "a callback panicked".into(),
            |said| format!("a callback panicked: {said}"),
        ),
    )
}

/// Runs the body of a C callback that cannot return an error. Discards a panic.
pub(crate) fn ignore_panic(body: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        // Dropping a panic payload may itself panic, so leak it.
        std::mem::forget(payload);
    }
}

/// The C destructor of a payload that is a `Box<T>`.
pub(crate) unsafe extern "C" fn drop_payload<T>(payload: *mut c_void) {
    ignore_panic(|| drop(Box::from_raw(payload.cast::<T>())));
}
