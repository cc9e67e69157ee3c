//! Devices: their properties and memory statistics.

use std::fmt;

use tenon_sys as sys;

use crate::error::{check, Result};
use crate::text::view;

shared_handle! {
    /// A device of a context.
    ///
    /// ```
    /// let cpu = tenon::Context::shared()?.device("cpu")?;
    /// println!("{}: {}", cpu.name(), cpu.info()?.description);
    /// # tenon::Result::Ok(())
    /// ```
    Device, tenon_device, tenon_device_retain, tenon_device_release
}

/// The properties of a device.
///
/// ```
/// let info = tenon::Context::shared()?.device("cpu")?.info()?;
/// assert_eq!(info.kind, tenon::DeviceKind::Cpu);
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The kind of device.
    pub kind: DeviceKind,
    /// The name of the processor or graphics card.
    pub description: String,
    /// The vendor; may be empty.
    pub vendor: String,
    /// The driver or library, with its version; may be empty.
    pub driver: String,
    /// The plugin's version.
    pub plugin: String,
    /// Bits of `TENON_FEATURE_*`.
    pub features: u64,
    /// Memory of the device in bytes; 0 if unknown.
    pub memory_bytes: u64,
    /// Maximum size of a buffer in bytes; 0 if only memory limits it.
    pub max_buffer_bytes: u64,
    /// Number of cores or multiprocessors; 0 if unknown.
    pub compute_units: u32,
    /// Width of the SIMD unit in bits; 0 if it has none.
    pub vector_bits: u32,
}

/// The kind of a device.
///
/// ```
/// let kind = tenon::Context::shared()?.device("cpu")?.info()?.kind;
/// # assert_eq!(kind, tenon::DeviceKind::Cpu);
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// A CPU of the host.
    Cpu,
    /// A GPU.
    Gpu,
    /// Another accelerator.
    Accelerator,
}

/// Memory statistics of a device in a context.
///
/// ```
/// let cpu = tenon::Context::shared()?.device("cpu")?;
/// let before = cpu.memory()?.live_bytes;
/// let x = tenon::tensor![1., 2.]?;
/// assert!(cpu.memory()?.live_bytes > before);
/// # drop(x);
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryInfo {
    /// Bytes in use by tensors.
    pub live_bytes: u64,
    /// Maximum of `live_bytes` so far.
    pub peak_bytes: u64,
    /// Bytes allocated from the device: in use, or cached for later tensors.
    pub held_bytes: u64,
    /// The number of live buffers.
    pub live_buffers: u64,
    /// Number of allocations from the device, excluding reuse of cached memory.
    pub allocations: u64,
    /// The context's memory limit in bytes; 0 for none.
    pub limit_bytes: u64,
}

impl Device {
    /// The name of the device, such as `"cpu:0"`.
    ///
    /// ```
    /// assert_eq!(tenon::Context::shared()?.device("cpu")?.name(), "cpu:0");
    /// # tenon::Result::Ok(())
    /// ```
    pub fn name(&self) -> &str {
        // SAFETY: the string lives as long as the device.
        unsafe { view(sys::tenon_device_name(self.raw())) }
    }

    /// The properties of the device.
    ///
    /// ```
    /// let units = tenon::Context::shared()?.device("cpu")?.info()?.compute_units;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn info(&self) -> Result<DeviceInfo> {
        // SAFETY: the struct holds its size; its strings live as long as the device and are copied.
        unsafe {
            let mut c: sys::tenon_device_info = std::mem::zeroed();
            c.struct_size = std::mem::size_of_val(&c) as u32;
            check(sys::tenon_device_describe(self.raw(), &mut c))?;
            Ok(DeviceInfo {
                kind: match c.kind {
                    sys::TENON_DEVICE_CPU => DeviceKind::Cpu,
                    sys::TENON_DEVICE_GPU => DeviceKind::Gpu,
                    _ => DeviceKind::Accelerator,
                },
                description: view(c.description).to_owned(),
                vendor: view(c.vendor).to_owned(),
                driver: view(c.driver).to_owned(),
                plugin: view(c.plugin).to_owned(),
                features: c.features,
                memory_bytes: c.memory_bytes,
                max_buffer_bytes: c.max_buffer_bytes,
                compute_units: c.compute_units,
                vector_bits: c.vector_bits,
            })
        }
    }

    /// Returns the current memory statistics of the device.
    ///
    /// ```
    /// let memory = tenon::Context::shared()?.device("cpu")?.memory()?;
    /// assert!(memory.held_bytes >= memory.live_bytes);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn memory(&self) -> Result<MemoryInfo> {
        // SAFETY: the struct holds its size.
        unsafe {
            let mut c: sys::tenon_memory_info = std::mem::zeroed();
            c.struct_size = std::mem::size_of_val(&c) as u32;
            check(sys::tenon_device_describe_memory(self.raw(), &mut c))?;
            Ok(MemoryInfo {
                live_bytes: c.live_bytes,
                peak_bytes: c.peak_bytes,
                held_bytes: c.held_bytes,
                live_buffers: c.live_buffers,
                allocations: c.allocations,
                limit_bytes: c.limit_bytes,
            })
        }
    }

    /// Returns cached memory to the device. Returns the number of bytes freed.
    ///
    /// ```
    /// let freed = tenon::Context::shared()?.device("cpu")?.trim()?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn trim(&self) -> Result<u64> {
        let mut freed = 0;
        // SAFETY: `freed` outlives the call.
        unsafe { check(sys::tenon_device_trim(self.raw(), &mut freed))? };
        Ok(freed)
    }

    /// Resets [`MemoryInfo::peak_bytes`] to the current live bytes.
    ///
    /// ```
    /// tenon::Context::shared()?.device("cpu")?.reset_peak();
    /// # tenon::Result::Ok(())
    /// ```
    pub fn reset_peak(&self) {
        // SAFETY: the device is live.
        unsafe { sys::tenon_device_reset_peak(self.raw()) }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Device({})", self.name())
    }
}
