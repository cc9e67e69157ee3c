// Tracing of a function's body.

#pragma once

#include <string>
#include <vector>

#include "core/dispatch/variable.h"
#include "core/trace/function.h"
#include "core/trace/tracer.h"

namespace tenon {

// Returns the name of an input for messages and graphs.
std::string name_of_input(std::span<const InputSpec> specs, size_t i);

struct TracedBody {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::vector<Tensor> captures;
  std::vector<Ref<Cell>> states;
  std::vector<Tracer::Made> made;
  std::vector<Tracer::Stored> stored;

  // Lists the variables and generators that the body created, for messages.
  std::string names_of_created_cells() const {
    std::string names;
    for (const Tracer::Made& each : made) {
      names += names.empty() ? "" : ", ";
      if (each.cell->kind() == Kind::kGenerator) {
        names += "a generator";
      } else {
        const std::string& name = static_cast<const Variable&>(*each.cell).name();
        names += name.empty() ? "a variable without a name" : "variable " + name;
      }
    }
    return names;
  }
};

// Traces the body of function `name` with inputs of these types. `examples` are the inputs of the
// current call, or empty. If `is_relaxed`, the unknown sizes are not declared by a signature: the
// trace then accepts no sizes below 2.
TracedBody trace_function_body(Scope& scope, std::string_view name,
                               const std::vector<InputSpec>& specs, TensorSpan examples,
                               const Function::Body& body, const Statics& statics, bool is_relaxed);

// Computes the initial values of variables that were created during tracing.
void initialise_variables(Scope& scope, const TracedBody& written, TensorSpan examples);

}  // namespace tenon
