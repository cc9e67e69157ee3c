// Tensors that no scope owns, up to 32 of one thread, which one reference of the collector stands for:
// a reference of its own for each would cost the collector more than the call that made the tensor.
//
// The tensors of a page know it, and it knows them, so all of them are unreachable at once, and the
// collector then enqueues the page's reference. A page that outlives a collection is split: each of
// its tensors gets a reference of its own, so that a tensor keeps others alive for one collection only.

package dev.tenon;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

final class Page {
  static final int SIZE = 32;

  private static final VarHandle HANDLE = MethodHandles.arrayElementVarHandle(long[].class);

  /** What is still to be released; 0 once it is. */
  final long[] handles = new long[SIZE];
  /** Null once the page is split. */
  private volatile Tensor[] tensors = new Tensor[SIZE];
  private int used;

  Page() {
    Tracker.track(this);
  }

  /** Adds a tensor, on the thread of the page; false if it takes no more. */
  boolean add(Tensor tensor, long handle) {
    if (used == SIZE && !reuse()) {
      return false;
    }
    Tensor[] all = tensors;
    if (all == null) {
      return false;
    }
    int slot = used++;
    all[slot] = tensor;
    handles[slot] = handle;
    tensor.keeper = this;
    tensor.slot = slot;
    // Either this thread sees that the page was split, or the splitting one sees the tensor.
    VarHandle.fullFence();
    if (tensors == null) {
      Tracker.trackSlot(this, slot, tensor);
    }
    return true;
  }

  /** Empties a full page, if all its tensors have been closed. */
  private synchronized boolean reuse() {
    Tensor[] all = tensors;
    if (all == null || count(handles) != 0) {
      return false;
    }
    Arrays.fill(all, null);
    used = 0;
    return true;
  }

  /** Gives each tensor a reference of its own; runs once, on any thread. */
  synchronized void split() {
    Tensor[] all = tensors;
    tensors = null;
    VarHandle.fullFence();
    for (int slot = 0; slot < SIZE; ++slot) {
      if (all[slot] != null && handles[slot] != 0) {
        Tracker.trackSlot(this, slot, all[slot]);
      }
    }
  }

  /** The handle at an index, which the caller now releases; 0 if somebody else did. */
  static long take(long[] handles, int slot) {
    return (long) HANDLE.getAndSet(handles, slot, 0L);
  }

  /** How many handles are still to be released. */
  static int count(long[] handles) {
    int count = 0;
    for (long handle : handles) {
      count += handle != 0 ? 1 : 0;
    }
    return count;
  }
}
