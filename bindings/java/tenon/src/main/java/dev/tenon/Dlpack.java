package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.NativeLibrary;
import dev.tenon.internal.Structs;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/**
 * A tensor that libraries share without a copy, in the format of DLPack 1.x. Closing it, or
 * releasing the tensor that imports it, calls its deleter.
 */
public final class Dlpack implements AutoCloseable {
  private static final MethodHandle CALL =
      NativeLibrary.caller(FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));

  private final Tracker.Ref ref;
  private long loan;

  private Dlpack(long loan) {
    this.loan = loan;
    this.ref = Tracker.track(this, Tracker.Kind.DLPACK, loan, 0, null);
  }

  /**
   * Exports a tensor. The importer must not write to it.
   *
   * @param x a tensor on a device whose memory the host can access
   * @return the exported tensor
   */
  public static Dlpack of(Tensor x) {
    long tensor = x.handle();
    Local local = Local.get();
    long scope = local.scope();
    long at = local.reserve(8);
    long error = C.tenon_tensor_to_dlpack(scope, tensor, 0, at);
    long loan = Memory.getLong(at);
    local.release(at);
    Reference.reachabilityFence(x);
    Calls.check(error);
    return new Dlpack(loan);
  }

  /**
   * Takes ownership of a DLPack tensor of another library.
   *
   * @param managed the address of a {@code DLManagedTensorVersioned}
   * @return the DLPack tensor
   */
  public static Dlpack adopt(MemorySegment managed) {
    return new Dlpack(managed.address());
  }

  /**
   * Imports the memory as a tensor. The deleter runs when that tensor is released.
   *
   * @param copy whether to copy even if the device can use the memory in place
   * @return the tensor
   */
  public Tensor toTensor(boolean copy) {
    long taken = release();
    Local local = Local.get();
    long scope = local.scope();
    long at = local.reserve(8);
    long error = C.tenon_tensor_from_dlpack(scope, taken, 0, copy, at);
    long tensor = Memory.getLong(at);
    local.release(at);
    Calls.check(error);
    return local.adopt(tensor);
  }

  /**
   * Transfers ownership to another library, which must call the deleter.
   *
   * @return the address of a {@code DLManagedTensorVersioned}
   */
  public MemorySegment handOver() {
    return MemorySegment.ofAddress(release());
  }

  private long release() {
    long taken = loan;
    if (taken == 0) {
      throw new IllegalStateException("the Dlpack object is closed, or its tensor was transferred");
    }
    loan = 0;
    Tracker.forget(ref);
    return taken;
  }

  /** Calls the deleter. A second call does nothing. */
  @Override
  public void close() {
    loan = 0;
    Tracker.close(ref);
  }

  static void end(long loan) {
    long deleter = Memory.getLong(loan + Structs.tenon_dlpack.deleter);
    if (deleter != 0) {
      try {
        CALL.invokeExact(MemorySegment.ofAddress(deleter), loan);
      } catch (Throwable thrown) {
        throw new AssertionError("a deleter threw", thrown);
      }
    }
  }
}
