// Calls from C to Java. Each kind of callback is one C function, which is created once. Its payload
// is a number that identifies the Java object until the C destructor runs.

package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.NativeLibrary;
import dev.tenon.internal.Structs;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

final class Callbacks {
  private Callbacks() {}

  /** A callback that maps tensors to tensors. */
  @FunctionalInterface
  interface TensorCode {
    Tensor[] run(Tensor[] inputs);
  }

  /** A callback that computes gradients. */
  @FunctionalInterface
  interface BackwardCode {
    Tensor[] run(Backward call);
  }

  /** The body of a traced function. */
  @FunctionalInterface
  interface BodyCode {
    Tensor[] run(Tensor[] inputs, Map<String, Object> statics);
  }

  /** Receives a printed line. */
  @FunctionalInterface
  interface PrintCode {
    void print(String line);
  }

  /** Receives a log message. */
  @FunctionalInterface
  interface LogCode {
    void log(int level, String message);
  }

  /** Imported host memory, and the callback that runs when the tensor no longer uses it. */
  record Loan(MemorySegment data, Runnable done) {}

  private record Completion<T>(Supplier<T> value, CompletableFuture<T> future) {
    void finish(Throwable failed) {
      if (failed != null) {
        future.completeExceptionally(failed);
      } else {
        future.complete(value.get());
      }
    }
  }

  // ---- payloads

  private static final ConcurrentHashMap<Long, Object> LIVE = new ConcurrentHashMap<>();
  private static final AtomicLong LAST = new AtomicLong();

  static long add(Object object) {
    long payload = LAST.incrementAndGet();
    LIVE.put(payload, object);
    return payload;
  }

  static void remove(long payload) {
    LIVE.remove(payload);
  }

  @SuppressWarnings("unchecked")
  static <T> T find(long payload) {
    return (T) LIVE.get(payload);
  }

  /** The number of Java objects that C refers to. */
  static int count() {
    return LIVE.size();
  }

  static long stub(String name, FunctionDescriptor type) {
    return NativeLibrary.upcall(MethodHandles.lookup(), Callbacks.class, name, type);
  }

  // Each holder class creates its C function at the first use.
  private static final class Stubs {
    static final long DESTROY = stub("destroy", Structs.tenon_tensor_function.destroy_TYPE);
    static final long DELETE = stub("delete", Structs.tenon_deleter.function_TYPE);
    static final long TENSORS = stub("tensors", Structs.tenon_tensor_function.function_TYPE);
    static final long BLOCK = stub("block", Structs.tenon_block.function_TYPE);
    static final long BACKWARD = stub("backward", Structs.tenon_backward_function.function_TYPE);
    static final long BODY = stub("body", Structs.tenon_function_body.function_TYPE);
    static final long DONE = stub("done", Structs.tenon_done_callback.function_TYPE);
    static final long PRINT = stub("print", Structs.tenon_print_callback.function_TYPE);
    static final long LOG = stub("log", Structs.tenon_log_callback.function_TYPE);
  }

  static long destroyStub() {
    return Stubs.DESTROY;
  }

  private static MemorySegment struct(Local local, long function, Object object) {
    long at = local.reserve(24);
    Memory.putLong(at, function);
    Memory.putLong(at + 8, add(object));
    Memory.putLong(at + 16, Stubs.DESTROY);
    return Memory.at(at, 24);
  }

  static MemorySegment tensorFunction(Local local, TensorCode code) {
    return struct(local, Stubs.TENSORS, code);
  }

  static MemorySegment backwardFunction(Local local, BackwardCode code) {
    return struct(local, Stubs.BACKWARD, code);
  }

  static MemorySegment functionBody(Local local, BodyCode code) {
    return struct(local, Stubs.BODY, code);
  }

  static MemorySegment printCallback(Local local, PrintCode code) {
    return code == null ? Memory.at(local.reserveZeros(24), 24) : struct(local, Stubs.PRINT, code);
  }

  static void putLog(Local local, long at, LogCode code) {
    Memory.at(at, 24).copyFrom(struct(local, Stubs.LOG, code));
  }

  static <T> MemorySegment done(Local local, Supplier<T> value, CompletableFuture<T> future) {
    return struct(local, Stubs.DONE, new Completion<>(value, future));
  }

  static MemorySegment deleter(Local local, Loan loan) {
    long at = local.reserve(16);
    Memory.putLong(at, Stubs.DELETE);
    Memory.putLong(at + 8, add(loan));
    return Memory.at(at, 16);
  }

