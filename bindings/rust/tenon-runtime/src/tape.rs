//! The gradient tape: records calls and computes gradients.

use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use tenon_sys as sys;

use crate::error::{check, invalid, Result};
use crate::scope::{current_recording, Recording};
use crate::tensor::Tensor;
use crate::variable::{Source, Value};

handle! {
    /// Owns a C tape.
    Owned, tenon_tape, tenon_tape_release
}

/// Records the calls of the current scope that depend on trainable variables or watched values,
/// until dropped.
///
/// ```
/// use tenon::{tensor, Tape, Variable};
///
/// let w = Variable::new(tensor![1., 2., 3.])?;
/// let tape = Tape::new()?;
/// let loss = w.read()?.square()?.sum()?;
/// assert_eq!(tape.gradient(&loss, &w)?.to_vec::<f32>()?, [2., 4., 6.]);
/// # tenon::Result::Ok(())
/// ```
///
/// A tape cannot leave the thread that created it:
///
/// ```compile_fail,E0277
/// fn send<T: Send>(_: T) {}
/// send(tenon::Tape::new().unwrap());
/// ```
///
/// ```compile_fail,E0277
/// fn share<T: Sync>(_: T) {}
/// share(tenon::Tape::new().unwrap());
/// ```
#[must_use = "a tape records until it is dropped"]
pub struct Tape {
    // Must be the first field, so that the tape is dropped before `_mark`: no other thread may
    // enter the scope while the tape exists.
    owned: Owned,
    _mark: Mark,
    scope: *mut sys::tenon_scope,
    one_thread: PhantomData<*mut ()>,
}

/// Keeps a tape registered in the [`Recording`] of its scope.
struct Mark(Option<Arc<Recording>>);

impl Drop for Mark {
    fn drop(&mut self) {
        if let Some(recording) = &self.0 {
            recording.end();
        }
    }
}

/// Options for creating a tape.
///
/// ```
/// let tape = tenon::TapeOptions::new().persistent(true).create()?;
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct TapeOptions {
    persistent: bool,
    watch_trainable: bool,
}

impl Default for TapeOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl TapeOptions {
    /// Returns the default options: the first gradient consumes the tape, and trainable variables
    /// are watched.
    ///
    /// ```
    /// let options = tenon::TapeOptions::new();
    /// ```
    pub fn new() -> Self {
        Self {
            persistent: false,
            watch_trainable: true,
        }
    }

    /// Sets whether the tape can compute gradients more than once.
    ///
    /// ```
    /// let options = tenon::TapeOptions::new().persistent(true);
    /// ```
    #[must_use]
    pub fn persistent(mut self, persistent: bool) -> Self {
        self.persistent = persistent;
        self
    }

    /// Sets whether the tape watches trainable variables when they are read.
    ///
    /// ```
    /// let options = tenon::TapeOptions::new().watch_trainable(false);
    /// ```
    #[must_use]
    pub fn watch_trainable(mut self, watch: bool) -> Self {
        self.watch_trainable = watch;
        self
    }

    /// Creates a tape, which records the current scope from now on.
    ///
    /// ```
    /// let tape = tenon::TapeOptions::new().create()?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn create(&self) -> Result<Tape> {
        let (scope, recording) = current_recording()?;
        let options = sys::tenon_tape_options {
            struct_size: std::mem::size_of::<sys::tenon_tape_options>() as u32,
            persistent: self.persistent,
            watch_trainable: self.watch_trainable,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the options outlive the call, and the scope belongs to this thread.
        let owned = unsafe {
            check(sys::tenon_tape_create(scope, &options, &mut raw))?;
            Owned::adopt(raw)
        };
        if let Some(recording) = &recording {
            recording.begin();
        }
        Ok(Tape {
            owned,
            _mark: Mark(recording),
            scope,
            one_thread: PhantomData,
        })
    }
}

/// Determines the gradient with respect to a source that the targets do not depend on.
///
/// ```
/// use tenon::{tensor, Tape, Unreached, Variable};
///
/// let w = Variable::new(tensor![1.])?;
/// let tape = Tape::new()?;
/// let loss = tensor![2.]?;
/// let found = tape.gradients_of(&[&loss], &[], [&w], Unreached::None)?;
/// assert!(found[0].is_none());
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unreached {
    /// The gradient is zeros with the type of the source.
    Zeros,
    /// The gradient is `None`.
    None,
}

