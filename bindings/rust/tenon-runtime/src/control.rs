//! Branches and loops that depend on tensor values, eagerly and inside functions.

use std::os::raw::c_void;
use std::ptr;

use tenon_sys as sys;

use crate::error::{invalid, Result};
use crate::operand::Operand;
use crate::panics::in_callback;
use crate::scope::current;
use crate::tensor::Tensor;
use crate::tensors::{borrow_raw, write_outputs, Inputs, Tensors, MAX_OUTPUTS};

type Raw = *mut sys::tenon_tensor;

unsafe extern "C" fn run_block<I: Tensors, O: Tensors, F: FnMut(I) -> Result<O>>(
    payload: *mut c_void,
    scope: *mut sys::tenon_scope,
    inputs: *const Raw,
    n_inputs: usize,
    out_outputs: *mut Raw,
    max_outputs: usize,
) -> *mut sys::tenon_error {
    in_callback(scope, || {
        let block = &mut *(payload as *mut F);
        let outputs = block(I::share(borrow_raw(inputs, n_inputs))?)?;
        write_outputs(outputs, out_outputs, max_outputs).map(drop)
    })
}

/// Wraps a closure as a C block. The closure must outlive the C call.
fn c_block<I: Tensors, O: Tensors, F: FnMut(I) -> Result<O>>(block: &mut F) -> sys::tenon_block {
    sys::tenon_block {
        function: Some(run_block::<I, O, F>),
        payload: (block as *mut F).cast(),
    }
}

/// Runs one of two closures without arguments. `predicate` is a rank-0 bool.
///
/// ```
/// use tenon::{cond, tensor};
///
/// let x = tensor![3.]?;
/// let y = cond(x.sum()?.greater(0)?, || &x * 2, || -&x)?;
/// assert_eq!(y.item::<f32>()?, 6.);
/// # tenon::Result::Ok(())
/// ```
pub fn cond<'a, O: Tensors>(
    predicate: impl Operand<'a>,
    mut then: impl FnMut() -> Result<O>,
    mut otherwise: impl FnMut() -> Result<O>,
) -> Result<O> {
    let (scope, predicate) = (current()?, predicate.lend()?);
    let mut then = |()| then();
    let mut otherwise = |()| otherwise();
    let (then, otherwise) = (c_block(&mut then), c_block(&mut otherwise));
    // SAFETY: the closures outlive the call.
    O::take(|out, room, count| unsafe {
        sys::tenon_cond(scope, predicate.raw(), then, otherwise, out, room, count)
    })
}

/// Runs the closure at `index`, a rank-0 int64. An index out of range selects the last closure.
///
/// ```
/// use tenon::{switch, tensor, Tensor};
///
/// let x = tensor![3.]?;
/// let y: Tensor = switch(1, [&mut || &x * 10, &mut || &x * 100])?;
/// assert_eq!(y.item::<f32>()?, 300.);
/// # tenon::Result::Ok(())
/// ```
pub fn switch<'a, O: Tensors, const N: usize>(
    index: impl Operand<'a>,
    blocks: [&mut dyn FnMut() -> Result<O>; N],
) -> Result<O> {
    let (scope, index) = (current()?, index.lend()?);
    let mut closures = blocks.map(|block| move |()| block());
    let c_blocks: Vec<_> = closures.iter_mut().map(c_block).collect();
    // SAFETY: the closures outlive the call.
    O::take(|out, room, count| unsafe {
        sys::tenon_case(
            scope,
            index.raw(),
            c_blocks.as_ptr(),
            c_blocks.len(),
            out,
            room,
            count,
        )
    })
}

/// How a loop inside a function provides the residuals of each iteration to its gradient.
///
/// ```
/// # use tenon::{LoopPolicy, WhileOptions};
/// let options = WhileOptions::new().policy(LoopPolicy::Recompute);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoopPolicy {
    /// Each iteration saves its residuals.
    Stack,
    /// Each iteration saves only its inputs. The backward pass recomputes its residuals.
    Recompute,
    /// Each iteration saves its residuals, in memory that is allocated for all iterations at the
    /// start.
    Bounded,
}

impl LoopPolicy {
    fn to_c(self) -> i32 {
        match self {
            Self::Stack => sys::TENON_LOOP_STACK,
            Self::Recompute => sys::TENON_LOOP_RECOMPUTE,
            Self::Bounded => sys::TENON_LOOP_BOUNDED,
        }
    }
}

