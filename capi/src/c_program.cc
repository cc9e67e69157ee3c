#include <tenon/program.h>

#include <cctype>

#include "capi/src/boundary.h"
#include "capi/src/structs.h"
#include "core/io/save_program.h"

using namespace tenon::capi;
using tenon::InputSpec;
using tenon::ProgramFunction;
using tenon::ProgramSignature;
using tenon::Ref;

namespace tenon::capi {

static_assert(InputSpec::kUnknown == TENON_SIZE_UNKNOWN);

OpenProgram::OpenProgram(Ref<SavedProgram> program)
    : Object(Kind::kProgram), program_(std::move(program)) {
  for (const ProgramFunction& function : program_->functions()) {
    std::vector<Signature>& signatures = functions_.emplace_back();
    for (const ProgramSignature& each : function.signatures) {
      signatures.push_back(
          {to_c_specs(each.inputs), to_c_specs(each.output_specs), each.statics->all()});
      std::vector<tenon_input_spec>& outputs = signatures.back().outputs;
      outputs.resize(each.outputs.size());
      for (size_t i = 0; i < outputs.size(); ++i) outputs[i].name = borrow_text(each.outputs[i]);
    }
  }
}

// Converts the name of a size to an identifier, which tenon_function_trace() requires: "batch.size"
// becomes "batch_size". Different names get different identifiers.
tenon_string OpenProgram::identifier_for(const std::string& size_name) {
  const auto [at, is_new] = words_.try_emplace(size_name, size_name);
  std::string& word = at->second;
  if (!is_new || word.empty()) return borrow_text(word);
  for (char& c : word) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (std::isdigit(static_cast<unsigned char>(word[0]))) word.insert(word.begin(), '_');
  const std::string base = word;
  size_t& n = taken_words_[base];
  if (n++ == 0) return borrow_text(word);
  do {
    word = base + "_" + (n == 2 ? "" : std::to_string(n));
    ++n;
  } while (!taken_words_.try_emplace(word, 1).second);
  return borrow_text(word);
}

std::vector<tenon_input_spec> OpenProgram::to_c_specs(std::span<const InputSpec> specs) {
  std::vector<tenon_input_spec> all;
  for (const InputSpec& spec : specs) {
    tenon_input_spec c = {};
    c.name = borrow_text(spec.name);
    c.dtype = to_c(spec.dtype);
    c.rank = static_cast<uint32_t>(spec.sizes.size());
    c.shape = spec.sizes.data();
    c.is_scalar = spec.weak;
    if (!spec.dim_names.empty()) {
      std::vector<tenon_string>& names = size_names_.emplace_back();
      for (const std::string& name : spec.dim_names) names.push_back(identifier_for(name));
      c.size_names = names.data();
    }
    all.push_back(c);
  }
  return all;
}

}  // namespace tenon::capi

namespace {

const ProgramFunction* function_at(const OpenProgram* program, size_t index) {
  const bool is_there = program && index < program->program().functions().size();
  return is_there ? &program->program().functions()[index] : nullptr;
}

const OpenProgram::Signature* signature_at(const tenon_program* program, size_t function,
                                           size_t signature) {
  const OpenProgram* self = get_or_null(program);
  if (!self || function >= self->functions().size()) return nullptr;
  const auto& signatures = self->functions()[function];
  return signature < signatures.size() ? &signatures[signature] : nullptr;
}

}  // namespace

tenon_error* tenon_program_open(tenon_scope* scope, tenon_string path,
                                const tenon_program_options* options, tenon_program** out_program) {
  clear_output(out_program);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_program, "out_program");
    const tenon_program_options given =
        read_struct(options, tenon_program_options TENON_PROGRAM_OPTIONS_DEFAULT, "options");
    auto program =
        tenon::read_program(self, std::string(get_text(path, "path")), {.strict = given.strict});
    give(Ref<OpenProgram>::adopt(new OpenProgram(std::move(program))), out_program);
  });
}

