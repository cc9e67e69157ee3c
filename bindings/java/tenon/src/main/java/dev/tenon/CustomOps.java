// C callbacks that call the methods of a CustomOp.

package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.NativeLibrary;
import dev.tenon.internal.Structs;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

final class CustomOps {
  private CustomOps() {}

  private static final long INFER = stub("infer", Structs.tenon_custom_op.infer_TYPE);
  private static final long COMPUTE = stub("compute", Structs.tenon_custom_op.compute_TYPE);
  private static final long DECOMPOSE = stub("decompose", Structs.tenon_custom_op.decompose_TYPE);
  private static final long BACKWARD = stub("backward", Structs.tenon_custom_op.backward_TYPE);

  private static long stub(String name, FunctionDescriptor type) {
    return NativeLibrary.upcall(MethodHandles.lookup(), CustomOps.class, name, type);
  }

  static Op register(CustomOp op) {
    Local local = Local.get();
    long context = C.tenon_scope_context(local.scope());
    long at = local.top;
    try {
      long out = local.reserve(8);
      long c = local.reserveZeros(Structs.tenon_custom_op.SIZE);
      Memory.putInt(c, (int) Structs.tenon_custom_op.SIZE);
      Memory.putInt(c + Structs.tenon_custom_op.n_inputs, op.countInputs());
      Memory.putInt(c + Structs.tenon_custom_op.n_outputs, op.countOutputs());
      local.putString(c + Structs.tenon_custom_op.name, op.name());
      Memory.putLong(c + Structs.tenon_custom_op.infer, INFER);
      switch (op) {
        case CustomOp.Computed _ ->
            Memory.putLong(c + Structs.tenon_custom_op.compute, COMPUTE);
        case CustomOp.Composite _ ->
            Memory.putLong(c + Structs.tenon_custom_op.decompose, DECOMPOSE);
      }
      if (op.hasBackward()) {
        Memory.putLong(c + Structs.tenon_custom_op.backward, BACKWARD);
      }
      Memory.putLong(c + Structs.tenon_custom_op.payload, Callbacks.add(op));
      Memory.putLong(c + Structs.tenon_custom_op.destroy, Callbacks.destroyStub());
      Calls.check(C.tenon_op_register(context, c, out));
      return new Op(Memory.getInt(out), op.countOutputs());
    } finally {
      local.release(at);
    }
  }

  static long infer(
      long payload, long attrs, long inputs, long nInputs, long types, long nOutputs) {
    try {
      CustomOp op = Callbacks.find(payload);
      List<TensorType> given = new ArrayList<>();
      for (long i = 0; i < nInputs; ++i) {
        given.add(TensorType.read(inputs + Structs.tenon_type.SIZE * i));
      }
      List<TensorType> found = op.infer(given);
      if (found.size() != nOutputs) {
        throw new TenonException(
            Code.INVALID_ARGUMENT,
            op.name() + ": infer returned " + found.size() + " types instead of " + nOutputs);
      }
      for (int i = 0; i < found.size(); ++i) {
        found.get(i).write(types + Structs.tenon_type.SIZE * i);
      }
      return 0;
    } catch (Throwable thrown) {
      return TenonException.give(thrown);
    }
  }

  static long compute(
      long payload, long attrs, long inputs, long nInputs, long outputs, long nOutputs) {
    try {
      CustomOp.Computed op = Callbacks.find(payload);
      op.compute(arrays(inputs, nInputs), arrays(outputs, nOutputs));
      return 0;
    } catch (Throwable thrown) {
      return TenonException.give(thrown);
    }
  }

  private static List<HostArray> arrays(long at, long count) {
    List<HostArray> all = new ArrayList<>();
    for (long i = 0; i < count; ++i) {
      all.add(HostArray.read(at + Structs.tenon_host_array.SIZE * i));
    }
    return all;
  }

  static long decompose(
      long payload, long scope, long attrs, long inputs, long nInputs, long outputs,
      long nOutputs) {
    try (Scope in = Scope.enter(scope)) {
      CustomOp.Composite op = Callbacks.find(payload);
      List<Tensor> given = Arrays.asList(Callbacks.share(in, inputs, nInputs));
      Callbacks.handOver(Calls.array(op.decompose(given)), outputs, nOutputs, true);
      return 0;
    } catch (Throwable thrown) {
      return TenonException.give(thrown);
    }
  }

  static long backward(
      long payload, long scope, long attrs, long args, long grads, long nGrads) {
    try (Scope in = Scope.enter(scope)) {
      CustomOp op = Callbacks.find(payload);
      Callbacks.handOver(Calls.array(op.backward(Backward.read(in, args))), grads, nGrads, true);
      return 0;
    } catch (Throwable thrown) {
      return TenonException.give(thrown);
    }
  }
}
