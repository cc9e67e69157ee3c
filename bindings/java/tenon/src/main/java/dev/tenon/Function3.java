package dev.tenon;

/** Code that maps three tensors to one. */
@FunctionalInterface
public interface Function3 {
  /**
   * Runs the code.
   *
   * @param a the first input
   * @param b the second input
   * @param c the third input
   * @return the output
   */
  Tensor apply(Tensor a, Tensor b, Tensor c);
}
