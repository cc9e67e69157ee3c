//! Contexts, which own devices and plugins.

use std::os::raw::c_void;
use std::ptr;
use std::sync::Once;

use tenon_sys as sys;

use crate::context_options::{ContextOptions, Log, LogLevel};
use crate::device::Device;
use crate::error::{check, Code, Error, Result};
use crate::panics::{drop_payload, ignore_panic};
use crate::text::{c_text, view};

shared_handle! {
    /// Owns devices, plugins and defaults. Programs that do not create a context use
    /// [`Context::shared`]. Tensors of different contexts cannot be combined.
    ///
    /// ```
    /// use tenon::{Context, ContextOptions, Scope};
    ///
    /// let context = Context::new(&ContextOptions::new().threads(1))?;
    /// let scope = Scope::new(&context)?;
    /// let y = scope.run(|| tenon::tensor![1., 2.]?.sum()?.item::<f32>())?;
    /// # assert_eq!(y, 3.);
    /// # tenon::Result::Ok(())
    /// ```
    Context, tenon_context, tenon_context_retain, tenon_context_release
}

unsafe extern "C" fn receive_log(payload: *mut c_void, level: i32, message: sys::tenon_string) {
    let receive = &*(payload as *const std::sync::Arc<Log>);
    ignore_panic(|| receive(LogLevel::from_c(level), view(message)));
}

/// A plugin that Tenon found.
///
/// ```
/// for plugin in tenon::Context::shared()?.plugins()? {
///     println!("{} {:?}", plugin.name, plugin.state);
/// }
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plugin {
    /// The name of the plugin, which is also the prefix of its devices' names.
    pub name: String,
    /// The plugin's file; empty if the plugin is linked statically.
    pub path: String,
    /// The plugin's version; empty until it is loaded.
    pub version: String,
    /// Whether the plugin is loaded, and if not, why.
    pub state: PluginState,
}

/// Whether a plugin was loaded.
///
/// ```
/// # use tenon::PluginState;
/// let plugins = tenon::Context::shared()?.plugins()?;
/// let refused = plugins.iter().filter(|p| matches!(p.state, PluginState::Refused { .. }));
/// # drop(refused);
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginState {
    /// Not loaded, because no device of this plugin was requested.
    NotTried,
    /// Loaded and in use.
    Loaded,
    /// Loading was attempted and failed.
    Refused {
        /// Why the plugin could not be loaded.
        reason: String,
    },
}

impl Context {
    /// Creates a context. Loads a plugin when one of its devices is first needed.
    ///
    /// ```
    /// let context = tenon::Context::new(&tenon::ContextOptions::new())?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn new(options: &ContextOptions) -> Result<Self> {
        load_library()?;
        let paths: Vec<_> = options
            .plugin_paths
            .iter()
            .map(|path| c_text(path))
            .collect();
        let plugin_options: Vec<_> = options
            .plugin_options
            .iter()
            .map(|(plugin, key, value)| sys::tenon_plugin_option {
                plugin: c_text(plugin),
                key: c_text(key),
                value: c_text(value),
            })
            .collect();
        let mut log = sys::tenon_log_callback {
            function: None,
            payload: ptr::null_mut(),
            destroy: None,
        };
        if let Some(receive) = &options.log {
            log.function = Some(receive_log);
            log.payload = Box::into_raw(Box::new(receive.clone())).cast();
            log.destroy = Some(drop_payload::<std::sync::Arc<Log>>);
        }
        let c = sys::tenon_context_options {
            struct_size: std::mem::size_of::<sys::tenon_context_options>() as u32,
            log_level: options.log_level,
            log,
            plugin_paths: paths.as_ptr(),
            n_plugin_paths: paths.len(),
            plugin_options: plugin_options.as_ptr(),
            n_plugin_options: plugin_options.len(),
            memory_limit_bytes: options.memory_limit,
            threads: options.threads,
            numeric_policy: options.numeric_policy as i32,
            fallback_policy: options.fallback_policy as i32,
            deterministic: options.deterministic,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the call copies the options, which live until it returns.
        unsafe {
            check(sys::tenon_context_create(&c, &mut raw))?;
            Ok(Self::adopt(raw))
        }
    }

