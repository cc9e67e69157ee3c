//! Scopes, in which calls run. Each thread has a current scope.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use tenon_sys as sys;

use crate::context::Context;
use crate::device::Device;
use crate::error::{check, Code, Error, Result};
use crate::text::c_text;

handle! {
    /// Owns a reference to a C scope. A scope can be sent to another thread, but not shared.
    Owned, tenon_scope, tenon_scope_release
}

// SAFETY: any thread may use a scope, one thread at a time.
unsafe impl Send for Owned {}

/// Number of tapes that record a scope, and the thread that created them.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    tapes: AtomicUsize,
    thread: AtomicUsize,
}

impl Recording {
    pub(crate) fn begin(&self) {
        self.thread.store(thread_mark(), Ordering::Relaxed);
        self.tapes.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn end(&self) {
        self.tapes.fetch_sub(1, Ordering::Release);
    }

    /// Panics if a tape of another thread records the scope: that thread may drop the tape at any
    /// time.
    fn assert_no_foreign_tape(&self) {
        assert!(
            self.tapes.load(Ordering::Acquire) == 0
                || self.thread.load(Ordering::Relaxed) == thread_mark(),
            "scope: a tape of another thread records this scope"
        );
    }
}

/// Identifies a thread: no two live threads have the same number.
fn thread_mark() -> usize {
    thread_local!(static MARK: u8 = const { 0 });
    MARK.with(|mark| mark as *const u8 as usize)
}

/// Where calls run: the current device and the active tapes. A thread that creates no scope gets
/// one in the shared context.
///
/// Scopes can move between threads, but only one thread can use a scope at a time. They are
/// [`Send`] but not [`Sync`]:
///
/// ```
/// let scope = tenon::Scope::new(tenon::Context::shared()?)?;
/// std::thread::spawn(move || scope.run(|| tenon::tensor![1., 2.]?.sum())).join().unwrap()?;
/// # tenon::Result::Ok(())
/// ```
///
/// ```compile_fail,E0277
/// fn share<T: Sync>(_: T) {}
/// share(tenon::Scope::new(tenon::Context::shared().unwrap()).unwrap());
/// ```
pub struct Scope {
    owned: Owned,
    recording: Arc<Recording>,
    one_thread: PhantomData<Cell<()>>,
}

#[derive(Clone, Copy)]
struct Current {
    recording: *const Recording,
}

thread_local! {
    // Plain pointers, so that access needs no initialisation check.
    static CURRENT: Cell<*mut sys::tenon_scope> = const { Cell::new(ptr::null_mut()) };
    static CURRENT_RECORDING: Cell<Current> =
        const { Cell::new(Current { recording: ptr::null() }) };
    static OWN: OwnScope = OwnScope(Context::shared().and_then(Scope::new));
}

/// The default scope of a thread. It lives until the thread ends.
struct OwnScope(Result<Scope>);

impl Drop for OwnScope {
    fn drop(&mut self) {
        if let Ok(own) = &self.0 {
            let _ = CURRENT.try_with(|current| {
                if current.get() == own.owned.raw() {
                    current.set(ptr::null_mut());
                }
            });
        }
    }
}

/// Returns the current scope of the thread.
#[inline(always)]
pub(crate) fn current() -> Result<*mut sys::tenon_scope> {
    let scope = CURRENT.with(Cell::get);
    if scope.is_null() {
        return use_own_scope();
    }
    Ok(scope)
}

/// Returns whether the current scope traces a function.
pub(crate) fn is_tracing() -> Result<bool> {
    // SAFETY: the current scope belongs to this thread.
    Ok(unsafe { sys::tenon_scope_is_tracing(current()?) })
}

#[cold]
fn use_own_scope() -> Result<*mut sys::tenon_scope> {
    OWN.try_with(|own| {
        let own = own
            .0
            .as_ref()
            .map_err(|error| Error::new(error.code(), error.message()))?;
        CURRENT.with(|current| current.set(own.owned.raw()));
        CURRENT_RECORDING.with(|current| current.set(own.current()));
        Ok(own.owned.raw())
    })
    .unwrap_or_else(|_| {
        Err(Error::new(
            Code::FailedPrecondition,
            "scope: the thread is exiting, and its scope is already destroyed",
        ))
    })
}

/// Returns the current scope and the record of its tapes. The record is `None` in a callback whose
/// scope was not created in Rust.
pub(crate) fn current_recording() -> Result<(*mut sys::tenon_scope, Option<Arc<Recording>>)> {
    let scope = current()?;
    let recording = CURRENT_RECORDING.with(Cell::get).recording;
    if recording.is_null() {
        return Ok((scope, None));
    }
    // SAFETY: the current scope keeps its record alive. The reference that is added here belongs to
    // the caller.
    let recording = unsafe {
        Arc::increment_strong_count(recording);
        Arc::from_raw(recording)
    };
    Ok((scope, Some(recording)))
}

/// Makes a scope the current one of this thread until dropped.
pub(crate) struct Entered {
    before: *mut sys::tenon_scope,
    before_recording: Current,
    // Makes this type neither `Send` nor `Sync`: it must be dropped on the thread that created it.
    one_thread: PhantomData<*mut ()>,
}

impl Entered {
    fn new(scope: *mut sys::tenon_scope, recording: Current) -> Self {
        Self {
            before: CURRENT.with(|current| current.replace(scope)),
            before_recording: CURRENT_RECORDING.with(|current| current.replace(recording)),
            one_thread: PhantomData,
        }
    }

