package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The exception of a failed call. The message names the op, the rule and the values.
 * {@link #getCause} returns the error that caused it, if any.
 */
public final class TenonException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The error code. */
  private final Code code;

  /** The name of the op; empty if no op was called. */
  private final String op;

  /** The name of the invalid parameter; empty if the error does not concern a single one. */
  private final String argument;

  /** The name of the device; empty if there is none. */
  private final String device;

  /** The source line that the C error reports; empty if there is none. */
  private final String location;

  /**
   * Creates an error that a callback can throw.
   *
   * @param code the kind of the error
   * @param message what is wrong
   */
  public TenonException(Code code, String message) {
    this(code, message, "", "", "", "", null);
  }

  private TenonException(
      Code code, String message, String op, String argument, String device, String location,
      TenonException cause) {
    super(message, cause);
    this.code = code;
    this.op = op;
    this.argument = argument;
    this.device = device;
    this.location = location;
  }

  /**
   * Returns the kind of the error.
   *
   * @return the code
   */
  public Code code() {
    return code;
  }

  /**
   * Returns the name of the op that failed.
   *
   * @return the name; empty if no op was called
   */
  public String op() {
    return op;
  }

  /**
   * Returns the name of the invalid parameter.
   *
   * @return the name; empty if the error does not concern a single parameter
   */
  public String argument() {
    return argument;
  }

  /**
   * Returns the name of the device of the call.
   *
   * @return the name, such as "cpu:0"; empty if there is none
   */
  public String device() {
    return device;
  }

  /**
   * Returns the source line of the error. For a traced op, this is the line that traced it;
   * otherwise it is the line that called Tenon.
   *
   * @return the line, such as "Train.java:42"; empty if unknown
   */
  public String location() {
    if (!location.isEmpty()) {
      return location;
    }
    for (StackTraceElement frame : getStackTrace()) {
      if (isUserClass(frame.getClassName())) {
        return frame.getFileName() + ":" + frame.getLineNumber();
      }
    }
    return "";
  }

  /** Whether a class belongs to the user, and not to this binding or the Java platform. */
  static boolean isUserClass(String name) {
    boolean ours =
        name.startsWith("dev.tenon.internal.")
            || name.startsWith("dev.tenon.") && name.indexOf('.', "dev.tenon.".length()) < 0;
    return !ours && !name.startsWith("java.") && !name.startsWith("jdk.");
  }

  // ---- exceptions that propagate through C: a number at the end of the C error's message
  // identifies them

  private static final String MARK = " [java exception ";
  private static final int MAX_PENDING = 256;
  private static final Map<Long, Throwable> PENDING =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Throwable> eldest) {
          return size() > MAX_PENDING;
        }
      };
  private static long lastPending;

  /** Creates the C error for an exception of a callback. C owns it. */
  static long give(Throwable thrown) {
    try {
      long number;
      synchronized (PENDING) {
        number = ++lastPending;
        PENDING.put(number, thrown);
      }
      TenonException known = thrown instanceof TenonException own ? own : null;
      String message = known != null ? known.getMessage() : thrown.toString();
      int code = known != null ? known.code.number() : Code.INTERNAL.number();
      Local local = Local.get();
      long at = local.top;
      long error = C.tenon_error_create(code, local.string(message + MARK + number + "]"));
      local.release(at);
      return error;
    } catch (Throwable again) { // No exception may leave a callback, not even OutOfMemoryError.
      return C.tenon_error_create(Code.INTERNAL.number(), Memory.at(EMPTY.address(), 16));
    }
  }

  private static final MemorySegment EMPTY = Arena.global().allocate(16, 8);

  /**
   * Converts an error that C returned to an exception, and releases the error. If the error
   * represents an exception of a callback, throws that exception instead.
   */
  static RuntimeException take(long error) {
    TenonException made = read(error);
    C.tenon_error_release(error);
    Throwable original = made.original();
    if (original != null) {
      throw sneakyThrow(original);
    }
    return made;
  }

  /**
   * Converts a C error that has another owner to an exception, or to the callback's exception that
   * it represents.
   */
  static Throwable borrow(long error) {
    TenonException made = read(error);
    Throwable original = made.original();
    return original != null ? original : made;
  }

  private Throwable original() {
    String message = getMessage();
    int mark = message.lastIndexOf(MARK);
    if (mark < 0 || !message.endsWith("]")) {
      return null;
    }
    try {
      long number = Long.parseLong(message, mark + MARK.length(), message.length() - 1, 10);
      synchronized (PENDING) {
        return PENDING.remove(number);
      }
    } catch (NumberFormatException notOurs) {
      return null;
    }
  }

  private static TenonException read(long error) {
    try (Arena arena = Arena.ofConfined()) {
      long cause = C.tenon_error_cause(error);
      return new TenonException(
          Code.of(C.tenon_error_code(error)),
          Memory.text(C.tenon_error_message(arena, error)),
          Memory.text(C.tenon_error_op(arena, error)),
          Memory.text(C.tenon_error_argument(arena, error)),
          Memory.text(C.tenon_error_device(arena, error)),
          Memory.text(C.tenon_error_location(arena, error)),
          cause == 0 ? null : read(cause));
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> RuntimeException sneakyThrow(Throwable thrown) throws T {
    throw (T) thrown;
  }
}
