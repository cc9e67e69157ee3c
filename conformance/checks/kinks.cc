// Checks derivatives where an op is not differentiable: at kinks, ties and steps. Expected values
// are those that the reference pages (docs/ops) declare, repeated here as literals. The k-th
// element of an output has weight k, counted from 1, to distinguish contributions of different
// elements.

#include <cmath>

#include "conformance/checks/derivative.h"

namespace tenon_kit {
namespace {

struct Kink {
  const char* op;
  AttrValues attrs;
  std::vector<Operand> inputs;
  std::vector<Reals> slopes;  // Expected gradients, one list per floating-point input.
};

Operand float_operand(const Sizes& shape, Reals values) {
  return explicit_operand(TENON_FLOAT32, shape, std::move(values));
}

Operand float_operand(Reals values) {
  const auto n = static_cast<int64_t>(values.size());
  return float_operand(Sizes{n}, std::move(values));
}

Operand index_operand(const Sizes& shape, Reals values) {
  return explicit_operand(TENON_INT64, shape, std::move(values));
}

// Adds kinks of elementwise ops with one input.
void add_unary_kinks(std::vector<Kink>& kinks) {
  const auto add = [&](const char* op, const AttrValues& attrs, Reals x, Reals slopes) {
    kinks.push_back({op, attrs, {float_operand(std::move(x))}, {std::move(slopes)}});
  };
  add("abs", {}, {-2, 0, 3}, {-1, 0, 3});
  for (const char* step : {"sign", "floor", "ceil", "round", "trunc"}) {
    add(step, {}, {-1.5, 0, 0.5, 2}, {0, 0, 0, 0});
  }
  add("stop_gradient", {}, {-1, 0, 2}, {0, 0, 0});
  add("relu", {}, {-1, 0, 2}, {0, 0, 3});
  add("relu6", {}, {-1, 0, 3, 6, 7}, {0, 0, 3, 0, 0});
  add("leaky_relu", {{"alpha", 0.25}}, {-1, 0, 2}, {0.25, 0.5, 3});
  add("elu", {{"alpha", 0.5}}, {0, 2}, {0.5, 2});
  add("celu", {{"alpha", 0.5}}, {0, 2}, {1, 2});
  add("selu", {{"alpha", 1.5}, {"gamma", 2.0}}, {0, 2}, {3, 4});
  add("hard_sigmoid", {{"alpha", 0.25}}, {-3, -2, 0, 2, 3}, {0, 0, 0.75, 0, 0});
  add("hard_swish", {}, {-4, -3, 0, 3, 4}, {0, 0, 1.5, 4, 5});
  add("hard_tanh", {{"max_val", 2.0}}, {-2, -1, 0, 2, 3}, {0, 0, 3, 0, 0});
  add("thresholded_relu", {}, {0, 1, 2}, {0, 0, 3});
  add("shrink", {{"bias", 0.25}}, {-1, -0.5, 0, 0.5, 1}, {1, 0, 0, 0, 5});
  add("hardmax", {}, {1, 3, 3}, {0, 0, 0});
}

// Adds kinks of elementwise ops with several inputs.
void add_binary_kinks(std::vector<Kink>& kinks) {
  const auto add = [&](const char* op, const AttrValues& attrs, const std::vector<Reals>& inputs,
                       std::vector<Reals> slopes) {
    Kink kink = {op, attrs, {}, std::move(slopes)};
    for (const Reals& x : inputs) kink.inputs.push_back(float_operand(x));
    kinks.push_back(std::move(kink));
  };
  const AttrValues each = {{"reduction", "none"}};
  add("maximum", {}, {{1, 5, 2}, {3, 5, 1}}, {{0, 1, 3}, {1, 1, 0}});
  add("minimum", {}, {{1, 5, 2}, {3, 5, 1}}, {{1, 1, 0}, {0, 1, 3}});
  add("clip", {}, {{-1, 0, 1, 2, 3}, {0}, {2}}, {{0, 2, 3, 4, 0}, {1}, {5}});
  add("clip", {}, {{0, 2, 9}, {5}, {1}}, {{0, 0, 0}, {0}, {6}});
  add("copysign", {}, {{1, -2}, {0, -3}}, {{1, 2}, {0, 0}});
  add("floor_div", {}, {{7, -7, 0}, {2, 2, 3}}, {{0, 0, 0}, {0, 0, 0}});
  add("divide_no_nan", {}, {{3, 0, 6}, {0, 0, 2}}, {{0, 0, 1.5}, {0, 0, -4.5}});
  add("hypot", {}, {{0, 3}, {0, -4}}, {{0, Real(1.2)}, {0, Real(-1.6)}});
  add("pow", {}, {{0, 0, 0, -2}, {0, 1, 2, 2}}, {{0, 2, 0, -16}, {0, 0, 0, 0}});
  add("prelu", {}, {{-1, 0, 2}, {0.25, 0.5, 0.25}}, {{0.25, 1, 3}, {-1, 0, 0}});
  add("xlogy", {}, {{0, 0, 2}, {0, -2, 1}}, {{0, 0, 0}, {0, 0, 6}});
  add("mae", each, {{1, 2, 3}, {1, 0, 5}}, {{0, 2, -3}, {0, -2, 3}});
  add("hinge", each, {{2, 1, 0.5}, {1, 1, 1}}, {{0, 0, -3}, {0, 0, -1.5}});
  add("kl_div", each, {{-1, -1}, {0, 1}}, {{0, -2}, {0, 4}});
  kinks.push_back({"fake_quantize",
                   {{"quant_max", 4}},
                   {float_operand({-1, 0, 2, 4, 5}), float_operand(Sizes{}, {1})},
                   {{0, 2, 3, 4, 0}, {0}}});
}

// Adds reductions along an axis whose elements have ties, or several zeros.
void add_ties(std::vector<Kink>& kinks) {
  const auto add = [&](const char* op, const AttrValues& attrs, const Sizes& shape, Reals x,
                       Reals slopes) {
    kinks.push_back({op, attrs, {float_operand(shape, std::move(x))}, {std::move(slopes)}});
  };
  const AttrValues rows = {{"axes", Sizes{1}}};
  add("max", rows, {2, 3}, {4, 4, 1, 1, 7, 1}, {0.5, 0.5, 0, 0, 2, 0});
  add("min", rows, {2, 3}, {4, 4, 1, 1, 7, 1}, {0, 0, 1, 1, 0, 1});
  add("global_max_pool", {}, {1, 2, 3}, {4, 4, 1, 1, 7, 1}, {0.5, 0.5, 0, 0, 2, 0});
  add("max_pool", {{"kernel_shape", Sizes{2}}}, {1, 1, 4}, {5, 5, 1, 1}, {1, 2, 3, 0});
  add("cummax", {}, {4}, {1, 3, 3, 2}, {1, 9, 0, 0});
  add("cummax", {{"reverse", true}}, {4}, {2, 3, 3, 1}, {0, 0, 6, 4});
  add("cummin", {}, {4}, {3, 1, 1, 2}, {1, 9, 0, 0});
  add("sort", {}, {4}, {2, 1, 2, 1}, {3, 1, 4, 2});
  add("sort", {{"descending", true}}, {4}, {2, 1, 2, 1}, {1, 3, 2, 4});
  add("top_k", {{"k", 2}}, {4}, {1, 3, 3, 3}, {0, 1, 2, 0});
  add("top_k", {{"k", 2}, {"largest", false}}, {4}, {2, 1, 1, 1}, {0, 1, 2, 0});
  add("prod", {}, {3}, {2, 0, 5}, {0, 10, 0});
  add("prod", {}, {3}, {0, 3, 0}, {0, 0, 0});
  add("cumprod", {}, {3}, {2, 0, 3}, {1, 22, 0});
  add("l1_norm", rows, {2, 2}, {0, -2, 3, 0}, {0, -1, 2, 0});
  add("l2_norm", rows, {2, 2}, {0, 0, 3, -4}, {0, 0, Real(1.2), Real(-1.6)});
  const AttrValues pairs = {{"kernel_shape", Sizes{2}}, {"strides", Sizes{2}}};
  add("lp_pool", pairs, {1, 1, 4}, {0, 0, 3, -4}, {0, 0, Real(1.2), Real(-1.6)});
  add("global_lp_pool", {}, {1, 2, 2}, {0, 0, 3, -4}, {0, 0, Real(1.2), Real(-1.6)});
  add("det", {}, {2, 2}, {1, 2, 2, 4}, Reals(4, NAN));
  add("slogdet", {}, {2, 2}, {1, 2, 2, 4}, Reals(4, NAN));
}

// Adds scatters with several updates of the same element.
void add_scattered(std::vector<Kink>& kinks) {
  const auto both = [&](const char* reduction, const Reals& x, const Reals& at, const Reals& u,
                        const std::vector<Reals>& slopes) {
    const AttrValues attrs = {{"reduction", reduction}};
    const auto n = static_cast<int64_t>(at.size());
    kinks.push_back({"scatter_elements",
                     attrs,
                     {float_operand(x), index_operand({n}, at), float_operand(u)},
                     slopes});
    kinks.push_back({"scatter_nd",
                     attrs,
                     {float_operand(x), index_operand({n, 1}, at), float_operand(u)},
                     slopes});
  };
  both("none", {1, 1, 1, 1}, {1, 3, 1}, {7, 8, 9}, {{1, 0, 3, 0}, {0, 4, 2}});
  both("max", {2, 1, 5}, {0, 0, 1}, {2, 1, 4}, {{0.5, 0, 3}, {0.5, 0, 2}});
  both("min", {2, 1, 5}, {0, 0, 1}, {2, 3, 0}, {{0.5, 0, 3}, {0.5, 0, 2}});
  both("mul", {2, 3, 4}, {0, 0, 1, 1}, {0, 5, 6, 7}, {{0, 84, 3}, {10, 0, 42, 36}});
  for (const char* reduction : {"max", "min"}) {
    kinks.push_back({"segment_reduce",
                     {{"num_segments", 2}, {"reduction", reduction}},
                     {float_operand({3, 3, 1}), index_operand({3}, {0, 0, 1})},
                     {{0.5, 0.5, 2}}});
  }
}

const std::vector<Kink>& all_kinks() {
  static const std::vector<Kink> kinks = [] {
    std::vector<Kink> all;
    add_unary_kinks(all);
    add_binary_kinks(all);
    add_ties(all);
    add_scattered(all);
    return all;
  }();
  return kinks;
}

// Returns the kinks of the claim's op as problems. Their field `expected` holds the expected
// gradients instead of outputs.
std::vector<Problem> kink_problems(const Environment&, const Claim& claim) {
  std::vector<Problem> problems;
  for (const Kink& kink : all_kinks()) {
    if (claim.op->name != kink.op) continue;
    Problem problem;
    problem.op = claim.op;
    problem.attrs = kink.attrs;
    problem.inputs = kink.inputs;
    bool fits = true;
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      Operand& x = problem.inputs[i];
      const tenon_dtype dtype = claim.inputs[std::min(i, claim.inputs.size() - 1)];
      fits = fits && is_float(dtype) == is_float(x.dtype);
      x.dtype = dtype;
      if (!is_float(dtype)) continue;
      problem.expected.push_back(x);
      problem.expected.back().fill.values = kink.slopes.at(problem.expected.size() - 1);
    }
    if (fits) problems.push_back(std::move(problem));
  }
  return problems;
}

// Whether kinks of the claim's op are listed in this file.
bool has_kink(const Environment& env, const Claim& claim) {
  return has_gradient(env, claim) && !kink_problems(env, claim).empty();
}

// Returns the weights 1, 2, 3, ... for the elements of `y`.
Reals counting_weights(const Result& y, size_t) {
  Reals weights;
  for (int64_t k = 0; k < count_of(y.shape); ++k) weights.push_back(static_cast<Real>(k + 1));
  return weights;
}

// Checks that the device's gradients at kinks have the declared values.
Finding test_kinks(const Environment& env, const Problem& problem) {
  const Gradients found = gradients(env.device, problem, Order::kFirst, counting_weights);
  // Only checked if the problem has expected gradients; shrinking drops them.
  if (!problem.expected.empty() && found.values.size() != problem.expected.size()) {
    return Finding::fault("the number of gradients is wrong");
  }
  Finding finding;
  for (size_t g = 0; g < problem.expected.size(); ++g) {
    const Result& got = found.values[g];
    const Operand& want = problem.expected[g];
    std::string fault = compare_types(got, want.dtype, want.shape);
    if (fault.empty()) {
      const int scale = env.profile == Profile::kRelaxed ? 4 : 1;
      const Bound bound = {.rtol = scale * 4 * std::ldexp(1.0, 1 - facts(got.dtype).precision)};
      const Verdict verdict = compare(got.values(), got.dtype, want.values(), bound);
      finding.ulp = std::max(finding.ulp, verdict.largest_ulp);
      fault = verdict.message;
    }
    if (fault.empty()) continue;
    return Finding::fault("the gradient of input " + std::to_string(found.inputs[g]) + ": " +
                          fault);
  }
  return finding;
}

}  // namespace

std::vector<Check> kink_checks() {
  return {{.name = "kinks",
           .level = 4,
           .what = "At kinks, ties and steps the device's gradients have the declared values.",
           .applies = has_kink,
           .problems = kink_problems,
           .test = test_kinks,
           .of_unclaimed = true}};
}

}  // namespace tenon_kit