    /// Enters the scope that a callback received. It is the scope of the outer call, or a scope
    /// that Tenon created.
    pub(crate) fn callback(scope: *mut sys::tenon_scope) -> Self {
        let recording = if CURRENT.with(Cell::get) == scope {
            CURRENT_RECORDING.with(Cell::get)
        } else {
            Current {
                recording: ptr::null(),
            }
        };
        Self::new(scope, recording)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.before));
        CURRENT_RECORDING.with(|current| current.set(self.before_recording));
    }
}

/// Keeps a scope current on this thread. Created by [`Scope::enter`].
///
/// ```
/// let scope = tenon::Scope::new(tenon::Context::shared()?)?;
/// let entered: tenon::ScopeGuard<'_> = scope.enter();
/// let y = tenon::tensor![1., 2.]?.sum()?;
/// drop(entered);
/// # tenon::Result::Ok(())
/// ```
#[must_use = "the scope is current until the guard is dropped"]
pub struct ScopeGuard<'a> {
    #[allow(dead_code)]
    entered: Entered,
    scope: PhantomData<&'a Scope>,
}

impl Scope {
    /// Creates a scope on the CPU device, which is opened on first use.
    ///
    /// ```
    /// let scope = tenon::Scope::new(tenon::Context::shared()?)?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn new(context: &Context) -> Result<Self> {
        Self::on(context, "")
    }

    /// Creates a scope on the device with this name.
    ///
    /// ```
    /// let scope = tenon::Scope::on(tenon::Context::shared()?, "cpu:0")?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn on(context: &Context, device: &str) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the name is borrowed until the call returns.
        unsafe {
            check(sys::tenon_scope_create(
                context.raw(),
                c_text(device),
                &mut raw,
            ))?;
            Ok(Self {
                owned: Owned::adopt(raw),
                recording: Arc::default(),
                one_thread: PhantomData,
            })
        }
    }

    fn current(&self) -> Current {
        Current {
            recording: Arc::as_ptr(&self.recording),
        }
    }

    /// Makes the scope the thread's current one until the guard is dropped. Guards must be dropped
    /// in the reverse order of their creation.
    ///
    /// # Panics
    /// If a tape of another thread records the scope.
    ///
    /// ```
    /// let scope = tenon::Scope::new(tenon::Context::shared()?)?;
    /// let _entered = scope.enter();
    /// let y = tenon::tensor![1., 2.]? * 2;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn enter(&self) -> ScopeGuard<'_> {
        self.recording.assert_no_foreign_tape();
        ScopeGuard {
            entered: Entered::new(self.owned.raw(), self.current()),
            scope: PhantomData,
        }
    }

    /// Runs `code` with this scope as the current one.
    ///
    /// # Panics
    /// If a tape of another thread records the scope.
    ///
    /// ```
    /// let scope = tenon::Scope::new(tenon::Context::shared()?)?;
    /// let y = scope.run(|| tenon::tensor![1., 2.]? * 2)?;
    /// # assert_eq!(y.to_vec::<f32>()?, [2., 4.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn run<T>(&self, code: impl FnOnce() -> T) -> T {
        let _entered = self.enter();
        code()
    }

    /// Runs `code` with the thread's current scope as its argument.
    ///
    /// ```
    /// let device = tenon::Scope::with_current(|scope| scope.device())?;
    /// # assert_eq!(device.name(), "cpu:0");
    /// # tenon::Result::Ok(())
    /// ```
    pub fn with_current<T>(code: impl FnOnce(&Scope) -> Result<T>) -> Result<T> {
        let (raw, recording) = current_recording()?;
        // SAFETY: the current scope is live; `scope` owns the reference that is added here.
        let scope = unsafe {
            sys::tenon_scope_retain(raw);
            Scope {
                owned: Owned::adopt(raw),
                recording: recording.unwrap_or_default(),
                one_thread: PhantomData,
            }
        };
        code(&scope)
    }

    /// The current device: it holds new tensors and runs calls without tensors.
    ///
    /// ```
    /// let scope = tenon::Scope::on(tenon::Context::shared()?, "cpu")?;
    /// assert_eq!(scope.device()?.name(), "cpu:0");
    /// # tenon::Result::Ok(())
    /// ```
    pub fn device(&self) -> Result<Device> {
        let mut raw = ptr::null_mut();
        // SAFETY: only this thread uses the scope, because `Scope` is not `Sync`.
        unsafe {
            check(sys::tenon_scope_get_device(self.owned.raw(), &mut raw))?;
            Ok(Device::adopt(raw))
        }
    }

    /// Sets the current device, for later calls.
    ///
    /// ```
    /// let scope = tenon::Scope::new(tenon::Context::shared()?)?;
    /// scope.set_device("best")?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn set_device(&self, name: &str) -> Result<()> {
        // SAFETY: only this thread uses the scope; the name is borrowed until the call returns.
        unsafe { check(sys::tenon_scope_set_device(self.owned.raw(), c_text(name))) }
    }

    /// Sets the source location that [`Error::location`](crate::Error::location) reports for later
    /// calls.
    ///
    /// ```
    /// let scope = tenon::Scope::new(tenon::Context::shared()?)?;
    /// scope.set_location("train.rs:12")?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn set_location(&self, location: &str) -> Result<()> {
        // SAFETY: only this thread uses the scope; the call copies the text.
        unsafe {
            check(sys::tenon_scope_set_location(
                self.owned.raw(),
                c_text(location),
            ))
        }
    }

    /// Waits until all work that was started in the scope has finished.
    ///
    /// ```
    /// tenon::Scope::with_current(|scope| scope.wait())?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn wait(&self) -> Result<()> {
        // SAFETY: only this thread uses the scope, because `Scope` is not `Sync`.
        unsafe { check(sys::tenon_scope_wait(self.owned.raw())) }
    }

    /// Whether the scope records calls into a trace, as inside a function's closure.
    ///
    /// ```
    /// assert!(!tenon::Scope::with_current(|scope| Ok(scope.is_tracing()))?);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn is_tracing(&self) -> bool {
        // SAFETY: only this thread uses the scope, because `Scope` is not `Sync`.
        unsafe { sys::tenon_scope_is_tracing(self.owned.raw()) }
    }

    /// Returns a handle that lets another thread cancel the scope's calls.
    ///
    /// ```
    /// let scope = tenon::Scope::new(tenon::Context::shared()?)?;
    /// let cancel = scope.canceller();
    /// std::thread::spawn(move || cancel.cancel()).join().unwrap();
    /// # tenon::Result::Ok(())
    /// ```
    pub fn canceller(&self) -> Canceller {
        // SAFETY: the scope is live.
        unsafe { Canceller::share(self.owned.raw()) }
    }

    pub(crate) fn raw(&self) -> *mut sys::tenon_scope {
        self.owned.raw()
    }
}