/// Options of a while loop.
///
/// ```
/// use tenon::{Tensor, WhileOptions};
///
/// let y: Tensor = WhileOptions::new().max_trips(10).run(1., |x: Tensor| x.less(100), |x| x * 3)?;
/// assert_eq!(y.item::<f32>()?, 243.);
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WhileOptions {
    policy: LoopPolicy,
    max_trips: i64,
}

impl Default for WhileOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl WhileOptions {
    /// Returns the default options: no limit on the number of iterations; each iteration
    /// saves its residuals.
    ///
    /// ```
    /// let options = tenon::WhileOptions::new();
    /// ```
    pub fn new() -> Self {
        Self {
            policy: LoopPolicy::Stack,
            max_trips: 0,
        }
    }

    /// Sets how residuals are provided to gradients. `LoopPolicy::Bounded` needs `max_trips`.
    ///
    /// ```
    /// # use tenon::{LoopPolicy, WhileOptions};
    /// let options = WhileOptions::new().policy(LoopPolicy::Bounded).max_trips(8);
    /// ```
    #[must_use]
    pub fn policy(mut self, policy: LoopPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the maximum number of iterations. Exceeding it is an error.
    ///
    /// ```
    /// let options = tenon::WhileOptions::new().max_trips(8);
    /// ```
    #[must_use]
    pub fn max_trips(mut self, trips: i64) -> Self {
        self.max_trips = trips;
        self
    }

    /// Runs the loop; see [`while_loop`].
    ///
    /// ```
    /// # use tenon::{Tensor, WhileOptions};
    /// let y: Tensor = WhileOptions::new().run(1., |x: Tensor| x.less(10), |x| x * 2)?;
    /// assert_eq!(y.item::<f32>()?, 16.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn run<S: Tensors>(
        &self,
        initial: impl Inputs,
        mut condition: impl FnMut(S) -> Result<Tensor>,
        mut body: impl FnMut(S) -> Result<S>,
    ) -> Result<S> {
        let scope = current()?;
        let options = sys::tenon_while_options {
            struct_size: std::mem::size_of::<sys::tenon_while_options>() as u32,
            policy: self.policy.to_c(),
            max_trips: self.max_trips,
        };
        let (condition, body) = (c_block(&mut condition), c_block(&mut body));
        initial.lend_inputs(|initial| {
            if S::COUNT.map_or(initial.len() > MAX_OUTPUTS, |count| count != initial.len()) {
                return Err(invalid(format!(
                    "while_loop: the closures take {} tensors, but there are {} initial values",
                    S::COUNT.unwrap_or(MAX_OUTPUTS),
                    initial.len()
                )));
            }
            // SAFETY: the closures and the initial values outlive the call, which returns as many
            // values as it takes.
            S::take(|out, _, count| unsafe {
                let error = sys::tenon_while_loop(
                    scope,
                    condition,
                    body,
                    initial.as_ptr(),
                    initial.len(),
                    &options,
                    out,
                );
                if !count.is_null() {
                    *count = initial.len();
                }
                error
            })
        })?
    }
}

/// Runs `body` while `condition` returns true (a rank-0 bool), and returns the final carried
/// values. Both closures take the carried values; the body returns the next ones.
///
/// ```
/// use tenon::{while_loop, Tensor};
///
/// let (steps, value): (Tensor, Tensor) = while_loop(
///     (0i64, 27i64),
///     |(_, n): (Tensor, Tensor)| n.not_equal(1),
///     |(steps, n)| {
///         let next = if (&n % 2)?.item::<i64>()? == 0 { n / 2 } else { (n * 3)? + 1 }?;
///         Ok(((steps + 1)?, next))
///     },
/// )?;
/// assert_eq!((steps.item::<i64>()?, value.item::<i64>()?), (111, 1));
/// # tenon::Result::Ok(())
/// ```
pub fn while_loop<S: Tensors>(
    initial: impl Inputs,
    condition: impl FnMut(S) -> Result<Tensor>,
    body: impl FnMut(S) -> Result<S>,
) -> Result<S> {
    WhileOptions::new().run(initial, condition, body)
}

