// Checks relations between the results of several calls that hold for all values, such as f(a, b) =
// f(b, a).

#include <algorithm>
#include <set>

#include "conformance/checks/check.h"

namespace tenon_kit {
namespace {

const std::set<std::string> kCommutes = {"add",         "mul",         "maximum",     "minimum",
                                         "equal",       "not_equal",   "logical_and", "logical_or",
                                         "logical_xor", "bitwise_and", "bitwise_or",  "bitwise_xor",
                                         "logaddexp"};
// Ops that are linear in their first input: doubling the input exactly doubles the output.
const std::set<std::string> kLinear = {"sum",
                                       "mean",
                                       "cumsum",
                                       "matmul",
                                       "conv_backward_input",
                                       "conv_backward_filter",
                                       "window_sum",
                                       "avg_pool",
                                       "global_avg_pool",
                                       "neg"};

// ---- f(a, b) = f(b, a)

bool is_commutative(const Environment&, const Claim& claim) {
  return kCommutes.contains(claim.op->name);
}

// Checks that swapping the two inputs gives the same bits.
Finding test_commutes(const Environment& env, const Problem& problem) {
  Problem swapped = problem;
  std::swap(swapped.inputs.at(0), swapped.inputs.at(1));
  const std::string fault = bit_difference(env.device.run(swapped), env.device.run(problem));
  return fault.empty() ? Finding() : Finding::fault("with swapped inputs, " + fault);
}

// ---- f(2 x) = 2 f(x)

bool is_linear(const Environment&, const Claim& claim) {
  return kLinear.contains(claim.op->name) && is_float(claim.inputs[0]);
}

// Checks that doubling the first input doubles the output.
Finding test_linear(const Environment& env, const Problem& problem) {
  Problem twice = problem;
  twice.inputs[0] = explicit_operand(problem.inputs[0]);
  for (Real& x : twice.inputs[0].fill.values) x *= 2;
  const std::vector<Result> one = env.device.run(problem), two = env.device.run(twice);
  for (size_t i = 0; i < one.size(); ++i) {
    Reals want = one[i].values();
    const Real edge = real_scale(1, facts(one[i].dtype).least_exponent);
    const Reals got = two[i].values();
    for (size_t k = 0; k < want.size(); ++k) {
      const bool exact =
          real_abs(want[k]) >= edge && real_abs(2 * want[k]) <= greatest(one[i].dtype);
      if (!exact || got[k] == 2 * want[k] || real_is_nan(want[k])) continue;
      return Finding::fault("element " + std::to_string(k) + " of twice the input is " +
                            text(got[k]) + ", not twice " + text(want[k]));
    }
  }
  return {};
}

// ---- elementwise ops do not depend on an element's position: a slice of the inputs gives the same
// slice of the outputs

bool is_numeric_elementwise(const Environment&, const Claim& claim) {
  return claim.op->elementwise && !claim.inputs.empty() && !is_bool(claim.inputs[0]);
}

// Problems of an elementwise op whose inputs are vectors of random values, long enough to slice.
std::vector<Problem> long_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems;
  for (const Problem& own : some_problems(env, claim)) {
    if (own.inputs.size() != claim.inputs.size()) continue;
    Problem problem = own;
    problem.expected.clear();
    bool drawn = true;
    for (Operand& x : problem.inputs) {
      drawn = drawn && !x.absent && !x.scalar && x.fill.kind == Fill::Kind::kUniform;
      x.shape = {env.thorough ? 131 : 37};
    }
    if (drawn) problems.push_back(std::move(problem));
    if (problems.size() == 3) break;
  }
  return problems;
}

// Checks that a slice of the inputs gives the same slice of the output, bit for bit.
Finding test_slices(const Environment& env, const Problem& problem) {
  const int64_t n = problem.inputs[0].shape[0];
  const std::vector<Result> whole = env.device.run(problem);
  for (const int64_t cut : {int64_t{1}, n / 3, n - 1}) {
    for (const auto& [from, to] : {std::pair(int64_t{0}, cut), std::pair(cut, n)}) {
      Problem part = problem;
      for (size_t i = 0; i < part.inputs.size(); ++i) {
        const Reals all = problem.inputs[i].values();
        part.inputs[i] = explicit_operand(problem.inputs[i].dtype, {to - from},
                                          {all.begin() + from, all.begin() + to});
      }
      const std::vector<Result> got = env.device.run(part);
      for (size_t k = 0; k < got.size(); ++k) {
        Result want = whole[k];
        const auto size = static_cast<int64_t>(facts(want.dtype).size);
        want.bytes = {whole[k].bytes.begin() + from * size, whole[k].bytes.begin() + to * size};
        want.shape = {to - from};
        if (const std::string fault = compare_bits(got[k], want); !fault.empty()) {
          return Finding::fault("elements " + std::to_string(from) + " to " + std::to_string(to) +
                                " as a separate call: " + fault);
        }
      }
    }
  }
  return {};
}

// ---- ops that work along other axes than axis 0 do not depend on neighbouring rows

const std::set<std::string> kByLines = {
    "sum",    "mean",    "max",         "min",        "prod",     "any",       "all",
    "argmax", "argmin",  "cumsum",      "cumprod",    "cummax",   "cummin",    "sort",
    "top_k",  "softmax", "log_softmax", "layer_norm", "rms_norm", "window_sum"};

bool is_computed_by_rows(const Environment& env, const Claim& claim) {
  return kByLines.contains(claim.op->name) && env.profile == Profile::kStrict;
}

// Returns problems in which the claim's op reduces, scans or sorts along axes other than axis 0.
std::vector<Problem> line_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = some_problems(env, claim);
  std::erase_if(problems, [](const Problem& p) {
    const Sizes& shape = p.inputs[0].shape;
    const auto rank = static_cast<int64_t>(shape.size());
    if (rank < 2 || shape[0] < 2) return true;
    const auto is_first = [&](int64_t axis) { return axis == 0 || axis == -rank; };
    if (p.op->attr("axes") != nullptr) {
      const Sizes& axes = p.attr("axes").list();
      return axes.empty() || std::any_of(axes.begin(), axes.end(), is_first);
    }
    return p.op->attr("axis") != nullptr && is_first(p.attr("axis").whole());
  });
  for (Problem& p : problems) p.expected.clear();
  return problems;
}