shared_handle! {
    /// Cancels the calls of a scope from any thread. Created by [`Scope::canceller`].
    ///
    /// ```
    /// let scope = tenon::Scope::new(tenon::Context::shared()?)?;
    /// let cancel: tenon::Canceller = scope.canceller();
    /// # drop(cancel);
    /// # tenon::Result::Ok(())
    /// ```
    Canceller, tenon_scope, tenon_scope_retain, tenon_scope_release
}

impl Canceller {
    /// Cancels the calls in progress: they return [`Code::Cancelled`](crate::Code::Cancelled) at
    /// their next check. Later calls are not affected.
    ///
    /// ```
    /// tenon::Scope::with_current(|scope| Ok(scope.canceller()))?.cancel();
    /// # tenon::Result::Ok(())
    /// ```
    pub fn cancel(&self) {
        // SAFETY: any thread may cancel a scope.
        unsafe { sys::tenon_scope_cancel(self.raw()) }
    }
}

/// Runs `code` with the named device as the current device.
///
/// ```
/// let x = tenon::with_device("cpu:0", || tenon::tensor![1., 2.])?;
/// # assert_eq!(x.device(), Some("cpu:0"));
/// # tenon::Result::Ok(())
/// ```
pub fn with_device<T>(name: &str, code: impl FnOnce() -> Result<T>) -> Result<T> {
    struct Restore(*mut sys::tenon_scope, Device);
    impl Drop for Restore {
        fn drop(&mut self) {
            // SAFETY: the scope belongs to this thread. An open device stays open, so restoring it
            // does not fail.
            unsafe {
                let error = sys::tenon_scope_set_device(self.0, c_text(self.1.name()));
                sys::tenon_error_release(error);
            }
        }
    }
    Scope::with_current(|scope| {
        let _restore = Restore(scope.raw(), scope.device()?);
        scope.set_device(name)?;
        code()
    })
}
