package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Profiles where a program spends its time. Records spans in all scopes of a context, from its
 * creation until it is stopped.
 */
public final class Profiler extends NativeHandle {
  private static final long MOST_EVENTS = 1_000_000;

  /** The kind of a span. */
  public enum Kind {
    /** A call of an op. */
    OP,
    /** Ops that a function launched as one kernel. */
    FUSED,
    /** A call of a function, including the spans inside it. */
    FUNCTION,
    /** The tracing of a function. */
    TRACING,
    /** A copy between host and device. */
    COPY
  }

  /**
   * Totals of all spans with the same name, input types and device. Times are in nanoseconds.
   *
   * @param kind the kind of the spans
   * @param name the name of the op or function
   * @param inputs the types of the inputs
   * @param device the name of the device; empty for a function
   * @param count the number of spans
   * @param hostTotal host time from begin to end, including nested spans
   * @param ownTotal host time without nested spans
   * @param launches the number of kernel launches
   * @param deviceTotal device time of the launches
   * @param bytes bytes that launches read and wrote, or bytes of the copy
   * @param flops floating point operations of matrix products and convolutions
   */
  public record Row(
      Kind kind, String name, String inputs, String device, long count, long hostTotal,
      long ownTotal, long launches, long deviceTotal, long bytes, long flops) {}

  /**
   * Starts to profile a context.
   *
   * @param context the context
   */
  public Profiler(Context context) {
    this(context, MOST_EVENTS);
  }

  /**
   * Starts to profile a context, with a limit of spans.
   *
   * @param context the context
   * @param maxEvents the maximum number of spans in the trace
   */
  public Profiler(Context context, long maxEvents) {
    super(Tracker.Kind.PROFILER, start(context, maxEvents), false);
  }

  private static long start(Context context, long maxEvents) {
    Local local = Local.get();
    long at = local.reserve(8);
    long options = local.reserveZeros(Structs.tenon_profiler_options.SIZE);
    Memory.putInt(options, (int) Structs.tenon_profiler_options.SIZE);
    Memory.putLong(options + Structs.tenon_profiler_options.max_events, maxEvents);
    long error = C.tenon_profiler_start(context.handle(), options, at);
    long made = Memory.getLong(at);
    local.release(at);
    Calls.check(error);
    return made;
  }

  /** Stops profiling, after waiting for launches in progress. */
  public void stop() {
    run(C::tenon_profiler_stop);
  }

  /**
   * Returns a readable table. Call stop() first.
   *
   * @return the text
   */
  public String table() {
    return text(C::tenon_profiler_table);
  }

  /**
   * Writes the spans to a file for https://ui.perfetto.dev. Call stop() first.
   *
   * @param path the file
   */
  public void writeTrace(Path path) {
    run(
        profiler ->
            C.tenon_profiler_write_trace(profiler, Local.get().string(path.toString())));
  }

  /**
   * Returns the rows of the table. Call stop() first.
   *
   * @return the rows, sorted by time in descending order
   */
  public List<Row> rows() {
    Local local = Local.get();
    List<Row> all = new ArrayList<>();
    long count = read(C::tenon_profiler_count_rows);
    for (long i = 0; i < count; ++i) {
      long at = local.reserveZeros(Structs.tenon_profiler_row.SIZE);
      try {
        Memory.putInt(at, (int) Structs.tenon_profiler_row.SIZE);
        Calls.check(C.tenon_profiler_describe_row(handle(), i, at));
        all.add(
            new Row(
                Kind.values()[Memory.getInt(at + Structs.tenon_profiler_row.kind)],
                Memory.text(at + Structs.tenon_profiler_row.name),
                Memory.text(at + Structs.tenon_profiler_row.inputs),
                Memory.text(at + Structs.tenon_profiler_row.device),
                Memory.getLong(at + Structs.tenon_profiler_row.count),
                Memory.getLong(at + Structs.tenon_profiler_row.host_total),
                Memory.getLong(at + Structs.tenon_profiler_row.own_total),
                Memory.getLong(at + Structs.tenon_profiler_row.launches),
                Memory.getLong(at + Structs.tenon_profiler_row.device_total),
                Memory.getLong(at + Structs.tenon_profiler_row.bytes),
                Memory.getLong(at + Structs.tenon_profiler_row.flops)));
      } finally {
        local.release(at);
      }
    }
    Reference.reachabilityFence(this);
    return all;
  }

  /**
   * Counts the spans beyond {@code maxEvents}. The trace omits them; the table includes them.
   *
   * @return the number of spans
   */
  public long droppedEvents() {
    return read(C::tenon_profiler_count_dropped_events);
  }
}