  /** Creates a C block. The caller must remove its payload after the call. */
  static MemorySegment block(Local local, TensorCode code) {
    long at = local.reserve(16);
    Memory.putLong(at, Stubs.BLOCK);
    Memory.putLong(at + 8, add(code));
    return Memory.at(at, 16);
  }

  static void removeBlock(MemorySegment block) {
    if (block != null) {
      remove(Memory.getLong(block.address() + 8));
    }
  }

  // ---- entry points for C, which must not throw

  static void destroy(long payload) {
    LIVE.remove(payload);
  }

  static void delete(long payload) {
    Loan loan = (Loan) LIVE.remove(payload);
    if (loan != null && loan.done() != null) {
      quietly(loan.done());
    }
  }

  static void quietly(Runnable code) {
    try {
      code.run();
    } catch (Throwable thrown) {
      try {
        System.getLogger("dev.tenon").log(System.Logger.Level.ERROR, "a callback threw", thrown);
      } catch (Throwable again) {
        // The destructor has no caller to which it could report the error.
      }
    }
  }

  static long tensors(
      long payload, long scope, long inputs, long nInputs, long outputs, long nOutputs) {
    return run(payload, scope, inputs, nInputs, outputs, nOutputs, true);
  }

  static long block(
      long payload, long scope, long inputs, long nInputs, long outputs, long maxOutputs) {
    return run(payload, scope, inputs, nInputs, outputs, maxOutputs, false);
  }

  private static long run(
      long payload, long scope, long inputs, long nInputs, long outputs, long nOutputs,
      boolean exactly) {
    try (Scope in = Scope.enter(scope)) {
      TensorCode code = find(payload);
      handOver(code.run(share(in, inputs, nInputs)), outputs, nOutputs, exactly);
      return 0;
    } catch (Throwable thrown) {
      return TenonException.give(thrown);
    }
  }

  static long body(
      long payload, long scope, long inputs, long nInputs, long statics, long nStatics,
      long outputs, long maxOutputs) {
    try (Scope in = Scope.enter(scope)) {
      BodyCode code = find(payload);
      Map<String, Object> given = Statics.readAll(statics, nStatics);
      handOver(code.run(share(in, inputs, nInputs), given), outputs, maxOutputs, false);
      return 0;
    } catch (Throwable thrown) {
      return TenonException.give(thrown);
    }
  }

  static long backward(long payload, long scope, long args, long grads, long nGrads) {
    try (Scope in = Scope.enter(scope)) {
      BackwardCode code = find(payload);
      handOver(code.run(Backward.read(in, args)), grads, nGrads, true);
      return 0;
    } catch (Throwable thrown) {
      return TenonException.give(thrown);
    }
  }

  static void done(long payload, long error) {
    quietly(
        () -> {
          Completion<?> completion = find(payload);
          completion.finish(error == 0 ? null : TenonException.borrow(error));
        });
  }

  static void print(long payload, MemorySegment text) {
    quietly(() -> Callbacks.<PrintCode>find(payload).print(Memory.text(text)));
  }

  static void log(long payload, int level, MemorySegment message) {
    quietly(() -> Callbacks.<LogCode>find(payload).log(level, Memory.text(message)));
  }

  // ---- passing tensors to and from callbacks

  /** Wraps borrowed tensors. Adds a reference to each, which the scope releases. */
  static Tensor[] share(Scope in, long at, long count) {
    Tensor[] all = new Tensor[(int) count];
    for (int i = 0; i < all.length; ++i) {
      long tensor = Memory.getLong(at + 8L * i);
      if (tensor != 0) {
        C.tenon_tensor_retain(tensor);
        all[i] = in.add(tensor);
      }
    }
    return all;
  }

  /**
   * Writes the tensors that a callback returns to a C array, and adds a reference to each for C.
   */
  static void handOver(Tensor[] tensors, long at, long room, boolean exactly) {
    if (tensors.length > room || exactly && tensors.length != room) {
      throw new TenonException(
          Code.INVALID_ARGUMENT,
          "the callback returned " + tensors.length + " tensors instead of "
              + (exactly ? "" : "at most ") + room);
    }
    // Check that all tensors are open before a reference is added to any of them.
    for (Tensor tensor : tensors) {
      Tensor.handleOf(tensor);
    }
    for (int i = 0; i < tensors.length; ++i) {
      long tensor = Tensor.handleOf(tensors[i]);
      if (tensor != 0) {
        C.tenon_tensor_retain(tensor);
      }
      Memory.putLong(at + 8L * i, tensor);
    }
  }

  static Tensor[] array(List<Tensor> tensors) {
    return tensors.toArray(Tensor[]::new);
  }
}
