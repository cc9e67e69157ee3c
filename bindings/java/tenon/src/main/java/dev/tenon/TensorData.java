package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.concurrent.CompletableFuture;

/** Properties and elements of a tensor. */
public abstract sealed class TensorData extends TensorOps permits Tensor {
  TensorData() {}

  abstract long handle();

  private Tensor self() {
    return (Tensor) this;
  }

  // ---- properties

  /**
   * The element type.
   *
   * @return the dtype
   */
  public DType dtype() {
    DType dtype = new DType(C.tenon_tensor_dtype(handle()));
    Reference.reachabilityFence(this);
    return dtype;
  }

  /**
   * The number of axes.
   *
   * @return the number
   */
  public int rank() {
    int rank = (int) C.tenon_tensor_rank(handle());
    Reference.reachabilityFence(this);
    return rank;
  }

  /**
   * Returns the sizes of all axes. Throws in a traced function if a size is unknown.
   *
   * @return a new array
   */
  public long[] shape() {
    long tensor = handle();
    Local local = Local.get();
    long at = local.reserve(16);
    long error = C.tenon_tensor_read_shape(tensor, at, at + 8);
    return takeAxes(local, at, error);
  }

  /**
   * Returns the size of one axis. Throws in a traced function if the size is unknown.
   *
   * @param axis the axis; a negative one counts from the last
   * @return the size
   */
  public long size(int axis) {
    long tensor = handle();
    Local local = Local.get();
    long at = local.reserve(8);
    long error = C.tenon_tensor_size(tensor, axis, at);
    return takeLong(local, at, error);
  }

  /**
   * Returns the strides in elements, which describe the memory layout only. Throws in a traced
   * function if a size is unknown.
   *
   * @return a new array
   */
  public long[] strides() {
    int rank = shape().length;
    long[] strides = Memory.longs(C.tenon_tensor_strides(handle()), rank);
    Reference.reachabilityFence(this);
    return strides;
  }

  /**
   * Returns the number of elements. Throws in a traced function if a size is unknown.
   *
   * @return the product of the sizes
   */
  public long count() {
    shape();
    long count = C.tenon_tensor_count(handle());
    Reference.reachabilityFence(this);
    return count;
  }

  /**
   * Returns the size of a dense copy in bytes. Throws in a traced function if a size is unknown.
   *
   * @return the size in bytes
   */
  public long bytes() {
    shape();
    long bytes = C.tenon_tensor_bytes(handle());
    Reference.reachabilityFence(this);
    return bytes;
  }

  /**
   * Reads the integers of a C getter, which wrote their address and number. They live as long as
   * the tensor.
   */
  private long[] takeAxes(Local local, long at, long error) {
    long[] axes = error != 0 ? null : Memory.longs(Memory.getLong(at), (int) Memory.getLong(at + 8));
    local.release(at);
    Reference.reachabilityFence(this);
    Calls.check(error);
    return axes;
  }

  /** Reads the integer that a C getter wrote. */
  private long takeLong(Local local, long at, long error) {
    long value = Memory.getLong(at);
    local.release(at);
    Reference.reachabilityFence(this);
    Calls.check(error);
    return value;
  }

  /**
   * Returns the name of the device that holds the tensor.
   *
   * @return the name, such as "cpu:0"; empty for an inline scalar
   */
  public String device() {
    String name = Memory.text(C.tenon_tensor_device_name(Local.get().result, handle()));
    Reference.reachabilityFence(this);
    return name;
  }

  /**
   * Returns whether the value is a list of tensors.
   *
   * @return true for the value of a {@link TensorList}
   */
  public boolean isList() {
    boolean is = C.tenon_tensor_is_list(handle());
    Reference.reachabilityFence(this);
    return is;
  }

  // ---- reading the value

  /**
   * Reads the only element of a tensor. Throws unless the tensor has exactly one element.
   *
   * @return the element as a double; 64-bit integers are rounded
   */
  public double item() {
    long tensor = handle();
    Local local = Local.get();
    long at = local.reserve(8);
    long error = C.tenon_tensor_item_f64(local.scope(), tensor, at);
    double value = Memory.getDouble(at);
    local.release(at);
    Reference.reachabilityFence(this);
    Calls.check(error);
    return value;
  }

