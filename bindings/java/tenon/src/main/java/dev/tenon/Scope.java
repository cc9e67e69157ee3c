package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/**
 * Where calls run, and the owner of their results. Closing a scope frees every tensor that was
 * created in it, except those passed to {@link #keep}. This is the fastest way to free tensors.
 *
 * <pre>{@code
 * try (var scope = Scope.open()) {
 *   Tensor loss = step(batch);          // The scope frees all tensors that the step computed,
 *   return scope.keep(loss);            // except this one.
 * }
 * }</pre>
 *
 * <p>A scope belongs to the thread that opened it, which may be a virtual thread. It is the current
 * scope of that thread until it is closed. Scopes nest. Without a scope, {@link Tensor#close} frees
 * a tensor, or a cleaner frees it some time after it becomes unreachable.
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
   * Opens a scope of a context on a device. No tape records its calls.
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
   * Opens a scope of a context on the CPU. No tape records its calls.
   *
   * @param context the context
   * @return the scope, to be closed by this thread
   */
  public static Scope open(Context context) {
    return open(context, "");
  }

  /** Makes the native scope that a callback received the current scope of this thread. */
  static Scope enter(long handle) {
    return new Scope(Local.get(), handle, false, C.tenon_scope_is_tracing(handle));
  }

  /**
   * Removes a tensor from this scope, and adds it to the enclosing scope. If there is none, the
   * cleaner frees the tensor.
   *
   * @param tensor a tensor that was created in this scope; a tensor of another scope stays there
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
   * Counts the tensors that the scope owns.
   *
   * @return the number of tensors
   */
  public int count() {
    return count;
  }

  /** Frees the tensors of the scope. Also closes inner scopes that are still open. */
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
      local.clearUserLine();
    }
    // Releasing a tensor may run a callback of the user, which must run in the enclosing scope.
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

  /** Releases the tensors of the scope, the latest first, with many tensors in each C call. */
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
        Memory.putLong(handles + 8L * i, all[--left].closeAndReturnHandle());
      }
      C.tenon_tensor_release_all(handles, released);
    }
    local.release(top);
  }

  // ---- settings of the scope

  /**
   * Returns the current device, which holds new tensors and runs calls without tensors.
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
   * Sets the current device, which holds new tensors and runs calls without tensors.
   *
   * @param name the name of the device, such as "cpu", "vulkan:0" or "best"
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
   * Waits like {@link #await}, without blocking.
   *
   * @return a future that completes when all work has finished, or exceptionally if it failed
   */
  public CompletableFuture<Void> awaitAsync() {
    requireThread();
    CompletableFuture<Void> done = new CompletableFuture<>();
    Calls.check(C.tenon_scope_wait_async(handle, Callbacks.done(local, () -> null, done)));
    return done;
  }

  /**
   * Cancels the calls in progress. They throw when they next check for cancellation. Any thread may
   * call this method.
   */
  public void cancel() {
    C.tenon_scope_cancel(handle);
  }

  /**
   * Returns whether calls are traced instead of executed, as in the body of a function.
   *
   * @return true while tracing
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

  /** Removes a tensor. The last tensor moves to its slot. */
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
