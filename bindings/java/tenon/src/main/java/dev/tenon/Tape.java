package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Constants;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Records the calls of the current scope from its creation onward, and computes gradients.
 *
 * <pre>{@code
 * try (var tape = new Tape()) {
 *   Tensor loss = w.read().mul(x).sub(y).square().mean();
 *   Tensor dw = tape.gradient(loss, w);
 * }
 * }</pre>
 *
 * <p>A tape can be used and closed only on the thread that created it.
 */
public final class Tape extends NativeHandle {
  /** The gradient with respect to a source that the targets do not depend on. */
  public enum Unreached {
    /** The gradient is a tensor of zeros. */
    ZEROS,
    /** The gradient is null. */
    NULL
  }

  private final long scope;
  private final Scope within;

  /** Creates a tape that watches trainable variables. Its first gradient consumes it. */
  public Tape() {
    this(false, true);
  }

  /**
   * Creates a tape.
   *
   * @param persistent whether the tape can compute gradients more than once
   * @param watchTrainable whether the tape watches trainable variables when they are read
   */
  public Tape(boolean persistent, boolean watchTrainable) {
    super(Tracker.Kind.TAPE, create(persistent, watchTrainable), true);
    Local local = Local.get();
    scope = local.scope();
    within = local.scope;
  }

  private static long create(boolean persistent, boolean watchTrainable) {
    Local local = Local.get();
    local.releaseAbandonedTapes();
    long scope = local.scope();
    long at = local.reserve(8);
    long options = local.reserveZeros(Structs.tenon_tape_options.SIZE);
    Memory.putInt(options, (int) Structs.tenon_tape_options.SIZE);
    Memory.putBoolean(options + Structs.tenon_tape_options.persistent, persistent);
    Memory.putBoolean(options + Structs.tenon_tape_options.watch_trainable, watchTrainable);
    long error = C.tenon_tape_create(scope, options, at);
    long tape = Memory.getLong(at);
    local.release(at);
    Calls.check(error);
    return tape;
  }

  /**
   * Watches a value: later calls that depend on it are recorded.
   *
   * @param value a floating tensor or variable
   */
  public void watch(Value value) {
    run(tape -> C.tenon_tape_watch(tape, Values.handle(value)));
    Reference.reachabilityFence(value);
  }

  /** Stops recording until {@link #resume}. Keeps the calls recorded so far. */
  public void pause() {
    run(C::tenon_tape_pause);
  }

  /** Resumes recording after {@link #pause}. */
  public void resume() {
    run(C::tenon_tape_resume);
  }

  /** Discards all recorded calls and watched values, and starts to record again. */
  public void reset() {
    run(C::tenon_tape_reset);
  }

  /**
   * Returns whether the tape is recording.
   *
   * @return false if the tape is paused or consumed
   */
  public boolean isRecording() {
    boolean recording = C.tenon_tape_is_recording(handle());
    Reference.reachabilityFence(this);
    return recording;
  }

  /**
   * Returns the watched values: tensors, followed by variables.
   *
   * @return the values
   */
  public List<Value> watched() {
    Local local = Local.get();
    List<Value> all = new ArrayList<>();
    long count = read(C::tenon_tape_count_watched);
    for (long i = 0; i < count; ++i) {
      long index = i;
      all.add(
          Values.adopt(local, get((tape, out) -> C.tenon_tape_get_watched(tape, index, out))));
    }
    return all;
  }

  /**
   * Computes the gradient of the sum of the target's elements.
   *
   * @param target a floating tensor
   * @param source a tensor or variable
   * @return a tensor of the source's type; zeros if the target does not depend on the source
   */
  public Tensor gradient(Tensor target, Value source) {
    return gradients(target, List.of(source)).get(0);
  }

  /**
   * Computes the gradients of the sum of the target's elements with respect to each source.
   *
   * @param target a floating tensor
   * @param sources tensors or variables
   * @return a tensor for each source
   */
  public List<Tensor> gradients(Tensor target, List<? extends Value> sources) {
    return gradients(List.of(target), null, sources, Unreached.ZEROS);
  }

  /**
   * Computes the gradients of the sum of all targets' elements, weighted by the cotangents.
   *
   * @param targets floating tensors
   * @param cotangents one tensor for each target; null for ones
   * @param sources tensors or variables
   * @param unreached the gradient with respect to a source that the targets do not depend on
   * @return a tensor for each source
   */
  public List<Tensor> gradients(
      List<Tensor> targets,
      List<Tensor> cotangents,
      List<? extends Value> sources,
      Unreached unreached) {
    if (cotangents != null && cotangents.size() != targets.size()) {
      throw new TenonException(
          Code.INVALID_ARGUMENT,
          "gradients: there are "
              + cotangents.size()
              + " cotangents, but "
              + targets.size()
              + " targets");
    }
    Local local = Local.get();
    long at = local.top;
    try {
      int count = sources.size();
      long out = local.reserve(Math.max(8, 8L * count));
      long given = local.handles(Calls.array(targets));
      long weights = cotangents == null ? 0 : local.handles(Calls.array(cotangents));
      long by = Values.handles(local, sources);
      long options = options(local, unreached);
      Calls.check(
          C.tenon_tape_gradient(
              scope, handle(), given, targets.size(), weights, by, count, options, out));
      return Arrays.asList(local.adoptAll(out, count));
    } finally {
      local.release(at);
      Reference.reachabilityFence(targets);
      Reference.reachabilityFence(cotangents);
      Reference.reachabilityFence(sources);
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Computes the derivatives of all elements of a target with respect to all elements of a source.
   *
   * @param target a floating tensor
   * @param source a tensor or variable
   * @return a tensor whose shape is that of the target followed by that of the source
   */
  public Tensor jacobian(Tensor target, Value source) {
    Local local = Local.get();
    long at = local.top;
    try {
      long out = local.reserve(8);
      long by = Values.handles(local, List.of(source));
      Calls.check(C.tenon_tape_jacobian(scope, handle(), target.handle(), by, 1, 0, out));
      return local.adopt(Memory.getLong(out));
    } finally {
      local.release(at);
      Reference.reachabilityFence(target);
      Reference.reachabilityFence(source);
      Reference.reachabilityFence(this);
    }
  }

  static long options(Local local, Unreached unreached) {
    long options = local.reserveZeros(Structs.tenon_gradient_options.SIZE);
    Memory.putInt(options, (int) Structs.tenon_gradient_options.SIZE);
    Memory.putInt(
        options + Structs.tenon_gradient_options.unreached,
        unreached == Unreached.ZEROS
            ? Constants.TENON_UNREACHED_ZEROS
            : Constants.TENON_UNREACHED_NULL);
    return options;
  }

  @Override
  public String toString() {
    return "tape in " + within;
  }
}
