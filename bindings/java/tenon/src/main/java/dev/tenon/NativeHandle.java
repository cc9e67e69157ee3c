package dev.tenon;

import dev.tenon.internal.Memory;
import java.lang.ref.Reference;
import java.util.function.LongUnaryOperator;

/**
 * An object of libtenon. Closing it frees it; otherwise, it is freed some time after it is
 * unreachable.
 */
public abstract class NativeHandle implements AutoCloseable {
  private final Tracker.Ref ref;
  private long handle;

  NativeHandle(Tracker.Kind kind, long handle, boolean onThread) {
    this.handle = handle;
    this.ref = Tracker.track(this, kind, handle, 0, onThread ? Local.get() : null);
  }

  /** The native pointer, to pass to a call. Callers must keep this object reachable until the call returns, by {@link Reference#reachabilityFence}. */
  final long handle() {
    long object = handle;
    if (object == 0) {
      throw new IllegalStateException("the " + getClass().getSimpleName() + " is closed");
    }
    return object;
  }

  /** A getter of the C API: writes its result at an address and returns an error. */
  @FunctionalInterface
  interface Getter {
    long call(long object, long out);
  }

  // The object stays reachable until each of these calls has returned: the cleaner may not free it
  // before.

  /** Calls a getter and returns the pointer or integer that it writes. */
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

  /** Calls a getter and returns the text that it writes. */
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

  /** Makes a call that returns an error and writes nothing. */
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

  /** The result of a call that cannot fail. */
  final long read(LongUnaryOperator call) {
    long result = call.applyAsLong(handle());
    Reference.reachabilityFence(this);
    return result;
  }

  /** Frees it. A second call does nothing. No other thread may be using it. */
  @Override
  public void close() {
    handle = 0;
    Tracker.close(ref);
  }
}