// Returns the rows from index `from` up to, but not including, `to` of a result.
Result slice_rows(const Result& whole, int64_t from, int64_t to) {
  Result part = whole;
  const auto line = static_cast<int64_t>(whole.bytes.size()) / std::max<int64_t>(1, whole.shape[0]);
  part.bytes = {whole.bytes.begin() + from * line, whole.bytes.begin() + to * line};
  part.shape[0] = to - from;
  return part;
}

// Checks that either half of the rows alone gives the same bits as in the whole call.
Finding test_row_halves(const Environment& env, const Problem& problem) {
  const Operand& x = problem.inputs[0];
  const Reals all = x.values();
  const int64_t n = x.shape[0], line = count_of(x.shape) / n;
  const std::vector<Result> whole = env.device.run(problem);
  for (const auto& [from, to] : {std::pair(int64_t{0}, n / 2), std::pair(n / 2, n)}) {
    Problem part = problem;
    Sizes shape = x.shape;
    shape[0] = to - from;
    part.inputs[0] =
        explicit_operand(x.dtype, shape, {all.begin() + from * line, all.begin() + to * line});
    const std::vector<Result> got = env.device.run(part);
    for (size_t k = 0; k < got.size(); ++k) {
      const std::string fault = compare_bits(got[k], slice_rows(whole[k], from, to));
      if (fault.empty()) continue;
      return Finding::fault("rows " + std::to_string(from) + " to " + std::to_string(to) +
                            " as a separate call: " + fault);
    }
  }
  return {};
}

