// Concatenates the lists of checks, and defines the functions that several checks share.

#include <algorithm>
#include <cmath>

#include "conformance/checks/check.h"
#include "conformance/checks/valid_results.h"

namespace tenon_kit {
namespace {

std::vector<Check> concatenate_checks() {
  std::vector<Check> all;
  for (std::vector<Check> (*list)() :
       {value_checks, special_checks, cast_checks, index_checks, aliasing_checks, curve_checks,
        shape_checks, memory_checks, relation_checks, gradient_checks, adjoint_checks, kink_checks,
        stress_checks, long_line_checks, work_size_checks, common_checks, large_tensor_checks,
        unclaimed_checks}) {
    for (const Check& check : list()) all.push_back(check);
  }
  return all;
}

// Estimates how many input elements each element of a composite's result depends on.
double depth_of(const Problem& problem) {
  if (problem.op->elementwise) return 1;
  int64_t longest = 1;
  for (const Operand& x : problem.inputs) {
    for (const int64_t size : x.shape) longest = std::max(longest, size);
  }
  return static_cast<double>(longest);
}

// Returns the problem with `f` applied to the values of each float input. Float attributes scale
// the terms of a sum, so they are replaced by their absolute values.
template <class F>
Problem map_float_values(const Problem& problem, const F& f) {
  Problem result = widen(problem);
  for (const AttrFacts& facts : problem.op->attrs) {
    if (facts.type != "float") continue;
    result.attrs[facts.name] = std::fabs(problem.attr(facts.name).number());
  }
  for (Operand& x : result.inputs) {
    if (x.absent || !is_float(x.dtype)) continue;
    for (Real& value : x.fill.values) value = f(value);
  }
  return result;
}

// Whether no float input and no float attribute has a negative value. Then mapping to absolute
// values changes nothing.
bool has_no_negatives(const Problem& problem) {
  const auto is_negative = [](Real x) { return x < 0; };
  for (const AttrFacts& attr : problem.op->attrs) {
    if (attr.type == "float" && is_negative(problem.attr(attr.name).number())) return false;
  }
  return std::all_of(problem.inputs.begin(), problem.inputs.end(), [&](const Operand& x) {
    if (x.absent || !is_float(x.dtype)) return true;
    const Reals values = x.values();
    return std::none_of(values.begin(), values.end(), is_negative);
  });
}

// Returns the maximum number of elements of input 0 that a reduction combines to one result, if it
// has `n_results` results.
double factors_of(const Problem& problem, size_t n_results) {
  if (problem.inputs.empty() || n_results == 0) return 1;
  const Sizes& shape = problem.inputs[0].shape;
  if (problem.op->name == "cumprod") {
    return static_cast<double>(size_along(shape, problem.attr("axis").whole()));
  }
  return static_cast<double>(count_of(shape)) / static_cast<double>(n_results);
}

// The error allowed for each element of a sum of many terms. It depends on the number of terms,
// which the oracle computes from inputs of ones, and on the sum of their absolute values.
struct Accumulation {
  Reals slack;
  double terms = 1;
  Real size = 0;  // The sum of the absolute values, averaged over the elements.
};

// Estimates the allowed errors of output `output`, whose expected values are `oracle`.
Accumulation estimate_accumulation(const Environment& env, const Problem& problem, size_t output,
                                   tenon_dtype dtype, const Reals& oracle) {
  Accumulation result;
  const bool product = problem.op->name.find("prod") != std::string::npos;
  Reals sizes = oracle;
  if (!product && !has_no_negatives(problem)) {
    sizes = env.oracle.run(map_float_values(problem, real_abs))[output].values();
  }
  Reals terms =
      env.oracle.run(map_float_values(problem, [](Real) { return Real(1); }))[output].values();
  const double factors = factors_of(problem, oracle.size());
  Real total = 0, size = 0;
  for (size_t i = 0; i < oracle.size(); ++i) {
    // For products and means, a result from inputs of ones is not the number of terms. They use the
    // number of inputs per result instead.
    const double k = std::max({1.0, factors, product ? 1.0 : static_cast<double>(terms[i])});
    const Real scale = product ? real_abs(oracle[i]) : sizes[i];
    result.slack.push_back(accumulation_bound(product ? k : roundings_of_sum(k), scale, dtype));
    total += k;
    size += scale;
  }
  if (!oracle.empty()) {
    result.terms = static_cast<double>(total) / static_cast<double>(oracle.size());
    result.size = size / static_cast<Real>(oracle.size());
  }
  return result;
}

// Returns a message if the root mean square of the errors is too large, else an empty string. Over
// 1000 or more elements, errors of a correct accumulator partly cancel.
std::string check_root_mean_square(const Reals& got, const Reals& oracle, tenon_dtype dtype,
                                   const Accumulation& sums) {
  if (got.size() < 1000 || sums.size == 0) return "";
  Real total = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const Real error = std::max(Real(0), real_abs(got[i] - oracle[i]) - ulp(oracle[i], dtype) / 2);
    const Real part = error / (accumulator_roundoff(dtype) * sums.size);
    total += part * part;
  }
  const double rms = std::sqrt(static_cast<double>(total) / static_cast<double>(got.size()));
  const double most = 4 * std::sqrt(sums.terms);
  if (rms <= most) return "";
  return "the root mean square of the errors is " + text(rms) +
         " times the roundoff of the accumulator, more than " + text(most) +
         ": sums are accumulated with too few bits";
}

}  // namespace

