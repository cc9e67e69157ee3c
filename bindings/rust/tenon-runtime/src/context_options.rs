//! Options for creating contexts.

use tenon_sys as sys;

/// Whether results have the same bits on every device.
///
/// ```
/// # use tenon::{ContextOptions, NumericPolicy};
/// let options = ContextOptions::new().numeric_policy(NumericPolicy::Fast);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NumericPolicy {
    /// Results depend on values, shapes, dtypes and attributes only, so all devices agree to the
    /// bit.
    Strict,
    /// Devices may use faster kernels whose results differ in the last bits.
    Fast,
}

/// What happens if a device does not support an op.
///
/// ```
/// # use tenon::{ContextOptions, FallbackPolicy};
/// let options = ContextOptions::new().fallback_policy(FallbackPolicy::Strict);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FallbackPolicy {
    /// Runs the op on the CPU, and logs a warning once for each op.
    Warn,
    /// Fails the call.
    Strict,
    /// Runs the op on the CPU silently.
    Auto,
}

/// The severity of a log line.
///
/// ```
/// # use tenon::{ContextOptions, LogLevel};
/// let options = ContextOptions::new().log(LogLevel::Info, |level, line| eprintln!("{level:?}: {line}"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LogLevel {
    /// Details for developers of Tenon.
    Debug,
    /// Normal events.
    Info,
    /// Warnings.
    Warning,
    /// Failures.
    Error,
}

impl LogLevel {
    pub(crate) fn from_c(level: i32) -> Self {
        match level {
            sys::TENON_LOG_DEBUG => Self::Debug,
            sys::TENON_LOG_INFO => Self::Info,
            sys::TENON_LOG_WARNING => Self::Warning,
            _ => Self::Error,
        }
    }
}

pub(crate) type Log = dyn Fn(LogLevel, &str) + Send + Sync;

/// Options for creating a context.
///
/// ```
/// let options = tenon::ContextOptions::new().threads(2).memory_limit(1 << 30);
/// let context = tenon::Context::new(&options)?;
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone)]
pub struct ContextOptions {
    pub(crate) threads: u32,
    pub(crate) memory_limit: u64,
    pub(crate) plugin_paths: Vec<String>,
    pub(crate) plugin_options: Vec<(String, String, String)>,
    pub(crate) log_level: i32,
    pub(crate) log: Option<std::sync::Arc<Log>>,
    pub(crate) numeric_policy: NumericPolicy,
    pub(crate) fallback_policy: FallbackPolicy,
    pub(crate) deterministic: bool,
}

impl Default for ContextOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ContextOptions {
    /// Returns the default options: all cores, no memory limit, warnings to stderr.
    ///
    /// ```
    /// let options = tenon::ContextOptions::new();
    /// ```
    pub fn new() -> Self {
        Self {
            threads: 0,
            memory_limit: 0,
            plugin_paths: Vec::new(),
            plugin_options: Vec::new(),
            log_level: sys::TENON_LOG_WARNING,
            log: None,
            numeric_policy: NumericPolicy::Strict,
            fallback_policy: FallbackPolicy::Warn,
            deterministic: false,
        }
    }

    /// Sets the number of threads of each device that computes on the host; 0 uses all cores.
    ///
    /// ```
    /// let options = tenon::ContextOptions::new().threads(1);
    /// ```
    #[must_use]
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// Limits the memory of each device, in bytes; 0 for no limit.
    ///
    /// ```
    /// let options = tenon::ContextOptions::new().memory_limit(64 << 20);
    /// ```
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Adds a plugin file, or a folder of plugins. It is searched before the default folders.
    ///
    /// ```
    /// let options = tenon::ContextOptions::new().plugin_path("/opt/vendor/plugins");
    /// ```
    #[must_use]
    pub fn plugin_path(mut self, path: impl Into<String>) -> Self {
        self.plugin_paths.push(path.into());
        self
    }

    /// Sets an option of a plugin. The plugin's documentation lists the names.
    ///
    /// ```
    /// let options = tenon::ContextOptions::new().plugin_option("vulkan", "device", "discrete");
    /// ```
    #[must_use]
    pub fn plugin_option(
        mut self,
        plugin: impl Into<String>,
        key: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        self.plugin_options
            .push((plugin.into(), key.into(), value.into()));
        self
    }

    /// Sends log lines of this level and above to `receive`, which any thread may call.
    ///
    /// ```
    /// use tenon::{ContextOptions, LogLevel};
    ///
    /// let options = ContextOptions::new().log(LogLevel::Warning, |_, line| eprintln!("{line}"));
    /// ```
    #[must_use]
    pub fn log(
        mut self,
        level: LogLevel,
        receive: impl Fn(LogLevel, &str) + Send + Sync + 'static,
    ) -> Self {
        self.log_level = level as i32;
        self.log = Some(std::sync::Arc::new(receive));
        self
    }

    /// Sets whether results have the same bits on every device; see [`NumericPolicy`].
    ///
    /// ```
    /// # use tenon::{ContextOptions, NumericPolicy};
    /// let options = ContextOptions::new().numeric_policy(NumericPolicy::Strict);
    /// ```
    #[must_use]
    pub fn numeric_policy(mut self, policy: NumericPolicy) -> Self {
        self.numeric_policy = policy;
        self
    }

    /// Sets what happens if a device does not support an op.
    ///
    /// ```
    /// # use tenon::{ContextOptions, FallbackPolicy};
    /// let options = ContextOptions::new().fallback_policy(FallbackPolicy::Auto);
    /// ```
    #[must_use]
    pub fn fallback_policy(mut self, policy: FallbackPolicy) -> Self {
        self.fallback_policy = policy;
        self
    }

    /// Makes results repeatable to the bit from run to run, even under `NumericPolicy::Fast`.
    ///
    /// ```
    /// let options = tenon::ContextOptions::new().deterministic(true);
    /// ```
    #[must_use]
    pub fn deterministic(mut self, deterministic: bool) -> Self {
        self.deterministic = deterministic;
        self
    }
}
