package dev.tenon;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Finds objects that were not closed. With {@code -Ddev.tenon.leaks=report} each object keeps the
 * stack of its creation, and one that the cleaner had to free is reported: to the logger {@code
 * dev.tenon}, or to a function of the program. Tensors that a {@link Scope} frees are no leaks.
 */
public final class Leaks {
  private Leaks() {}

  /** An object that was not closed. */
  static final boolean ENABLED = "report".equals(System.getProperty("dev.tenon.leaks"));

  private static final AtomicLong COUNT = new AtomicLong();
  private static volatile Consumer<Leak> receiver = Leaks::log;

  /**
   * An object that was not closed.
   *
   * @param kind what it is: "tensor", "function"
   * @param created the stack of its creation
   */
  public record Leak(String kind, Throwable created) {}

  /**
   * Sets the receiver of leaks, which is called on the thread that frees them.
   *
   * @param receiver the function
   */
  public static void onLeak(Consumer<Leak> receiver) {
    Leaks.receiver = receiver;
  }

  /**
   * The number of live objects that {@code close} or the cleaner frees.
   *
   * @return the number
   */
  public static long tracked() {
    return Tracker.count();
  }

  /**
   * The number of reported leaks.
   *
   * @return the number
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
