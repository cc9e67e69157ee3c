// Conversion of static arguments: Java values other than tensors. 1, 1.0 and true are distinct
// values.

package dev.tenon;

import dev.tenon.internal.Constants;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

final class Statics {
  private Statics() {}

  private static final long SIZE = Structs.tenon_static.SIZE;

  static long writeAll(Local local, Map<String, ?> statics) {
    long at = local.reserveZeros(Math.max(8, SIZE * statics.size()));
    int i = 0;
    for (Map.Entry<String, ?> entry : statics.entrySet()) {
      write(local, at + SIZE * i++, entry.getKey(), entry.getValue());
    }
    return at;
  }

  private static void write(Local local, long at, String name, Object value) {
    local.putString(at + Structs.tenon_static.name, name);
    int kind;
    switch (value) {
      case null -> kind = Constants.TENON_STATIC_NONE;
      case Boolean bool -> {
        kind = Constants.TENON_STATIC_BOOL;
        Memory.putLong(at + Structs.tenon_static.int_value, bool ? 1 : 0);
      }
      case Integer number -> kind = writeInt(at, number);
      case Long number -> kind = writeInt(at, number);
      case Float number -> kind = writeFloat(at, number);
      case Double number -> kind = writeFloat(at, number);
      case String text -> {
        kind = Constants.TENON_STATIC_STRING;
        local.putString(at + Structs.tenon_static.string_value, text);
      }
      case Enum<?> member -> {
        kind = Constants.TENON_STATIC_ENUM;
        Memory.putLong(at + Structs.tenon_static.int_value, member.ordinal());
        local.putString(
            at + Structs.tenon_static.string_value, member.getDeclaringClass().getSimpleName());
      }
      case Tensor tensor -> kind = writeHandle(at, tensor.handle());
      case NativeHandle object -> kind = writeHandle(at, object.handle());
      case List<?> items -> {
        kind = Constants.TENON_STATIC_LIST;
        long all = local.reserveZeros(Math.max(8, SIZE * items.size()));
        for (int i = 0; i < items.size(); ++i) {
          write(local, all + SIZE * i, "", items.get(i));
        }
        writeItems(at, all, items.size());
      }
      case Map<?, ?> items -> {
        kind = Constants.TENON_STATIC_MAP;
        Map<String, Object> named = new LinkedHashMap<>();
        items.forEach((key, item) -> named.put(key.toString(), item));
        writeItems(at, writeAll(local, named), named.size());
      }
      default ->
          throw new TenonException(
              Code.INVALID_ARGUMENT,
              "static argument " + name + ": values of " + value.getClass() + " are not supported");
    }
    Memory.putInt(at + Structs.tenon_static.kind, kind);
  }

  private static int writeInt(long at, long value) {
    Memory.putLong(at + Structs.tenon_static.int_value, value);
    return Constants.TENON_STATIC_INT;
  }

  private static int writeFloat(long at, double value) {
    Memory.putDouble(at + Structs.tenon_static.float_value, value);
    return Constants.TENON_STATIC_FLOAT;
  }

  private static int writeHandle(long at, long handle) {
    Memory.putLong(at + Structs.tenon_static.handle, handle);
    return Constants.TENON_STATIC_HANDLE;
  }

  private static void writeItems(long at, long items, int count) {
    Memory.putLong(at + Structs.tenon_static.items, items);
    Memory.putInt(at + Structs.tenon_static.n_items, count);
  }

  static Map<String, Object> readAll(long at, long count) {
    Map<String, Object> all = new LinkedHashMap<>();
    for (long i = 0; i < count; ++i) {
      long one = at + SIZE * i;
      all.put(Memory.text(one + Structs.tenon_static.name), read(one));
    }
    return all;
  }

  // Converts a C static argument. An enum value becomes its number. An object becomes null, because
  // its type is unknown.
  private static Object read(long at) {
    int kind = Memory.getInt(at + Structs.tenon_static.kind);
    long number = Memory.getLong(at + Structs.tenon_static.int_value);
    long items = Memory.getLong(at + Structs.tenon_static.items);
    int count = Memory.getInt(at + Structs.tenon_static.n_items);
    switch (kind) {
      case Constants.TENON_STATIC_BOOL:
        return number != 0;
      case Constants.TENON_STATIC_INT:
      case Constants.TENON_STATIC_ENUM:
        return number;
      case Constants.TENON_STATIC_FLOAT:
        return Memory.getDouble(at + Structs.tenon_static.float_value);
      case Constants.TENON_STATIC_STRING:
        return Memory.text(at + Structs.tenon_static.string_value);
      case Constants.TENON_STATIC_LIST:
        List<Object> list = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
          list.add(read(items + SIZE * i));
        }
        return list;
      case Constants.TENON_STATIC_MAP:
        return readAll(items, count);
      default:
        return null;
    }
  }
}
