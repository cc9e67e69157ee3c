package dev.tenon;

import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.util.Arrays;
import java.util.List;

/**
 * The arguments of a derivative. Valid only while the derivative runs.
 *
 * @param inputs the inputs of the forward call; null for an omitted optional input
 * @param outputs the outputs of the forward call
 * @param cotangents the gradient with respect to each output; zeros if none reached it
 */
public record Backward(List<Tensor> inputs, List<Tensor> outputs, List<Tensor> cotangents) {
  static Backward read(Scope in, long args) {
    long nInputs = Memory.getLong(args + Structs.tenon_backward_args.n_inputs);
    long nOutputs = Memory.getLong(args + Structs.tenon_backward_args.n_outputs);
    return new Backward(
        share(in, args + Structs.tenon_backward_args.inputs, nInputs),
        share(in, args + Structs.tenon_backward_args.outputs, nOutputs),
        share(in, args + Structs.tenon_backward_args.cotangents, nOutputs));
  }

  private static List<Tensor> share(Scope in, long at, long count) {
    return Arrays.asList(Callbacks.share(in, Memory.getLong(at), count));
  }
}
