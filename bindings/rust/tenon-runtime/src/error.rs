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
    /// An argument is invalid: its type, its shape, or an attribute.
    InvalidArgument,
    /// A value is out of range, such as an index.
    OutOfRange,
    /// There is no device, op, file or argument of this name.
    NotFound,
    /// The call is valid, but this op, dtype or device does not support it.
    Unimplemented,
    /// The device or file is not available on this machine, or not at this time.
    Unavailable,
    /// The memory of the device, or its configured limit, is exhausted.
    OutOfMemory,
    /// The context or the scope was cancelled.
    Cancelled,
    /// The state of an object forbids the call; for example, a tape is already consumed.
    FailedPrecondition,
    /// A file is truncated or inconsistent.
    DataLoss,
    /// The device is lost. It works again in a new context.
    DeviceLost,
    /// A bug in Tenon or in a plugin, or a panic in a callback.
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

/// Why a call failed: a code, a message with the op, the rule and the values, and optionally the
/// error that caused it.
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
    /// An error of the C ABI, and its cause.
    Native {
        raw: *mut sys::tenon_error,
        cause: Option<Error>,
    },
    /// An error that was created in Rust.
    Local { code: Code, message: String },
}

// SAFETY: a C error does not change, and any thread may call its functions.
unsafe impl Send for Error {}
// SAFETY: a C error does not change, and any thread may call its functions.
unsafe impl Sync for Error {}

impl Error {
    /// Creates an error that a callback can return.
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

    /// Takes ownership of a C error.
    ///
    /// # Safety
    /// `raw` is an error; the caller owns one reference to it.
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

    /// Returns a C error. The caller owns one reference to it.
    pub(crate) fn into_raw(self) -> *mut sys::tenon_error {
        match &*self.0 {
            Inner::Native { raw, .. } => {
                // SAFETY: `self` keeps the error alive.
                unsafe { sys::tenon_error_retain(*raw) };
                *raw
            }
            // SAFETY: the call copies the message.
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

    /// The message, with the op, the rule and the values:
    /// `"gather: C2: index 7 is outside [-3, 3)"`.
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

    /// The name of the op that failed, if any.
    ///
    /// ```
    /// let error = tenon::tensor![1, 2]?.sqrt().unwrap_err();
    /// assert_eq!(error.op(), Some("sqrt"));
    /// # tenon::Result::Ok(())
    /// ```
    pub fn op(&self) -> Option<&str> {
        self.field(sys::tenon_error_op)
    }

    /// The name of the invalid argument, if any.
    ///
    /// ```
    /// # use tenon::{Code, Error};
    /// assert_eq!(Error::new(Code::NotFound, "no such file").argument(), None);
    /// ```
    pub fn argument(&self) -> Option<&str> {
        self.field(sys::tenon_error_argument)
    }

    /// The name of the device of the call, such as `"cpu:0"`, if any.
    ///
    /// ```
    /// # use tenon::{Code, Error};
    /// assert_eq!(Error::new(Code::NotFound, "no such file").device(), None);
    /// ```
    pub fn device(&self) -> Option<&str> {
        self.field(sys::tenon_error_device)
    }

    /// The location of the call, if [`Scope::set_location`](crate::Scope::set_location) set one.
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
        // SAFETY: the error keeps its strings alive.
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
            // SAFETY: this handle owns one reference, and releases it once.
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

/// Converts the return value of a C call to a result.
///
/// # Safety
/// `raw` is NULL, or an error; the caller owns one reference to it.
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
