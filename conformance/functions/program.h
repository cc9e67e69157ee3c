// A program: a few ops that use each other's results. It can run call by call or as a function.
// Like a problem, it has a text form of one line.

#pragma once

#include <functional>
#include <span>

#include "conformance/kit/session.h"

namespace tenon_kit::functions {

using Tensors = std::vector<tenon::Tensor>;
using Results = std::vector<Result>;

// One call. `inputs` are indices of values: first the program's inputs, then its constants, then
// the results of all steps in order.
struct Step {
  const OpFacts* op = nullptr;
  AttrValues attrs;
  std::vector<size_t> inputs;
  size_t n_outputs = 1;
};

struct Program {
  std::vector<Operand> inputs;     // Inputs of the function, passed to each call.
  std::vector<Operand> constants;  // Captured by the body.
  std::vector<Step> steps;
  std::vector<size_t> outputs;

  // Number of inputs and constants.
  size_t n_inputs_and_constants() const { return inputs.size() + constants.size(); }
  size_t n_values() const;
};

// Converts to and from one line of text, such as {"inputs": [...], "constants": [...], "steps":
// [{"op": "add", "in": [0, 1]}], "outputs": [2]}. Throws if the text is invalid.
std::string to_line(const Program& program);
Program program_from_line(const std::string& line);

// Calls the op in the thread's current scope, which may be tracing.
Tensors call(const Step& step, std::span<const tenon::Tensor> inputs);
// Runs the program. Returns all values: inputs, constants and the results of all steps.
Tensors evaluate(const Program& program, const Tensors& inputs, const Tensors& constants);
// Returns those of the program's values that are its outputs.
Tensors outputs_of(const Program& program, const Tensors& values);

// Return the inputs of a further call of the program: with different values, or in other layouts.
std::vector<Operand> with_other_values(const std::vector<Operand>& inputs);
std::vector<Operand> with_other_layouts(const std::vector<Operand>& inputs);

// Returns the smallest program for which `fails` is true that is found in at most `budget`
// attempts. `values` computes all values of a program. If a step is removed, its results become
// inputs of the program, with these values.
Program shrink(const Program& program, const std::function<Results(const Program&)>& values,
               const std::function<bool(const Program&)>& fails, int budget);

}  // namespace tenon_kit::functions
