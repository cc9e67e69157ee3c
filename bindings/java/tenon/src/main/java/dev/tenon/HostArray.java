package dev.tenon;

import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * Elements in host memory, row-major without gaps; valid while the code that receives them runs.
 *
 * @param type their dtype and shape
 * @param data the elements, in place
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
   * Elements of float32, in place.
   *
   * @return a buffer over them
   */
  public FloatBuffer floats() {
    return data.asByteBuffer().order(ByteOrder.nativeOrder()).asFloatBuffer();
  }
}
