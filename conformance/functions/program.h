// A program: a few calls of ops that use each other's results, which runs call by call, or as a
// function. Like a problem, it can be made again from a line of text.

#pragma once

#include <functional>
#include <span>

#include "conformance/kit/session.h"

namespace tenon_kit::functions {

using Tensors = std::vector<tenon::Tensor>;
using Results = std::vector<Result>;

// One call. What it takes are numbers of values: first the program's inputs, then its constants,
// then what the calls give, in their order.
struct Step {
  const OpFacts* op = nullptr;
  AttrValues attrs;
  std::vector<size_t> inputs;
  size_t n_outputs = 1;
};

struct Program {
  std::vector<Operand> inputs;     // What a call of it gives.
  std::vector<Operand> constants;  // What its code finds around it.
  std::vector<Step> steps;
  std::vector<size_t> outputs;

  size_t n_given() const { return inputs.size() + constants.size(); }
  size_t n_values() const;
};

// {"inputs": [...], "constants": [...], "steps": [{"op": "add", "in": [0, 1]}], "outputs": [2]}, in
// one line, and back. Throws for what it does not understand.
std::string to_line(const Program& program);
Program program_from_line(const std::string& line);

// A call in the thread's current scope, whatever calls do there.
Tensors call(const Step& step, std::span<const tenon::Tensor> inputs);
// All values: the given ones, then what the steps give.
Tensors evaluate(const Program& program, const Tensors& inputs, const Tensors& constants);
// Those of them that are outputs.
Tensors outputs_of(const Program& program, const Tensors& values);

// The same inputs with other values, or in other layouts: other calls of the program.
std::vector<Operand> other_values(const std::vector<Operand>& inputs);
std::vector<Operand> other_layouts(const std::vector<Operand>& inputs);

// The smallest program that still fails, after at most `budget` tries. `values` gives those of all
// values, for what a step gave to become an input.
Program shrink(const Program& program, const std::function<Results(const Program&)>& values,
               const std::function<bool(const Program&)>& fails, int budget);

}  // namespace tenon_kit::functions
