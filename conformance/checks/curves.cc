// Measures the error of functions of one variable over their input range, for the plots of the
// report.

#include <algorithm>
#include <random>

#include "conformance/checks/check.h"

namespace tenon_kit {
namespace {

// Inputs of one sign are binned by exponent: two bins for each exponent from -kMaxExponent to
// kMaxExponent. The outermost bins also hold smaller and larger inputs.
constexpr int kMaxExponent = 32;

struct Bins {
  int low, high;  // Range of exponents.
  explicit Bins(tenon_dtype dtype)
      : low(std::max(facts(dtype).least_exponent, -kMaxExponent)),
        high(std::min(facts(dtype).greatest_exponent, kMaxExponent)) {}
  int count() const { return 2 * (high - low); }
  double middle(int bin) const { return std::exp2(low + (bin + 0.5) / 2); }
};

bool is_elementwise_function(const Environment&, const Claim& claim) {
  return claim.op->elementwise && claim.op->numeric != "exact" && claim.inputs.size() == 1 &&
         claim.outputs == claim.inputs && is_float(claim.inputs[0]);
}

// Number of inputs in each bin.
int64_t samples_per_bin(const Environment& env) { return env.thorough ? 24 : 4; }

// Returns one problem, whose input has samples of all bins in increasing order, from the most
// negative numbers to the largest.
std::vector<Problem> grid(const Environment& env, const Claim& claim) {
  const tenon_dtype dtype = claim.inputs[0];
  const DTypeFacts& f = facts(dtype);
  const Bins bins(dtype);
  std::mt19937_64 engine(env.seed);
  const auto unit = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
  Operand x;
  x.dtype = dtype;
  for (int place = -bins.count(); place < bins.count(); ++place) {
    const int bin = place < 0 ? -place - 1 : place;
    const double from = bin == 0 ? f.least_exponent - f.precision + 1 : bins.low + bin / 2.0;
    const double to = bin == bins.count() - 1 ? f.greatest_exponent : bins.low + (bin + 1) / 2.0;
    for (int64_t i = 0; i < samples_per_bin(env); ++i) {
      const double exponent = from + (to - from) * unit();
      const double whole = std::floor(exponent);
      const Real value = real_scale(Real(std::exp2(exponent - whole)), static_cast<int>(whole));
      x.fill.values.push_back(place < 0 ? -value : value);
    }
  }
  x.shape = {static_cast<int64_t>(x.fill.values.size())};
  Problem problem;
  problem.op = claim.op;
  problem.inputs = {std::move(x)};
  return {problem};
}

// The largest error in each bin, over finite results.
std::vector<CurvePoint> curve_of(const Environment& env, const Problem& problem,
                                 const Result& result) {
  const tenon_dtype dtype = result.dtype;
  const Bins bins(dtype);
  const Reals got = result.values(), want = env.oracle.run(widen(problem))[0].values();
  const Bound bound = bound_of(*problem.op, dtype, env.profile, env.features);
  const size_t per_bin = got.size() / static_cast<size_t>(2 * bins.count());
  std::vector<CurvePoint> curve;
  for (size_t first = 0; first + per_bin <= got.size(); first += per_bin) {
    const int place = static_cast<int>(first / per_bin) - bins.count();
    CurvePoint point = {.x = place < 0 ? -bins.middle(-place - 1) : bins.middle(place)};
    bool met = false;
    for (size_t i = first; i < first + per_bin; ++i) {
      if (!real_is_finite(rounded(want[i], dtype)) || !real_is_finite(got[i])) continue;
      const Real unit = ulp(want[i], dtype);
      const Real allowed =
          std::max({bound.ulp * unit, bound.rtol * real_abs(want[i]), Real(bound.atol)});
      const auto error = static_cast<double>(real_abs(got[i] - want[i]) / unit);
      if (met && error <= point.ulp) continue;
      met = true;
      point.ulp = error;
      point.allowed = static_cast<double>(allowed / unit);
    }
    if (met) curve.push_back(point);
  }
  return curve;
}

// Runs a problem of grid(). Judges its values, and adds the error curve to the finding.
Finding test_curve(const Environment& env, const Problem& problem) {
  const std::vector<Result> got = env.device.run(problem);
  Finding finding = judge_values(env, problem, got);
  finding.trusted = true;  // Many functions are 0 or infinite for large inputs.
  // Skips shrunk problems, which no longer cover the whole grid.
  const auto n = static_cast<int64_t>(got.at(0).bytes.size() / facts(got[0].dtype).size);
  if (is_float(got[0].dtype) && n == 2 * Bins(got[0].dtype).count() * samples_per_bin(env)) {
    finding.curve = curve_of(env, problem, got[0]);
  }
  return finding;
}

}  // namespace

std::vector<Check> curve_checks() {
  return {{"curve", 2,
           "The error of a function of one variable is measured over its whole range of inputs.",
           is_elementwise_function, grid, test_curve}};
}

}  // namespace tenon_kit
