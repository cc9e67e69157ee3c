package dev.tenon;

import java.util.List;

/**
 * An op that a program defines. It infers the types of its outputs. It computes them either in host
 * memory ({@link Computed}) or by calling other ops ({@link Composite}). Any thread may call its
 * methods. Exceptions propagate unchanged to the caller of the op.
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
   * The name of the op.
   *
   * @return a name of lower-case letters, digits, "_" and "."
   */
  String name();

  /**
   * The number of inputs.
   *
   * @return 1 by default
   */
  default int countInputs() {
    return 1;
  }

  /**
   * The number of outputs.
   *
   * @return 1 by default
   */
  default int countOutputs() {
    return 1;
  }

  /**
   * Infers the types of the outputs. Throws an exception if the inputs are invalid.
   *
   * @param inputs the types of the inputs
   * @return the type of each output
   */
  List<TensorType> infer(List<TensorType> inputs);

  /**
   * Whether this class implements {@link #backward}. If not, Tenon differentiates the
   * decomposition, if there is one.
   *
   * @return false by default
   */
  default boolean hasBackward() {
    return false;
  }

  /**
   * Computes the gradients with respect to the inputs.
   *
   * @param call the forward call, and the cotangents of its outputs
   * @return a tensor or null for each input
   */
  default List<Tensor> backward(Backward call) {
    throw new TenonException(
        Code.UNIMPLEMENTED,
        name() + ": the op has no derivative; override backward() and hasBackward()");
  }

  /** An op that computes its outputs in host memory. Used on every device. */
  non-sealed interface Computed extends CustomOp {
    /**
     * Writes the outputs.
     *
     * @param inputs the elements of the inputs
     * @param outputs the memory of the outputs, to be written
     */
    void compute(List<HostArray> inputs, List<HostArray> outputs);
  }

  /** An op that computes its outputs by calling other ops. */
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
   * Registers the op in the context of the current scope, permanently.
   *
   * @return the op, which can be called
   */
  default Op register() {
    return CustomOps.register(this);
  }
}
