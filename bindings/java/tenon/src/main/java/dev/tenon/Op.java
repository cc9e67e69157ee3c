package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.util.Arrays;
import java.util.List;

/**
 * An op, identified by its number.
 *
 * @param number the number of the op in the context
 * @param countOutputs the number of outputs
 */
public record Op(int number, int countOutputs) {
  /**
   * Finds a built-in op, or a custom op of the current scope's context.
   *
   * @param name the name of the op
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
   * Calls the op with the default attributes.
   *
   * @param inputs the inputs; null for an omitted optional input
   * @return the outputs
   */
  public List<Tensor> call(Tensor... inputs) {
    return Arrays.asList(Calls.many(number, countOutputs, null, inputs));
  }

  /**
   * Calls the op with attributes.
   *
   * @param attrs the attributes
   * @param inputs the inputs; null for an omitted optional input
   * @return the outputs
   */
  public List<Tensor> call(OpAttrs attrs, Tensor... inputs) {
    return Arrays.asList(Calls.many(number, countOutputs, attrs, inputs));
  }

  /**
   * Returns the name of the op in the current scope's context.
   *
   * @return the name; empty if there is no such op
   */
  public String name() {
    Local local = Local.get();
    return Memory.text(
        C.tenon_op_name(local.result, C.tenon_scope_context(local.scope()), number));
  }
}