    /// Returns the default context of the program. It lives until the process ends.
    ///
    /// ```
    /// let cpu = tenon::Context::shared()?.device("cpu")?;
    /// # assert_eq!(cpu.name(), "cpu:0");
    /// # tenon::Result::Ok(())
    /// ```
    pub fn shared() -> Result<&'static Self> {
        static ONCE: Once = Once::new();
        static mut SHARED: Option<Context> = None;
        load_library()?;
        // SAFETY: only the thread that `Once` admits writes `SHARED`; all reads happen after that.
        unsafe {
            ONCE.call_once(|| *ptr::addr_of_mut!(SHARED) = Self::new(&ContextOptions::new()).ok());
            let shared: *const Option<Context> = ptr::addr_of!(SHARED);
            (*shared).as_ref().ok_or_else(|| {
                Error::new(Code::OutOfMemory, "the shared context could not be created")
            })
        }
    }

    /// Returns the context of the current scope.
    ///
    /// ```
    /// let devices = tenon::Context::current()?.devices()?;
    /// # assert!(!devices.is_empty());
    /// # tenon::Result::Ok(())
    /// ```
    pub fn current() -> Result<Self> {
        // SAFETY: a scope keeps its context alive.
        unsafe {
            Ok(Self::share(sys::tenon_scope_context(
                crate::scope::current()?,
            )))
        }
    }

    /// Finds a device by name: `"cpu:1"`; `"cpu"` for `cpu:0`; `"best"` for the first one that is
    /// not a CPU.
    ///
    /// ```
    /// let device = tenon::Context::shared()?.device("cpu:0")?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn device(&self, name: &str) -> Result<Device> {
        let mut raw = ptr::null_mut();
        // SAFETY: the name is borrowed until the call returns.
        unsafe {
            check(sys::tenon_context_find_device(
                self.raw(),
                c_text(name),
                &mut raw,
            ))?;
            Ok(Device::adopt(raw))
        }
    }

    /// Returns all devices. Loads every plugin.
    ///
    /// ```
    /// for device in tenon::Context::shared()?.devices()? {
    ///     println!("{}", device.name());
    /// }
    /// # tenon::Result::Ok(())
    /// ```
    pub fn devices(&self) -> Result<Vec<Device>> {
        let mut count = 0;
        // SAFETY: `count` outlives the call.
        unsafe { check(sys::tenon_context_count_devices(self.raw(), &mut count))? };
        (0..count)
            .map(|index| {
                let mut raw = ptr::null_mut();
                // SAFETY: `raw` outlives the call.
                unsafe {
                    check(sys::tenon_context_get_device(self.raw(), index, &mut raw))?;
                    Ok(Device::adopt(raw))
                }
            })
            .collect()
    }

    /// Lists the plugins that were found, loaded or not.
    ///
    /// ```
    /// let plugins = tenon::Context::shared()?.plugins()?;
    /// # assert!(plugins.iter().any(|plugin| plugin.name == "cpu"));
    /// # tenon::Result::Ok(())
    /// ```
    pub fn plugins(&self) -> Result<Vec<Plugin>> {
        // SAFETY: the strings live as long as the context, and are copied.
        unsafe {
            (0..sys::tenon_context_count_candidates(self.raw()))
                .map(|index| {
                    let mut c: sys::tenon_plugin_candidate = std::mem::zeroed();
                    c.struct_size = std::mem::size_of_val(&c) as u32;
                    check(sys::tenon_context_get_candidate(self.raw(), index, &mut c))?;
                    Ok(Plugin {
                        name: view(c.name).to_owned(),
                        path: view(c.path).to_owned(),
                        version: view(c.version).to_owned(),
                        state: match c.state {
                            sys::TENON_PLUGIN_NOT_TRIED => PluginState::NotTried,
                            sys::TENON_PLUGIN_LOADED => PluginState::Loaded,
                            _ => PluginState::Refused {
                                reason: view(c.reason).to_owned(),
                            },
                        },
                    })
                })
                .collect()
        }
    }

    /// Loads a plugin from a file and opens its devices.
    ///
    /// ```
    /// # use tenon::{Code, Context};
    /// let error = Context::shared()?.load_plugin("/no/such/plugin.so").unwrap_err();
    /// assert_eq!(error.code(), Code::NotFound);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn load_plugin(&self, path: &str) -> Result<()> {
        // SAFETY: the path is borrowed until the call returns.
        unsafe { check(sys::tenon_context_load_plugin(self.raw(), c_text(path))) }
    }

    /// Cancels the calls in progress in all scopes of the context: they return [`Code::Cancelled`]
    /// at their next check. Any thread may call this function.
    ///
    /// ```
    /// tenon::Context::shared()?.cancel();
    /// # tenon::Result::Ok(())
    /// ```
    pub fn cancel(&self) {
        // SAFETY: any thread may call the C function.
        unsafe { sys::tenon_context_cancel(self.raw()) }
    }
}

/// Loads libtenon if the feature `dynamic` requires it.
pub(crate) fn load_library() -> Result<()> {
    sys::load(None).map_err(|reason| Error::new(Code::Unavailable, reason))
}

/// The version of the loaded library, such as `"0.1.0"`.
///
/// ```
/// println!("libtenon {}", tenon::version());
/// ```
pub fn version() -> &'static str {
    // SAFETY: the string is static.
    unsafe { view(sys::tenon_version()) }
}

/// The version of the loaded library as one number: major * 1000000 + minor * 1000 + patch.
///
/// ```
/// assert!(tenon::version_number() >= 1000);
/// ```
pub fn version_number() -> u32 {
    // SAFETY: reads a constant.
    unsafe { sys::tenon_version_number() }
}
