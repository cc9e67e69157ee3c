package dev.tenon;

import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.util.ArrayList;
import java.util.List;

/**
 * The type of an input of a function.
 *
 * @param name the name in messages and files; empty for none
 * @param dtype the element type
 * @param shape the sizes; {@link #UNKNOWN} for a size that may differ from call to call
 * @param sizeNames a name for each size, or empty for none; unknown sizes with equal names are
 *     equal
 * @param isScalar whether the input is an inline scalar, as {@link Tensor#scalar} creates
 */
public record InputSpec(
    String name, DType dtype, List<Long> shape, List<String> sizeNames, boolean isScalar) {
  /** A size that may differ from call to call. */
  public static final long UNKNOWN = -1;

  /**
   * Returns the type of a tensor with a name.
   *
   * @param name the name
   * @param dtype the element type
   * @param shape the sizes; {@link #UNKNOWN} for a size that may differ from call to call
   * @return the type
   */
  public static InputSpec of(String name, DType dtype, long... shape) {
    List<Long> sizes = new ArrayList<>();
    for (long size : shape) {
      sizes.add(size);
    }
    return new InputSpec(name, dtype, sizes, List.of(), false);
  }

  private static final long SIZE = Structs.tenon_input_spec.SIZE;

  static long writeAll(Local local, List<InputSpec> specs) {
    long at = local.reserveZeros(Math.max(SIZE, SIZE * specs.size()));
    for (int i = 0; i < specs.size(); ++i) {
      specs.get(i).write(local, at + SIZE * i);
    }
    return at;
  }

  private void write(Local local, long at) {
    local.putString(at + Structs.tenon_input_spec.name, name);
    Memory.putInt(at + Structs.tenon_input_spec.dtype, dtype.bits());
    Memory.putInt(at + Structs.tenon_input_spec.rank, shape.size());
    long[] sizes = shape.stream().mapToLong(Long::longValue).toArray();
    Memory.putLong(at + Structs.tenon_input_spec.shape, local.longs(sizes));
    Memory.putBoolean(at + Structs.tenon_input_spec.is_scalar, isScalar);
    if (!sizeNames.isEmpty()) {
      long names = local.reserveZeros(16L * shape.size());
      for (int axis = 0; axis < shape.size(); ++axis) {
        local.putString(names + 16L * axis, axis < sizeNames.size() ? sizeNames.get(axis) : "");
      }
      Memory.putLong(at + Structs.tenon_input_spec.size_names, names);
    }
  }

  static List<InputSpec> readAll(long at, long count) {
    List<InputSpec> all = new ArrayList<>();
    for (long i = 0; i < count; ++i) {
      all.add(read(at + SIZE * i));
    }
    return all;
  }

  private static InputSpec read(long at) {
    int rank = Memory.getInt(at + Structs.tenon_input_spec.rank);
    List<Long> shape = new ArrayList<>();
    List<String> names = new ArrayList<>();
    long sizes = Memory.getLong(at + Structs.tenon_input_spec.shape);
    long sizeNames = Memory.getLong(at + Structs.tenon_input_spec.size_names);
    for (int axis = 0; axis < rank; ++axis) {
      shape.add(Memory.getLong(sizes + 8L * axis));
      if (sizeNames != 0) {
        names.add(Memory.text(sizeNames + 16L * axis));
      }
    }
    return new InputSpec(
        Memory.text(at + Structs.tenon_input_spec.name),
        new DType(Memory.getInt(at + Structs.tenon_input_spec.dtype)),
        shape,
        names,
        Memory.getByte(at + Structs.tenon_input_spec.is_scalar) != 0);
  }
}
