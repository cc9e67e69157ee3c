package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures where the time of a program goes: records spans in all scopes of a context, from its
 * creation until it is stopped.
 */
public final class Profiler extends NativeHandle {
  private static final long MOST_EVENTS = 1_000_000;

  /** The kind of a span. */
  public enum Kind {
    /** An op. */
    OP,
    /** Ops that a function launched as one. */
    FUSED,
    /** A call of a function, including the spans inside it. */
    FUNCTION,
    /** Tracing a function. */
    TRACING,
    /** A copy between host and device. */
    COPY
  }

  /**
   * Spans with one name, one type of inputs and one device. Times are in nanoseconds.
   *
   * @param kind what they are
   * @param name of the op or the function
   * @param inputs their types
   * @param device where they ran; empty for a function
   * @param count how many
   * @param hostTotal from begin to end, with the spans inside
   * @param ownTotal the part of that which is of no span inside
   * @param launches how many launches there were
   * @param deviceTotal the time of the launches
   * @param bytes read, written or copied
   * @param flops of products and convolutions
   */
  public record Row(
      Kind kind, String name, String inputs, String device, long count, long hostTotal,
      long ownTotal, long launches, long deviceTotal, long bytes, long flops) {}

  /**
   * Profiles a context.
   *
   * @param context the context
   */
  public Profiler(Context context) {
    this(context, MOST_EVENTS);
  }

  /**
   * Profiles a context.
   *
   * @param context the context
   * @param maxEvents how many spans are kept for the trace
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

  /** Stops it, and waits for launches in progress. */
  public void stop() {
    run(C::tenon_profiler_stop);
  }

  /**
   * A readable table; the profiler must be stopped.
   *
   * @return the text
   */
  public String table() {
    return text(C::tenon_profiler_table);
  }

  /**
   * Writes a file that Perfetto opens, once it is stopped.
   *
   * @param path the file
   */
  public void writeTrace(Path path) {
    run(
        profiler ->
            C.tenon_profiler_write_trace(profiler, Local.get().string(path.toString())));
  }

  /**
   * The rows of the table, once it is stopped.
   *
   * @return sorted by time, the longest first
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
   * Number of spans that were dropped because the trace was full; the table counts them.
   *
   * @return the number
   */
  public long droppedEvents() {
    return read(C::tenon_profiler_count_dropped_events);
  }
}
