package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;

/**
 * Code that is traced into a graph. Later calls run the graph.
 *
 * <pre>{@code
 * Function step = Function.of((x, w) -> x.matmul(w).relu());
 * Tensor y = step.apply(x, w);   // The first call with these dtypes and shapes traces it.
 * }</pre>
 *
 * <p>Side effects of the code, other than calls of ops, happen only while tracing.
 */
public final class Function extends NativeHandle {
  /** The body of a function. */
  @FunctionalInterface
  public interface Body {
    /**
     * Runs while the function is traced.
     *
     * @param inputs the inputs of the call
     * @param statics the static arguments, as Boolean, Long, Double, String, List and Map
     * @return the outputs
     */
    List<Tensor> apply(List<Tensor> inputs, Map<String, Object> statics);
  }

  /** Options of a function. */
  public static final class Options {
    private String name = "function";
    private int maxOutputs = 16;
    private int maxTraces = 64;
    private boolean relax = true;
    private long memoryBudget = -1;
    private List<InputSpec> signature;
    private Map<String, ?> defaults = Map.of();

    /** Creates the default options. */
    public Options() {}

    /**
     * Sets the name in messages. Default: "function".
     *
     * @param name the name
     * @return this
     */
    public Options name(String name) {
      this.name = name;
      return this;
    }

    /**
     * Sets the maximum number of outputs. Default: 16.
     *
     * @param maxOutputs the number
     * @return this
     */
    public Options maxOutputs(int maxOutputs) {
      this.maxOutputs = maxOutputs;
      return this;
    }

    /**
     * Sets the maximum number of traces. Beyond it, the least recently used trace is evicted.
     * Default: 64.
     *
     * @param maxTraces the number
     * @return this
     */
    public Options maxTraces(int maxTraces) {
      this.maxTraces = maxTraces;
      return this;
    }

    /**
     * Sets whether sizes become dynamic when a third trace is needed that differs in these sizes
     * only. Default: true.
     *
     * @param relax whether sizes become dynamic
     * @return this
     */
    public Options relax(boolean relax) {
      this.relax = relax;
      return this;
    }

    /**
     * Limits the bytes of residuals that a call under a tape saves. The backward pass recomputes
     * all further residuals. Default: no limit.
     *
     * @param bytes the limit in bytes
     * @return this
     */
    public Options memoryBudget(long bytes) {
      this.memoryBudget = bytes;
      return this;
    }

    /**
     * Sets the inputs that calls may pass. Default: any inputs.
     *
     * @param signature the type of each input
     * @return this
     */
    public Options signature(InputSpec... signature) {
      this.signature = List.of(signature);
      return this;
    }

    /**
     * Sets the values of static arguments for calls that omit them.
     *
     * @param defaults the values by name
     * @return this
     */
    public Options defaults(Map<String, ?> defaults) {
      this.defaults = defaults;
      return this;
    }

    private long write(Local local) {
      long at = local.reserveZeros(Structs.tenon_function_options.SIZE);
      Memory.putInt(at, (int) Structs.tenon_function_options.SIZE);
      Memory.putInt(at + Structs.tenon_function_options.max_outputs, maxOutputs);
      Memory.putInt(at + Structs.tenon_function_options.max_traces, maxTraces);
      Memory.putBoolean(at + Structs.tenon_function_options.relax, relax);
      Memory.putLong(at + Structs.tenon_function_options.memory_budget_bytes, memoryBudget);
      Memory.putLong(
          at + Structs.tenon_function_options.defaults, Statics.writeAll(local, defaults));
      Memory.putLong(at + Structs.tenon_function_options.n_defaults, defaults.size());
      if (signature != null) {
        Memory.putLong(
            at + Structs.tenon_function_options.signature, InputSpec.writeAll(local, signature));
        Memory.putLong(at + Structs.tenon_function_options.n_signature, signature.size());
      }
      return at;
    }
  }

