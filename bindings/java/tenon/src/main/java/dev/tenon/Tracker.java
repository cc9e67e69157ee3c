// Frees objects that were not closed, after the garbage collector has found them unreachable.
//
// Each creation polls the reference queue, so that the queue cannot grow without bound. The
// collector does not account for native memory, so creations also run it when the number or the
// size of the live objects exceeds a limit.

package dev.tenon;

import dev.tenon.internal.C;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

final class Tracker {
  private Tracker() {}

  /** The type of a handle, which determines how it is released. */
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

  /** Tensors with fewer bytes share pages (see Page). */
  static final long PAGED_BYTES = 4096;

  private static final int STRIPES = 16;
  private static final int CHECK_EVERY = 64;
  private static final long CHECK_BYTES = 16L << 20;
  private static final long MIN_COUNT = 500_000;
  private static final long MIN_BYTES = 256L << 20;
  private static final int WAIT_MILLIS = 50;

  private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
  private static final Stripe[] ALL = new Stripe[STRIPES];

  private static volatile long countLimit = MIN_COUNT;
  private static volatile long bytesLimit = MIN_BYTES;
  /**
   * Refers to an object that nothing else refers to. Once this reference is in the queue, a
   * garbage collection has run.
   */
  private static volatile Reference<Object> sentinel;
  /** Whether a page was split since {@link #collect} began. */
  private static volatile boolean splits;

  static {
    for (int i = 0; i < STRIPES; ++i) {
      ALL[i] = new Stripe();
    }
    awaitCollection();
    Thread cleaner = new Thread(Tracker::runCleaner, "tenon-cleaner");
    cleaner.setDaemon(true);
    cleaner.start();
  }

  private static void awaitCollection() {
    sentinel = new WeakReference<>(new Object(), QUEUE);
  }

  /**
   * One of several lists of references, each with its own lock, to reduce contention between
   * threads.
   */
  private static final class Stripe {
    Ref head;
    long count;
    long bytes;
    int sinceCheck;
    long bytesSinceCheck;
    /** Pages that have not survived a collection yet. */
    List<PageRef> youngPages = new ArrayList<>();

    static Stripe ofThread() {
      return ALL[(int) (Thread.currentThread().threadId() & (STRIPES - 1))];
    }
  }

  /** A phantom reference that owns a handle until its object is closed or collected. */
  static class Ref extends PhantomReference<Object> {
    final Kind kind;
    private final long bytes;
    private final Stripe stripe;
    private long handle;
    private Ref previous;
    private Ref next;
    private boolean linked;

    private Ref(Object object, Kind kind, long handle, long bytes) {
      super(object, QUEUE);
      this.kind = kind;
      this.handle = handle;
      this.bytes = bytes;
      this.stripe = Stripe.ofThread();
    }

    /** The number of handles that this reference owns. */
    int count() {
      return 1;
    }

    /** Releases the handles. The reference must have been unlinked before. */
    void release() {
      kind.release(handle);
    }

    /** Releases the handles of an object that the collector found unreachable. */
    void clean() {
      if (unlink(this)) {
        release();
      }
    }
  }

  /** A reference that stores the stack of its object's creation, for leak reports. */
  private static final class LeakRef extends Ref {
    private final Throwable created = new Throwable("created here");

    LeakRef(Object object, Kind kind, long handle, long bytes) {
      super(object, kind, handle, bytes);
    }

    @Override
    void clean() {
      if (unlink(this)) {
        Leaks.report(kind, created);
        release();
      }
    }
  }

  /** The reference of a tape. Only the tape's thread may release it while that thread is alive. */
  private static final class TapeRef extends Ref {
    private final Local home;
    private final Throwable created = Leaks.ENABLED ? new Throwable("created here") : null;

    TapeRef(Object object, long handle, Local home) {
      super(object, Kind.TAPE, handle, 0);
      this.home = home;
    }

    @Override
    void clean() {
      if (!unlink(this)) {
        return;
      }
      if (created != null) {
        Leaks.report(kind, created);
      }
      if (home.thread.isAlive()) {
        home.abandonedTapes.add(super.handle);
      } else {
        release();
      }
    }
  }

  /** A phantom reference to a page. It owns the handles of the page's tensors. */
  static final class PageRef extends Ref {
    private final long[] handles;
    private final WeakReference<Page> page;

    private PageRef(Page page) {
      super(page, Kind.TENSOR, 0, 0);
      this.handles = page.handles;
      this.page = new WeakReference<>(page);
    }

    @Override
    int count() {
      return Page.count(handles);
    }

    @Override
    void release() {
      for (int slot = 0; slot < handles.length; ++slot) {
        releaseSlot(handles, slot);
      }
    }
  }

  /** The reference of one tensor of a page that was split. */
  private static final class SlotRef extends Ref {
    private final long[] handles;
    private final int slot;

    SlotRef(Page page, int slot, Tensor tensor) {
      super(tensor, Kind.TENSOR, 0, 0);
      this.handles = page.handles;
      this.slot = slot;
    }

    @Override
    int count() {
      return handles[slot] != 0 ? 1 : 0;
    }

    @Override
    void release() {
      releaseSlot(handles, slot);
    }
  }

