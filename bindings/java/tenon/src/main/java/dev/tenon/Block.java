package dev.tenon;

import java.util.List;

/** Code that takes tensors and gives tensors: a branch, the body of a loop, code of the host. */
@FunctionalInterface
public interface Block {
  /**
   * Runs the code. Tensors that it makes are freed when it returns, except those that it gives.
   *
   * @param inputs what it takes
   * @return what it gives
   */
  List<Tensor> apply(List<Tensor> inputs);
}
