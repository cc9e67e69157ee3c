package dev.tenon;

import java.util.List;

/** Code that maps tensors to tensors: a branch, the body of a loop, a host callback. */
@FunctionalInterface
public interface Block {
  /**
   * Runs the code. Tensors that it creates are freed when it returns, except its outputs.
   *
   * @param inputs the inputs
   * @return the outputs
   */
  List<Tensor> apply(List<Tensor> inputs);
}