  /**
   * Reads the only element of an integer or bool tensor. Throws unless it has exactly one.
   *
   * @return the element as a long
   */
  public long itemLong() {
    long tensor = handle();
    Local local = Local.get();
    long at = local.reserve(8);
    long error = C.tenon_tensor_item_i64(local.scope(), tensor, at);
    return takeLong(local, at, error);
  }

  /**
   * Returns whether the only element is nonzero, for use in Java conditions.
   *
   * @return true if the element is not zero
   */
  public boolean isTrue() {
    return item() != 0;
  }

  /**
   * Copies the elements of a float32 tensor, row-major.
   *
   * @return a new array
   */
  public float[] toFloats() {
    float[] elements = new float[HostMemory.length(self(), DType.FLOAT32)];
    readInto(MemorySegment.ofArray(elements));
    return elements;
  }

  /**
   * Copies the elements of a float64 tensor, row-major.
   *
   * @return a new array
   */
  public double[] toDoubles() {
    double[] elements = new double[HostMemory.length(self(), DType.FLOAT64)];
    readInto(MemorySegment.ofArray(elements));
    return elements;
  }

  /**
   * Copies the elements of an int32 tensor, row-major.
   *
   * @return a new array
   */
  public int[] toInts() {
    int[] elements = new int[HostMemory.length(self(), DType.INT32)];
    readInto(MemorySegment.ofArray(elements));
    return elements;
  }

  /**
   * Copies the elements of an int64 tensor, row-major.
   *
   * @return a new array
   */
  public long[] toLongs() {
    long[] elements = new long[HostMemory.length(self(), DType.INT64)];
    readInto(MemorySegment.ofArray(elements));
    return elements;
  }

  /**
   * Copies the bytes of the elements, row-major.
   *
   * @return a new array
   */
  public byte[] toBytes() {
    byte[] elements = new byte[Math.toIntExact(bytes())];
    readInto(MemorySegment.ofArray(elements));
    return elements;
  }

  /**
   * Copies the elements, row-major without gaps.
   *
   * @param into a segment of exactly {@link #bytes} bytes, in heap or native memory
   */
  public void readInto(MemorySegment into) {
    HostMemory.read(self(), into);
  }

  /**
   * Copies the elements of a float32 tensor.
   *
   * @param into a buffer with exactly {@link #count} elements between position and limit; its
   *     position does not change
   */
  public void readInto(FloatBuffer into) {
    HostMemory.length(self(), DType.FLOAT32);
    readInto(MemorySegment.ofBuffer(into));
  }

  /**
   * Copies the elements into native memory without blocking.
   *
   * @return a future that completes with the elements, row-major, or exceptionally
   */
  public CompletableFuture<MemorySegment> readAsync() {
    return HostMemory.readAsync(self());
  }

  /**
   * Returns a read-only view of the elements, without a copy. The segment keeps the elements alive.
   *
   * @return the view; null if the host cannot access the elements or they are not row-major without
   *     gaps
   */
  public MemorySegment data() {
    long tensor = handle();
    long data = C.tenon_tensor_data(tensor);
    if (data == 0) {
      return null;
    }
    C.tenon_tensor_retain(tensor);
    MemorySegment segment =
        MemorySegment.ofAddress(data)
            .reinterpret(bytes(), Arena.ofAuto(), _ -> C.tenon_tensor_release(tensor))
            .asReadOnly();
    Reference.reachabilityFence(this);
    return segment;
  }

  /**
   * Returns a view of the elements of a float32 tensor, without a copy, like {@link #data}.
   *
   * @return the view; null if {@link #data} returns null
   */
  public FloatBuffer floatBuffer() {
    HostMemory.length(self(), DType.FLOAT32);
    MemorySegment data = data();
    if (data == null) {
      return null;
    }
    ByteBuffer bytes = data.asByteBuffer();
    return bytes.order(ByteOrder.nativeOrder()).asFloatBuffer();
  }
}
