package dev.tenon;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Finds objects that were not closed. With {@code -Ddev.tenon.leaks=report}, each object stores the
 * stack of its creation. An object that the cleaner frees is reported to the logger
 * {@code dev.tenon}, or to a function of the program. Tensors that a {@link Scope} frees are not
 * leaks.
 */
public final class Leaks {
  private Leaks() {}

  /** Whether leaks are reported. */
  static final boolean ENABLED = "report".equals(System.getProperty("dev.tenon.leaks"));

  private static final AtomicLong COUNT = new AtomicLong();
  private static volatile Consumer<Leak> receiver = Leaks::log;

  /**
   * An object that was not closed.
   *
   * @param kind the type of the object, such as "tensor" or "function"
   * @param created a stack trace of the creation
   */
  public record Leak(String kind, Throwable created) {}

  /**
   * Sets the receiver of leaks. The thread that frees an object calls it.
   *
   * @param receiver the function
   */
  public static void onLeak(Consumer<Leak> receiver) {
    Leaks.receiver = receiver;
  }

  /**
   * Counts the live objects that {@code close} or the cleaner must free.
   *
   * @return the number of objects
   */
  public static long tracked() {
    return Tracker.count();
  }

  /**
   * Counts the leaks reported so far.
   *
   * @return the number of leaks
   */
  public static long reported() {
    return COUNT.get();
  }

  /** Runs the garbage collector and frees the unreachable objects. */
  public static void collect() {
    Tracker.collect();
  }

  static void report(Tracker.Kind kind, Throwable created) {
    COUNT.incrementAndGet();
    receiver.accept(new Leak(kind.name().toLowerCase(java.util.Locale.ROOT), created));
  }

  private static void log(Leak leak) {
    System.getLogger("dev.tenon")
        .log(System.Logger.Level.WARNING, "a " + leak.kind() + " was not closed", leak.created());
  }
}
