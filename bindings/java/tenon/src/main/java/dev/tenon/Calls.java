// Calls of ops. All generated functions use them.

package dev.tenon;

import static dev.tenon.internal.Memory.getLong;
import static dev.tenon.internal.Memory.putLong;

import dev.tenon.internal.C;
import java.lang.ref.Reference;
import java.util.List;

final class Calls {
  private Calls() {}

  /** Throws the exception for an error that C returned; 0 means success. */
  static void check(long error) {
    if (error != 0) {
      throw TenonException.take(error);
    }
  }

  static Tensor one(int op, Tensor a) {
    long x = a.handle();
    Local local = Local.get();
    long scope = local.scope();
    if (local.tracing) {
      local.storeUserLine();
    }
    long at = local.reserve(16);
    putLong(at, x);
    long error = C.tenon_call(scope, op, 0, at, 1, at + 8, 1);
    long result = getLong(at + 8);
    local.release(at);
    Reference.reachabilityFence(a);
    check(error);
    return local.adopt(result);
  }

  static Tensor one(int op, Tensor a, Tensor b) {
    long x = a.handle();
    long y = b.handle();
    Local local = Local.get();
    long scope = local.scope();
    if (local.tracing) {
      local.storeUserLine();
    }
    long at = local.reserve(24);
    putLong(at, x);
    putLong(at + 8, y);
    long error = C.tenon_call(scope, op, 0, at, 2, at + 16, 1);
    long result = getLong(at + 16);
    local.release(at);
    Reference.reachabilityFence(a);
    Reference.reachabilityFence(b);
    check(error);
    return local.adopt(result);
  }

  static Tensor one(int op, Tensor... inputs) {
    return one(op, (OpAttrs) null, inputs);
  }

  static Tensor one(int op, OpAttrs attrs, Tensor... inputs) {
    Local local = Local.get();
    long scope = local.scope();
    if (local.tracing) {
      local.storeUserLine();
    }
    long at = local.top;
    long error;
    long result;
    try {
      long out = local.reserve(8);
      long given = local.handles(inputs);
      long written = attrs == null ? 0 : attrs.write(local);
      error = C.tenon_call(scope, op, written, given, inputs.length, out, 1);
      result = getLong(out);
    } finally {
      local.release(at);
      Reference.reachabilityFence(inputs);
    }
    check(error);
    return local.adopt(result);
  }

  static Tensor[] many(int op, int nOutputs, OpAttrs attrs, Tensor... inputs) {
    Local local = Local.get();
    long scope = local.scope();
    if (local.tracing) {
      local.storeUserLine();
    }
    long at = local.top;
    try {
      long out = local.reserve(8L * nOutputs);
      long given = local.handles(inputs);
      long written = attrs == null ? 0 : attrs.write(local);
      check(C.tenon_call(scope, op, written, given, inputs.length, out, nOutputs));
      return local.adoptAll(out, nOutputs);
    } finally {
      local.release(at);
      Reference.reachabilityFence(inputs);
    }
  }

  static Tensor withScalar(int op, Tensor a, double b) {
    return withScalar(op, a, C.tenon_scalar_f64(b), false);
  }

  static Tensor withScalar(int op, Tensor a, long b) {
    return withScalar(op, a, C.tenon_scalar_i64(b), false);
  }

  static Tensor withScalar(int op, double a, Tensor b) {
    return withScalar(op, b, C.tenon_scalar_f64(a), true);
  }

  static Tensor withScalar(int op, long a, Tensor b) {
    return withScalar(op, b, C.tenon_scalar_i64(a), true);
  }

  private static Tensor withScalar(int op, Tensor tensor, long scalar, boolean first) {
    long x = tensor.handleOrZero();
    if (x == 0) {
      C.tenon_tensor_release(scalar);
      x = tensor.handle();
    }
    Local local = Local.get();
    long scope = local.scope();
    if (local.tracing) {
      local.storeUserLine();
    }
    long at = local.reserve(24);
    putLong(at, first ? scalar : x);
    putLong(at + 8, first ? x : scalar);
    long error = C.tenon_call(scope, op, 0, at, 2, at + 16, 1);
    long result = getLong(at + 16);
    local.release(at);
    C.tenon_tensor_release(scalar);
    Reference.reachabilityFence(tensor);
    check(error);
    return local.adopt(result);
  }

  static Tensor[] array(List<Tensor> tensors) {
    return tensors.toArray(Tensor[]::new);
  }
}
