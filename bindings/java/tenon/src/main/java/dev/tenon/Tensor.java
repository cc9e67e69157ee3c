package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * An immutable tensor. Ops are its methods ({@link TensorOps}) and static functions ({@link Ops}).
 *
 * <p>A tensor belongs to the {@link Scope} that was current when it was created, and is freed with
 * that scope. All threads may read it. Only the thread of its scope may close it, when no other
 * thread uses it.
 */
public final class Tensor extends TensorData implements Value, AutoCloseable {
  private long handle;
  /** The owner of the handle: a Scope, a Page or a Tracker.Ref. */
  Object keeper;
  /** The index of the tensor in its scope or page. */
  int slot;

  Tensor(long handle) {
    this.handle = handle;
  }

  /**
   * Creates a tensor of a scope. Setting fields in the constructor avoids the collector's write
   * barriers.
   */
  Tensor(long handle, Scope scope, int slot) {
    this.handle = handle;
    this.keeper = scope;
    this.slot = slot;
  }

  /** Creates a tensor without a scope. The cleaner frees it. */
  static Tensor tracked(Local local, long handle) {
    Tensor tensor = new Tensor(handle);
    tensor.track(local);
    return tensor;
  }

  /** Registers the tensor with the cleaner. */
  void track(Local local) {
    long bytes = local.bytesOf(handle);
    if (bytes >= Tracker.PAGED_BYTES || !local.addToPage(this, handle)) {
      keeper = Tracker.track(this, Tracker.Kind.TENSOR, handle, bytes, null);
    }
  }

  // ---- creation from host memory

  /**
   * Copies floats into a rank-1 tensor.
   *
   * @param values the elements
   * @return a tensor of float32
   */
  public static Tensor of(float... values) {
    return of(values, new long[] {values.length});
  }

  /**
   * Copies floats into a tensor.
   *
   * @param values the elements, row-major
   * @param shape the sizes
   * @return a tensor of float32
   */
  public static Tensor of(float[] values, long... shape) {
    return HostMemory.copy(MemorySegment.ofArray(values), DType.FLOAT32, shape);
  }

  /**
   * Copies doubles into a rank-1 tensor.
   *
   * @param values the elements
   * @return a tensor of float64
   */
  public static Tensor of(double... values) {
    return of(values, new long[] {values.length});
  }

  /**
   * Copies doubles into a tensor.
   *
   * @param values the elements, row-major
   * @param shape the sizes
   * @return a tensor of float64
   */
  public static Tensor of(double[] values, long... shape) {
    return HostMemory.copy(MemorySegment.ofArray(values), DType.FLOAT64, shape);
  }

  /**
   * Copies ints into a rank-1 tensor.
   *
   * @param values the elements
   * @return a tensor of int32
   */
  public static Tensor of(int... values) {
    return of(values, new long[] {values.length});
  }

  /**
   * Copies ints into a tensor.
   *
   * @param values the elements, row-major
   * @param shape the sizes
   * @return a tensor of int32
   */
  public static Tensor of(int[] values, long... shape) {
    return HostMemory.copy(MemorySegment.ofArray(values), DType.INT32, shape);
  }

  /**
   * Copies longs into a tensor.
   *
   * @param values the elements, row-major
   * @param shape the sizes
   * @return a tensor of int64
   */
  public static Tensor of(long[] values, long... shape) {
    return HostMemory.copy(MemorySegment.ofArray(values), DType.INT64, shape);
  }

  /**
   * Copies bytes into a tensor of any dtype.
   *
   * @param values the elements, row-major
   * @param dtype the dtype that the bytes represent, such as {@link DType#UINT8}
   * @param shape the sizes
   * @return a tensor of the dtype
   */
  public static Tensor of(byte[] values, DType dtype, long... shape) {
    return HostMemory.copy(MemorySegment.ofArray(values), dtype, shape);
  }

