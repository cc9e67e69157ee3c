package dev.tenon;

import java.util.List;

/**
 * An op that a program defines. It infers the types of its outputs, and computes in host memory
 * ({@link Computed}) or by calling ops ({@link Composite}). Its code may be called from any thread;
 * its exceptions propagate unchanged to the caller of the op.
 *
 * <pre>{@code
 * record Twice() implements CustomOp.Composite {
 *   public String name() { return "my.twice"; }
 *   public List<TensorType> infer(List<TensorType> in) { return in; }
 *   public List<Tensor> decompose(List<Tensor> in) { return List.of(in.get(0).add(in.get(0))); }
 * }
 * Op twice = new Twice().register();
 * Tensor y = twice.call(x).get(0);
 * }</pre>
 */
public sealed interface CustomOp permits CustomOp.Computed, CustomOp.Composite {
  /**
   * Its name.
   *
   * @return of lower-case letters, digits, "_" and "."
   */
  String name();

  /**
   * How many inputs it has.
   *
   * @return 1, unless it is overridden
   */
  default int countInputs() {
    return 1;
  }

  /**
   * How many outputs it has.
   *
   * @return 1, unless it is overridden
   */
  default int countOutputs() {
    return 1;
  }

  /**
   * The types of the outputs; throws an exception if the inputs are invalid.
   *
   * @param inputs the types of the inputs
   * @return a type for each output
   */
  List<TensorType> infer(List<TensorType> inputs);

  /**
   * Whether {@link #backward} is implemented.
   *
   * @return false, unless it is overridden: the derivative is that of the decomposition, or none
   */
  default boolean hasBackward() {
    return false;
  }

  /**
   * The gradients with respect to the inputs.
   *
   * @param call the forward call, and the cotangents of its outputs
   * @return a tensor for each input, or null
   */
  default List<Tensor> backward(Backward call) {
    throw new TenonException(Code.UNIMPLEMENTED, name() + ": has no derivative");
  }

  /** An op that computes in host memory, on every device. */
  non-sealed interface Computed extends CustomOp {
    /**
     * Fills the outputs.
     *
     * @param inputs the elements of the inputs
     * @param outputs the memory of the outputs
     */
    void compute(List<HostArray> inputs, List<HostArray> outputs);
  }

  /** An op that computes by calling ops. */
  non-sealed interface Composite extends CustomOp {
    /**
     * Computes the outputs.
     *
     * @param inputs the inputs
     * @return the outputs
     */
    List<Tensor> decompose(List<Tensor> inputs);
  }

  /**
   * Adds it to the context of the current scope, permanently.
   *
   * @return the op, to be called
   */
  default Op register() {
    return CustomOps.register(this);
  }
}
