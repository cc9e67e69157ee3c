//! Errors of failed calls.

use std::error;
use std::fmt;

use tenon_sys as sys;

use crate::text::{c_text, view};

/// The result type of this crate.
///
/// ```
/// fn double(x: &tenon::Tensor) -> tenon::Result<tenon::Tensor> {
///     x * 2
/// }
/// # assert_eq!(double(&tenon::tensor![3.]?)?.to_vec::<f32>()?, [6.]);
/// # tenon::Result::Ok(())
/// ```
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an error.
///
/// ```
/// use tenon::{tensor, Code};
///
/// let error = tensor![1., 2.]?.add(tensor![1., 2., 3.]?).unwrap_err();
/// assert_eq!(error.code(), Code::InvalidArgument);
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The call is wrong: a type, a shape, an attribute.
    InvalidArgument,
    /// A value is out of its range, such as an index.
    OutOfRange,
    /// There is no such device, op, file or name.
    NotFound,
    /// The call is valid, but this op, dtype or device does not support it.
    Unimplemented,
    /// Not on this machine, or not now.
    Unavailable,
    /// The device's memory, or its limit, is exhausted.
    OutOfMemory,
    /// The context or the scope was cancelled.
    Cancelled,
    /// The object is in a state that forbids the call, such as a consumed tape.
    FailedPrecondition,
    /// A file is truncated or inconsistent.
    DataLoss,
    /// The device is lost until another context opens it.
    DeviceLost,
    /// A defect of Tenon or of a plugin, or a panic in a callback.
    Internal,
}

impl Code {
    fn from_c(code: sys::tenon_code) -> Self {
        match code {
            sys::TENON_INVALID_ARGUMENT => Self::InvalidArgument,
            sys::TENON_OUT_OF_RANGE => Self::OutOfRange,
            sys::TENON_NOT_FOUND => Self::NotFound,
            sys::TENON_UNIMPLEMENTED => Self::Unimplemented,
            sys::TENON_UNAVAILABLE => Self::Unavailable,
            sys::TENON_OUT_OF_MEMORY => Self::OutOfMemory,
            sys::TENON_CANCELLED => Self::Cancelled,
            sys::TENON_FAILED_PRECONDITION => Self::FailedPrecondition,
            sys::TENON_DATA_LOSS => Self::DataLoss,
            sys::TENON_DEVICE_LOST => Self::DeviceLost,
            _ => Self::Internal,
        }
    }

    fn to_c(self) -> sys::tenon_code {
        match self {
            Self::InvalidArgument => sys::TENON_INVALID_ARGUMENT,
            Self::OutOfRange => sys::TENON_OUT_OF_RANGE,
            Self::NotFound => sys::TENON_NOT_FOUND,
            Self::Unimplemented => sys::TENON_UNIMPLEMENTED,
            Self::Unavailable => sys::TENON_UNAVAILABLE,
            Self::OutOfMemory => sys::TENON_OUT_OF_MEMORY,
            Self::Cancelled => sys::TENON_CANCELLED,
            Self::FailedPrecondition => sys::TENON_FAILED_PRECONDITION,
            Self::DataLoss => sys::TENON_DATA_LOSS,
            Self::DeviceLost => sys::TENON_DEVICE_LOST,
            Self::Internal => sys::TENON_INTERNAL,
        }
    }

