package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * A tensor, whose value never changes. Ops are its methods ({@link TensorOps}) and static functions
 * ({@link Ops}).
 *
 * <p>A tensor belongs to the {@link Scope} that was current when it was made, and is freed with it.
 * All threads may read one; it is closed on the thread of its scope, when no other thread uses it.
 */
public final class Tensor extends TensorData implements Value, AutoCloseable {
  private long handle;
  /** Its owner: a Scope, a Page or a Tracker.Ref. */
  Object keeper;
  /** Its index in its scope or its page. */
  int slot;

  Tensor(long handle) {
    this.handle = handle;
  }

  /** A tensor of a scope. Fields of a new object are set without the collector's barriers. */
  Tensor(long handle, Scope scope, int slot) {
    this.handle = handle;
    this.keeper = scope;
    this.slot = slot;
  }

  /** A tensor without a scope. */
  static Tensor tracked(Local local, long handle) {
    Tensor tensor = new Tensor(handle);
    tensor.track(local);
    return tensor;
  }

  /** Lets the cleaner free it. */
  void track(Local local) {
    long bytes = local.bytesOf(handle);
    if (bytes >= Tracker.PAGED_BYTES || !local.addToPage(this, handle)) {
      keeper = Tracker.track(this, Tracker.Kind.TENSOR, handle, bytes, null);
    }
  }

  // ---- from host memory

  /**
   * Copies floats into a tensor of one axis.
   *
   * @param values the elements
   * @return a tensor of float32
   */
  public static Tensor of(float... values) {
    return of(values, new long[] {values.length});
  }

  /**
   * Copies floats.
   *
   * @param values the elements, row-major
   * @param shape the sizes
   * @return a tensor of float32
   */
  public static Tensor of(float[] values, long... shape) {
    return HostMemory.copy(MemorySegment.ofArray(values), DType.FLOAT32, shape);
  }

  /**
   * Copies doubles into a tensor of one axis.
   *
   * @param values the elements
   * @return a tensor of float64
   */
  public static Tensor of(double... values) {
    return of(values, new long[] {values.length});
  }

  /**
   * Copies doubles.
   *
   * @param values the elements, row-major
   * @param shape the sizes
   * @return a tensor of float64
   */
  public static Tensor of(double[] values, long... shape) {
    return HostMemory.copy(MemorySegment.ofArray(values), DType.FLOAT64, shape);
  }

  /**
   * Copies ints into a tensor of one axis.
   *
   * @param values the elements
   * @return a tensor of int32
   */
  public static Tensor of(int... values) {
    return of(values, new long[] {values.length});
  }

  /**
   * Copies ints.
   *
   * @param values the elements, row-major
   * @param shape the sizes
   * @return a tensor of int32
   */
  public static Tensor of(int[] values, long... shape) {
    return HostMemory.copy(MemorySegment.ofArray(values), DType.INT32, shape);
  }

  /**
   * Copies longs.
   *
   * @param values the elements, row-major
   * @param shape the sizes
   * @return a tensor of int64
   */
  public static Tensor of(long[] values, long... shape) {
    return HostMemory.copy(MemorySegment.ofArray(values), DType.INT64, shape);
  }

  /**
   * Copies bytes.
   *
   * @param values the elements, row-major
   * @param dtype how they are read, such as {@link DType#UINT8}
   * @param shape the sizes
   * @return a tensor of the dtype
   */
  public static Tensor of(byte[] values, DType dtype, long... shape) {
    return HostMemory.copy(MemorySegment.ofArray(values), dtype, shape);
  }

