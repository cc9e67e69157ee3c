package dev.tenon;

import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * A tensor in host memory, row-major without gaps. Valid only while the callback that receives it
 * runs.
 *
 * @param type the dtype and shape
 * @param data the memory of the elements, not a copy
 */
public record HostArray(TensorType type, MemorySegment data) {
  static HostArray read(long at) {
    return new HostArray(
        TensorType.read(at + Structs.tenon_host_array.type),
        Memory.at(
            Memory.getLong(at + Structs.tenon_host_array.data),
            Memory.getLong(at + Structs.tenon_host_array.size)));
  }

  /**
   * Returns a view of float32 elements.
   *
   * @return a buffer on the same memory
   */
  public FloatBuffer floats() {
    return data.asByteBuffer().order(ByteOrder.nativeOrder()).asFloatBuffer();
  }
}
