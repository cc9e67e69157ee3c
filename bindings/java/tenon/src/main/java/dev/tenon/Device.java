package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.ref.Reference;

/** A device of a context. */
public final class Device extends NativeHandle {
  /** What a device is. */
  public enum Kind {
    /** The host's processor. */
    CPU,
    /** A graphics processor. */
    GPU,
    /** Another accelerator. */
    ACCELERATOR
  }

  /**
   * What a device is.
   *
   * @param kind what kind of device
   * @param name "cpu:0"
   * @param description the processor's or board's name
   * @param vendor may be empty
   * @param driver the driver or library with its version; may be empty
   * @param plugin the plugin's version
   * @param features bits TENON_FEATURE_*
   * @param memoryBytes 0 if it is unknown
   * @param maxBufferBytes 0 for no limit but memory
   * @param computeUnits cores or multiprocessors; 0 if it is unknown
   * @param vectorBits of the SIMD unit in use; 0 where that does not apply
   */
  public record Info(
      Kind kind, String name, String description, String vendor, String driver, String plugin,
      long features, long memoryBytes, long maxBufferBytes, int computeUnits, int vectorBits) {}

  /**
   * What a device's memory holds for a context.
   *
   * @param liveBytes held by tensors
   * @param peakBytes the most that was ever live
   * @param heldBytes taken from the device
   * @param liveBuffers how many buffers are live
   * @param allocations how often the device was asked for memory
   * @param limitBytes what the context allows; 0 for no limit
   */
  public record MemoryInfo(
      long liveBytes, long peakBytes, long heldBytes, long liveBuffers, long allocations,
      long limitBytes) {}

  Device(long handle) {
    super(Tracker.Kind.DEVICE, handle, false);
  }

  /**
   * The name by which it is found.
   *
   * @return such as "cpu:0"
   */
  public String name() {
    String name = Memory.text(C.tenon_device_name(Local.get().result, handle()));
    Reference.reachabilityFence(this);
    return name;
  }

  /**
   * What it is.
   *
   * @return the facts
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
   * What its memory holds now.
   *
   * @return the figures
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
   * Gives memory that is kept for later tensors back to the device.
   *
   * @return how many bytes that were
   */
  public long trim() {
    Local local = Local.get();
    long at = local.reserve(8);
    long error = C.tenon_device_trim(handle(), at);
    long freed = Memory.getLong(at);
    local.release(at);
    Reference.reachabilityFence(this);
    Calls.check(error);
    return freed;
  }

  /** Starts {@code peakBytes} anew from what is live now. */
  public void resetPeak() {
    C.tenon_device_reset_peak(handle());
    Reference.reachabilityFence(this);
  }
}