  /**
   * Copies truth values.
   *
   * @param values the elements, row-major
   * @param shape the sizes
   * @return a tensor of bool
   */
  public static Tensor of(boolean[] values, long... shape) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < bytes.length; ++i) {
      bytes[i] = (byte) (values[i] ? 1 : 0);
    }
    return of(bytes, DType.BOOL, shape);
  }

  /**
   * Copies rows of floats.
   *
   * @param rows the rows, all of one length
   * @return a tensor of float32 with two axes
   */
  public static Tensor of(float[][] rows) {
    int width = rows.length == 0 ? 0 : rows[0].length;
    float[] all = new float[rows.length * width];
    for (int i = 0; i < rows.length; ++i) {
      if (rows[i].length != width) {
        throw new TenonException(
            Code.INVALID_ARGUMENT,
            "of: row " + i + " has " + rows[i].length + " elements, and row 0 has " + width);
      }
      System.arraycopy(rows[i], 0, all, i * width, width);
    }
    return of(all, rows.length, width);
  }

  /**
   * Copies a segment of heap or native memory.
   *
   * @param data the elements, row-major
   * @param dtype their type
   * @param shape the sizes
   * @return the tensor
   */
  public static Tensor of(MemorySegment data, DType dtype, long... shape) {
    return HostMemory.copy(data, dtype, shape);
  }

  /**
   * Imports native memory, without a copy if the device can use it in place. The segment is
   * reachable, and must not be written, until the tensor's memory is no longer needed.
   *
   * @param data the elements, row-major, in native memory that stays open as long
   * @param dtype their type
   * @param shape the sizes
   * @return the tensor
   */
  public static Tensor lend(MemorySegment data, DType dtype, long... shape) {
    return HostMemory.lend(data, dtype, shape, null, null);
  }

  /**
   * Imports native memory with strides, and calls back when the memory is no longer used.
   *
   * @param data the elements in native memory; the first is the tensor's first
   * @param dtype their type
   * @param shape the sizes
   * @param strides in elements, one for each axis; null for row-major without gaps
   * @param done runs once, on any thread, when the memory is no longer needed; may be null
   * @return the tensor
   */
  public static Tensor lend(
      MemorySegment data, DType dtype, long[] shape, long[] strides, Runnable done) {
    return HostMemory.lend(data, dtype, shape, strides, done);
  }

  /**
   * Imports a direct buffer, or copies a heap buffer.
   *
   * @param data the elements between position and limit, in the machine's byte order
   * @param shape the sizes
   * @return a tensor of float32
   */
  public static Tensor of(FloatBuffer data, long... shape) {
    if (data.order() != ByteOrder.nativeOrder()) {
      throw new TenonException(
          Code.INVALID_ARGUMENT, "of: the buffer is not in the machine's byte order");
    }
    MemorySegment segment = MemorySegment.ofBuffer(data);
    return segment.isNative()
        ? lend(segment, DType.FLOAT32, shape)
        : of(segment, DType.FLOAT32, shape);
  }

  /**
   * A number, which adopts the dtype of the other operand.
   *
   * @param value the number
   * @return a tensor without axes
   */
  public static Tensor scalar(double value) {
    return Local.get().adopt(C.tenon_scalar_f64(value));
  }

  /**
   * An integer, which adopts the dtype of the other operand.
   *
   * @param value the number
   * @return a tensor without axes
   */
  public static Tensor scalar(long value) {
    return Local.get().adopt(C.tenon_scalar_i64(value));
  }

  /**
   * A truth value.
   *
   * @param value the value
   * @return a tensor without axes
   */
  public static Tensor scalar(boolean value) {
    return Local.get().adopt(C.tenon_scalar_bool(value));
  }

  /**
   * The same value on another device.
   *
   * @param device the device's name
   * @return a copy, or the same tensor if it is already there
   */
  public Tensor to(String device) {
    long tensor = handle();
    Local local = Local.get();
    long at = local.reserve(8);
    long error = C.tenon_tensor_copy_to(local.scope(), tensor, local.string(device), at);
    long copy = Memory.getLong(at);
    local.release(at);
    Reference.reachabilityFence(this);
    Calls.check(error);
    return local.adopt(copy);
  }

  /** Donates its memory to the next call that takes it. It cannot be used again. */
  public void donate() {
    long error = C.tenon_tensor_donate(handle());
    Reference.reachabilityFence(this);
    Calls.check(error);
  }

  /**
   * The element of the first axis at an index.
   *
   * @param index negative ones count from the end
   * @return a view without that axis
   */
  public Tensor get(long index) {
    // A traced function reads no size, so that one trace serves all; there an index that is out of
    // range fails in squeeze.
    if (!Local.get().tracing && (rank() == 0 || index < -size(0) || index >= size(0))) {
      throw new TenonException(
          Code.OUT_OF_RANGE,
          rank() == 0
              ? "get: the tensor has no axes"
              : "get: index " + index + " is outside [-" + size(0) + ", " + size(0) + ")");
    }
    long end = index == -1 ? Long.MAX_VALUE : index + 1;
    try (Tensor part = slice(new Ops.SliceAttrs().starts(index).ends(end).axes(0).steps(1))) {
      return part.squeeze(0);
    }
  }

  /**
   * The value as NumPy prints it.
   *
   * @return the text
   */
  @Override
  public String toString() {
    return handle == 0 ? "closed tensor" : text(false);
  }

  /**
   * The value with dtype, shape and device.
   *
   * @return such as "[1. 2.] : f32[2] on cpu:0"
   */
  public String describe() {
    return text(true);
  }

  private String text(boolean longForm) {
    long tensor = handle();
    Local local = Local.get();
    long at = local.top;
    try {
      long out = local.reserve(16);
      long error =
          C.tenon_tensor_format(local.scope(), tensor, formatOptions(local, longForm), out);
      Calls.check(error);
      return Local.takeText(out);
    } finally {
      local.release(at);
      Reference.reachabilityFence(this);
    }
  }

  /** NumPy's options. */
  static long formatOptions(Local local, boolean longForm) {
    long options = local.reserveZeros(Structs.tenon_format_options.SIZE);
    Memory.putInt(options, (int) Structs.tenon_format_options.SIZE);
    Memory.putInt(options + Structs.tenon_format_options.precision, 8);
    Memory.putLong(options + Structs.tenon_format_options.threshold, 1000);
    Memory.putInt(options + Structs.tenon_format_options.edge_items, 3);
    Memory.putInt(options + Structs.tenon_format_options.line_width, 75);
    Memory.putBoolean(options + Structs.tenon_format_options.long_form, longForm);
    return options;
  }

  // ---- life

  @Override
  long handle() {
    long tensor = handle;
    if (tensor == 0) {
      throw new IllegalStateException("the tensor is closed, or the scope that owned it is");
    }
    return tensor;
  }

  long handleOrZero() {
    return handle;
  }

  static long handleOf(Tensor tensor) {
    return tensor == null ? 0 : tensor.handle();
  }

  /** Frees it at once. A second call does nothing. */
  @Override
  public void close() {
    long tensor = handle;
    if (tensor == 0) {
      return;
    }
    if (keeper instanceof Scope scope) {
      if (!scope.isOnItsThread()) {
        throw new IllegalStateException("a tensor is closed on the thread of its scope");
      }
      scope.remove(this);
      handle = 0;
      C.tenon_tensor_release(tensor);
    } else if (keeper instanceof Page page) {
      handle = 0;
      Tracker.releaseSlot(page.handles, slot);
    } else {
      handle = 0;
      Tracker.close((Tracker.Ref) keeper);
    }
  }

  /**
   * Whether it was closed, by itself or with its scope.
   *
   * @return true if it cannot be used
   */
  public boolean isClosed() {
    return handle == 0;
  }

  /** Moves its handle to its scope, which closes and releases it. */
  long takeOwned() {
    long tensor = handle;
    handle = 0;
    return tensor;
  }
}
