//! Profiles where a program spends its time.

use std::ptr;

use tenon_sys as sys;

use crate::context::Context;
use crate::error::{check, Result};
use crate::text::{c_text, view, OwnedText};

shared_handle! {
    /// Records the calls of a context, in all scopes and threads, until it is stopped or dropped.
    ///
    /// ```
    /// use tenon::{tensor, Profiler};
    ///
    /// let profiler = Profiler::start()?;
    /// tensor![1., 2.]?.exp()?;
    /// profiler.stop()?;
    /// assert!(profiler.rows()?.iter().any(|row| row.name == "exp"));
    /// println!("{}", profiler.table()?);
    /// # tenon::Result::Ok(())
    /// ```
    Profiler, tenon_profiler, tenon_profiler_retain, tenon_profiler_release
}

/// What a row of a profile measures.
///
/// ```
/// # use tenon::SpanKind;
/// assert_ne!(SpanKind::Op, SpanKind::Function);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpanKind {
    /// An op: called eagerly, or launched by a function.
    Op,
    /// Several ops that a function launched as one kernel.
    Fused,
    /// A call of a function, including nested spans.
    Function,
    /// Tracing a function.
    Tracing,
    /// A copy between host and device.
    Copy,
}

/// How the device times of a row were measured.
///
/// ```
/// # use tenon::Clock;
/// assert_ne!(Clock::Launch, Clock::Device);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clock {
    /// The row has no launches.
    None,
    /// The host measured each launch of a synchronous device.
    Launch,
    /// The host measured each launch until it was notified of its completion.
    Completion,
    /// The device's own clock measured each launch.
    Device,
}

/// Totals of all calls of one op or function with the same input types on the same device. Each
/// time is a tuple (total, minimum, maximum) in nanoseconds.
///
/// ```
/// # let profiler = tenon::Profiler::start()?;
/// # tenon::tensor![1.]?.exp()?;
/// # profiler.stop()?;
/// for row in profiler.rows()? {
///     println!("{} {} {}", row.name, row.count, row.host.0);
/// }
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProfilerRow {
    /// What the row measures.
    pub kind: SpanKind,
    /// The name of the op or function.
    pub name: String,
    /// The types of the inputs, such as `"f32[2,3], f32[3]"`.
    pub inputs: String,
    /// The name of the device; empty for a function.
    pub device: String,
    /// How device times were measured.
    pub device_clock: Clock,
    /// The number of spans.
    pub count: u64,
    /// Host time from start to end, including nested spans.
    pub host: (u64, u64, u64),
    /// Host time without nested spans.
    pub own: (u64, u64, u64),
    /// The number of kernel launches.
    pub launches: u64,
    /// Device time of the launches.
    pub on_device: (u64, u64, u64),
    /// Bytes that launches read and wrote, or bytes of the copy.
    pub bytes: u64,
    /// Floating point operations of matrix products and convolutions; 0 if unknown.
    pub flops: u64,
}

impl Profiler {
    /// Starts to profile the current context. Only one profiler can run in a context at a time.
    ///
    /// ```
    /// let profiler = tenon::Profiler::start()?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn start() -> Result<Self> {
        Self::start_in(&Context::current()?, 1_000_000)
    }

    /// Starts to profile a context. The trace holds at most `max_events` events.
    ///
    /// ```
    /// let context = tenon::Context::current()?;
    /// let profiler = tenon::Profiler::start_in(&context, 1000)?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn start_in(context: &Context, max_events: u64) -> Result<Self> {
        let options = sys::tenon_profiler_options {
            struct_size: std::mem::size_of::<sys::tenon_profiler_options>() as u32,
            reserved: 0,
            max_events,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the call copies the options.
        unsafe {
            check(sys::tenon_profiler_start(context.raw(), &options, &mut raw))?;
            Ok(Self::adopt(raw))
        }
    }

    /// Stops the profiler. The results are available afterwards.
    ///
    /// ```
    /// tenon::Profiler::start()?.stop()?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn stop(&self) -> Result<()> {
        // SAFETY: any thread may call the C function.
        unsafe { check(sys::tenon_profiler_stop(self.raw())) }
    }

    /// Returns a readable table, sorted by time.
    ///
    /// ```
    /// # let profiler = tenon::Profiler::start()?;
    /// profiler.stop()?;
    /// println!("{}", profiler.table()?);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn table(&self) -> Result<String> {
        let mut text = OwnedText::empty();
        // SAFETY: the caller owns the string.
        unsafe { check(sys::tenon_profiler_table(self.raw(), &mut text.0))? };
        Ok(text.as_str().to_owned())
    }

    /// Writes the events to a JSON file for <https://ui.perfetto.dev>.
    ///
    /// ```no_run
    /// # let profiler = tenon::Profiler::start()?;
    /// profiler.stop()?;
    /// profiler.write_trace("trace.json")?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn write_trace(&self, path: &str) -> Result<()> {
        // SAFETY: the path is borrowed until the call returns.
        unsafe { check(sys::tenon_profiler_write_trace(self.raw(), c_text(path))) }
    }

    /// Returns the rows of the table, in the same order.
    ///
    /// ```
    /// # let profiler = tenon::Profiler::start()?;
    /// profiler.stop()?;
    /// let rows = profiler.rows()?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn rows(&self) -> Result<Vec<ProfilerRow>> {
        // SAFETY: the struct holds its size; its strings live as long as the profiler and are
        // copied.
        unsafe {
            (0..sys::tenon_profiler_count_rows(self.raw()))
                .map(|index| {
                    let mut c: sys::tenon_profiler_row = std::mem::zeroed();
                    c.struct_size = std::mem::size_of_val(&c) as u32;
                    check(sys::tenon_profiler_describe_row(self.raw(), index, &mut c))?;
                    Ok(row(&c))
                })
                .collect()
        }
    }

    /// The number of events beyond `max_events`. The trace omits them; the table includes them.
    ///
    /// ```
    /// # let profiler = tenon::Profiler::start()?;
    /// profiler.stop()?;
    /// assert_eq!(profiler.count_dropped_events(), 0);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn count_dropped_events(&self) -> u64 {
        // SAFETY: any thread may call the C function.
        unsafe { sys::tenon_profiler_count_dropped_events(self.raw()) }
    }
}

/// # Safety
/// The strings of the row are live.
unsafe fn row(c: &sys::tenon_profiler_row) -> ProfilerRow {
    ProfilerRow {
        kind: match c.kind {
            sys::TENON_SPAN_FUSED => SpanKind::Fused,
            sys::TENON_SPAN_FUNCTION => SpanKind::Function,
            sys::TENON_SPAN_TRACING => SpanKind::Tracing,
            sys::TENON_SPAN_COPY => SpanKind::Copy,
            _ => SpanKind::Op,
        },
        name: view(c.name).to_owned(),
        inputs: view(c.inputs).to_owned(),
        device: view(c.device).to_owned(),
        device_clock: match c.device_clock {
            sys::TENON_DEVICE_CLOCK_LAUNCH => Clock::Launch,
            sys::TENON_DEVICE_CLOCK_COMPLETION => Clock::Completion,
            sys::TENON_DEVICE_CLOCK_DEVICE => Clock::Device,
            _ => Clock::None,
        },
        count: c.count,
        host: (c.host_total, c.host_min, c.host_max),
        own: (c.own_total, c.own_min, c.own_max),
        launches: c.launches,
        on_device: (c.device_total, c.device_min, c.device_max),
        bytes: c.bytes,
        flops: c.flops,
    }
}
