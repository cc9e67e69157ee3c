// The state of a thread: its current scope, and a stack of native memory for arguments of calls.

package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

final class Local {
  private static final ThreadLocal<Local> LOCALS = ThreadLocal.withInitial(Local::new);
  private static final int STACK_BYTES = 4096;
  private static final StackWalker WALKER = StackWalker.getInstance();

  final Thread thread = Thread.currentThread();
  /** The innermost open scope. If it is null, the cleaner frees new tensors. */
  Scope scope;
  /** The native scope in which calls run; 0 before the thread's first call. */
  long handle;
  /** Whether the current scope traces. If so, each call stores the user's source line. */
  boolean tracing;
  /** The first free byte of the stack. */
  long top;

  /** The page of small tensors that no scope owns; null if there is none yet. */
  private Page page;

  /** Tapes that the garbage collector found unclosed. This thread releases them between calls. */
  final ConcurrentLinkedQueue<Long> abandonedTapes = new ConcurrentLinkedQueue<>();

  private final MemorySegment stack = Arena.ofAuto().allocate(STACK_BYTES, 16);
  private final long base = stack.address();
  private final long limit = base + STACK_BYTES;
  /** Allocations that do not fit into the stack; null if there are none. */
  private List<MemorySegment> overflow;
  /** Memory for a struct that C returns by value. The next such call overwrites it. */
  final SegmentAllocator result = SegmentAllocator.prefixAllocator(Arena.ofAuto().allocate(64, 16));

  private OwnScope own;

  private Local() {
    top = base;
  }

  static Local get() {
    return LOCALS.get();
  }

  /** Returns the native scope of the thread. Creates it at the first call. */
  long scope() {
    long current = handle;
    return current != 0 ? current : openOwn();
  }

  private long openOwn() {
    own = new OwnScope(Context.shared());
    handle = own.handle();
    return handle;
  }

  // ---- the stack: reserve memory, call C, and reset `top`.

  /** Reserves uninitialised memory, aligned to 8 bytes. */
  long reserve(long size) {
    long at = top;
    long next = at + ((size + 7) & ~7L);
    if (next > limit) {
      return reserveElsewhere(size);
    }
    top = next;
    return at;
  }

  private long reserveElsewhere(long size) {
    MemorySegment more = Arena.ofAuto().allocate(Math.max(size, 8), 16);
    if (overflow == null) {
      overflow = new ArrayList<>();
    }
    overflow.add(more);
    return more.address();
  }

  /** Frees all memory that was reserved since {@code top} was {@code at}. */
  void release(long at) {
    top = at;
    if (overflow != null && at == base) {
      overflow = null;
    }
  }

  long reserveZeros(long size) {
    long at = reserve(size);
    Memory.clear(at, size);
    return at;
  }

  /** Writes a pointer to a copy of the integers, followed by their number. */
  void putLongs(long at, long[] values) {
    Memory.putLong(at, longs(values));
    Memory.putLong(at + 8, values.length);
  }

  /** Copies integers to the stack. Never returns NULL. */
  long longs(long[] values) {
    long data = reserve(Math.max(8, 8L * values.length));
    for (int i = 0; i < values.length; ++i) {
      Memory.putLong(data + 8L * i, values[i]);
    }
    return data;
  }

  /** Writes a {@code tenon_string} that points to a copy of the text. */
  void putString(long at, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    long data = reserve(bytes.length + 1L);
    MemorySegment.copy(
        bytes, 0, Memory.at(data, bytes.length), java.lang.foreign.ValueLayout.JAVA_BYTE, 0,
        bytes.length);
    Memory.putLong(at, data);
    Memory.putLong(at + 8, bytes.length);
  }

  /** Returns a {@code tenon_string} to pass by value. */
  MemorySegment string(String text) {
    long at = reserve(16);
    putString(at, text);
    return Memory.at(at, 16);
  }

  /** Copies the handles of tensors to the stack. The handle of null is 0. */
  long handles(Tensor[] tensors) {
    long at = reserve(Math.max(8, 8L * tensors.length));
    for (int i = 0; i < tensors.length; ++i) {
      Memory.putLong(at + 8L * i, Tensor.handleOf(tensors[i]));
    }
    return at;
  }

  // ---- results of calls

  /**
   * Wraps a tensor that C returned. The current scope owns it; without a scope, the cleaner frees
   * it.
   */
  Tensor adopt(long tensor) {
    Scope current = scope;
    return current != null ? current.add(tensor) : Tensor.tracked(this, tensor);
  }

  /**
   * Returns the size of a tensor in bytes; 0 while tracing, because reading sizes would specialise
   * the trace.
   */
  long bytesOf(long tensor) {
    return tracing ? 0 : C.tenon_tensor_bytes(tensor);
  }

  /**
   * Adds a tensor to the thread's page. Returns false if the tensor needs its own phantom
   * reference.
   */
  boolean addToPage(Tensor tensor, long handle) {
    if (Leaks.ENABLED) {
      return false;
    }
    if (page == null || !page.add(tensor, handle)) {
      page = new Page();
      return page.add(tensor, handle);
    }
    return true;
  }

  /** Wraps a tensor that C returned; null if it is 0. */
  Tensor adoptOrNull(long tensor) {
    return tensor == 0 ? null : adopt(tensor);
  }

  Tensor[] adoptAll(long at, int count) {
    Tensor[] all = new Tensor[count];
    for (int i = 0; i < count; ++i) {
      all[i] = adoptOrNull(Memory.getLong(at + 8L * i));
    }
    return all;
  }

  /** Reads and releases the {@code tenon_string} that C wrote to {@code at}. */
  static String takeText(long at) {
    String text = Memory.text(at);
    C.tenon_string_release(Memory.at(at, 16));
    return text;
  }

  /**
   * Stores the user's source line in the native scope, so that errors of traced calls report it.
   */
  void storeUserLine() {
    long at = top;
    C.tenon_error_release(C.tenon_scope_set_location(handle, string(userLine())));
    release(at);
  }

  /**
   * Clears the source line in the native scope. Errors of eager calls find the line in the stack
   * trace of the exception.
   */
  void clearUserLine() {
    long at = top;
    C.tenon_error_release(C.tenon_scope_set_location(handle, string("")));
    release(at);
  }

  private static String userLine() {
    return WALKER.walk(
        frames ->
            frames
                .filter(frame -> TenonException.isUserClass(frame.getClassName()))
                .findFirst()
                .map(frame -> frame.getFileName() + ":" + frame.getLineNumber())
                .orElse(""));
  }

  /** Releases the unclosed tapes of this thread that the garbage collector found. */
  void releaseAbandonedTapes() {
    for (Long tape = abandonedTapes.poll(); tape != null; tape = abandonedTapes.poll()) {
      C.tenon_tape_release(tape);
    }
  }

  /** The native scope of a thread that opened no scope. It is released with the thread. */
  private static final class OwnScope extends NativeHandle {
    OwnScope(Context context) {
      super(Tracker.Kind.SCOPE, create(context, ""), false);
    }
  }

  /** Creates a native scope. */
  static long create(Context context, String device) {
    Local local = get();
    long at = local.reserve(8);
    long error = C.tenon_scope_create(context.handle(), local.string(device), at);
    long made = Memory.getLong(at);
    local.release(at);
    Calls.check(error);
    return made;
  }
}
