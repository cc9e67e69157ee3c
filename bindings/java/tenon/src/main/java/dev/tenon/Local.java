// The state of a thread: its current scope, and a stack of native memory for the arguments of
// calls.

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
  /** The innermost open scope; null if none is open, so that the cleaner frees new tensors. */
  Scope scope;
  /** The native scope in which calls run; 0 until the thread computes. */
  long handle;
  /** Whether calls are recorded into a trace, which keeps the line of each. */
  boolean tracing;
  /** The first free byte of the stack. */
  long top;

  /** Small tensors that no scope owns; null until there is one. */
  private Page page;

  /** Tapes that were not closed, which this thread releases between two calls. */
  final ConcurrentLinkedQueue<Long> abandonedTapes = new ConcurrentLinkedQueue<>();

  private final MemorySegment stack = Arena.ofAuto().allocate(STACK_BYTES, 16);
  private final long base = stack.address();
  private final long limit = base + STACK_BYTES;
  /** Memory beyond the stack's size; null if the stack suffices. */
  private List<MemorySegment> overflow;
  /** Receives a struct that C returns by value, until the next one. */
  final SegmentAllocator result = SegmentAllocator.prefixAllocator(Arena.ofAuto().allocate(64, 16));

  private OwnScope own;

  private Local() {
    top = base;
  }

  static Local get() {
    return LOCALS.get();
  }

  /** The native scope of the thread's calls, made at the first one. */
  long scope() {
    long current = handle;
    return current != 0 ? current : openOwn();
  }

  private long openOwn() {
    own = new OwnScope(Context.shared());
    handle = own.handle();
    return handle;
  }

  // ---- the stack: reserve, call, and set `top` back.

  /** Bytes aligned for a pointer, which are not initialised. */
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

  /** Frees what was reserved after the stack was at `at`. */
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

  /** Writes a pointer to integers, and their number after it. */
  void putLongs(long at, long[] values) {
    Memory.putLong(at, longs(values));
    Memory.putLong(at + 8, values.length);
  }

  /** The integers in memory; never NULL. */
  long longs(long[] values) {
    long data = reserve(Math.max(8, 8L * values.length));
    for (int i = 0; i < values.length; ++i) {
      Memory.putLong(data + 8L * i, values[i]);
    }
    return data;
  }

  /** Writes a {@code tenon_string}. */
  void putString(long at, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    long data = reserve(bytes.length + 1L);
    MemorySegment.copy(
        bytes, 0, Memory.at(data, bytes.length), java.lang.foreign.ValueLayout.JAVA_BYTE, 0,
        bytes.length);
    Memory.putLong(at, data);
    Memory.putLong(at + 8, bytes.length);
  }

  /** A {@code tenon_string} to be passed by value. */
  MemorySegment string(String text) {
    long at = reserve(16);
    putString(at, text);
    return Memory.at(at, 16);
  }

  /** The handles of tensors in memory; a null is 0. */
  long handles(Tensor[] tensors) {
    long at = reserve(Math.max(8, 8L * tensors.length));
    for (int i = 0; i < tensors.length; ++i) {
      Memory.putLong(at + 8L * i, Tensor.handleOf(tensors[i]));
    }
    return at;
  }

  // ---- results of calls

  /** A tensor that C returned, owned by the current scope or freed by the cleaner. */
  Tensor adopt(long tensor) {
    Scope current = scope;
    return current != null ? current.add(tensor) : Tensor.tracked(this, tensor);
  }

  /** The bytes of a tensor; 0 in a traced function, whose trace would keep the sizes that are read. */
  long bytesOf(long tensor) {
    return tracing ? 0 : C.tenon_tensor_bytes(tensor);
  }

  /** Adds a tensor to the thread's page; false if it needs a reference of its own. */
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

  /** The tensor that C returned, or null. */
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

  /** Text that C returned in the struct at `at`. */
  static String takeText(long at) {
    String text = Memory.text(at);
    C.tenon_string_release(Memory.at(at, 16));
    return text;
  }

  /** Stores the user's line in the native scope, for errors of traced calls. */
  void tellLocation() {
    long at = top;
    C.tenon_error_release(C.tenon_scope_set_location(handle, string(userLine())));
    release(at);
  }

  /** Makes errors of eager calls take their line from the exception. */
  void forgetLocation() {
    long at = top;
    C.tenon_error_release(C.tenon_scope_set_location(handle, string("")));
    release(at);
  }

  private static String userLine() {
    return WALKER.walk(
        frames ->
            frames
                .filter(frame -> TenonException.isUsers(frame.getClassName()))
                .findFirst()
                .map(frame -> frame.getFileName() + ":" + frame.getLineNumber())
                .orElse(""));
  }

  /** Releases the tapes of this thread that the garbage collector found. */
  void releaseAbandonedTapes() {
    for (Long tape = abandonedTapes.poll(); tape != null; tape = abandonedTapes.poll()) {
      C.tenon_tape_release(tape);
    }
  }

  /** The native scope of a thread that opened none; released with the thread. */
  private static final class OwnScope extends NativeHandle {
    OwnScope(Context context) {
      super(Tracker.Kind.SCOPE, create(context, ""), false);
    }
  }

  /** Makes a native scope. */
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