/// Options of a scan.
///
/// ```
/// use tenon::{tensor, ScanOptions, Tensor};
///
/// let (last, sums) = ScanOptions::new().reverse(true).run(
///     0., &tensor![1., 2., 3.]?,
///     |sum: Tensor, x: Tensor| { let sum = (sum + x)?; Ok((sum.clone(), sum)) },
/// )?;
/// assert_eq!(sums.to_vec::<f32>()?, [6., 5., 3.]);
/// # drop(last);
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ScanOptions {
    reverse: bool,
    policy: LoopPolicy,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ScanOptions {
    /// Returns the default options: from the first element to the last; each iteration saves its
    /// residuals.
    ///
    /// ```
    /// let options = tenon::ScanOptions::new();
    /// ```
    pub fn new() -> Self {
        Self {
            reverse: false,
            policy: LoopPolicy::Stack,
        }
    }

    /// Sets whether the scan runs from the last element to the first.
    ///
    /// ```
    /// let options = tenon::ScanOptions::new().reverse(true);
    /// ```
    #[must_use]
    pub fn reverse(mut self, reverse: bool) -> Self {
        self.reverse = reverse;
        self
    }

    /// Sets how residuals are provided to gradients.
    ///
    /// ```
    /// # use tenon::{LoopPolicy, ScanOptions};
    /// let options = ScanOptions::new().policy(LoopPolicy::Recompute);
    /// ```
    #[must_use]
    pub fn policy(mut self, policy: LoopPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Runs the scan; see [`scan`].
    ///
    /// ```
    /// # use tenon::{tensor, ScanOptions, Tensor};
    /// let (last, ()) = ScanOptions::new()
    ///     .run(0., &tensor![1., 2.]?, |sum: Tensor, x: Tensor| Ok(((sum + x)?, ())))?;
    /// assert_eq!(last.item::<f32>()?, 3.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn run<C: Tensors, X: Tensors, Y: Tensors>(
        &self,
        initial: impl Inputs,
        xs: impl Inputs,
        mut body: impl FnMut(C, X) -> Result<(C, Y)>,
    ) -> Result<(C, Y)> {
        let scope = current()?;
        let options = sys::tenon_scan_options {
            struct_size: std::mem::size_of::<sys::tenon_scan_options>() as u32,
            reverse: self.reverse,
            policy: self.policy.to_c(),
        };
        initial.lend_inputs(|initial| {
            let n = initial.len();
            let mut block = |inputs: Vec<Tensor>| {
                let raw: Vec<_> = inputs.iter().map(Tensor::raw).collect();
                // SAFETY: the handles live as long as `inputs`; `share` adds a reference to each.
                let (carried, x) = unsafe { (C::share(&raw[..n])?, X::share(&raw[n..])?) };
                let (carried, y) = body(carried, x)?;
                let mut all = Vec::new();
                carried.give(&mut |tensor| all.push(tensor));
                y.give(&mut |tensor| all.push(tensor));
                Ok(all)
            };
            let block = c_block::<Vec<Tensor>, Vec<Tensor>, _>(&mut block);
            xs.lend_inputs(|xs| {
                let mut carried = vec![ptr::null_mut(); n];
                // SAFETY: all arguments outlive the call, which returns `n` carried values.
                unsafe {
                    let stacked = Y::take(|out, room, count| {
                        sys::tenon_scan(
                            scope,
                            block,
                            initial.as_ptr(),
                            n,
                            xs.as_ptr(),
                            xs.len(),
                            &options,
                            carried.as_mut_ptr(),
                            out,
                            room,
                            count,
                        )
                    })?;
                    let owned: Vec<_> = carried.iter().map(|&raw| Tensor::adopt(raw)).collect();
                    let carried = C::share(&carried)?;
                    drop(owned);
                    Ok((carried, stacked))
                }
            })?
        })?
    }
}

/// Runs a closure for each index along the first axis of the tensors `xs`. The closure takes the
/// carried values and one slice of each tensor. It returns the next carried values and further
/// outputs, which `scan` stacks along a new first axis.
///
/// ```
/// use tenon::{scan, tensor, Tensor};
///
/// let (total, sums) = scan(0., &tensor![1., 2., 3.]?, |sum: Tensor, x: Tensor| {
///     let sum = (sum + x)?;
///     Ok((sum.clone(), sum))
/// })?;
/// assert_eq!(total.item::<f32>()?, 6.);
/// assert_eq!(sums.to_vec::<f32>()?, [1., 3., 6.]);
/// # tenon::Result::Ok(())
/// ```
pub fn scan<C: Tensors, X: Tensors, Y: Tensors>(
    initial: impl Inputs,
    xs: impl Inputs,
    body: impl FnMut(C, X) -> Result<(C, Y)>,
) -> Result<(C, Y)> {
    ScanOptions::new().run(initial, xs, body)
}
