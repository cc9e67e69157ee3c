package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Gradients of lambdas, and custom gradients.
 *
 * <pre>{@code
 * UnaryOperator<Tensor> cube = x -> x.mul(x).mul(x);
 * UnaryOperator<Tensor> slope = Gradients.grad(cube);
 * UnaryOperator<Tensor> curvature = Gradients.grad(slope);
 * }</pre>
 *
 * <p>An exception that a lambda throws propagates unchanged to the outer caller.
 */
public final class Gradients {
  private Gradients() {}

  /**
   * A variable that the code read, and the gradient with respect to it.
   *
   * @param variable the variable
   * @param gradient a tensor of the variable's type
   */
  public record VariableGradient(Variable variable, Tensor gradient) {}

  /**
   * The outputs of code, and the gradients of the first output.
   *
   * @param outputs the outputs
   * @param gradients the gradient with respect to each argument; null if the argument is not
   *     floating
   * @param variables the gradient with respect to each trainable variable that the code read
   */
  public record Result(
      List<Tensor> outputs, List<Tensor> gradients, List<VariableGradient> variables) {
    /**
     * Returns the first output, which is the one that is differentiated.
     *
     * @return the first output
     */
    public Tensor value() {
      return outputs.get(0);
    }
  }

  /**
   * Returns a function that computes the gradient of the sum of f's output.
   *
   * @param f maps a tensor to a tensor
   * @return a function that maps a tensor to the gradient at that tensor
   */
  public static UnaryOperator<Tensor> grad(UnaryOperator<Tensor> f) {
    return x -> valueAndGradients(in -> List.of(f.apply(in.get(0))), x).gradients().get(0);
  }

  /**
   * Calls code, and differentiates its output. The code must have exactly one.
   *
   * @param code the code
   * @param inputs the inputs of the code
   * @return the output and the gradients
   */
  public static Result valueAndGradients(Block code, Tensor... inputs) {
    return valueAndGradients(1, code, inputs);
  }

  /**
   * Calls code, and differentiates its first output.
   *
   * @param nOutputs number of outputs; the others are returned without gradients
   * @param code the code
   * @param inputs the inputs of the code
   * @return the outputs and the gradients
   */
  public static Result valueAndGradients(int nOutputs, Block code, Tensor... inputs) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      long outputs = local.reserve(8L * nOutputs);
      long grads = local.reserve(Math.max(8, 8L * inputs.length));
      long variables = local.reserve(8);
      long given = local.handles(inputs);
      var function = Callbacks.tensorFunction(local, in -> run(code, in));
      Calls.check(
          C.tenon_gradients(
              scope, function, given, inputs.length, 0, outputs, nOutputs, grads, variables));
      return new Result(
          Arrays.asList(local.adoptAll(outputs, nOutputs)),
          Arrays.asList(local.adoptAll(grads, inputs.length)),
          readVariables(local, Memory.getLong(variables)));
    } finally {
      local.release(at);
      Reference.reachabilityFence(inputs);
    }
  }

  static Tensor[] run(Block code, Tensor[] inputs) {
    return Calls.array(code.apply(Arrays.asList(inputs)));
  }

  private static List<VariableGradient> readVariables(Local local, long list) {
    List<VariableGradient> all = new ArrayList<>();
    long count = C.tenon_variable_gradients_count(list);
    for (long i = 0; i < count; ++i) {
      long gradient = C.tenon_variable_gradients_gradient(list, i);
      C.tenon_tensor_retain(gradient);
      all.add(
          new VariableGradient(
              Variable.share(C.tenon_variable_gradients_variable(list, i)),
              local.adopt(gradient)));
    }
    C.tenon_variable_gradients_release(list);
    return all;
  }

  /** A derivative: computes the gradients with respect to the inputs of a call. */
  @FunctionalInterface
  public interface BackwardFunction {
    /**
     * Computes the gradients.
     *
     * @param call the forward call, and the cotangents of its outputs
     * @return a tensor or null for each input
     */
    List<Tensor> apply(Backward call);
  }

  /**
   * Calls code that has one output and a custom gradient.
   *
   * @param forward computes the output; tapes do not record its ops
   * @param backward computes the gradients
   * @param inputs the inputs of {@code forward}
   * @return the output
   */
  public static Tensor customGradient(Block forward, BackwardFunction backward, Tensor... inputs) {
    return customGradient(1, forward, backward, inputs).get(0);
  }

  /**
   * Calls code that has a custom gradient.
   *
   * @param nOutputs the number of outputs
   * @param forward computes the outputs; tapes do not record its ops
   * @param backward computes the gradients
   * @param inputs the inputs of {@code forward}
   * @return the outputs
   */
  public static List<Tensor> customGradient(
      int nOutputs, Block forward, BackwardFunction backward, Tensor... inputs) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      long out = local.reserve(8L * nOutputs);
      long given = local.handles(inputs);
      var run = Callbacks.tensorFunction(local, in -> run(forward, in));
      var differentiate =
          Callbacks.backwardFunction(local, call -> Calls.array(backward.apply(call)));
      Calls.check(
          C.tenon_custom_gradient(
              scope, run, given, inputs.length, differentiate, out, nOutputs));
      return Arrays.asList(local.adoptAll(out, nOutputs));
    } finally {
      local.release(at);
      Reference.reachabilityFence(inputs);
    }
  }
}
