// Up to 32 tensors of one thread that no scope owns. They share one phantom reference, because a
// phantom reference per tensor would cost the garbage collector more than the call that created the
// tensor.
//
// A page and its tensors refer to each other, so they become unreachable together. The collector
// then enqueues the page's reference. A page that survives a collection is split: each of its
// tensors gets its own reference. A live tensor thus keeps the other tensors of its page alive for
// one collection only.

package dev.tenon;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

final class Page {
  static final int SIZE = 32;

  private static final VarHandle HANDLE = MethodHandles.arrayElementVarHandle(long[].class);

  /** The handles that are not released yet; 0 for released ones. */
  final long[] handles = new long[SIZE];
  /** The tensors of the page; null after the page was split. */
  private volatile Tensor[] tensors = new Tensor[SIZE];
  private int used;

  Page() {
    Tracker.track(this);
  }

  /** Adds a tensor, on the thread of the page. Returns false if the page is full or split. */
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
    // If another thread runs split() now, either this thread reads null in `tensors`, or split()
    // finds the new tensor and tracks it.
    VarHandle.fullFence();
    if (tensors == null) {
      Tracker.trackSlot(this, slot, tensor);
    }
    return true;
  }

  /** Reuses a full page if all its tensors are closed. */
  private synchronized boolean reuse() {
    Tensor[] all = tensors;
    if (all == null || count(handles) != 0) {
      return false;
    }
    Arrays.fill(all, null);
    used = 0;
    return true;
  }

  /** Gives each tensor its own phantom reference. Runs once, on any thread. */
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

  /** Returns the handle in a slot, which the caller must release; 0 if another caller took it. */
  static long take(long[] handles, int slot) {
    return (long) HANDLE.getAndSet(handles, slot, 0L);
  }

  /** Counts the handles that are not released yet. */
  static int count(long[] handles) {
    int count = 0;
    for (long handle : handles) {
      count += handle != 0 ? 1 : 0;
    }
    return count;
  }
}
