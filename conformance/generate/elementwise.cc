// Generates problems of elementwise ops: inputs of the same shape, or broadcast against each other.

#include <string_view>

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

struct Domain {
  std::string_view op;
  double low, high;
};

// Input ranges of ops for which values between -1 and 1, or those of the cases, are outside the
// domain or all become zero.
constexpr Domain kDomains[] = {{"log", 0.125, 8},    {"log2", 0.125, 8},  {"log10", 0.125, 8},
                               {"rsqrt", 0.125, 8},  {"acosh", 1, 8},     {"trunc", -100, 100},
                               {"floor", -100, 100}, {"ceil", -100, 100}, {"round", -100, 100}};

void set_domain(const Claim& claim, Operand& x) {
  if (!is_float(x.dtype)) return;
  for (const Domain& domain : kDomains) {
    if (claim.op->name != domain.op) continue;
    x.fill.low = domain.low;
    x.fill.high = domain.high;
  }
}

}  // namespace

void add_elementwise(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  if (!claim.op->elementwise || claim.inputs.empty()) return;
  // Float inputs are drawn from the range that the op's cases use.
  const std::vector<Problem> own = retargeted_cases(claim);
  const auto input = [&](size_t i, Sizes shape) {
    Operand x = uniform_operand(claim.inputs[i], std::move(shape), draw.seed());
    for (const Problem& problem : own) {
      if (i >= problem.inputs.size() || problem.inputs[i].absent) continue;
      const Fill& fill = problem.inputs[i].fill;
      if (fill.kind != Fill::Kind::kUniform) continue;
      x.fill.low = fill.low;
      x.fill.high = fill.high;
      break;
    }
    set_domain(claim, x);
    return x;
  };
  // Each axis of each input has the full size or size 1; leading axes may be missing.
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
  // Makes the inputs equal in half of the problems, because random numbers are never equal by
  // chance.
  const bool asks_for_equals = claim.op->name == "equal" || claim.op->name == "not_equal";
  if (asks_for_equals && draw.coin()) problem.inputs[1].fill = problem.inputs[0].fill;
  problems.push_back(std::move(problem));
}

}  // namespace tenon_kit
