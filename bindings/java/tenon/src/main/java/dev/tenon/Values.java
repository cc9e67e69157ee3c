// Conversions of tensors and variables to and from the C type tenon_value.

package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.util.List;

final class Values {
  private Values() {}

  static long handle(Value value) {
    return switch (value) {
      case Tensor tensor -> C.tenon_tensor_as_value(tensor.handle());
      case Variable variable -> C.tenon_variable_as_value(variable.handle());
    };
  }

  static long handles(Local local, List<? extends Value> values) {
    long at = local.reserve(Math.max(8, 8L * values.size()));
    for (int i = 0; i < values.size(); ++i) {
      Memory.putLong(at + 8L * i, handle(values.get(i)));
    }
    return at;
  }

  /** Wraps a tenon_value that C returned. */
  static Value adopt(Local local, long value) {
    long variable = C.tenon_value_as_variable(value);
    if (variable != 0) {
      Variable shared = Variable.share(variable);
      C.tenon_value_release(value);
      return shared;
    }
    return local.adopt(C.tenon_value_as_tensor(value));
  }
}
