//! The passes that optimise the graphs of functions.

use tenon_sys as sys;

use crate::error::{check, Result};
use crate::scope::current;
use crate::text::{c_text, view};

/// A graph pass.
///
/// ```
/// for pass in tenon::passes() {
///     println!("{}: {}", pass.name, pass.summary);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pass {
    /// The name of the pass.
    pub name: &'static str,
    /// A short description of the pass.
    pub summary: &'static str,
}

/// Lists the passes in execution order.
///
/// ```
/// assert!(!tenon::passes().is_empty());
/// ```
pub fn passes() -> Vec<Pass> {
    // SAFETY: the strings live as long as the library.
    unsafe {
        (0..sys::tenon_count_passes())
            .map(|index| Pass {
                name: view(sys::tenon_pass_name(index)),
                summary: view(sys::tenon_pass_summary(index)),
            })
            .collect()
    }
}

/// Enables or disables a pass in the current context, for graphs that have not run yet.
///
/// ```
/// let name = tenon::passes().last().unwrap().name;
/// tenon::set_pass(name, false)?;
/// tenon::set_pass(name, true)?;
/// # tenon::Result::Ok(())
/// ```
pub fn set_pass(name: &str, enabled: bool) -> Result<()> {
    // SAFETY: the current scope keeps its context alive.
    unsafe {
        let context = sys::tenon_scope_context(current()?);
        check(sys::tenon_context_set_pass(context, c_text(name), enabled))
    }
}
