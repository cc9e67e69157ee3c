package dev.tenon;

import java.lang.ref.Reference;

/**
 * An object of libtenon. Closing it frees it; what is not closed is freed some time after it is
 * unreachable.
 */
public abstract class NativeHandle implements AutoCloseable {
  private final Tracker.Ref ref;
  private long handle;

  NativeHandle(Tracker.Kind kind, long handle, boolean onThread) {
    this.handle = handle;
    this.ref = Tracker.track(this, kind, handle, 0, onThread ? Local.get() : null);
  }

  /** The object, for a call; use {@link Reference#reachabilityFence} after it. */
  final long handle() {
    long object = handle;
    if (object == 0) {
      throw new IllegalStateException("the " + getClass().getSimpleName() + " is closed");
    }
    return object;
  }

  /** Frees it. A second call does nothing. No other thread may be using it. */
  @Override
  public void close() {
    handle = 0;
    Tracker.close(ref);
  }
}
