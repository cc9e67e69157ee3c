package dev.tenon;

import java.util.List;

/** A callback that maps tensors to tensors: a branch, the body of a loop, or a host callback. */
@FunctionalInterface
public interface Block {
  /**
   * Runs the callback. Tensors that it creates are freed when it returns, except its outputs.
   *
   * @param inputs the inputs
   * @return the outputs
   */
  List<Tensor> apply(List<Tensor> inputs);
}