const std::vector<Check>& all_checks() {
  static const std::vector<Check> checks = concatenate_checks();
  return checks;
}

const Check* find_check(std::string_view name) {
  for (const Check& check : all_checks()) {
    if (name == check.name) return &check;
  }
  return nullptr;
}

std::vector<Problem> some_problems(const Environment& env, const Claim& claim) {
  return valid_problems(claim, env.thorough ? 12 : 3, env.seed, env.oracle);
}

// Returns the unsigned integer dtype with as many bits as a float dtype.
tenon_dtype bits_dtype(tenon_dtype dtype) {
  const size_t size = facts(dtype).size;
  return size == 2 ? TENON_UINT16 : size == 4 ? TENON_UINT32 : TENON_UINT64;
}

// Returns the bits of NaNs with various payloads and both signs.
std::vector<uint64_t> nan_bits(tenon_dtype dtype) {
  const DTypeFacts& f = facts(dtype);
  const int fraction = f.precision - 1, bits = static_cast<int>(8 * f.size);
  const uint64_t sign = uint64_t{1} << (bits - 1), quiet = uint64_t{1} << (fraction - 1);
  // An exponent with all bits set, as in NaNs.
  const uint64_t exponent = sign - (uint64_t{1} << fraction);
  std::vector<uint64_t> nans;
  for (const uint64_t payload : {2 * quiet - 1, uint64_t{1}, quiet / 2, quiet - 1, quiet}) {
    nans.push_back(exponent | payload);
    nans.push_back(sign | exponent | payload);
  }
  return nans;
}

std::string bit_difference(const std::vector<Result>& a, const std::vector<Result>& b) {
  if (a.size() != b.size()) return "the numbers of outputs differ";
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::string fault = compare_bits(a[i], b[i]); !fault.empty()) {
      return a.size() == 1 ? fault : "output " + std::to_string(i) + ", " + fault;
    }
  }
  return "";
}

Finding run_and_judge(const Environment& env, const Problem& problem) {
  Finding finding = judge_values(env, problem, env.device.run(problem));
  finding.trusted = true;
  return finding;
}

Finding judge_values(const Environment& env, const Problem& problem,
                     const std::vector<Result>& got) {
  Finding finding;
  const OpFacts op = facts_of(problem);
  const ValidResults right(env, problem);
  const auto types = env.oracle.infer(problem);
  for (size_t i = 0; i < got.size() && i < right.n_outputs(); ++i) {
    const auto fault = [&](const std::string& words) {
      finding.passed = false;
      finding.message = got.size() == 1 ? words : "output " + std::to_string(i) + ": " + words;
    };
    const tenon_dtype dtype = got[i].dtype;
    if (const std::string t = compare_types(got[i], types[i].first, right.shape(i)); !t.empty()) {
      fault(t);
      return finding;
    }
    const Reals values = got[i].values(), oracle = right.oracle(i);
    Bound bound = bound_of(op, dtype, env.profile, env.features, depth_of(problem));
    Accumulation sums;
    if (bound.accumulates) sums = estimate_accumulation(env, problem, i, dtype, oracle);
    const Reals slack = bound.accumulates ? sums.slack : right.slack(i, dtype);
    const Verdict verdict = right.compare(i, values, dtype, bound, slack);
    finding.ulp = std::max(finding.ulp, verdict.largest_ulp);
    finding.trusted = finding.trusted && right.can_reveal_fault(i, dtype);
    if (!verdict.passed) {
      fault(verdict.message);
      return finding;
    }
    if (bound.accumulates && is_float(dtype)) {
      if (const std::string rms = check_root_mean_square(values, oracle, dtype, sums);
          !rms.empty()) {
        fault(rms);
        return finding;
      }
    }
  }
  return finding;
}

}  // namespace tenon_kit
