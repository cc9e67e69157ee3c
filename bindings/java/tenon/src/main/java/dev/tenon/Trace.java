package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** One traced graph of a function. */
public final class Trace extends NativeHandle {
  Trace(long handle) {
    super(Tracker.Kind.TRACE, handle, false);
  }

  /**
   * Runs the trace. Fails if the inputs do not match; it never traces again.
   *
   * @param inputs tensors that match the inputs of the trace
   * @return the outputs
   */
  public List<Tensor> call(Tensor... inputs) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      int count = countOutputs();
      long out = local.reserve(Math.max(8, 8L * count));
      long given = local.handles(inputs);
      Calls.check(C.tenon_trace_call(scope, handle(), given, inputs.length, out, count));
      return Arrays.asList(local.adoptAll(out, count));
    } finally {
      local.release(at);
      Reference.reachabilityFence(inputs);
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Returns the number of inputs.
   *
   * @return the number of inputs
   */
  public int countInputs() {
    return (int) read(C::tenon_trace_count_inputs);
  }

  /**
   * Returns the number of outputs.
   *
   * @return the number of outputs
   */
  public int countOutputs() {
    return (int) read(C::tenon_trace_count_outputs);
  }

  /**
   * Returns the variables that the trace reads or assigns.
   *
   * @return the variables, in order of first use
   */
  public List<Variable> variables() {
    List<Variable> all = new ArrayList<>();
    long count = read(C::tenon_trace_count_variables);
    for (long i = 0; i < count; ++i) {
      all.add(Variable.share(C.tenon_trace_variable(handle(), i)));
    }
    Reference.reachabilityFence(this);
    return all;
  }

  /**
   * Returns the names of the ops with effects.
   *
   * @return the names, in program order
   */
  public List<String> effects() {
    List<String> all = new ArrayList<>();
    Local local = Local.get();
    long count = read(C::tenon_trace_count_effects);
    for (long i = 0; i < count; ++i) {
      all.add(Memory.text(C.tenon_trace_effect(local.result, handle(), i)));
    }
    Reference.reachabilityFence(this);
    return all;
  }

  /**
   * Returns what executions have compiled so far: the optimised graph, its segments and launch
   * plans.
   *
   * @return the text; its format may change
   */
  public String stages() {
    return text(C::tenon_trace_stages);
  }

  /**
   * Returns the trace as text: its inputs, calls and outputs.
   *
   * @return the text
   */
  @Override
  public String toString() {
    return text(C::tenon_trace_text);
  }
}
