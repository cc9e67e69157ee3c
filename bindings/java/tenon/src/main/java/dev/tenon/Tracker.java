// The safety net: frees what nobody closed, once the collector finds it.
//
// Creation drains the queue of what was found, so the queue cannot outgrow it. The collector does not
// see native memory, so creation also runs it when much has been made since it ran last.

package dev.tenon;

import dev.tenon.internal.C;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;

final class Tracker {
  private Tracker() {}

  /** How a handle is released. */
  enum Kind {
    TENSOR,
    SCOPE,
    CONTEXT,
    DEVICE,
    VARIABLE,
    GENERATOR,
    TAPE,
    FUNCTION,
    TRACE,
    PROGRAM,
    SAFETENSORS,
    PROFILER,
    DLPACK;

    void release(long handle) {
      switch (this) {
        case TENSOR -> C.tenon_tensor_release(handle);
        case SCOPE -> C.tenon_scope_release(handle);
        case CONTEXT -> C.tenon_context_release(handle);
        case DEVICE -> C.tenon_device_release(handle);
        case VARIABLE -> C.tenon_variable_release(handle);
        case GENERATOR -> C.tenon_generator_release(handle);
        case TAPE -> C.tenon_tape_release(handle);
        case FUNCTION -> C.tenon_function_release(handle);
        case TRACE -> C.tenon_trace_release(handle);
        case PROGRAM -> C.tenon_program_release(handle);
        case SAFETENSORS -> C.tenon_safetensors_release(handle);
        case PROFILER -> C.tenon_profiler_release(handle);
        case DLPACK -> Dlpack.end(handle);
      }
    }
  }

  private static final int STRIPES = 16;
  private static final int CHECK_EVERY = 64;
  private static final long CHECK_BYTES = 16L << 20;
  private static final long LEAST_COUNT = 200_000;
  private static final long LEAST_BYTES = 256L << 20;
  private static final int WAIT_MILLIS = 50;

  private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
  private static final Stripe[] ALL = new Stripe[STRIPES];

  private static volatile long countLimit = LEAST_COUNT;
  private static volatile long bytesLimit = LEAST_BYTES;

  static {
    for (int i = 0; i < STRIPES; ++i) {
      ALL[i] = new Stripe();
    }
    Thread cleaner = new Thread(Tracker::cleanForEver, "tenon-cleaner");
    cleaner.setDaemon(true);
    cleaner.start();
  }

  /** A part of the live references, so that threads seldom meet. */
  private static final class Stripe {
    Ref head;
    long count;
    long bytes;
    int sinceCheck;
    long bytesSinceCheck;
  }

  /** Keeps a handle until its object is closed or collected. */
  static final class Ref extends PhantomReference<Object> {
    final Kind kind;
    final long bytes;
    final Local home;
    final Throwable created;
    private final Stripe stripe;
    private long handle;
    private Ref previous;
    private Ref next;

    private Ref(Object object, Kind kind, long handle, long bytes, Local home, Stripe stripe) {
      super(object, QUEUE);
      this.kind = kind;
      this.handle = handle;
      this.bytes = bytes;
      this.home = home;
      this.stripe = stripe;
      this.created = Leaks.ENABLED ? new Throwable("created here") : null;
    }
  }

  /** Tracks an object. A tape has a home: the thread that alone may release it. */
  static Ref track(Object object, Kind kind, long handle, long bytes, Local home) {
    Stripe stripe = ALL[(int) (Thread.currentThread().threadId() & (STRIPES - 1))];
    Ref ref = new Ref(object, kind, handle, bytes, home, stripe);
    boolean check;
    synchronized (stripe) {
      ref.next = stripe.head;
      if (stripe.head != null) {
        stripe.head.previous = ref;
      }
      stripe.head = ref;
      ++stripe.count;
      stripe.bytes += bytes;
      stripe.bytesSinceCheck += bytes;
      check = ++stripe.sinceCheck >= CHECK_EVERY || stripe.bytesSinceCheck >= CHECK_BYTES;
      if (check) {
        stripe.sinceCheck = 0;
        stripe.bytesSinceCheck = 0;
      }
    }
    if (check) {
      drain(2 * CHECK_EVERY);
      collectIfMuch();
    }
    return ref;
  }

  /** Releases what is closed; a second call does nothing. */
  static void close(Ref ref) {
    long handle = take(ref);
    if (handle != 0) {
      ref.clear();
      ref.kind.release(handle);
    }
  }

  /** Gives up what somebody else now owns. */
  static void forget(Ref ref) {
    take(ref);
    ref.clear();
  }

  /** How many objects are tracked. */
  static long count() {
    long count = 0;
    for (Stripe stripe : ALL) {
      synchronized (stripe) {
        count += stripe.count;
      }
    }
    return count;
  }

  private static long take(Ref ref) {
    Stripe stripe = ref.stripe;
    synchronized (stripe) {
      long handle = ref.handle;
      if (handle == 0) {
        return 0;
      }
      ref.handle = 0;
      if (ref.previous != null) {
        ref.previous.next = ref.next;
      } else {
        stripe.head = ref.next;
      }
      if (ref.next != null) {
        ref.next.previous = ref.previous;
      }
      ref.previous = null;
      ref.next = null;
      --stripe.count;
      stripe.bytes -= ref.bytes;
      return handle;
    }
  }

  private static void clean(Ref ref) {
    long handle = take(ref);
    if (handle == 0) {
      return;
    }
    if (ref.created != null) {
      Leaks.report(ref.kind, ref.created);
    }
    // No other thread may be inside of a tape's scope when it is released.
    if (ref.kind == Kind.TAPE && ref.home.thread.isAlive()) {
      ref.home.abandonedTapes.add(handle);
    } else {
      ref.kind.release(handle);
    }
  }

  private static boolean drain(int most) {
    for (int i = 0; i < most; ++i) {
      Ref ref = (Ref) QUEUE.poll();
      if (ref == null) {
        return false;
      }
      clean(ref);
    }
    return true;
  }

  private static void collectIfMuch() {
    long count = 0;
    long bytes = 0;
    for (Stripe stripe : ALL) {
      count += stripe.count; // Unlocked: an estimate will do.
      bytes += stripe.bytes;
    }
    if (count > countLimit || bytes > bytesLimit) {
      collect();
    }
  }

  /** Runs the collector and frees what it finds; the limits follow what is still alive. */
  static synchronized void collect() {
    System.gc();
    try {
      Ref first = (Ref) QUEUE.remove(WAIT_MILLIS);
      while (first != null) {
        clean(first);
        drain(Integer.MAX_VALUE);
        first = (Ref) QUEUE.remove(1);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    long count = 0;
    long bytes = 0;
    for (Stripe stripe : ALL) {
      synchronized (stripe) {
        count += stripe.count;
        bytes += stripe.bytes;
      }
    }
    countLimit = Math.max(LEAST_COUNT, 2 * count);
    bytesLimit = Math.max(LEAST_BYTES, 2 * bytes);
  }

  private static void cleanForEver() {
    while (true) {
      try {
        clean((Ref) QUEUE.remove());
      } catch (InterruptedException interrupted) {
        // Nobody interrupts it for a reason that it could follow.
      } catch (RuntimeException | Error failed) {
        System.getLogger("dev.tenon").log(System.Logger.Level.ERROR, "freeing an object", failed);
      }
    }
  }
}