  /**
   * Copies booleans into a tensor.
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
   * Copies rows of floats into a rank-2 tensor.
   *
   * @param rows the rows, which must have equal lengths
   * @return a rank-2 tensor of float32
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
   * Copies the elements in a segment of heap or native memory.
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
   * Imports native memory. Copies it only if the device cannot use it in place. The tensor keeps
   * the segment reachable. Nobody may write to it until the tensor is released.
   *
   * @param data the elements, row-major, in native memory; its arena must stay open until the
   *     tensor is released
   * @param dtype their type
   * @param shape the sizes
   * @return the tensor
   */
  public static Tensor lend(MemorySegment data, DType dtype, long... shape) {
    return HostMemory.lend(data, dtype, shape, null, null);
  }

  /**
   * Imports native memory with strides, and runs a callback when the memory is no longer used.
   *
   * @param data the elements in native memory; the segment begins with the first element of the
   *     tensor
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
          Code.INVALID_ARGUMENT, "of: the byte order of the buffer must be ByteOrder.nativeOrder()");
    }
    MemorySegment segment = MemorySegment.ofBuffer(data);
    return segment.isNative()
        ? lend(segment, DType.FLOAT32, shape)
        : of(segment, DType.FLOAT32, shape);
  }

  /**
   * Creates an inline scalar, which adopts the dtype of the other operand.
   *
   * @param value the number
   * @return a rank-0 tensor
   */
  public static Tensor scalar(double value) {
    return Local.get().adopt(C.tenon_scalar_f64(value));
  }

  /**
   * Creates an inline integer scalar, which adopts the dtype of the other operand.
   *
   * @param value the number
   * @return a rank-0 tensor
   */
  public static Tensor scalar(long value) {
    return Local.get().adopt(C.tenon_scalar_i64(value));
  }

  /**
   * Creates an inline bool scalar.
   *
   * @param value the value
   * @return a rank-0 tensor
   */
  public static Tensor scalar(boolean value) {
    return Local.get().adopt(C.tenon_scalar_bool(value));
  }

  /**
   * Copies the tensor to another device.
   *
   * @param device the name of the device
   * @return a copy, or this tensor if it is already on the device
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

  /**
   * Donates the tensor: the next call that takes it may write an output to its memory. Later uses
   * fail.
   */
  public void donate() {
    long error = C.tenon_tensor_donate(handle());
    Reference.reachabilityFence(this);
    Calls.check(error);
  }

  /**
   * Returns the slice at an index of the first axis, without that axis.
   *
   * @param index the index; a negative one counts from the end
   * @return a view of the slice
   */
  public Tensor get(long index) {
    // While tracing, do not read the size, so that one trace serves all sizes. squeeze then reports
    // an index out of range.
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
   * Formats the elements as NumPy does.
   *
   * @return the text
   */
  @Override
  public String toString() {
    return handle == 0 ? "closed tensor" : text(false);
  }

  /**
   * Formats the elements, with dtype, shape and device.
   *
   * @return the text, such as "[1. 2.] : f32[2] on cpu:0"
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

  /** Writes the C struct of format options, with NumPy's defaults, and returns its address. */
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

  // ---- lifetime

  @Override
  long handle() {
    long tensor = handle;
    if (tensor == 0) {
      throw new IllegalStateException(
          "the tensor is closed, explicitly or with the scope that owned it");
    }
    return tensor;
  }

  long handleOrZero() {
    return handle;
  }

  static long handleOf(Tensor tensor) {
    return tensor == null ? 0 : tensor.handle();
  }

  /** Frees the tensor immediately. A second call does nothing. */
  @Override
  public void close() {
    long tensor = handle;
    if (tensor == 0) {
      return;
    }
    if (keeper instanceof Scope scope) {
      if (!scope.isOnItsThread()) {
        throw new IllegalStateException("a tensor must be closed on the thread of its scope");
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
   * Returns whether the tensor was closed, explicitly or with its scope.
   *
   * @return true if the tensor can no longer be used
   */
  public boolean isClosed() {
    return handle == 0;
  }

  /** Closes the tensor and returns its handle, which the calling scope must release. */
  long closeAndReturnHandle() {
    long tensor = handle;
    handle = 0;
    return tensor;
  }
}
