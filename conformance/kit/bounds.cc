#include "conformance/kit/bounds.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tenon_kit {
namespace {

struct Transcendental {
  std::string_view op;
  double strict;  // Maximum errors in ulp of float32: in strict numerics, then in relaxed.
  double relaxed;
  double atol = 0;  // Absolute tolerances: in strict numerics, then in relaxed.
  double relaxed_atol = 0;
};

constexpr Transcendental kTranscendentals[] = {
    {"exp", 3, 3},  // Plus slack_of(), in relaxed.
    {"exp2", 3, 8},
    {"expm1", 3, 8},
    {"log", 3, 8},
    {"log2", 3, 8},
    {"log10", 3, 8},
    {"asinh", 4, 8},
    {"acosh", 4, 8},
    {"log1p", 2, 8},
    {"rsqrt", 2, 8},
    {"sin", 4, 0, 0, 0x1p-11},
    {"cos", 4, 0, 0, 0x1p-11},
    {"asin", 4, 16},
    {"acos", 4, 16},
    {"sinh", 4, 16},
    {"cosh", 4, 16},
    {"tan", 5, 16},
    {"atan", 5, 16},
    {"tanh", 5, 16},
    {"atanh", 5, 16},
    {"atan2", 6, 4096},
    {"pow", 16, 8},  // Plus slack_of(), in relaxed.
    {"erf", 16, 16},
    {"erfc", 16, 16},
    {"sigmoid", 6, 24},
    {"softplus", 6, 24},
    {"silu", 8, 32, 1e-6, 4e-6},
    {"gelu", 8, 32, 1e-6, 4e-6},
    {"logaddexp", 8, 32, 1e-6, 4e-6},
    // Near a zero of the function, two terms of magnitude 1 or more cancel.
    {"lgamma", 16, 64, 1e-6, 4e-6},
    {"digamma", 16, 64, 4e-6, 16e-6},  // The terms are as large as ln |x|.
};

// Ops for which the sign of a zero result is defined.
constexpr std::string_view kSigned[] = {"neg",  "abs",   "copysign", "floor",
                                        "ceil", "round", "trunc",    "where"};

// Ops whose results are copies of input values, or do not depend on input values.
constexpr std::string_view kMovement[] = {"batch_to_space",
                                          "boolean_mask",
                                          "check_numerics",
                                          "concat",
                                          "copy",
                                          "depth_to_space",
                                          "dynamic_slice",
                                          "dynamic_update_slice",
                                          "embedding",
                                          "eye",
                                          "fill",
                                          "flatten",
                                          "gather",
                                          "gather_elements",
                                          "gather_nd",
                                          "im2col",
                                          "kv_cache_update",
                                          "meshgrid",
                                          "one_hot",
                                          "pad",
                                          "repeat",
                                          "resize_nearest",
                                          "reverse_sequence",
                                          "roll",
                                          "space_to_batch",
                                          "space_to_depth",
                                          "stack",
                                          "tile",
                                          "tril",
                                          "triu",
                                          "where"};

// Relaxed bound, in ulp, of the log2 and exp2 that pow consists of.
constexpr double kPowParts = 8;

const Transcendental* find_transcendental(const std::string& name) {
  for (const Transcendental& row : kTranscendentals) {
    if (row.op == name) return &row;
  }
  return nullptr;
}

bool preserves_zero_sign(const OpFacts& op) {
  for (const std::string_view name : kSigned) {
    if (op.name == name) return true;
  }
  return op.view || op.name == "copy" || op.name == "concat" || op.name == "pad" ||
         op.name.starts_with("gather");
}

// Returns the bound of the op's numeric class. `k` is the number of input elements on which each
// element of the result depends.
Bound class_bound(const OpFacts& op, tenon_dtype dtype, Profile profile, tenon_features device,
                  double k) {
  const bool relaxed = profile == Profile::kRelaxed;
  if (!is_float(dtype)) return {.bits = true};
  if (op.numeric == "exact") return {.bits = preserves_zero_sign(op)};
  const bool half = facts(dtype).size == 2;
  // If the floor of the quotient needs more digits than the dtype has, it is rounded twice.
  if (op.name == "floor_div") return {.ulp = 1};
  if (op.numeric == "rounded") return {.ulp = 0.5};
  if (op.numeric == "division") {
    if ((device & TENON_FEATURE_IEEE_DIV) != 0 && !relaxed) return {.ulp = 0.5};
    if (half) return {.ulp = 1};
    return {.ulp = relaxed ? 3 : 2.5};
  }
  if (op.numeric == "accumulation") return {.ulp = 0.5, .accumulates = true};
  if (op.numeric == "transcendental") {
    const Transcendental* row = find_transcendental(op.name);
    const Transcendental f32 = row ? *row : Transcendental{op.name, 16, 64};
    const double atol = relaxed ? f32.relaxed_atol : f32.atol;
    // Half types are computed in float32, so the absolute tolerance is the same.
    if (half) return {.ulp = relaxed ? 4.0 : 1.0, .atol = atol};
    if (dtype == TENON_FLOAT64) return {.ulp = relaxed ? 16.0 : 4.0, .atol = atol * 0x1p-29};
    return {.ulp = relaxed ? f32.relaxed : f32.strict, .atol = atol};
  }
  // A composite must be as accurate as its published decomposition.
  const double scale = relaxed ? 4 : 1;
  const double epsilon = std::ldexp(1.0, 1 - facts(dtype).precision);
  const double terms = std::sqrt(std::max(k, 1.0));
  if (half) return {.rtol = scale * 4 * epsilon, .atol = scale * 4 * epsilon};
  // Tolerances of 1.3e-6 (relative) and 1e-5 (absolute) in float32, and the same number of ulp in
  // float64.
  const double part = dtype == TENON_FLOAT64 ? epsilon / 0x1p-23 : 1;
  return {.rtol = scale * 1.3e-6 * terms * part, .atol = scale * 1e-5 * part};
}

}  // namespace

