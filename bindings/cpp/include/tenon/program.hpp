// Programs: functions and variables saved in files, which can be opened, called and trained.
//
//   Program::save("net", {{"classify", classify.trace(specs)}});
//   const Program net("net");
//   Tensor y = net.function("classify")(x)[0];
//
// A program is a folder of ONNX models that share their weights; a single ONNX file can also be
// read. Traces that are saved under one name become the signatures of one function; each call
// selects the signature that matches. See tenon/program.h for details.

#pragma once

#include <tenon/function.hpp>

namespace tenon {

// The inputs and outputs of a function, as declared in its file.
struct ProgramSignature {
  std::vector<InputSpec> inputs;
  std::vector<InputSpec> outputs;  // The dtype is DType() if not declared.
  Statics statics;                 // Values of the static arguments when it was traced.
};

struct ProgramFunction {
  std::string name;
  std::vector<ProgramSignature> signatures;  // At least one.
};

struct ProgramOptions {
  // Whether a value whose shape contradicts its declaration in an ONNX file is an error, instead of
  // a warning.
  bool strict = false;
};

// An open program. Copies of the handle share it.
class Program {
 public:
  // Opens a folder that save() wrote, or an ONNX file. Loads the weights onto the current device.
  explicit Program(std::string_view path, SourceLocation at = here())
      : Program(path, ProgramOptions{}, at) {}
  Program(std::string_view path, const ProgramOptions& options, SourceLocation at = here())
      : handle_(detail::make<Shared>(at, [&](tenon_program** out) {
          tenon_program_options given = TENON_PROGRAM_OPTIONS_DEFAULT;
          given.strict = options.strict;
          return tenon_program_open(current_scope(at), detail::c_text(path), &given, out);
        })) {}

  // Saves traces, each under the name of its function, and the variables that they use.
  static void save(std::string_view path,
                   const std::vector<std::pair<std::string, Trace>>& functions,
                   SourceLocation at = here()) {
    std::vector<tenon_string> names;
    std::vector<tenon_trace*> traces;
    for (const auto& [name, trace] : functions) {
      names.push_back(detail::c_text(name));
      traces.push_back(trace.get());
    }
    check(tenon_program_save(current_scope(at), detail::c_text(path), names.data(), traces.data(),
                             traces.size()),
          at);
  }

  // Lists the functions and their signatures.
  std::vector<ProgramFunction> functions() const {
    std::vector<ProgramFunction> all;
    for (size_t i = 0; i < tenon_program_count_functions(get()); ++i) {
      all.push_back({std::string(detail::view(tenon_program_function_name(get(), i))), {}});
      for (size_t k = 0; k < tenon_program_count_signatures(get(), i); ++k) {
        all.back().signatures.push_back(
            {specs(tenon_program_inputs(get(), i, k), tenon_program_count_inputs(get(), i, k)),
             specs(tenon_program_outputs(get(), i, k), tenon_program_count_outputs(get(), i, k)),
             statics(tenon_program_statics(get(), i, k),
                     tenon_program_count_statics(get(), i, k))});
      }
    }
    return all;
  }

  // Finds a function by name. If the program has only one, the name may be empty.
  Function function(std::string_view name = {}, SourceLocation at = here()) const {
    tenon_function* function = nullptr;
    check(tenon_program_get_function(get(), detail::c_text(name), &function), at);
    return Function::adopt(function, max_output_count());
  }

  // Returns the variables of the program. Its functions share them, and training assigns to them.
  std::vector<Variable> variables() const {
    std::vector<Variable> all;
    for (size_t i = 0; i < tenon_program_count_variables(get()); ++i) {
      all.push_back(Variable::share(tenon_program_variable(get(), i)));
    }
    return all;
  }

  // Returns a description of the functions and variables, as JSON for tools.
  std::string describe(SourceLocation at = here()) const {
    tenon_string text = {};
    check(tenon_program_describe(get(), &text), at);
    return detail::take_text(text);
  }

  tenon_program* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_program, tenon_program_retain, tenon_program_release>;

  // Converts the types of inputs or outputs from C.
  static std::vector<InputSpec> specs(const tenon_input_spec* c, size_t n) {
    std::vector<InputSpec> all(n);
    for (size_t i = 0; i < n; ++i) {
      all[i].name = detail::view(c[i].name);
      all[i].dtype = c[i].dtype;
      all[i].shape.assign(c[i].shape, c[i].shape + c[i].rank);
      for (uint32_t axis = 0; c[i].size_names && axis < c[i].rank; ++axis) {
        all[i].size_names.emplace_back(detail::view(c[i].size_names[axis]));
      }
      all[i].is_scalar = c[i].is_scalar;
    }
    return all;
  }
  // Converts static arguments from C.
  static Statics statics(const tenon_static* c, size_t n) {
    Statics all;
    for (size_t i = 0; i < n; ++i) all.emplace(detail::view(c[i].name), Static(c[i]));
    return all;
  }
  // Returns the largest number of outputs of any signature.
  uint32_t max_output_count() const {
    size_t most = 0;
    for (size_t i = 0; i < tenon_program_count_functions(get()); ++i) {
      for (size_t k = 0; k < tenon_program_count_signatures(get(), i); ++k) {
        most = std::max(most, tenon_program_count_outputs(get(), i, k));
      }
    }
    return static_cast<uint32_t>(most);
  }

  Shared handle_;
};

}  // namespace tenon
