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

/** What a tensor is, and its elements. */
public abstract sealed class TensorData extends TensorOps permits Tensor {
  TensorData() {}

  abstract long handle();

  private Tensor self() {
    return (Tensor) this;
  }

  // ---- what it is

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
   * The sizes.
   *
   * @return a new array
   */
  public long[] shape() {
    int rank = rank();
    long[] shape = rank == 0 ? new long[0] : Memory.longs(C.tenon_tensor_shape(handle()), rank);
    Reference.reachabilityFence(this);
    return shape;
  }

  /**
   * The size of an axis.
   *
   * @param axis the axis; negative ones count from the end
   * @return the size
   */
  public long size(int axis) {
    long[] shape = shape();
    return shape[axis < 0 ? axis + shape.length : axis];
  }

  /**
   * The strides in elements: how the value is laid out, not part of its type.
   *
   * @return a new array
   */
  public long[] strides() {
    int rank = rank();
    long[] strides =
        rank == 0 ? new long[0] : Memory.longs(C.tenon_tensor_strides(handle()), rank);
    Reference.reachabilityFence(this);
    return strides;
  }

  /**
   * The number of elements.
   *
   * @return the product of the sizes
   */
  public long count() {
    long count = C.tenon_tensor_count(handle());
    Reference.reachabilityFence(this);
    return count;
  }

  /**
   * The bytes of a dense copy.
   *
   * @return the number
   */
  public long bytes() {
    long bytes = C.tenon_tensor_bytes(handle());
    Reference.reachabilityFence(this);
    return bytes;
  }

  /**
   * The name of the device that holds it.
   *
   * @return such as "cpu:0"; empty for a number
   */
  public String device() {
    String name = Memory.text(C.tenon_tensor_device_name(Local.get().result, handle()));
    Reference.reachabilityFence(this);
    return name;
  }

  /**
   * Whether it is a list of tensors.
   *
   * @return true for what a {@link TensorList} wraps
   */
  public boolean isList() {
    boolean is = C.tenon_tensor_is_list(handle());
    Reference.reachabilityFence(this);
    return is;
  }

  // ---- the value

  /**
   * The only element.
   *
   * @return as a double; integers of 64 bits round
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
   * The only element of a tensor of integers or truth values.
   *
   * @return as a long
   */
  public long itemLong() {
    long tensor = handle();
    Local local = Local.get();
    long at = local.reserve(8);
    long error = C.tenon_tensor_item_i64(local.scope(), tensor, at);
    long value = Memory.getLong(at);
    local.release(at);
    Reference.reachabilityFence(this);
    Calls.check(error);
    return value;
  }

  /**
   * Whether the only element is not zero, for conditions of Java.
   *
   * @return the answer
   */
  public boolean isTrue() {
    return item() != 0;
  }

  /**
   * Copies the elements of a tensor of float32, row-major.
   *
   * @return a new array
   */
  public float[] toFloats() {
    float[] elements = new float[HostMemory.length(self(), DType.FLOAT32)];
    readInto(MemorySegment.ofArray(elements));
    return elements;
  }

  /**
   * Copies the elements of a tensor of float64, row-major.
   *
   * @return a new array
   */
  public double[] toDoubles() {
    double[] elements = new double[HostMemory.length(self(), DType.FLOAT64)];
    readInto(MemorySegment.ofArray(elements));
    return elements;
  }

  /**
   * Copies the elements of a tensor of int32, row-major.
   *
   * @return a new array
   */
  public int[] toInts() {
    int[] elements = new int[HostMemory.length(self(), DType.INT32)];
    readInto(MemorySegment.ofArray(elements));
    return elements;
  }

  /**
   * Copies the elements of a tensor of int64, row-major.
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
   * @param into as many bytes as {@link #bytes} says, in heap or native memory
   */
  public void readInto(MemorySegment into) {
    HostMemory.read(self(), into);
  }

  /**
   * Copies the elements of a tensor of float32.
   *
   * @param into as many elements between position and limit; its position stays
   */
  public void readInto(FloatBuffer into) {
    HostMemory.length(self(), DType.FLOAT32);
    readInto(MemorySegment.ofBuffer(into));
  }

  /**
   * Copies the elements into native memory without blocking.
   *
   * @return completes with the elements, row-major, or with what went wrong
   */
  public CompletableFuture<MemorySegment> readAsync() {
    return HostMemory.readAsync(self());
  }

  /**
   * The elements in place, without a copy, to be read; they stay alive as long as the segment.
   *
   * @return null where the host does not see them, or they do not lie row-major without gaps
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
   * The elements of a tensor of float32 in place, as {@link #data}.
   *
   * @return null where there are none in place
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