    /// The code's name in the C ABI.
    ///
    /// ```
    /// assert_eq!(tenon::Code::OutOfRange.name(), "OUT_OF_RANGE");
    /// ```
    pub fn name(self) -> &'static str {
        // SAFETY: the names are static.
        unsafe { view(sys::tenon_code_name(self.to_c())) }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Why a call failed: a code, a message with the op, the rule and the values, and the error that
/// caused it.
///
/// ```
/// use std::error::Error as _;
///
/// let error = tenon::tensor![[1., 2.], [3., 4.]]?.softmax(2).unwrap_err();
/// assert_eq!(error.op(), Some("softmax"));
/// assert!(error.to_string().starts_with("softmax: "));
/// assert!(error.source().is_none());
/// # tenon::Result::Ok(())
/// ```
pub struct Error(Box<Inner>);

enum Inner {
    /// An error of the C ABI and its cause.
    Native {
        raw: *mut sys::tenon_error,
        cause: Option<Error>,
    },
    /// An error that was created in Rust.
    Local { code: Code, message: String },
}

// SAFETY: a C error does not change, and any thread may call its functions.
unsafe impl Send for Error {}
// SAFETY: as above.
unsafe impl Sync for Error {}

impl Error {
    /// Makes an error, for a callback to return.
    ///
    /// ```
    /// use tenon::{Code, Error};
    ///
    /// let error = Error::new(Code::InvalidArgument, "step: 7 images, and a batch has 8");
    /// assert_eq!(error.code(), Code::InvalidArgument);
    /// ```
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Inner::Local {
            code,
            message: message.into(),
        }))
    }

    /// Takes over a C error.
    ///
    /// # Safety
    /// `raw` is an error of which the caller owns a count.
    #[cold]
    pub(crate) unsafe fn adopt(raw: *mut sys::tenon_error) -> Self {
        let cause = sys::tenon_error_cause(raw);
        let cause = (!cause.is_null()).then(|| Self::share(cause));
        Self(Box::new(Inner::Native { raw, cause }))
    }

    /// # Safety
    /// `raw` is a live error.
    pub(crate) unsafe fn share(raw: *const sys::tenon_error) -> Self {
        sys::tenon_error_retain(raw as *mut _);
        Self::adopt(raw as *mut _)
    }

    /// A C error of which the caller owns a count.
    pub(crate) fn into_raw(self) -> *mut sys::tenon_error {
        match &*self.0 {
            Inner::Native { raw, .. } => {
                // SAFETY: the error lives as long as `self`.
                unsafe { sys::tenon_error_retain(*raw) };
                *raw
            }
            // SAFETY: the message is copied.
            Inner::Local { code, message } => unsafe {
                sys::tenon_error_create(code.to_c(), c_text(message))
            },
        }
    }

    /// The kind of the error.
    ///
    /// ```
    /// # use tenon::{Code, Error};
    /// assert_eq!(Error::new(Code::NotFound, "no such file").code(), Code::NotFound);
    /// ```
    pub fn code(&self) -> Code {
        match &*self.0 {
            // SAFETY: the error is live.
            Inner::Native { raw, .. } => Code::from_c(unsafe { sys::tenon_error_code(*raw) }),
            Inner::Local { code, .. } => *code,
        }
    }

    /// The op, the rule and the values: `"gather: C2: index 7 is outside [-3, 3)"`.
    ///
    /// ```
    /// # use tenon::{Code, Error};
    /// assert_eq!(Error::new(Code::NotFound, "no such file").message(), "no such file");
    /// ```
    pub fn message(&self) -> &str {
        match &*self.0 {
            Inner::Native { raw, .. } => self.text(*raw, sys::tenon_error_message),
            Inner::Local { message, .. } => message,
        }
    }

    /// The name of the op that failed.
    ///
    /// ```
    /// let error = tenon::tensor![1, 2]?.sqrt().unwrap_err();
    /// assert_eq!(error.op(), Some("sqrt"));
    /// # tenon::Result::Ok(())
    /// ```
    pub fn op(&self) -> Option<&str> {
        self.field(sys::tenon_error_op)
    }

    /// The name of the parameter at fault.
    ///
    /// ```
    /// # use tenon::{Code, Error};
    /// assert_eq!(Error::new(Code::NotFound, "no such file").argument(), None);
    /// ```
    pub fn argument(&self) -> Option<&str> {
        self.field(sys::tenon_error_argument)
    }

    /// The name of the device of the call, such as `"cpu:0"`.
    ///
    /// ```
    /// # use tenon::{Code, Error};
    /// assert_eq!(Error::new(Code::NotFound, "no such file").device(), None);
    /// ```
    pub fn device(&self) -> Option<&str> {
        self.field(sys::tenon_error_device)
    }

    /// The source line that [`Scope::set_location`](crate::Scope::set_location) set.
    ///
    /// ```
    /// tenon::Scope::with_current(|scope| scope.set_location("train.rs:12"))?;
    /// let error = tenon::tensor![1, 2]?.sqrt().unwrap_err();
    /// assert_eq!(error.location(), Some("train.rs:12"));
    /// # tenon::Result::Ok(())
    /// ```
    pub fn location(&self) -> Option<&str> {
        self.field(sys::tenon_error_location)
    }

    fn field(&self, get: Getter) -> Option<&str> {
        match &*self.0 {
            Inner::Native { raw, .. } => {
                let text = self.text(*raw, get);
                (!text.is_empty()).then_some(text)
            }
            Inner::Local { .. } => None,
        }
    }

    fn text(&self, raw: *mut sys::tenon_error, get: Getter) -> &str {
        // SAFETY: the error is live, and its texts live as long.
        unsafe { view(get(raw)) }
    }
}

#[cfg(not(feature = "dynamic"))]
type Getter = unsafe extern "C" fn(*const sys::tenon_error) -> sys::tenon_string;
#[cfg(feature = "dynamic")]
type Getter = unsafe fn(*const sys::tenon_error) -> sys::tenon_string;

impl Drop for Inner {
    fn drop(&mut self) {
        if let Inner::Native { raw, .. } = self {
            // SAFETY: the handle owns one count, which ends here.
            unsafe { sys::tenon_error_release(*raw) }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.message())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = out.debug_struct("Error");
        fields
            .field("code", &self.code())
            .field("message", &self.message());
        for (name, value) in [
            ("op", self.op()),
            ("argument", self.argument()),
            ("device", self.device()),
        ] {
            if let Some(value) = value {
                fields.field(name, &value);
            }
        }
        if let Some(cause) = error::Error::source(self) {
            fields.field("source", &cause);
        }
        fields.finish()
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &*self.0 {
            Inner::Native { cause, .. } => cause.as_ref().map(|cause| cause as _),
            Inner::Local { .. } => None,
        }
    }
}

/// Turns what a C call returned into a result.
///
/// # Safety
/// `raw` is NULL, or an error of which the caller owns a count.
#[inline(always)]
pub(crate) unsafe fn check(raw: *mut sys::tenon_error) -> Result<()> {
    if raw.is_null() {
        Ok(())
    } else {
        Err(Error::adopt(raw))
    }
}

pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidArgument, message)
}