// ---- softmax does not change when a constant is added to its input

bool is_softmax(const Environment&, const Claim& claim) {
  return (claim.op->name == "softmax" || claim.op->name == "log_softmax") &&
         facts(claim.inputs[0]).size >= 4;
}

// Checks that softmax does not change when a constant is added to its input.
Finding test_shift(const Environment& env, const Problem& problem) {
  Problem shifted = problem;
  shifted.inputs[0] = explicit_operand(problem.inputs[0]);
  for (Real& x : shifted.inputs[0].fill.values) x = rounded(x + 16, problem.inputs[0].dtype) - 0;
  // Rounded like `shifted`, so that both inputs contain the rounding errors of the shift.
  Problem back = shifted;
  for (Real& x : back.inputs[0].fill.values) x -= 16;
  const std::vector<Result> got = env.device.run(shifted), want = env.device.run(back);
  Bound bound = bound_of(*problem.op, got[0].dtype, env.profile, env.features,
                         static_cast<double>(count_of(problem.inputs[0].shape)));
  const Verdict verdict = compare(got[0].values(), got[0].dtype, want[0].values(), bound);
  return verdict.passed ? Finding()
                        : Finding::fault("with an input shifted by 16, " + verdict.message);
}

// ---- (a b)^T = b^T a^T

bool is_matmul(const Environment&, const Claim& claim) { return claim.op->name == "matmul"; }

std::vector<Problem> rank_2_products(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = some_problems(env, claim);
  std::erase_if(problems, [](const Problem& p) {
    return p.inputs[0].shape.size() != 2 || p.inputs[1].shape.size() != 2;
  });
  for (Problem& p : problems) p.expected.clear();
  return problems;
}

// Checks that the transpose of a product equals the product of the transposes in reverse order.
Finding test_transposes(const Environment& env, const Problem& problem) {
  Problem other = problem;
  std::swap(other.inputs[0], other.inputs[1]);
  const bool a = problem.attr("transpose_a").flag(), b = problem.attr("transpose_b").flag();
  other.attrs["transpose_a"] = !b;
  other.attrs["transpose_b"] = !a;
  const std::vector<Result> got = env.device.run(other), want = env.device.run(problem);
  const Reals x = got[0].values(), y = want[0].values();
  const int64_t rows = want[0].shape[0], columns = want[0].shape[1];
  const double k = static_cast<double>(problem.inputs[0].shape[a ? 0 : 1]);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const Real p = y[static_cast<size_t>(i * columns + j)],
                 q = x[static_cast<size_t>(j * rows + i)];
      const Real slack = is_float(want[0].dtype)
                             ? 2 * accumulation_bound(k, k, want[0].dtype) + ulp(p, want[0].dtype)
                             : Real(0);
      if (real_abs(p - q) <= slack) continue;
      return Finding::fault("element (" + std::to_string(i) + ", " + std::to_string(j) + ") is " +
                            text(p) + ", and " + text(q) + " of the transposed product");
    }
  }
  return {};
}

}  // namespace

std::vector<Check> relation_checks() {
  return {
      {"commutes", 2, "Swapped inputs give bitwise equal results.", is_commutative, some_problems,
       test_commutes},
      {"linear", 2, "Twice the input gives twice the output.", is_linear, some_problems,
       test_linear},
      {"parts", 2, "Parts of the inputs give the same bits as parts of the output.",
       is_numeric_elementwise, long_problems, test_slices},
      {"slices", 2,
       "Each slice along the first, untouched axis gives bitwise the same result on its own.",
       is_computed_by_rows, line_problems, test_row_halves},
      {"shift", 2, "A softmax is invariant to a shift of its input.", is_softmax, some_problems,
       test_shift},
      {"transposes", 2, "The transpose of a product is the product of the transposes.", is_matmul,
       rank_2_products, test_transposes},
  };
}

}  // namespace tenon_kit
