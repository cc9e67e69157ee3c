package dev.tenon;

import dev.tenon.internal.C;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Side effects: printing, assertions and host callbacks. Inside a function they become part of its
 * trace.
 */
public final class Effects {
  private Effects() {}

  /**
   * Prints a line. Inside a function, prints at each call and not while tracing.
   *
   * @param format the line, in which each {@code {}} is replaced by the next value; empty to print
   *     the values only
   * @param values the values
   */
  public static void print(String format, Tensor... values) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      long given = local.handles(values);
      long options = Tensor.formatOptions(local, false);
      Calls.check(
          C.tenon_print(scope, local.string(format), given, values.length, options));
    } finally {
      local.release(at);
      Reference.reachabilityFence(values);
    }
  }

  /**
   * Sets the receiver of the lines that {@link #print} prints in the current scope's context.
   *
   * @param receive takes whole lines, on any thread; null for standard output
   */
  public static void onPrint(Consumer<String> receive) {
    Local local = Local.get();
    long context = C.tenon_scope_context(local.scope());
    long at = local.top;
    var callback = Callbacks.printCallback(local, receive == null ? null : receive::accept);
    long error = C.tenon_context_set_print(context, callback);
    local.release(at);
    Calls.check(error);
  }

  /**
   * Throws FAILED_PRECONDITION unless all elements of a bool tensor are true.
   *
   * @param condition a bool tensor of any shape
   * @param message the message, in which each {@code {}} is replaced by the next value
   * @param values the values
   */
  public static void assertThat(Tensor condition, String message, Tensor... values) {
    Local local = Local.get();
    long scope = local.scope();
    if (local.tracing) {
      local.storeUserLine();
    }
    long at = local.top;
    try {
      long given = local.handles(values);
      Calls.check(
          C.tenon_assert(
              scope, condition.handle(), local.string(message), given, values.length));
    } finally {
      local.release(at);
      Reference.reachabilityFence(condition);
      Reference.reachabilityFence(values);
    }
  }

  /**
   * Calls Java code on the host, eagerly even inside functions.
   *
   * @param code takes the inputs and returns tensors with the types of {@code like}
   * @param inputs the inputs
   * @param like tensors with the dtypes and shapes of the outputs
   * @return the outputs
   */
  public static List<Tensor> hostCall(Block code, List<Tensor> inputs, List<Tensor> like) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      int count = like.size();
      long out = local.reserve(Math.max(8, 8L * count));
      long given = local.handles(Calls.array(inputs));
      long types = local.handles(Calls.array(like));
      var function = Callbacks.tensorFunction(local, in -> Gradients.run(code, in));
      Calls.check(
          C.tenon_host_call(scope, function, given, inputs.size(), types, out, count));
      return Arrays.asList(local.adoptAll(out, count));
    } finally {
      local.release(at);
      Reference.reachabilityFence(inputs);
      Reference.reachabilityFence(like);
    }
  }

  /**
   * Calls Java code that maps a tensor to a tensor of the same type.
   *
   * @param code the code, which runs eagerly
   * @param input the input
   * @return the output
   */
  public static Tensor hostCall(UnaryOperator<Tensor> code, Tensor input) {
    return hostCall(
            in -> List.of(code.apply(in.get(0))), List.of(input), List.of(input))
        .get(0);
  }}
