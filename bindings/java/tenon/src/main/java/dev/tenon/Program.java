package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Functions that are saved to files, opened, called and trained. A program is a folder of ONNX
 * models that share their weights. A single ONNX file can also be opened.
 */
public final class Program extends NativeHandle {
  /**
   * A signature of a function.
   *
   * @param inputs the types of the inputs
   * @param outputs the types of the outputs; the dtype is {@link DType#NONE} if the file does not
   *     declare it
   * @param statics the values of the static arguments when the function was traced
   */
  public record Signature(
      List<InputSpec> inputs, List<InputSpec> outputs, Map<String, Object> statics) {}

  /**
   * A function of a program.
   *
   * @param name the name of the function
   * @param signatures its signatures; at least one
   */
  public record Entry(String name, List<Signature> signatures) {}

  /**
   * A trace to be saved under the name of its function.
   *
   * @param name the name; several traces with the same name become signatures of one function
   * @param trace the trace
   */
  public record Saved(String name, Trace trace) {}

  /**
   * Opens a program and loads its weights onto the current device.
   *
   * @param path a folder that {@link #save} wrote, or an ONNX file
   */
  public Program(Path path) {
    this(path, false);
  }

  /**
   * Opens a program and loads its weights onto the current device.
   *
   * @param path a folder that {@link #save} wrote, or an ONNX file
   * @param strict whether a value whose shape contradicts its declaration in an ONNX file is an
   *     error, instead of a warning
   */
  public Program(Path path, boolean strict) {
    super(Tracker.Kind.PROGRAM, open(path, strict), false);
  }

  private static long open(Path path, boolean strict) {
    Local local = Local.get();
    long scope = local.scope();
    long options = local.reserveZeros(Structs.tenon_program_options.SIZE);
    Memory.putInt(options, (int) Structs.tenon_program_options.SIZE);
    Memory.putBoolean(options + Structs.tenon_program_options.strict, strict);
    long at = local.reserve(8);
    long error = C.tenon_program_open(scope, local.string(path.toString()), options, at);
    long made = Memory.getLong(at);
    local.release(options);
    Calls.check(error);
    return made;
  }

  /**
   * Saves traces and the variables that they use.
   *
   * @param path the folder
   * @param functions the traces
   */
  public static void save(Path path, Saved... functions) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      long names = local.reserve(Math.max(8, 16L * functions.length));
      long traces = local.reserve(Math.max(8, 8L * functions.length));
      for (int i = 0; i < functions.length; ++i) {
        local.putString(names + 16L * i, functions[i].name());
        Memory.putLong(traces + 8L * i, functions[i].trace().handle());
      }
      Calls.check(
          C.tenon_program_save(
              scope, local.string(path.toString()), names, traces, functions.length));
    } finally {
      local.release(at);
      Reference.reachabilityFence(functions);
    }
  }

  /**
   * Lists the functions of the program.
   *
   * @return the functions with their signatures
   */
  public List<Entry> functions() {
    Local local = Local.get();
    List<Entry> all = new ArrayList<>();
    long program = handle();
    long count = C.tenon_program_count_functions(program);
    for (long i = 0; i < count; ++i) {
      List<Signature> signatures = new ArrayList<>();
      long n = C.tenon_program_count_signatures(program, i);
      for (long k = 0; k < n; ++k) {
        signatures.add(
            new Signature(
                InputSpec.readAll(
                    C.tenon_program_inputs(program, i, k),
                    C.tenon_program_count_inputs(program, i, k)),
                InputSpec.readAll(
                    C.tenon_program_outputs(program, i, k),
                    C.tenon_program_count_outputs(program, i, k)),
                Statics.readAll(
                    C.tenon_program_statics(program, i, k),
                    C.tenon_program_count_statics(program, i, k))));
      }
      String name = Memory.text(C.tenon_program_function_name(local.result, program, i));
      all.add(new Entry(name, signatures));
    }
    Reference.reachabilityFence(this);
    return all;
  }

  /**
   * Returns a function by name.
   *
   * @param name the name; may be empty if the program has only one function
   * @return the function
   */
  public Function function(String name) {
    Local local = Local.get();
    long program = handle();
    long most = 1;
    long count = C.tenon_program_count_functions(program);
    for (long i = 0; i < count; ++i) {
      for (long k = 0; k < C.tenon_program_count_signatures(program, i); ++k) {
        most = Math.max(most, C.tenon_program_count_outputs(program, i, k));
      }
    }
    long function =
        get((object, out) -> C.tenon_program_get_function(object, local.string(name), out));
    return new Function(function, (int) most);
  }

  /**
   * Returns the variables of the program, which its functions share.
   *
   * @return the variables
   */
  public List<Variable> variables() {
    List<Variable> all = new ArrayList<>();
    long count = read(C::tenon_program_count_variables);
    for (long i = 0; i < count; ++i) {
      all.add(Variable.share(C.tenon_program_variable(handle(), i)));
    }
    Reference.reachabilityFence(this);
    return all;
  }

  /**
   * Describes the functions and variables, for tools.
   *
   * @return the description as JSON
   */
  public String describe() {
    return text(C::tenon_program_describe);
  }
}
