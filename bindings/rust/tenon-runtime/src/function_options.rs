//! Options of functions, and the closures that they trace.

use std::os::raw::c_void;
use std::ptr;

use tenon_sys as sys;

use crate::error::{check, Result};
use crate::function::Function;
use crate::panics::{drop_payload, in_callback};
use crate::scope::current;
use crate::spec::{CSpecs, InputSpec};
use crate::statics::{statics_from_c, CStatics, Statics};
use crate::tensors::{borrow_raw, write_outputs, Tensors, MAX_OUTPUTS};
use crate::text::c_text;

type Raw = *mut sys::tenon_tensor;

/// Options of a function.
///
/// ```
/// use tenon::{DType, FunctionOptions, InputSpec, Tensor};
///
/// let rows = FunctionOptions::new()
///     .name("normalise")
///     .signature(&[InputSpec::new(DType::F32, &[None, Some(3)])])
///     .create(|x: Tensor| x.softmax(-1))?;
/// rows.call(&tenon::tensor![[1., 2., 3.]]?)?;
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct FunctionOptions {
    name: String,
    signature: Option<Vec<InputSpec>>,
    defaults: Statics,
    max_traces: u32,
    relax: bool,
    memory_budget: u64,
}

impl Default for FunctionOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl FunctionOptions {
    /// Returns the default options: any inputs, at most 64 traces, sizes become dynamic when they
    /// vary.
    ///
    /// ```
    /// let options = tenon::FunctionOptions::new();
    /// ```
    pub fn new() -> Self {
        Self {
            name: "function".into(),
            signature: None,
            defaults: Statics::new(),
            max_traces: 64,
            relax: true,
            memory_budget: u64::MAX,
        }
    }

    /// Sets the name of the function in messages and profiles.
    ///
    /// ```
    /// let options = tenon::FunctionOptions::new().name("train");
    /// ```
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the inputs that calls may pass.
    ///
    /// ```
    /// use tenon::{DType, FunctionOptions, InputSpec};
    ///
    /// let options = FunctionOptions::new().signature(&[InputSpec::new(DType::F32, &[None])]);
    /// ```
    #[must_use]
    pub fn signature(mut self, specs: &[InputSpec]) -> Self {
        self.signature = Some(specs.to_vec());
        self
    }

    /// Sets the value of a static argument for calls that omit it.
    ///
    /// ```
    /// let options = tenon::FunctionOptions::new().default_static("training", false);
    /// ```
    #[must_use]
    pub fn default_static(
        mut self,
        name: impl Into<String>,
        value: impl Into<crate::Static>,
    ) -> Self {
        self.defaults.insert(name.into(), value.into());
        self
    }

    /// Sets the maximum number of traces. Beyond it, the least recently used trace is evicted.
    ///
    /// ```
    /// let options = tenon::FunctionOptions::new().max_traces(8);
    /// ```
    #[must_use]
    pub fn max_traces(mut self, traces: u32) -> Self {
        self.max_traces = traces;
        self
    }

    /// Sets whether a size becomes dynamic after it has had three different values.
    ///
    /// ```
    /// let options = tenon::FunctionOptions::new().relax(false);
    /// ```
    #[must_use]
    pub fn relax(mut self, relax: bool) -> Self {
        self.relax = relax;
        self
    }

    /// Limits the bytes of residuals that a call under a tape saves. The backward pass recomputes
    /// the other residuals.
    ///
    /// ```
    /// let options = tenon::FunctionOptions::new().memory_budget(1 << 20);
    /// ```
    #[must_use]
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.memory_budget = bytes;
        self
    }

    /// Creates a function from a closure, in the context of the current scope.
    ///
    /// ```
    /// # use tenon::{FunctionOptions, Tensor};
    /// let double = FunctionOptions::new().name("double").create(|x: Tensor| x * 2)?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn create<I, O, F>(&self, body: F) -> Result<Function<I, O>>
    where
        I: Tensors,
        O: Tensors,
        F: Fn(I) -> Result<O> + Send + Sync + 'static,
    {
        self.create_with_statics(move |inputs, _| body(inputs))
    }

    /// Creates a function from a closure that also takes static arguments.
    ///
    /// ```
    /// use tenon::{FunctionOptions, Static, Statics, Tensor};
    ///
    /// let scale = FunctionOptions::new().default_static("by", 2).create_with_statics(
    ///     |x: Tensor, statics: &Statics| match statics["by"] {
    ///         Static::Int(by) => x * by,
    ///         _ => Ok(x),
    ///     },
    /// )?;
    /// assert_eq!(scale.call(&tenon::tensor![1.]?)?.item::<f32>()?, 2.);
    /// let by_5 = Statics::from([("by".to_owned(), Static::Int(5))]);
    /// assert_eq!(scale.call_with(&tenon::tensor![1.]?, &by_5)?.item::<f32>()?, 5.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn create_with_statics<I, O, F>(&self, body: F) -> Result<Function<I, O>>
    where
        I: Tensors,
        O: Tensors,
        F: Fn(I, &Statics) -> Result<O> + Send + Sync + 'static,
    {
        let scope = current()?;
        let specs = self.signature.as_deref().map(CSpecs::new);
        let defaults = CStatics::new(&self.defaults);
        let options = sys::tenon_function_options {
            struct_size: std::mem::size_of::<sys::tenon_function_options>() as u32,
            max_outputs: O::COUNT.unwrap_or(MAX_OUTPUTS) as u32,
            signature: specs.as_ref().map_or(ptr::null(), CSpecs::as_ptr),
            n_signature: specs.as_ref().map_or(0, CSpecs::len),
            defaults: defaults.as_ptr(),
            n_defaults: defaults.len(),
            max_traces: self.max_traces,
            relax: self.relax,
            memory_budget_bytes: self.memory_budget,
        };
        let c_body = sys::tenon_function_body {
            function: Some(run_body::<I, O, F>),
            payload: Box::into_raw(Box::new(body)).cast(),
            destroy: Some(drop_payload::<F>),
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the call copies the options and owns the body, even if it fails.
        unsafe {
            check(sys::tenon_function_create(
                sys::tenon_scope_context(scope),
                c_text(&self.name),
                c_body,
                &options,
                &mut raw,
            ))?;
            Ok(Function::adopt(raw))
        }
    }
}

unsafe extern "C" fn run_body<I: Tensors, O: Tensors, F: Fn(I, &Statics) -> Result<O>>(
    payload: *mut c_void,
    scope: *mut sys::tenon_scope,
    inputs: *const Raw,
    n_inputs: usize,
    statics: *const sys::tenon_static,
    n_statics: usize,
    out_outputs: *mut Raw,
    max_outputs: usize,
) -> *mut sys::tenon_error {
    in_callback(scope, || {
        let body = &*(payload as *const F);
        let inputs = I::share(borrow_raw(inputs, n_inputs))?;
        let outputs = body(inputs, &statics_from_c(statics, n_statics))?;
        write_outputs(outputs, out_outputs, max_outputs).map(drop)
    })
}