  private static final int MIN_ROOM = 64;

  private final int maxOutputs;

  /** Takes ownership of a C function with at most {@code maxOutputs} outputs. */
  Function(long handle, int maxOutputs) {
    super(Tracker.Kind.FUNCTION, handle, false);
    this.maxOutputs = maxOutputs;
  }

  /**
   * Creates a function in the context of the current scope.
   *
   * @param body the code to be traced
   * @param options the options
   * @return the function
   */
  public static Function of(Body body, Options options) {
    Local local = Local.get();
    long context = C.tenon_scope_context(local.scope());
    long at = local.top;
    try {
      long out = local.reserve(8);
      long written = options.write(local);
      var name = local.string(options.name);
      var code =
          Callbacks.functionBody(
              local, (in, statics) -> Calls.array(body.apply(Arrays.asList(in), statics)));
      Calls.check(C.tenon_function_create(context, name, code, written, out));
      return new Function(Memory.getLong(out), options.maxOutputs);
    } finally {
      local.release(at);
    }
  }

  /**
   * Creates a function of any number of tensors.
   *
   * @param code maps tensors to tensors
   * @return the function
   */
  public static Function ofBlock(Block code) {
    return of((in, _) -> code.apply(in), new Options());
  }

  /**
   * Creates a function of one tensor with one output.
   *
   * @param code maps a tensor to a tensor
   * @return the function
   */
  public static Function of(UnaryOperator<Tensor> code) {
    return ofBlock(in -> List.of(code.apply(input(in, 0, 1))));
  }

  /**
   * Creates a function of two tensors with one output.
   *
   * @param code maps two tensors to a tensor
   * @return the function
   */
  public static Function of(BinaryOperator<Tensor> code) {
    return ofBlock(in -> List.of(code.apply(input(in, 0, 2), input(in, 1, 2))));
  }

  /**
   * Creates a function of three tensors with one output.
   *
   * @param code maps three tensors to a tensor
   * @return the function
   */
  public static Function of(Function3 code) {
    return ofBlock(
        in -> List.of(code.apply(input(in, 0, 3), input(in, 1, 3), input(in, 2, 3))));
  }

  private static Tensor input(List<Tensor> inputs, int index, int count) {
    if (inputs.size() != count) {
      throw new TenonException(
          Code.INVALID_ARGUMENT,
          "function: the lambda takes "
              + count
              + " tensors, but "
              + inputs.size()
              + " were passed");
    }
    return inputs.get(index);
  }

  /**
   * Calls a function with one output.
   *
   * @param inputs the inputs
   * @return the output
   */
  public Tensor apply(Tensor... inputs) {
    Local local = Local.get();
    long at = local.top;
    try {
      long out = local.reserve(8);
      return applyAt(local, local.handles(inputs), inputs.length, out);
    } finally {
      local.release(at);
      Reference.reachabilityFence(inputs);
    }
  }

  /**
   * Calls a function of one tensor with one output.
   *
   * @param a the input
   * @return the output
   */
  public Tensor apply(Tensor a) {
    long x = a.handle();
    Local local = Local.get();
    long at = local.reserve(16);
    try {
      Memory.putLong(at, x);
      return applyAt(local, at, 1, at + 8);
    } finally {
      local.release(at);
      Reference.reachabilityFence(a);
    }
  }

  /**
   * Calls a function of two tensors with one output.
   *
   * @param a the first input
   * @param b the second input
   * @return the output
   */
  public Tensor apply(Tensor a, Tensor b) {
    long x = a.handle();
    long y = b.handle();
    Local local = Local.get();
    long at = local.reserve(24);
    try {
      Memory.putLong(at, x);
      Memory.putLong(at + 8, y);
      return applyAt(local, at, 2, at + 16);
    } finally {
      local.release(at);
      Reference.reachabilityFence(a);
      Reference.reachabilityFence(b);
    }
  }

