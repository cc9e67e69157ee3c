package dev.tenon;

import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.util.ArrayList;
import java.util.List;

/**
 * The type of a tensor: a dtype and a shape.
 *
 * @param dtype the element type; {@link DType#NONE} for an omitted optional input
 * @param shape the sizes of the axes
 */
public record TensorType(DType dtype, List<Long> shape) {
  private static final int MAX_RANK = 16;

  static TensorType read(long at) {
    int rank = Memory.getInt(at + Structs.tenon_type.rank);
    List<Long> shape = new ArrayList<>();
    for (int axis = 0; axis < rank; ++axis) {
      shape.add(Memory.getLong(at + Structs.tenon_type.shape + 8L * axis));
    }
    return new TensorType(new DType(Memory.getInt(at + Structs.tenon_type.dtype)), shape);
  }

  void write(long at) {
    if (shape.size() > MAX_RANK) {
      throw new TenonException(
          Code.INVALID_ARGUMENT,
          "a type has " + shape.size() + " axes, but the maximum is " + MAX_RANK);
    }
    Memory.putInt(at + Structs.tenon_type.dtype, dtype.bits());
    Memory.putInt(at + Structs.tenon_type.rank, shape.size());
    for (int axis = 0; axis < shape.size(); ++axis) {
      Memory.putLong(at + Structs.tenon_type.shape + 8L * axis, shape.get(axis));
    }
  }
}