pub(crate) fn gradient_options(unreached: Unreached) -> sys::tenon_gradient_options {
    sys::tenon_gradient_options {
        struct_size: std::mem::size_of::<sys::tenon_gradient_options>() as u32,
        unreached: match unreached {
            Unreached::Zeros => sys::TENON_UNREACHED_ZEROS,
            Unreached::None => sys::TENON_UNREACHED_NULL,
        },
    }
}

/// Takes ownership of tensors that a call returned. NULL becomes `None`.
///
/// # Safety
/// Each handle is NULL or a tensor; the caller owns one reference to it.
pub(crate) unsafe fn adopt_optional(raw: &[*mut sys::tenon_tensor]) -> Vec<Option<Tensor>> {
    raw.iter()
        .map(|&raw| (!raw.is_null()).then(|| Tensor::adopt(raw)))
        .collect()
}

impl Tape {
    /// Creates a tape that records the current scope and watches trainable variables. Its first
    /// gradient consumes it.
    ///
    /// ```
    /// let tape = tenon::Tape::new()?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn new() -> Result<Self> {
        TapeOptions::new().create()
    }

    fn raw(&self) -> *mut sys::tenon_tape {
        self.owned.raw()
    }

    /// Watches a tensor or a variable: later calls that depend on it are recorded.
    ///
    /// ```
    /// let x = tenon::tensor![3.]?;
    /// let tape = tenon::Tape::new()?;
    /// tape.watch(&x)?;
    /// let y = x.square()?;
    /// assert_eq!(tape.gradient(&y, &x)?.item::<f32>()?, 6.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn watch(&self, source: &(impl Source + ?Sized)) -> Result<()> {
        // SAFETY: the tape belongs to this thread; the source is live.
        unsafe { check(sys::tenon_tape_watch(self.raw(), source.as_value())) }
    }

    /// Stops recording until [`Tape::resume`].
    ///
    /// ```
    /// let tape = tenon::Tape::new()?;
    /// tape.pause()?;
    /// assert!(!tape.is_recording());
    /// # tenon::Result::Ok(())
    /// ```
    pub fn pause(&self) -> Result<()> {
        // SAFETY: the tape belongs to this thread.
        unsafe { check(sys::tenon_tape_pause(self.raw())) }
    }

    /// Resumes recording after [`Tape::pause`].
    ///
    /// ```
    /// let tape = tenon::Tape::new()?;
    /// tape.pause()?;
    /// tape.resume()?;
    /// assert!(tape.is_recording());
    /// # tenon::Result::Ok(())
    /// ```
    pub fn resume(&self) -> Result<()> {
        // SAFETY: the tape belongs to this thread.
        unsafe { check(sys::tenon_tape_resume(self.raw())) }
    }

    /// Discards all recorded calls and watched values, and starts to record again.
    ///
    /// ```
    /// let tape = tenon::Tape::new()?;
    /// tape.reset()?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn reset(&self) -> Result<()> {
        // SAFETY: the tape belongs to this thread.
        unsafe { check(sys::tenon_tape_reset(self.raw())) }
    }

    /// Whether the tape is recording.
    ///
    /// ```
    /// assert!(tenon::Tape::new()?.is_recording());
    /// # tenon::Result::Ok(())
    /// ```
    pub fn is_recording(&self) -> bool {
        // SAFETY: the tape belongs to this thread.
        unsafe { sys::tenon_tape_is_recording(self.raw()) }
    }

    /// Returns the watched values: tensors, followed by variables, each in order of watching.
    ///
    /// ```
    /// let tape = tenon::Tape::new()?;
    /// tape.watch(&tenon::tensor![1.]?)?;
    /// assert_eq!(tape.watched()?.len(), 1);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn watched(&self) -> Result<Vec<Value>> {
        // SAFETY: the tape belongs to this thread; the caller owns each value.
        unsafe {
            (0..sys::tenon_tape_count_watched(self.raw()))
                .map(|index| {
                    let mut raw = ptr::null_mut();
                    check(sys::tenon_tape_get_watched(self.raw(), index, &mut raw))?;
                    Ok(Value::adopt(raw))
                })
                .collect()
        }
    }

    /// Returns the gradient of the sum of the target's elements with respect to a source. Consumes
    /// a tape that is not persistent.
    ///
    /// ```
    /// use tenon::{tensor, Tape, Variable};
    ///
    /// let w = Variable::new(tensor![2.])?;
    /// let tape = Tape::new()?;
    /// let y = (&w * 3)?;
    /// assert_eq!(tape.gradient(&y, &w)?.item::<f32>()?, 3.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn gradient(&self, target: &Tensor, source: &(impl Source + ?Sized)) -> Result<Tensor> {
        let source = source.as_value();
        let (target, mut raw) = (target.raw(), ptr::null_mut());
        // SAFETY: the tape and its scope belong to this thread; the other arguments are live.
        unsafe {
            check(sys::tenon_tape_gradient(
                self.scope,
                self.raw(),
                &target,
                1,
                ptr::null(),
                &source,
                1,
                ptr::null(),
                &mut raw,
            ))?;
            Ok(Tensor::adopt(raw))
        }
    }

    /// Returns the gradients of the sum of the target's elements with respect to each source.
    ///
    /// ```
    /// use tenon::{tensor, Tape, Variable};
    ///
    /// let (a, b) = (Variable::new(tensor![2.])?, Variable::new(tensor![5.])?);
    /// let tape = Tape::new()?;
    /// let y = (&a * &b)?;
    /// let gradients = tape.gradients(&y, [&a, &b])?;
    /// assert_eq!(gradients[0].item::<f32>()?, 5.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn gradients<S: Source>(
        &self,
        target: &Tensor,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<Vec<Tensor>> {
        let found = self.gradients_of(&[target], &[], sources, Unreached::Zeros)?;
        Ok(found
            .into_iter()
            .map(|each| each.expect("zeros where nothing is reached"))
            .collect())
    }

    /// Returns the gradients of the sum of all targets' elements, weighted by the cotangents
    /// (default: ones), with respect to each source.
    ///
    /// ```
    /// use tenon::{tensor, Tape, Unreached, Variable};
    ///
    /// let w = Variable::new(tensor![1., 2.])?;
    /// let tape = Tape::new()?;
    /// let y = w.read()?.square()?;
    /// let weights = tensor![10., 1.]?;
    /// let found = tape.gradients_of(&[&y], &[&weights], [&w], Unreached::Zeros)?;
    /// assert_eq!(found[0].as_ref().unwrap().to_vec::<f32>()?, [20., 4.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn gradients_of<S: Source>(
        &self,
        targets: &[&Tensor],
        cotangents: &[&Tensor],
        sources: impl IntoIterator<Item = S>,
        unreached: Unreached,
    ) -> Result<Vec<Option<Tensor>>> {
        if !cotangents.is_empty() && cotangents.len() != targets.len() {
            return Err(invalid(format!(
                "gradients: there are {} cotangents, but {} targets; pass one cotangent for each target",
                cotangents.len(),
                targets.len()
            )));
        }
        let sources: Vec<S> = sources.into_iter().collect();
        let values: Vec<_> = sources.iter().map(Source::as_value).collect();
        let targets: Vec<_> = targets.iter().map(|tensor| tensor.raw()).collect();
        let cotangents: Vec<_> = cotangents.iter().map(|tensor| tensor.raw()).collect();
        let options = gradient_options(unreached);
        let mut raw = vec![ptr::null_mut(); values.len()];
        // SAFETY: the tape and its scope belong to this thread; the other arguments outlive the
        // call.
        unsafe {
            check(sys::tenon_tape_gradient(
                self.scope,
                self.raw(),
                targets.as_ptr(),
                targets.len(),
                if cotangents.is_empty() {
                    ptr::null()
                } else {
                    cotangents.as_ptr()
                },
                values.as_ptr(),
                values.len(),
                &options,
                raw.as_mut_ptr(),
            ))?;
            Ok(adopt_optional(&raw))
        }
    }

    /// Returns the derivatives of all elements of the target with respect to all elements of the
    /// source. The axes of the target precede those of the source.
    ///
    /// ```
    /// let x = tenon::tensor![1., 2.]?;
    /// let tape = tenon::Tape::new()?;
    /// tape.watch(&x)?;
    /// let y = x.square()?;
    /// assert_eq!(tape.jacobian(&y, &x)?.to_vec::<f32>()?, [2., 0., 0., 4.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn jacobian(&self, target: &Tensor, source: &(impl Source + ?Sized)) -> Result<Tensor> {
        let source = source.as_value();
        let mut raw = ptr::null_mut();
        // SAFETY: the tape and its scope belong to this thread; the other arguments outlive the
        // call.
        unsafe {
            check(sys::tenon_tape_jacobian(
                self.scope,
                self.raw(),
                target.raw(),
                &source,
                1,
                ptr::null(),
                &mut raw,
            ))?;
            Ok(Tensor::adopt(raw))
        }
    }
}
