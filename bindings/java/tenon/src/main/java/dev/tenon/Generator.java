package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Constants;
import dev.tenon.internal.Memory;
import java.lang.ref.Reference;

/** A random number generator. The same seed gives the same bits on every device. */
public final class Generator extends NativeHandle {
  /**
   * Creates a generator on the current device.
   *
   * @param seed the seed
   */
  public Generator(long seed) {
    super(Tracker.Kind.GENERATOR, create(seed), false);
  }

  private static long create(long seed) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.reserve(8);
    long error = C.tenon_generator_create(scope, seed, at);
    long made = Memory.getLong(at);
    local.release(at);
    Calls.check(error);
    return made;
  }

  private static long scope() {
    return Local.get().scope();
  }

  private Tensor tensor(Getter call) {
    return Local.get().adopt(get(call));
  }

  /**
   * Resets the state to that of a new generator.
   *
   * @param seed the seed of that generator
   */
  public void seed(long seed) {
    run(generator -> C.tenon_generator_seed(scope(), generator, seed));
  }

  /**
   * Returns the state, a uint32 tensor with 6 elements. Save it to resume from here.
   *
   * @return the state
   */
  public Tensor state() {
    return tensor((generator, out) -> C.tenon_generator_read(scope(), generator, out));
  }

  /**
   * Restores a state.
   *
   * @param state a result of {@link #state}
   */
  public void setState(Tensor state) {
    run(generator -> C.tenon_generator_assign(scope(), generator, state.handle()));
    Reference.reachabilityFence(state);
  }

  /**
   * Draws float32 numbers, uniformly distributed on [0, 1).
   *
   * @param shape the sizes
   * @return the numbers
   */
  public Tensor uniform(long... shape) {
    return uniform(DType.FLOAT32, 0, 1, shape);
  }

  /**
   * Draws numbers that are uniformly distributed on [low, high).
   *
   * @param dtype a floating dtype
   * @param low the lower bound
   * @param high the exclusive upper bound
   * @param shape the sizes
   * @return the numbers
   */
  public Tensor uniform(DType dtype, double low, double high, long... shape) {
    return tensor(
        (generator, out) ->
            C.tenon_generator_uniform(
                scope(), generator, dtype.bits(), Local.get().longs(shape), shape.length, low, high,
                out));
  }

  /**
   * Draws float32 numbers from the standard normal distribution.
   *
   * @param shape the sizes
   * @return the numbers
   */
  public Tensor normal(long... shape) {
    return normal(DType.FLOAT32, 0, 1, shape);
  }

  /**
   * Draws normally distributed numbers.
   *
   * @param dtype a floating dtype
   * @param mean the mean
   * @param scale the standard deviation
   * @param shape the sizes
   * @return the numbers
   */
  public Tensor normal(DType dtype, double mean, double scale, long... shape) {
    return tensor(
        (generator, out) ->
            C.tenon_generator_normal(
                scope(), generator, dtype.bits(), Local.get().longs(shape), shape.length, mean, scale,
                out));
  }

  /**
   * Draws bools that are true with a probability.
   *
   * @param p the probability
   * @param shape the sizes
   * @return a bool tensor
   */
  public Tensor bernoulli(double p, long... shape) {
    try (Tensor probability = Tensor.scalar(p)) {
      return call(
          Constants.TENON_OP_random_bernoulli,
          new Ops.RandomBernoulliAttrs().shape(shape),
          null,
          probability);
    }
  }

  /**
   * Sets a random fraction of the elements to zero. Scales up the remaining elements to compensate
   * for that.
   *
   * @param x a floating tensor
   * @param ratio the fraction
   * @return a tensor with the type of x
   */
  public Tensor dropout(Tensor x, double ratio) {
    return call(Constants.TENON_OP_dropout, new Ops.DropoutAttrs().ratio(ratio), x, null);
  }

  /**
   * Calls a random op and returns its first output. The generator's state replaces the null input.
   */
  private Tensor call(int op, OpAttrs attrs, Tensor... inputs) {
    Local local = Local.get();
    long scope = local.scope();
    Tensor drawn =
        tensor(
            (generator, out) ->
                C.tenon_generator_call(
                    scope, generator, op, attrs.write(local), local.handles(inputs),
                    inputs.length, out, 1));
    Reference.reachabilityFence(inputs);
    return drawn;
  }
}
