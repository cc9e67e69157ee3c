//! Traces: the graphs of a function.

use std::fmt;
use std::ptr;

use tenon_sys as sys;

use crate::error::{check, Result};
use crate::scope::current;
use crate::tensor::Tensor;
use crate::tensors::Inputs;
use crate::text::{view, OwnedText};
use crate::variable::Variable;

shared_handle! {
    /// A graph of a function. `Display` prints its inputs, calls and outputs.
    ///
    /// ```
    /// use tenon::{tensor, Function, Tensor};
    ///
    /// let double = Function::new(|x: Tensor| x * 2);
    /// let trace = double.trace_for(&tensor![1., 2.]?)?;
    /// assert_eq!(trace.call(&tensor![3., 4.]?)?[0].to_vec::<f32>()?, [6., 8.]);
    /// # tenon::Result::Ok(())
    /// ```
    Trace, tenon_trace, tenon_trace_retain, tenon_trace_release
}

impl Trace {
    /// Runs the trace. Fails if the inputs do not match; it never traces again.
    ///
    /// ```
    /// # use tenon::{tensor, Function, Tensor};
    /// # let trace = Function::new(|x: Tensor| x * 2).trace_for(&tensor![1.]?)?;
    /// let outputs = trace.call(&tensor![3.]?)?;
    /// # assert_eq!(outputs[0].item::<f32>()?, 6.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn call(&self, inputs: impl Inputs) -> Result<Vec<Tensor>> {
        let scope = current()?;
        let mut raw = vec![ptr::null_mut(); self.count_outputs()];
        let outputs = &mut raw;
        // SAFETY: the inputs outlive the call, which transfers its outputs to the caller.
        unsafe {
            inputs.lend_inputs(|inputs| {
                check(sys::tenon_trace_call(
                    scope,
                    self.raw(),
                    inputs.as_ptr(),
                    inputs.len(),
                    outputs.as_mut_ptr(),
                    outputs.len(),
                ))
            })??;
            Ok(raw.into_iter().map(|raw| Tensor::adopt(raw)).collect())
        }
    }

    /// The number of inputs.
    ///
    /// ```
    /// # use tenon::{tensor, Function, Tensor};
    /// # let trace = Function::new(|x: Tensor| x * 2).trace_for(&tensor![1.]?)?;
    /// assert_eq!(trace.count_inputs(), 1);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn count_inputs(&self) -> usize {
        // SAFETY: any thread may call the C function.
        unsafe { sys::tenon_trace_count_inputs(self.raw()) }
    }

    /// The number of outputs.
    ///
    /// ```
    /// # use tenon::{tensor, Function, Tensor};
    /// # let trace = Function::new(|x: Tensor| x * 2).trace_for(&tensor![1.]?)?;
    /// assert_eq!(trace.count_outputs(), 1);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn count_outputs(&self) -> usize {
        // SAFETY: any thread may call the C function.
        unsafe { sys::tenon_trace_count_outputs(self.raw()) }
    }

    /// The variables that the trace reads or assigns, in order of first use.
    ///
    /// ```
    /// # use tenon::{tensor, Function, Tensor};
    /// # let trace = Function::new(|x: Tensor| x * 2).trace_for(&tensor![1.]?)?;
    /// assert!(trace.variables().is_empty());
    /// # tenon::Result::Ok(())
    /// ```
    pub fn variables(&self) -> Vec<Variable> {
        // SAFETY: the trace keeps the variables alive; `share` adds a reference to each.
        unsafe {
            (0..sys::tenon_trace_count_variables(self.raw()))
                .map(|index| Variable::share(sys::tenon_trace_variable(self.raw(), index)))
                .collect()
        }
    }

    /// The names of the ops with effects, in program order.
    ///
    /// ```
    /// # use tenon::{tensor, Function, Tensor};
    /// # let trace = Function::new(|x: Tensor| x * 2).trace_for(&tensor![1.]?)?;
    /// assert!(trace.effects().is_empty());
    /// # tenon::Result::Ok(())
    /// ```
    pub fn effects(&self) -> Vec<String> {
        // SAFETY: the names live as long as the trace, and are copied.
        unsafe {
            (0..sys::tenon_trace_count_effects(self.raw()))
                .map(|index| view(sys::tenon_trace_effect(self.raw(), index)).to_owned())
                .collect()
        }
    }

    /// Returns as text what executions have compiled so far: the optimised graph, its segments and
    /// their launch plans. The format may change.
    ///
    /// ```
    /// # use tenon::{tensor, Function, Tensor};
    /// let trace = Function::new(|x: Tensor| x * 2).trace_for(&tensor![1.]?)?;
    /// for _ in 0..2 {
    ///     trace.call(&tensor![3.]?)?;
    /// }
    /// assert!(trace.stages()?.contains("1 launch"));
    /// # tenon::Result::Ok(())
    /// ```
    pub fn stages(&self) -> Result<String> {
        let mut text = OwnedText::empty();
        // SAFETY: the caller owns the string.
        unsafe { check(sys::tenon_trace_stages(self.raw(), &mut text.0))? };
        Ok(text.as_str().to_owned())
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = OwnedText::empty();
        // SAFETY: the caller owns the string.
        match unsafe { check(sys::tenon_trace_text(self.raw(), &mut text.0)) } {
            Ok(()) => out.write_str(text.as_str()),
            Err(error) => write!(out, "<{error}>"),
        }
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "Trace({} inputs, {} outputs)",
            self.count_inputs(),
            self.count_outputs()
        )
    }
}