tenon_error* tenon_program_save(tenon_scope* scope, tenon_string path, const tenon_string* names,
                                tenon_trace* const* traces, size_t n_traces) {
  return boundary_in(scope, [&](tenon::Scope& self) {
    tenon::require(n_traces > 0, "a program must have at least one function");
    require_pointer(names, "names");
    require_pointer(traces, "traces");
    std::vector<tenon::FunctionToSave> functions;
    for (size_t i = 0; i < n_traces; ++i) {
      tenon::Trace& trace = get(traces[i], Name("traces", i));
      if (&trace.context() != &self.context()) {
        fail_argument(Name("traces", i), "belongs to another context than the scope");
      }
      functions.push_back(
          {std::string(get_text(names[i], "names")), Ref<tenon::Trace>::share(&trace)});
    }
    tenon::save_program(self, std::string(get_text(path, "path")), functions);
  });
}

void tenon_program_retain(tenon_program* program) { retain_handle(program); }

void tenon_program_release(tenon_program* program) { release_handle(program); }

size_t tenon_program_count_functions(const tenon_program* program) {
  const OpenProgram* self = get_or_null(program);
  return self ? self->program().functions().size() : 0;
}

tenon_string tenon_program_function_name(const tenon_program* program, size_t index) {
  const ProgramFunction* function = function_at(get_or_null(program), index);
  return function ? borrow_text(function->name) : tenon_string TENON_STR("");
}

tenon_error* tenon_program_get_function(tenon_program* program, tenon_string name,
                                        tenon_function** out_function) {
  clear_output(out_function);
  return boundary([&] {
    require_pointer(out_function, "out_function");
    const OpenProgram& self = get(program, "program");
    Ref<tenon::Function> function = self.program().find(get_text(name, "name")).function;
    give(std::move(function), out_function);
  });
}

size_t tenon_program_count_signatures(const tenon_program* program, size_t function) {
  const OpenProgram* self = get_or_null(program);
  return self && function < self->functions().size() ? self->functions()[function].size() : 0;
}

size_t tenon_program_count_inputs(const tenon_program* program, size_t function, size_t signature) {
  const OpenProgram::Signature* self = signature_at(program, function, signature);
  return self ? self->inputs.size() : 0;
}

const tenon_input_spec* tenon_program_inputs(const tenon_program* program, size_t function,
                                             size_t signature) {
  const OpenProgram::Signature* self = signature_at(program, function, signature);
  return self ? self->inputs.data() : nullptr;
}

size_t tenon_program_count_outputs(const tenon_program* program, size_t function,
                                   size_t signature) {
  const OpenProgram::Signature* self = signature_at(program, function, signature);
  return self ? self->outputs.size() : 0;
}

const tenon_input_spec* tenon_program_outputs(const tenon_program* program, size_t function,
                                              size_t signature) {
  const OpenProgram::Signature* self = signature_at(program, function, signature);
  return self ? self->outputs.data() : nullptr;
}

size_t tenon_program_count_statics(const tenon_program* program, size_t function,
                                   size_t signature) {
  const OpenProgram::Signature* self = signature_at(program, function, signature);
  return self ? self->statics.size() : 0;
}

const tenon_static* tenon_program_statics(const tenon_program* program, size_t function,
                                          size_t signature) {
  const OpenProgram::Signature* self = signature_at(program, function, signature);
  return self ? self->statics.data() : nullptr;
}

size_t tenon_program_count_variables(const tenon_program* program) {
  const OpenProgram* self = get_or_null(program);
  return self ? self->program().variables().size() : 0;
}

tenon_variable* tenon_program_variable(const tenon_program* program, size_t index) {
  const OpenProgram* self = get_or_null(program);
  if (!self || index >= self->program().variables().size()) return nullptr;
  return to_handle(self->program().variables()[index].get());
}

tenon_error* tenon_program_describe(const tenon_program* program, tenon_string* out_text) {
  clear_output(out_text);
  return boundary([&] {
    require_pointer(out_text, "out_text");
    *out_text = copy_text(get(program, "program").program().describe());
  });
}