  /** Tracks an object. {@code home} is the thread of a tape, and null for other objects. */
  static Ref track(Object object, Kind kind, long handle, long bytes, Local home) {
    Ref ref;
    if (home != null) {
      ref = new TapeRef(object, handle, home);
    } else if (Leaks.ENABLED) {
      ref = new LeakRef(object, kind, handle, bytes);
    } else {
      ref = new Ref(object, kind, handle, bytes);
    }
    link(ref, 1);
    return ref;
  }

  /** Tracks a new, empty page. */
  static PageRef track(Page page) {
    PageRef ref = new PageRef(page);
    synchronized (((Ref) ref).stripe) {
      ((Ref) ref).stripe.youngPages.add(ref);
    }
    link(ref, Page.SIZE);
    return ref;
  }

  /** Tracks one tensor of a page that was split. */
  static void trackSlot(Page page, int slot, Tensor tensor) {
    link(new SlotRef(page, slot, tensor), 1);
  }

  private static void link(Ref ref, int weight) {
    Stripe stripe = ref.stripe;
    boolean check;
    synchronized (stripe) {
      ref.next = stripe.head;
      if (stripe.head != null) {
        stripe.head.previous = ref;
      }
      stripe.head = ref;
      ref.linked = true;
      stripe.count += weight;
      stripe.bytes += ref.bytes;
      stripe.bytesSinceCheck += ref.bytes;
      stripe.sinceCheck += weight;
      check = stripe.sinceCheck >= CHECK_EVERY || stripe.bytesSinceCheck >= CHECK_BYTES;
      if (check) {
        stripe.sinceCheck = 0;
        stripe.bytesSinceCheck = 0;
      }
    }
    if (check) {
      drain(2 * CHECK_EVERY);
      collectIfOverLimit();
    }
  }

  /**
   * Unlinks a reference. Returns whether it was linked; only then must the caller release its
   * handles.
   */
  private static boolean unlink(Ref ref) {
    Stripe stripe = ref.stripe;
    synchronized (stripe) {
      if (!ref.linked) {
        return false;
      }
      ref.linked = false;
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
      stripe.count -= ref instanceof PageRef ? Page.SIZE : 1;
      stripe.bytes -= ref.bytes;
      return true;
    }
  }

  /** Releases the handles of an object that the program closes. A second call does nothing. */
  static void close(Ref ref) {
    if (unlink(ref)) {
      ref.clear();
      ref.release();
    }
  }

  /** Stops tracking a handle that has another owner now. */
  static void forget(Ref ref) {
    unlink(ref);
    ref.clear();
  }

  /** Releases the handle in a slot of a page, unless it was already released. */
  static void releaseSlot(long[] handles, int slot) {
    long handle = Page.take(handles, slot);
    if (handle != 0) {
      C.tenon_tensor_release(handle);
    }
  }

  /** Counts the tracked objects. */
  static long count() {
    long count = 0;
    for (Stripe stripe : ALL) {
      synchronized (stripe) {
        for (Ref ref = stripe.head; ref != null; ref = ref.next) {
          count += ref.count();
        }
      }
    }
    return count;
  }

  private static void drain(int most) {
    for (int i = 0; i < most; ++i) {
      Reference<?> found = QUEUE.poll();
      if (found == null) {
        return;
      }
      handle(found);
    }
  }

  private static void handle(Reference<?> found) {
    if (found instanceof Ref ref) {
      ref.clean();
    } else if (found == sentinel) {
      awaitCollection();
      splitPages();
    }
  }

  /** Splits the pages that survived a collection. */
  private static void splitPages() {
    for (Stripe stripe : ALL) {
      List<PageRef> young;
      synchronized (stripe) {
        young = stripe.youngPages;
        stripe.youngPages = new ArrayList<>();
      }
      for (PageRef ref : young) {
        Page page = ref.page.get();
        if (page != null) {
          page.split();
          forget(ref);
          splits = true;
        }
      }
    }
  }

  private static void collectIfOverLimit() {
    long count = 0;
    long bytes = 0;
    for (Stripe stripe : ALL) {
      count += stripe.count; // Read without the lock, because an estimate suffices.
      bytes += stripe.bytes;
    }
    if (count > countLimit || bytes > bytesLimit) {
      collect();
    }
  }

  /**
   * Runs the collector and frees the unreachable objects. Sets the limits to twice the number and
   * the size of the objects that remain.
   */
  static synchronized void collect() {
    splits = false;
    collectOnce();
    // Tensors whose page also held a live tensor are only found by a second collection.
    if (splits) {
      collectOnce();
    }
    long count = 0;
    long bytes = 0;
    for (Stripe stripe : ALL) {
      synchronized (stripe) {
        count += stripe.count;
        bytes += stripe.bytes;
      }
    }
    countLimit = Math.max(MIN_COUNT, 2 * count);
    bytesLimit = Math.max(MIN_BYTES, 2 * bytes);
  }

  private static void collectOnce() {
    System.gc();
    try {
      Reference<?> found = QUEUE.remove(WAIT_MILLIS);
      while (found != null) {
        handle(found);
        drain(Integer.MAX_VALUE);
        found = QUEUE.remove(1);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void runCleaner() {
    while (true) {
      try {
        handle(QUEUE.remove());
      } catch (InterruptedException interrupted) {
        // The cleaner thread must not stop, so it ignores interrupts.
      } catch (RuntimeException | Error failed) {
        System.getLogger("dev.tenon")
            .log(System.Logger.Level.ERROR, "the cleaner failed to free an object", failed);
      }
    }
  }
}
