// Programs in files.
#include "functions.h"

namespace tenon_python {

namespace {

struct Program {
  tenon_program* handle = nullptr;
  ~Program() { tenon_program_release(handle); }
};

// Returns (inputs, outputs, statics) of each signature of the function at this index.
nb::list signatures(Program& self, size_t function) {
  nb::list result;
  for (size_t i = 0; i < tenon_program_count_signatures(self.handle, function); ++i) {
    nb::list inputs, outputs;
    nb::dict statics;
    const tenon_input_spec* specs = tenon_program_inputs(self.handle, function, i);
    for (size_t k = 0; k < tenon_program_count_inputs(self.handle, function, i); ++k)
      inputs.append(spec_to_python(specs[k]));
    specs = tenon_program_outputs(self.handle, function, i);
    for (size_t k = 0; k < tenon_program_count_outputs(self.handle, function, i); ++k)
      outputs.append(spec_to_python(specs[k]));
    const tenon_static* values = tenon_program_statics(self.handle, function, i);
    for (size_t k = 0; k < tenon_program_count_statics(self.handle, function, i); ++k)
      statics[to_python(values[k].name)] = static_to_python(values[k]);
    result.append(nb::make_tuple(inputs, outputs, statics));
  }
  return result;
}

// Saves traces, each under the name of its function, as a program.
void save(const std::string& path, const std::vector<std::string>& names, nb::list traces) {
  std::vector<tenon_string> c_names;
  for (const std::string& name : names) c_names.push_back(to_c(name));
  std::vector<tenon_trace*> c_traces;
  for (nb::handle trace : traces) c_traces.push_back(nb::cast<Trace&>(trace).handle);
  if (c_names.size() != c_traces.size())
    throw nb::value_error("save: the numbers of names and traces differ");
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_program_save(here, to_c(path), c_names.data(), c_traces.data(), c_traces.size());
  });
}

}  // namespace

// Adds the functions and classes for saved programs to the module tenon._native.
void define_programs(nb::module_& module) {
  nb::class_<Program>(module, "Program")
      .def("__init__",
           [](Program* self, const std::string& path, bool strict) {
             tenon_program* handle = nullptr;
             tenon_scope* here = scope();
             tenon_program_options options = TENON_PROGRAM_OPTIONS_DEFAULT;
             options.strict = strict;
             run_blocking([&] { return tenon_program_open(here, to_c(path), &options, &handle); });
             new (self) Program{handle};
           })
      .def("functions",
           [](Program& self) {
             nb::list names;
             for (size_t i = 0; i < tenon_program_count_functions(self.handle); ++i)
               names.append(to_python(tenon_program_function_name(self.handle, i)));
             return names;
           })
      .def("function",
           [](Program& self, const std::string& name) {
             tenon_function* function = nullptr;
             check(tenon_program_get_function(self.handle, to_c(name), &function));
             return Function(function, 256);
           })
      .def("signatures", &signatures)
      .def("variables",
           [](Program& self) {
             nb::list result;
             for (size_t i = 0; i < tenon_program_count_variables(self.handle); ++i)
               result.append(wrap_variable(tenon_program_variable(self.handle, i)));
             return result;
           })
      .def("describe", [](Program& self) {
        tenon_string text;
        check(tenon_program_describe(self.handle, &text));
        return take_text(text);
      });
  module.def("save_program", &save);
}

}  // namespace tenon_python
