package dev.tenon;

/** A callback that maps three tensors to one. */
@FunctionalInterface
public interface Function3 {
  /**
   * Runs the callback.
   *
   * @param a the first input
   * @param b the second input
   * @param c the third input
   * @return the output
   */
  Tensor apply(Tensor a, Tensor b, Tensor c);
}
