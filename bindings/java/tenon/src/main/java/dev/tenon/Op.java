package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.util.Arrays;
import java.util.List;

/**
 * An op by its number.
 *
 * @param number its number in the context
 * @param countOutputs how many outputs it has
 */
public record Op(int number, int countOutputs) {
  /**
   * Finds an op, built in or of the current scope's context.
   *
   * @param name its name
   * @param countOutputs the number of outputs to return
   * @return the op
   */
  public static Op find(String name, int countOutputs) {
    Local local = Local.get();
    long context = C.tenon_scope_context(local.scope());
    long at = local.reserve(8);
    long error = C.tenon_op_find(context, local.string(name), at);
    int number = Memory.getInt(at);
    local.release(at);
    Calls.check(error);
    return new Op(number, countOutputs);
  }

  /**
   * Calls it with the defaults of its attributes.
   *
   * @param inputs null for an absent optional input
   * @return the outputs
   */
  public List<Tensor> call(Tensor... inputs) {
    return Arrays.asList(Calls.many(number, countOutputs, null, inputs));
  }

  /**
   * Calls it.
   *
   * @param attrs its attributes
   * @param inputs null for an absent optional input
   * @return the outputs
   */
  public List<Tensor> call(OpAttrs attrs, Tensor... inputs) {
    return Arrays.asList(Calls.many(number, countOutputs, attrs, inputs));
  }

  /**
   * Its name in the current scope's context.
   *
   * @return empty if there is no such op
   */
  public String name() {
    Local local = Local.get();
    return Memory.text(
        C.tenon_op_name(local.result, C.tenon_scope_context(local.scope()), number));
  }
}
