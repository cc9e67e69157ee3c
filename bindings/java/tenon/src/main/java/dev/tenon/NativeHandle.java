package dev.tenon;

import dev.tenon.internal.Memory;
import java.lang.ref.Reference;
import java.util.function.LongUnaryOperator;

/**
 * An object of libtenon. {@link #close} frees it; otherwise, the cleaner frees it some time after
 * it becomes unreachable.
 */
public abstract class NativeHandle implements AutoCloseable {
  private final Tracker.Ref ref;
  private long handle;

  NativeHandle(Tracker.Kind kind, long handle, boolean onThread) {
    this.handle = handle;
    this.ref = Tracker.track(this, kind, handle, 0, onThread ? Local.get() : null);
  }

  /**
   * Returns the native pointer, to pass to a C call. Callers must keep this object reachable until
   * the call returns, with {@link Reference#reachabilityFence}.
   */
  final long handle() {
    long object = handle;
    if (object == 0) {
      throw new IllegalStateException("the " + getClass().getSimpleName() + " is closed");
    }
    return object;
  }

  /** A C function that writes a result to the address {@code out} and returns an error. */
  @FunctionalInterface
  interface Getter {
    long call(long object, long out);
  }

  // The following methods keep the object reachable until the call returns, so that the cleaner
  // cannot free it earlier.

  /** Calls a getter and returns the 64-bit value that it writes. */
  final long get(Getter call) {
    Local local = Local.get();
    long at = local.top;
    try {
      long out = local.reserve(8);
      Calls.check(call.call(handle(), out));
      return Memory.getLong(out);
    } finally {
      local.release(at);
      Reference.reachabilityFence(this);
    }
  }

  /** Calls a getter and returns the string that it writes. */
  final String text(Getter call) {
    Local local = Local.get();
    long at = local.top;
    try {
      long out = local.reserve(16);
      Calls.check(call.call(handle(), out));
      return Local.takeText(out);
    } finally {
      local.release(at);
      Reference.reachabilityFence(this);
    }
  }

  /** Calls a C function that returns an error and writes nothing. */
  final void run(LongUnaryOperator call) {
    Local local = Local.get();
    long at = local.top;
    try {
      Calls.check(call.applyAsLong(handle()));
    } finally {
      local.release(at);
      Reference.reachabilityFence(this);
    }
  }

  /** Calls a C function that cannot fail, and returns its result. */
  final long read(LongUnaryOperator call) {
    long result = call.applyAsLong(handle());
    Reference.reachabilityFence(this);
    return result;
  }

  /**
   * Frees the object. A second call does nothing. No other thread may use the object at that time.
   */
  @Override
  public void close() {
    handle = 0;
    Tracker.close(ref);
  }
}
