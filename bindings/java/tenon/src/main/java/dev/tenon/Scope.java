package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/**
 * Where calls run, and the owner of their results: closing a scope frees every tensor that was
 * created in it, except those passed to {@link #keep}. This is the fast way to free tensors.
 *
 * <pre>{@code
 * try (var scope = Scope.open()) {
 *   Tensor loss = step(batch);          // Frees all that the step computed,
 *   return scope.keep(loss);            // but not this.
 * }
 * }</pre>
 *
 * <p>A scope belongs to the thread that opened it, which may be a virtual one, and is the current one
 * there until it is closed. Scopes nest. Without one, tensors are freed by {@link Tensor#close} or,
 * some time after they are unreachable, by a cleaner.
 */
public final class Scope implements AutoCloseable {
  private static final int FIRST_CAPACITY = 16;
  private static final int RELEASED_AT_ONCE = 64;

  private final Local local;
  private final Scope parent;
  private final long handle;
  private final long handleBefore;
  private final boolean tracingBefore;
  private final boolean owned;
  private boolean closed;

  private Tensor[] tensors = new Tensor[FIRST_CAPACITY];
  private int count;

  private Scope(Local local, long handle, boolean owned, boolean tracing) {
    this.local = local;
    this.parent = local.scope;
    this.handle = handle;
    this.handleBefore = local.handle;
    this.tracingBefore = local.tracing;
    this.owned = owned;
    local.scope = this;
    local.handle = handle;
    local.tracing = tracing;
  }

  /**
   * Opens a scope on this thread. Its calls run on the device of the enclosing scope and are recorded
   * by the same tapes.
   *
   * @return the scope, to be closed by this thread
   */
  public static Scope open() {
    Local local = Local.get();
    long handle = local.scope();
    return new Scope(local, handle, false, local.tracing);
  }

  /**
   * Opens a scope of a context and a device, which no tape records.
   *
   * @param context the context
   * @param device the name of a device; empty for the CPU
   * @return the scope, to be closed by this thread
   */
  public static Scope open(Context context, String device) {
    Local local = Local.get();
    return new Scope(local, Local.create(context, device), true, false);
  }

  /**
   * Opens a scope of a context on the CPU, which no tape records.
   *
   * @param context the context
   * @return the scope, to be closed by this thread
   */
  public static Scope open(Context context) {
    return open(context, "");
  }

  /** Enters the scope that a callback received. */
  static Scope enter(long handle) {
    return new Scope(Local.get(), handle, false, C.tenon_scope_is_tracing(handle));
  }

  /**
   * Removes a tensor from this scope: it then belongs to the enclosing scope or, if there is none,
   * to the cleaner.
   *
   * @param tensor a tensor that was created in this scope; a tensor of another scope stays in that
   * scope
   * @return the tensor
   */
  public Tensor keep(Tensor tensor) {
    requireThread();
    if (tensor.keeper == this) {
      remove(tensor);
      if (parent != null) {
        parent.insert(tensor);
      } else {
        tensor.track(local);
      }
    }
    return tensor;
  }

  /**
   * How many tensors the scope owns now.
   *
   * @return the number
   */
  public int count() {
    return count;
  }

  /** Frees the tensors of the scope, and closes inner scopes that are still open. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    requireThread();
    while (local.scope != this) {
      local.scope.close();
    }
    closed = true;
    if (local.tracing && !tracingBefore) {
      local.forgetLocation();
    }
    // Freeing a tensor may run code of the user, in the enclosing scope.
    local.scope = parent;
    local.handle = handleBefore;
    local.tracing = tracingBefore;
    releaseAll();
    if (owned) {
      C.tenon_scope_release(handle);
    }
    if (!local.abandonedTapes.isEmpty()) {
      local.releaseAbandonedTapes();
    }
  }

  /** Releases what the scope owns, the latest first and many in each call of C. */
  private void releaseAll() {
    Tensor[] all = tensors;
    int left = count;
    count = 0;
    tensors = null;
    long top = local.top;
    long handles = local.reserve(8L * RELEASED_AT_ONCE);
    while (left > 0) {
      int released = Math.min(left, RELEASED_AT_ONCE);
      for (int i = 0; i < released; ++i) {
        Memory.putLong(handles + 8L * i, all[--left].takeOwned());
      }
      C.tenon_tensor_release_all(handles, released);
    }
    local.release(top);
  }

  // ---- where calls run

  /**
   * The device on which new tensors are placed.
   *
   * @return the device
   */
  public Device device() {
    requireThread();
    long at = local.reserve(8);
    long error = C.tenon_scope_get_device(handle, at);
    long device = Memory.getLong(at);
    local.release(at);
    Calls.check(error);
    return new Device(device);
  }

  /**
   * Sets the device on which calls without tensors, and new tensors, are placed.
   *
   * @param name the device's name: "cpu", "vulkan:0", "best"
   */
  public void setDevice(String name) {
    requireThread();
    long at = local.top;
    long error = C.tenon_scope_set_device(handle, local.string(name));
    local.release(at);
    Calls.check(error);
  }

  /** Waits until all work that was started in the scope has finished. */
  public void await() {
    requireThread();
    Calls.check(C.tenon_scope_wait(handle));
  }

  /**
   * {@link #await} without blocking.
   *
   * @return completes when all work has finished, or exceptionally
   */
  public CompletableFuture<Void> awaitAsync() {
    requireThread();
    CompletableFuture<Void> done = new CompletableFuture<>();
    Calls.check(C.tenon_scope_wait_async(handle, Callbacks.done(local, () -> null, done)));
    return done;
  }

  /** Cancels the calls in progress, from any thread; they throw at their next check. */
  public void cancel() {
    C.tenon_scope_cancel(handle);
  }

  /**
   * Whether calls are being traced, as in the body of a function.
   *
   * @return false if calls compute
   */
  public boolean isTracing() {
    return C.tenon_scope_is_tracing(handle);
  }

  long handle() {
    if (closed) {
      throw new IllegalStateException("the scope is closed");
    }
    return handle;
  }

  private void requireThread() {
    if (Thread.currentThread() != local.thread) {
      throw new IllegalStateException("the scope belongs to thread " + local.thread);
    }
    if (closed) {
      throw new IllegalStateException("the scope is closed");
    }
  }

  // ---- ownership

  Tensor add(long tensor) {
    Tensor made = new Tensor(tensor, this, count);
    append(made);
    return made;
  }

  private void insert(Tensor tensor) {
    tensor.keeper = this;
    tensor.slot = count;
    append(tensor);
  }

  private void append(Tensor tensor) {
    int slot = count;
    if (slot == tensors.length) {
      tensors = Arrays.copyOf(tensors, 2 * slot);
    }
    tensors[slot] = tensor;
    count = slot + 1;
  }

  /** Takes a tensor out; the last one takes its place. */
  void remove(Tensor tensor) {
    int last = --count;
    Tensor moved = tensors[last];
    tensors[tensor.slot] = moved;
    moved.slot = tensor.slot;
    tensors[last] = null;
    tensor.keeper = null;
  }

  boolean isOnItsThread() {
    return Thread.currentThread() == local.thread;
  }
}
