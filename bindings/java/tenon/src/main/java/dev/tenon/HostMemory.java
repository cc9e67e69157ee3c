// Copies elements between host memory and tensors.

package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.concurrent.CompletableFuture;

final class HostMemory {
  private HostMemory() {}

  // Elements of heap arrays are copied through native memory: through the thread's stack up to this
  // size in bytes, or else through a separate allocation.
  private static final long MAX_STACK_BYTES = 2048;

  static Tensor copy(MemorySegment data, DType dtype, long[] shape) {
    if (data.isNative()) {
      return fromData(data, dtype, shape);
    }
    Local local = Local.get();
    long at = local.top;
    long size = data.byteSize();
    if (size <= MAX_STACK_BYTES) {
      try {
        MemorySegment staged = Memory.at(local.reserve(Math.max(size, 8)), size).copyFrom(data);
        return fromData(staged, dtype, shape);
      } finally {
        local.release(at);
      }
    }
    try (Arena arena = Arena.ofConfined()) {
      return fromData(arena.allocate(size, 64).copyFrom(data), dtype, shape);
    }
  }

  private static Tensor fromData(MemorySegment data, DType dtype, long[] shape) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      long out = local.reserve(8);
      Calls.check(
          C.tenon_tensor_from_data(
              scope,
              dtype.bits(),
              local.longs(shape),
              shape.length,
              data.address(),
              data.byteSize(),
              out));
      return local.adopt(Memory.getLong(out));
    } finally {
      local.release(at);
      Reference.reachabilityFence(data);
    }
  }

  static Tensor lend(
      MemorySegment data, DType dtype, long[] shape, long[] strides, Runnable done) {
    String wrong = null;
    if (!data.isNative()) {
      wrong = "lend: the segment must be native memory, but is on the Java heap; use of()";
    } else if (strides != null && strides.length != shape.length) {
      wrong =
          "lend: there are "
              + strides.length
              + " strides, but "
              + shape.length
              + " axes; pass one stride for each axis";
    }
    if (wrong != null) {
      if (done != null) {
        done.run();
      }
      throw new TenonException(Code.INVALID_ARGUMENT, wrong);
    }
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      long out = local.reserve(8);
      long sizes = local.longs(shape);
      long steps = strides == null ? 0 : local.longs(strides);
      MemorySegment deleter = Callbacks.deleter(local, new Callbacks.Loan(data, done));
      Calls.check(
          C.tenon_tensor_from_host(
              scope,
              dtype.bits(),
              sizes,
              shape.length,
              steps,
              data.address(),
              data.byteSize(),
              deleter,
              out));
      return local.adopt(Memory.getLong(out));
    } finally {
      local.release(at);
    }
  }

  /** Returns the number of elements. Throws unless the tensor has the dtype {@code wanted}. */
  static int length(Tensor tensor, DType wanted) {
    DType dtype = tensor.dtype();
    if (!dtype.equals(wanted)) {
      throw new TenonException(
          Code.INVALID_ARGUMENT, "the elements are " + dtype + ", not " + wanted + "; use cast");
    }
    return Math.toIntExact(tensor.count());
  }

  static void read(Tensor tensor, MemorySegment into) {
    if (into.isNative()) {
      readNative(tensor, into);
      return;
    }
    // If the host can access the elements, copy them directly, without an intermediate buffer.
    long data = C.tenon_tensor_data(tensor.handle());
    if (data != 0 && into.byteSize() == tensor.bytes()) {
      into.copyFrom(Memory.at(data, into.byteSize()));
      Reference.reachabilityFence(tensor);
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment staged = arena.allocate(into.byteSize(), 64);
      readNative(tensor, staged);
      into.copyFrom(staged);
    }
  }

  private static void readNative(Tensor tensor, MemorySegment into) {
    long handle = tensor.handle();
    long error =
        C.tenon_tensor_read(Local.get().scope(), handle, into.address(), into.byteSize());
    Reference.reachabilityFence(tensor);
    Reference.reachabilityFence(into);
    Calls.check(error);
  }

  static CompletableFuture<MemorySegment> readAsync(Tensor tensor) {
    long handle = tensor.handle();
    Local local = Local.get();
    long at = local.top;
    long size = tensor.bytes();
    MemorySegment elements = Arena.ofAuto().allocate(Math.max(size, 1), 64).asSlice(0, size);
    CompletableFuture<MemorySegment> done = new CompletableFuture<>();
    MemorySegment callback = Callbacks.done(local, () -> elements, done);
    long error =
        C.tenon_tensor_read_async(local.scope(), handle, elements.address(), size, callback);
    local.release(at);
    Reference.reachabilityFence(tensor);
    Calls.check(error);
    return done;
  }
}