OpFacts facts_of(const Problem& problem) {
  OpFacts op = *problem.op;
  if (op.name.starts_with("scatter_") && problem.attr("reduction").text() != "add") {
    op.numeric = "exact";
  }
  return op;
}

// Returns the error bound for an output of `dtype`.
Bound bound_of(const OpFacts& op, tenon_dtype dtype, Profile profile, tenon_features device,
               double k) {
  Bound bound = class_bound(op, dtype, profile, device, k);
  bound.flushes = is_float(dtype) && may_flush(op, device);
  return bound;
}

Bound gradient_bound_of(const OpFacts& op, tenon_dtype dtype, Profile profile,
                        tenon_features device, double k) {
  OpFacts composite = op;
  composite.numeric = "composite";
  Bound bound = bound_of(composite, dtype, profile, device, k);
  const Bound own = bound_of(op, dtype, profile, device, k);
  bound.rtol = std::max(bound.rtol, own.ulp * std::ldexp(1.0, 1 - facts(dtype).precision));
  // For the slope of this polynomial, the reference page declares about five correct digits.
  if (op.name == "trigamma" && dtype == TENON_FLOAT32) bound.rtol = 1e-4;
  return bound;
}

bool has_slack(const OpFacts& op, tenon_dtype dtype, Profile profile) {
  return profile == Profile::kRelaxed && dtype == TENON_FLOAT32 &&
         (op.name == "exp" || op.name == "pow");
}

Real slack_of(const OpFacts& op, tenon_dtype dtype, Profile profile, std::span<const Real> inputs,
              Real oracle) {
  if (!has_slack(op, dtype, profile) || !real_is_finite(oracle)) return 0;
  if (op.name == "exp") return 2 * real_abs(inputs[0]) * ulp(oracle, dtype);
  // Adds the errors of the logarithm and of the product, amplified by exp2.
  const auto base = static_cast<double>(real_abs(inputs[0]));
  const Real y = inputs[1], log = std::log2(base), product = y * log;
  const Real error = real_abs(y) * Real(kPowParts) * ulp(log, dtype) + ulp(product, dtype) / 2;
  if (!real_is_finite(product) || !real_is_finite(error)) return 0;
  return real_abs(oracle) * (real_pow2(error) - 1);
}

// Whether the op's results are copies of input values.
bool only_copies_values(const OpFacts& op) {
  return op.view ||
         std::find(std::begin(kMovement), std::end(kMovement), op.name) != std::end(kMovement);
}

bool may_flush(const OpFacts& op, tenon_features device) {
  return (device & TENON_FEATURE_FLUSH_TO_ZERO) != 0 && !only_copies_values(op);
}

Real smallest_normal(tenon_dtype dtype) {
  return is_float(dtype) ? real_scale(1, facts(dtype).least_exponent) : Real(0);
}

Operand flush_subnormals(const Operand& x) {
  if (x.absent || !is_float(x.dtype)) return x;
  Operand result = with_values(x, x.values());
  for (Real& value : result.fill.values) {
    if (real_abs(value) < smallest_normal(x.dtype)) value = real_sign(value) ? -Real(0) : Real(0);
  }
  return result;
}

Problem flush_subnormals(const Problem& problem) {
  Problem result = problem;
  for (Operand& x : result.inputs) x = flush_subnormals(x);
  return result;
}

double accumulator_roundoff(tenon_dtype dtype) {
  const int precision = std::max(facts(dtype).precision, 24);
  return std::ldexp(1.0, -precision);
}

// Returns the maximum number of roundings that a term goes through in a sum of k terms.
double roundings_of_sum(double k) { return std::min(k, 4096 + 2 * std::sqrt(k)); }

// Returns the error bound of a sum with k roundings per term; `size` is the sum of the terms'
// absolute values.
Real accumulation_bound(double k, Real size, tenon_dtype dtype) {
  const double ku = k * accumulator_roundoff(dtype);
  return 1.01 * ku / (1 - ku) * size;
}

}  // namespace tenon_kit
