package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The exception of a failed call. The message names the op, the rule and the values; the
 * exception's cause is the error that led to it.
 */
public final class TenonException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The code. */
  private final Code code;

  /** The op. */
  private final String op;

  /** The parameter. */
  private final String argument;

  /** The device. */
  private final String device;

  /** The source line in the library's error. */
  private final String location;

  /**
   * An error for a callback to throw.
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
   * The kind of the error.
   *
   * @return the code
   */
  public Code code() {
    return code;
  }

  /**
   * The name of the op that failed.
   *
   * @return empty if no op was called
   */
  public String op() {
    return op;
  }

  /**
   * The name of the parameter at fault.
   *
   * @return empty if it is not one parameter's fault
   */
  public String argument() {
    return argument;
  }

  /**
   * The name of the device of the call.
   *
   * @return such as "cpu:0"; empty if none did
   */
  public String device() {
    return device;
  }

  /**
   * The Java line of the error: in a traced function the line of the op's call, otherwise the line
   * that called Tenon.
   *
   * @return such as "Train.java:42"; empty if it is not known
   */
  public String location() {
    if (!location.isEmpty()) {
      return location;
    }
    for (StackTraceElement frame : getStackTrace()) {
      if (isUsers(frame.getClassName())) {
        return frame.getFileName() + ":" + frame.getLineNumber();
      }
    }
    return "";
  }

  /** Whether a class is the user's: neither ours nor of the platform's calls between. */
  static boolean isUsers(String name) {
    boolean ours =
        name.startsWith("dev.tenon.internal.")
            || name.startsWith("dev.tenon.") && name.indexOf('.', "dev.tenon.".length()) < 0;
    return !ours && !name.startsWith("java.") && !name.startsWith("jdk.");
  }

  // ---- exceptions that pass through C: the error of an exception ends with its number.

  private static final String MARK = " [java exception ";
  private static final int MOST_PENDING = 256;
  private static final Map<Long, Throwable> PENDING =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Throwable> eldest) {
          return size() > MOST_PENDING;
        }
      };
  private static long lastPending;

  /** The C error for an exception of a callback; C owns it. */
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
    } catch (Throwable again) { // Nothing may leave a callback, memory that ran out included.
      return C.tenon_error_create(Code.INTERNAL.number(), Memory.at(EMPTY.address(), 16));
    }
  }

  private static final MemorySegment EMPTY = Arena.global().allocate(16, 8);

  /** The exception for an error that C returned, which is released; or throws the exception that
   * it represents. */
  static RuntimeException take(long error) {
    TenonException made = read(error);
    C.tenon_error_release(error);
    Throwable original = made.original();
    if (original != null) {
      throw sneak(original);
    }
    return made;
  }

  /** The same for an error that is owned elsewhere. */
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
  private static <T extends Throwable> RuntimeException sneak(Throwable thrown) throws T {
    throw (T) thrown;
  }
}
