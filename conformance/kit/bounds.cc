#include "conformance/kit/bounds.h"

#include <cmath>
#include <string_view>

namespace tenon_kit {
namespace {

struct Transcendental {
  std::string_view op;
  double strict;  // ulp of float32,
  double relaxed;
  double atol = 0;  // and beside them.
  double relaxed_atol = 0;
};

constexpr Transcendental kTranscendentals[] = {
    {"exp", 3, 8},
    {"exp2", 3, 8},
    {"expm1", 3, 8},
    {"log", 3, 8},
    {"log2", 3, 8},
    {"log10", 3, 8},
    {"asinh", 4, 8},
    {"acosh", 4, 8},
    {"log1p", 2, 8},
    {"rsqrt", 2, 8},
    {"sin", 4, 16, 0, 0x1p-11},
    {"cos", 4, 16, 0, 0x1p-11},
    {"asin", 4, 16},
    {"acos", 4, 16},
    {"sinh", 4, 16},
    {"cosh", 4, 16},
    {"tan", 5, 16},
    {"atan", 5, 16},
    {"tanh", 5, 16},
    {"atanh", 5, 16},
    {"atan2", 6, 4096},
    {"pow", 16, 4096},
    {"erf", 16, 16},
    {"erfc", 16, 16},
    {"sigmoid", 6, 24},
    {"softplus", 6, 24},
    {"silu", 8, 32, 1e-6, 4e-6},
    {"gelu", 8, 32, 1e-6, 4e-6},
    {"logaddexp", 8, 32, 1e-6, 4e-6},
    // Beside a zero two terms cancel, each of which is about 1 or larger.
    {"lgamma", 16, 64, 1e-6, 4e-6},
    {"digamma", 16, 64, 4e-6, 16e-6},  // Of terms as large as ln |x|.
};

// Whose zeros have a sign that is defined.
constexpr std::string_view kSigned[] = {"neg",  "abs",   "copysign", "floor",
                                        "ceil", "round", "trunc",    "where"};

const Transcendental* transcendental(const std::string& name) {
  for (const Transcendental& row : kTranscendentals) {
    if (row.op == name) return &row;
  }
  return nullptr;
}

bool moves(const OpFacts& op) {
  for (const std::string_view name : kSigned) {
    if (op.name == name) return true;
  }
  return op.view || op.name == "copy" || op.name == "concat" || op.name == "pad" ||
         op.name.starts_with("gather");
}

}  // namespace

Bound bound_of(const OpFacts& op, tenon_dtype dtype, Profile profile, tenon_features device,
               double k) {
  const bool relaxed = profile == Profile::kRelaxed;
  if (!is_float(dtype)) return {.bits = true};
  if (op.numeric == "exact") return {.bits = moves(op)};
  const bool half = facts(dtype).size == 2;
  // Where the quotient has more digits than the dtype, its floor is rounded on the way and at the
  // end.
  if (op.name == "floor_div") return {.ulp = 1};
  if (op.numeric == "rounded") return {.ulp = 0.5};
  if (op.numeric == "division") {
    if ((device & TENON_FEATURE_IEEE_DIV) != 0 && !relaxed) return {.ulp = 0.5};
    if (half) return {.ulp = 1};
    return {.ulp = relaxed ? 3 : 2.5};
  }
  if (op.numeric == "accumulation") return {.ulp = 0.5, .accumulates = true};
  if (op.numeric == "transcendental") {
    const Transcendental* row = transcendental(op.name);
    const Transcendental f32 = row ? *row : Transcendental{op.name, 16, 64};
    const double atol = relaxed ? f32.relaxed_atol : f32.atol;
    // Half types are computed in float32, and have what is absolute there.
    if (half) return {.ulp = relaxed ? 4.0 : 1.0, .atol = atol};
    if (dtype == TENON_FLOAT64) return {.ulp = relaxed ? 16.0 : 4.0, .atol = atol * 0x1p-29};
    return {.ulp = relaxed ? f32.relaxed : f32.strict, .atol = atol};
  }
  // Composite: as good as its published decomposition.
  const double scale = relaxed ? 4 : 1;
  const double epsilon = std::ldexp(1.0, 1 - facts(dtype).precision);
  const double terms = std::sqrt(std::max(k, 1.0));
  if (half) return {.rtol = scale * 4 * epsilon, .atol = scale * 4 * epsilon};
  // 1.3e-6 and 1e-5 in float32, and as many ulp in float64.
  const double part = dtype == TENON_FLOAT64 ? epsilon / 0x1p-23 : 1;
  return {.rtol = scale * 1.3e-6 * terms * part, .atol = scale * 1e-5 * part};
}

double accumulator_roundoff(tenon_dtype dtype) {
  const int precision = std::max(facts(dtype).precision, 24);
  return std::ldexp(1.0, -precision);
}

Real accumulation_bound(double k, Real size, tenon_dtype dtype) {
  const double ku = k * accumulator_roundoff(dtype);
  return 1.01 * ku / (1 - ku) * size;
}

}  // namespace tenon_kit
