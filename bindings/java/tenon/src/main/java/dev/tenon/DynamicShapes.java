package dev.tenon;

import static dev.tenon.internal.Memory.putLong;

import dev.tenon.internal.C;
import dev.tenon.internal.Constants;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs.tenon_size_argument;
import java.lang.ref.Reference;

/**
 * Ops that take sizes as rank-1 int64 tensors. Inside a function, sizes computed from
 * {@link Control#shape} stay symbolic, so that one trace serves all sizes.
 */
public final class DynamicShapes {
  private DynamicShapes() {}

  /**
   * Returns a tensor whose elements all have the same value.
   *
   * @param sizes the sizes of the result
   * @param value the value, a rank-0 tensor
   * @return a tensor with the dtype of the value
   */
  public static Tensor full(Tensor sizes, Tensor value) {
    return call(Constants.TENON_OP_fill, null, "shape", sizes, value);
  }

  /**
   * Returns a tensor whose elements are their indices along one axis.
   *
   * @param sizes the sizes of the result
   * @param attrs the attributes, whose shape is ignored; null for the defaults
   * @return the tensor
   */
  public static Tensor iota(Tensor sizes, Ops.IotaAttrs attrs) {
    return call(Constants.TENON_OP_iota, attrs, "shape", sizes);
  }

  /**
   * Broadcasts a tensor: repeats it along axes of size 1 and along new leading axes.
   *
   * @param x the tensor
   * @param sizes the sizes of the result
   * @return the broadcast tensor
   */
  public static Tensor broadcastTo(Tensor x, Tensor sizes) {
    return call(Constants.TENON_OP_broadcast_to, null, "shape", sizes, x);
  }

  /**
   * Returns a tensor with the same elements and a different shape.
   *
   * @param x the tensor
   * @param sizes the sizes of the result; one of them may be the constant -1, and is inferred
   * @return the reshaped tensor
   */
  public static Tensor reshape(Tensor x, Tensor sizes) {
    return call(Constants.TENON_OP_reshape, null, "shape", sizes, x);
  }

  /**
   * Returns a slice of a tensor.
   *
   * @param x the tensor
   * @param starts the first index along each axis
   * @param ends one past the last index along each axis
   * @return the slice
   */
  public static Tensor slice(Tensor x, Tensor starts, Tensor ends) {
    return call(
        Constants.TENON_OP_slice, null, new String[] {"starts", "ends"}, new Tensor[] {starts, ends}, x);
  }

  private static Tensor call(int op, OpAttrs attrs, String name, Tensor sizes, Tensor... inputs) {
    return call(op, attrs, new String[] {name}, new Tensor[] {sizes}, inputs);
  }

  private static Tensor call(
      int op, OpAttrs attrs, String[] names, Tensor[] sizes, Tensor... inputs) {
    Local local = Local.get();
    long scope = local.scope();
    if (local.tracing) {
      local.storeUserLine();
    }
    long at = local.top;
    try {
      long out = local.reserve(8);
      long given = local.handles(inputs);
      long arguments = local.reserve(tenon_size_argument.SIZE * names.length);
      for (int i = 0; i < names.length; i++) {
        long argument = arguments + i * tenon_size_argument.SIZE;
        local.putString(argument + tenon_size_argument.attribute, names[i]);
        putLong(argument + tenon_size_argument.sizes, sizes[i].handle());
      }
      long written = attrs == null ? 0 : attrs.write(local);
      Calls.check(
          C.tenon_call_sized(
              scope, op, written, arguments, names.length, given, inputs.length, out, 1));
      return local.adopt(Memory.getLong(out));
    } finally {
      local.release(at);
      Reference.reachabilityFence(inputs);
      Reference.reachabilityFence(sizes);
    }
  }
}
