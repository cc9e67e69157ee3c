// Elementwise ops: every input of the same shape, or broadcast against each other.

#include "conformance/generate/generate.h"

namespace tenon_kit {

void add_elementwise(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  if (!claim.op->elementwise || claim.inputs.empty()) return;
  // The domain of the op is what its own cases draw from.
  const std::vector<Problem> own = retargeted_cases(claim);
  const auto input = [&](size_t i, Sizes shape) {
    Operand x = plain(claim.inputs[i], std::move(shape), draw.seed());
    for (const Problem& problem : own) {
      if (i >= problem.inputs.size() || problem.inputs[i].absent) continue;
      const Fill& fill = problem.inputs[i].fill;
      if (fill.kind != Fill::Kind::kUniform) continue;
      x.fill.low = fill.low;
      x.fill.high = fill.high;
      break;
    }
    return x;
  };
  // Each axis of each input is there, is 1, or is missing from the front.
  const Sizes shape = draw_shape(draw, 1, 4);
  const auto rank = static_cast<int64_t>(shape.size());
  Problem problem;
  for (size_t i = 0; i < claim.inputs.size(); ++i) {
    Sizes own_shape = shape;
    if (claim.inputs.size() > 1) {
      for (int64_t& size : own_shape) {
        if (draw.between(0, 3) == 0) size = 1;
      }
      own_shape.erase(own_shape.begin(), own_shape.begin() + (i ? draw.between(0, rank - 1) : 0));
    }
    problem.inputs.push_back(input(i, own_shape));
  }
  problems.push_back(std::move(problem));
}

}  // namespace tenon_kit