  /**
   * Calls the function with {@code count} handles at address {@code inputs}. C writes the output
   * handle to {@code out}.
   */
  private Tensor applyAt(Local local, long inputs, long count, long out) {
    long error =
        C.tenon_function_call(local.scope(), handle(), inputs, count, 0, 0, out, 1, 0);
    Reference.reachabilityFence(this);
    Calls.check(error);
    return local.adopt(Memory.getLong(out));
  }

  /**
   * Calls the function.
   *
   * @param inputs the inputs
   * @return all outputs
   */
  public List<Tensor> call(Tensor... inputs) {
    return call(Map.of(), inputs);
  }

  /**
   * Calls the function with static arguments.
   *
   * @param statics the values by name: null, Boolean, Integer, Long, Double, String, an enum, a
   *     tensor, variable, generator or function, and Lists and Maps of these
   * @param inputs the inputs
   * @return all outputs
   */
  public List<Tensor> call(Map<String, ?> statics, Tensor... inputs) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      long out = local.reserve(Math.max(8, 8L * maxOutputs));
      long count = local.reserve(8);
      long given = local.handles(inputs);
      long values = Statics.writeAll(local, statics);
      Calls.check(
          C.tenon_function_call(
              scope, handle(), given, inputs.length, values, statics.size(), out, maxOutputs,
              count));
      return Arrays.asList(local.adoptAll(out, (int) Memory.getLong(count)));
    } finally {
      local.release(at);
      Reference.reachabilityFence(inputs);
      Reference.reachabilityFence(statics);
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Returns the trace that a call with these arguments would use. Does not run it.
   *
   * @param statics the static arguments
   * @param inputs the inputs
   * @return the trace
   */
  public Trace traceFor(Map<String, ?> statics, Tensor... inputs) {
    Local local = Local.get();
    long scope = local.scope();
    Trace trace =
        new Trace(
            get(
                (function, out) ->
                    C.tenon_function_find_trace(
                        scope, function, local.handles(inputs), inputs.length,
                        Statics.writeAll(local, statics), statics.size(), out)));
    Reference.reachabilityFence(inputs);
    Reference.reachabilityFence(statics);
    return trace;
  }

  /**
   * Returns the trace for inputs of these types. Traces if there is none.
   *
   * @param specs the type of each input
   * @return the trace
   */
  public Trace trace(InputSpec... specs) {
    return trace(Map.of(), specs);
  }

  /**
   * Returns the trace for inputs of these types and these static arguments. Traces if there is
   * none.
   *
   * @param statics the static arguments
   * @param specs the type of each input
   * @return the trace
   */
  public Trace trace(Map<String, ?> statics, InputSpec... specs) {
    Local local = Local.get();
    long scope = local.scope();
    Trace trace =
        new Trace(
            get(
                (function, out) ->
                    C.tenon_function_trace(
                        scope, function, InputSpec.writeAll(local, List.of(specs)), specs.length,
                        Statics.writeAll(local, statics), statics.size(), out)));
    Reference.reachabilityFence(statics);
    return trace;
  }

  /**
   * Returns a function with the same inputs that computes the gradients of the sum of the floating
   * outputs.
   *
   * @return a function with one output for each floating input
   */
  public Function gradient() {
    return new Function(get(C::tenon_function_gradient), Math.max(maxOutputs, MIN_ROOM));
  }

  /**
   * Returns the traces of the function.
   *
   * @return the traces, in creation order
   */
  public List<Trace> traces() {
    List<Trace> all = new ArrayList<>();
    long count = read(C::tenon_function_count_traces);
    for (long i = 0; i < count; ++i) {
      long index = i;
      all.add(new Trace(get((f, out) -> C.tenon_function_get_trace(f, index, out))));
    }
    return all;
  }

  /**
   * Describes the traces, and why each was created.
   *
   * @return the text
   */
  public String explain() {
    return text(C::tenon_function_explain);
  }
}
