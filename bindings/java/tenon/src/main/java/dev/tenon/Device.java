package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.ref.Reference;

/** A device of a context. */
public final class Device extends NativeHandle {
  /** The kind of a device. */
  public enum Kind {
    /** A CPU of the host. */
    CPU,
    /** A GPU. */
    GPU,
    /** An accelerator other than a GPU. */
    ACCELERATOR
  }

  /**
   * The properties of a device.
   *
   * @param kind the kind of device
   * @param name the name of the device, such as "cpu:0"
   * @param description the name of the processor or graphics card
   * @param vendor the vendor; may be empty
   * @param driver the driver or library with its version; may be empty
   * @param plugin the version of the plugin
   * @param features bits of TENON_FEATURE_*
   * @param memoryBytes memory in bytes; 0 if unknown
   * @param maxBufferBytes maximum size of a buffer in bytes; 0 if only memory limits it
   * @param computeUnits number of cores or multiprocessors; 0 if unknown
   * @param vectorBits width of the SIMD unit in bits; 0 if it has none
   */
  public record Info(
      Kind kind, String name, String description, String vendor, String driver, String plugin,
      long features, long memoryBytes, long maxBufferBytes, int computeUnits, int vectorBits) {}

  /**
   * Memory statistics of a device in one context.
   *
   * @param liveBytes bytes in use by tensors
   * @param peakBytes maximum of {@code liveBytes} so far
   * @param heldBytes bytes allocated from the device, in use or cached
   * @param liveBuffers number of live buffers
   * @param allocations number of allocations that the device itself made
   * @param limitBytes memory limit of the context in bytes; 0 for none
   */
  public record MemoryInfo(
      long liveBytes, long peakBytes, long heldBytes, long liveBuffers, long allocations,
      long limitBytes) {}

  Device(long handle) {
    super(Tracker.Kind.DEVICE, handle, false);
  }

  /**
   * The name of the device.
   *
   * @return the name, such as "cpu:0"
   */
  public String name() {
    String name = Memory.text(C.tenon_device_name(Local.get().result, handle()));
    Reference.reachabilityFence(this);
    return name;
  }

  /**
   * Returns the properties of the device.
   *
   * @return the properties
   */
  public Info info() {
    Local local = Local.get();
    long at = local.reserveZeros(Structs.tenon_device_info.SIZE);
    try {
      Memory.putInt(at, (int) Structs.tenon_device_info.SIZE);
      Calls.check(C.tenon_device_describe(handle(), at));
      int kind = Memory.getInt(at + Structs.tenon_device_info.kind);
      return new Info(
          Kind.values()[Math.clamp(kind, 0, Kind.values().length - 1)],
          Memory.text(at + Structs.tenon_device_info.name),
          Memory.text(at + Structs.tenon_device_info.description),
          Memory.text(at + Structs.tenon_device_info.vendor),
          Memory.text(at + Structs.tenon_device_info.driver),
          Memory.text(at + Structs.tenon_device_info.plugin),
          Memory.getLong(at + Structs.tenon_device_info.features),
          Memory.getLong(at + Structs.tenon_device_info.memory_bytes),
          Memory.getLong(at + Structs.tenon_device_info.max_buffer_bytes),
          Memory.getInt(at + Structs.tenon_device_info.compute_units),
          Memory.getInt(at + Structs.tenon_device_info.vector_bits));
    } finally {
      local.release(at);
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Returns the current memory statistics of the device.
   *
   * @return the statistics
   */
  public MemoryInfo memory() {
    Local local = Local.get();
    long at = local.reserveZeros(Structs.tenon_memory_info.SIZE);
    try {
      Memory.putInt(at, (int) Structs.tenon_memory_info.SIZE);
      Calls.check(C.tenon_device_describe_memory(handle(), at));
      return new MemoryInfo(
          Memory.getLong(at + Structs.tenon_memory_info.live_bytes),
          Memory.getLong(at + Structs.tenon_memory_info.peak_bytes),
          Memory.getLong(at + Structs.tenon_memory_info.held_bytes),
          Memory.getLong(at + Structs.tenon_memory_info.live_buffers),
          Memory.getLong(at + Structs.tenon_memory_info.allocations),
          Memory.getLong(at + Structs.tenon_memory_info.limit_bytes));
    } finally {
      local.release(at);
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Returns cached memory to the device.
   *
   * @return the number of bytes freed
   */
  public long trim() {
    return get(C::tenon_device_trim);
  }

  /** Resets {@code peakBytes} to {@code liveBytes}. */
  public void resetPeak() {
    C.tenon_device_reset_peak(handle());
    Reference.reachabilityFence(this);
  }
}
