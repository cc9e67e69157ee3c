//! Futures that run in a scope, and waiting without blocking a thread.

use std::future::Future;
use std::os::raw::c_void;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Waker};

use tenon_sys as sys;

use crate::dtype::Element;
use crate::error::{check, invalid, Error, Result};
use crate::panics::ignore_panic;
use crate::scope::{current, Scope};
use crate::tensor::Tensor;

/// A future that runs in a scope, on whichever thread polls it. Created by [`Scope::attach`].
///
/// ```
/// # use tenon::{Attached, Context, Scope};
/// let attached: Attached<_> = Scope::new(Context::shared()?)?.attach(async { 1 });
/// # drop(attached);
/// # tenon::Result::Ok(())
/// ```
#[must_use = "a future does nothing until it is polled"]
pub struct Attached<F> {
    scope: Scope,
    // Boxed, so that `Attached` needs no pin projection.
    future: Pin<Box<F>>,
}

impl Scope {
    /// Returns a future that runs `future` in this scope. Each poll enters the scope, so the task
    /// may move between threads.
    ///
    /// ```
    /// use tenon::{tensor, Context, Scope};
    ///
    /// # fn block_on<F: std::future::Future>(future: F) -> F::Output {
    /// #     use std::task::{Context, Poll, Wake};
    /// #     struct Unpark(std::thread::Thread);
    /// #     impl Wake for Unpark {
    /// #         fn wake(self: std::sync::Arc<Self>) { self.0.unpark() }
    /// #     }
    /// #     let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
    /// #     let mut future = Box::pin(future);
    /// #     loop {
    /// #         match future.as_mut().poll(&mut Context::from_waker(&waker)) {
    /// #             Poll::Ready(output) => return output,
    /// #             Poll::Pending => std::thread::park(),
    /// #         }
    /// #     }
    /// # }
    /// let task = Scope::new(Context::shared()?)?.attach(async {
    ///     let y = (tensor![1., 2.]? * 2)?;
    ///     y.read_async::<f32>()?.await
    /// });
    /// assert_eq!(block_on(task)?, [2., 4.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn attach<F: Future>(self, future: F) -> Attached<F> {
        Attached {
            scope: self,
            future: Box::pin(future),
        }
    }

    /// Returns a future that completes when all work that was started in the scope has finished.
    ///
    /// ```
    /// let waiting = tenon::Scope::with_current(|scope| scope.wait_async())?;
    /// # drop(waiting);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn wait_async(&self) -> Result<Waiting> {
        let state = Arc::new(Mutex::new(State {
            result: None,
            waker: None,
        }));
        // SAFETY: the scope belongs to this thread; the call owns the callback, even if it fails.
        unsafe {
            check(sys::tenon_scope_wait_async(
                self.raw(),
                callback(&state, ()),
            ))?
        };
        Ok(Waiting { state })
    }
}

impl<F: Future> Future for Attached<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let _entered = this.scope.enter();
        this.future.as_mut().poll(task)
    }
}

/// Shared by a future and its C callback: the result, and the waker of the task that polls.
struct State<T> {
    result: Option<Result<T>>,
    waker: Option<Waker>,
}

/// The payload of a C callback: the shared state, and the value that the future returns on success.
struct Payload<T> {
    state: Arc<Mutex<State<T>>>,
    value: Option<T>,
}

fn callback<T>(state: &Arc<Mutex<State<T>>>, value: T) -> sys::tenon_done_callback {
    sys::tenon_done_callback {
        function: Some(done::<T>),
        payload: Box::into_raw(Box::new(Payload {
            state: state.clone(),
            value: Some(value),
        }))
        .cast(),
        destroy: Some(crate::panics::drop_payload::<Payload<T>>),
    }
}

unsafe extern "C" fn done<T>(payload: *mut c_void, error: *const sys::tenon_error) {
    ignore_panic(|| {
        let payload = &mut *payload.cast::<Payload<T>>();
        let result = if error.is_null() {
            payload
                .value
                .take()
                .ok_or_else(|| invalid("a callback ran twice"))
        } else {
            Err(Error::share(error))
        };
        let mut state = lock(&payload.state);
        state.result = Some(result);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    });
}

fn lock<T>(state: &Mutex<State<T>>) -> std::sync::MutexGuard<'_, State<T>> {
    state.lock().unwrap_or_else(|broken| broken.into_inner())
}

fn poll<T>(state: &Mutex<State<T>>, task: &mut TaskContext<'_>) -> Poll<Result<T>> {
    let mut state = lock(state);
    match state.result.take() {
        Some(result) => Poll::Ready(result),
        None => {
            state.waker = Some(task.waker().clone());
            Poll::Pending
        }
    }
}

/// A future that completes when the work of a scope has finished. Created by [`Scope::wait_async`].
///
/// ```
/// let waiting: tenon::Waiting = tenon::Scope::with_current(|scope| scope.wait_async())?;
/// # drop(waiting);
/// # tenon::Result::Ok(())
/// ```
#[must_use = "a future does nothing until it is polled"]
pub struct Waiting {
    state: Arc<Mutex<State<()>>>,
}

impl Future for Waiting {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        poll(&self.state, task)
    }
}

/// A future that completes with the elements of a tensor. Created by [`Tensor::read_async`].
///
/// ```
/// let reading: tenon::Reading<f32> = tenon::tensor![1.]?.read_async()?;
/// # drop(reading);
/// # tenon::Result::Ok(())
/// ```
#[must_use = "a future does nothing until it is polled"]
pub struct Reading<T> {
    state: Arc<Mutex<State<Vec<T>>>>,
}

impl<T> Future for Reading<T> {
    type Output = Result<Vec<T>>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        poll(&self.state, task)
    }
}

impl Tensor {
    /// Returns a future that completes with a copy of all elements, row-major. See
    /// [`Scope::attach`].
    ///
    /// ```
    /// let reading = tenon::tensor![1., 2.]?.read_async::<f32>()?;
    /// # drop(reading);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn read_async<T: Element>(&self) -> Result<Reading<T>> {
        if self.dtype() != T::DTYPE {
            return Err(invalid(format!(
                "read_async: the elements are {}, not {}; use cast",
                self.dtype(),
                T::DTYPE
            )));
        }
        let scope = current()?;
        let mut elements = vec![T::ZERO; self.count()?];
        let (data, size) = (
            elements.as_mut_ptr(),
            std::mem::size_of_val(elements.as_slice()),
        );
        let state = Arc::new(Mutex::new(State {
            result: None,
            waker: None,
        }));
        // SAFETY: the payload owns the vector, whose memory does not move, and lives until the
        // callback has run.
        unsafe {
            check(sys::tenon_tensor_read_async(
                scope,
                self.raw(),
                data.cast(),
                size,
                callback(&state, elements),
            ))?;
        }
        Ok(Reading { state })
    }
}
