// Checks rows that are longer than some limit of a device: 16-bit counters, drivers that end loops
// after 65,535 iterations, and the chunks into which long rows are split.
//
// Sums of a million equal terms reveal serial summation: many consecutive rounding
// errors have the same sign, so the relative error of a serial float32 sum is 1 %, 26 times the
// bound of a blocked sum. Rows of logits up to 100 overflow in `exp` unless the maximum of the
// whole row is subtracted first.

#include <algorithm>

#include "conformance/checks/check.h"

namespace tenon_kit {
namespace {

constexpr int64_t kLong = 100003;
constexpr int64_t kSide = 317;  // Side of a square image with about kLong elements.
constexpr int64_t kMillion = 1 << 20;
// Number of updates of a scatter. One shader invocation may have to add up all of them.
constexpr int64_t kUpdates = 1 << 18;
constexpr int64_t kWide = 1024;  // Side of a square image with kMillion elements.

struct Line {
  const char* op;
  AttrValues attrs;
  std::vector<Sizes> shapes;  // Shapes of the inputs.
  // Exclusive upper bound of the indices in the second input; 0 if that input holds no indices.
  int64_t bound = 0;
};

// Test inputs for sums of a million terms, each equal to kTerm.
constexpr double kTerm = 0.1;
const std::vector<Line>& long_sums() {
  static const Sizes square = {1, 1, kWide, kWide};
  static const AttrValues window = {{"kernel_shape", Sizes{kWide, kWide}}};
  static const AttrValues one_tap = {{"shape", Sizes{1, 1, 1, 1}}};
  static const std::vector<Line> all = {
      {"sum", {}, {{kMillion}}},
      {"sum", {{"axes", Sizes{0}}}, {{kMillion, 3}}},
      {"mean", {}, {{kMillion}}},
      {"cumsum", {}, {{kMillion}}},
      {"cumsum", {{"axis", 0}, {"reverse", true}}, {{kMillion, 2}}},
      {"matmul", {}, {{1, kMillion}, {kMillion, 1}}},
      {"matmul", {}, {{3, kMillion}, {kMillion, 5}}},
      {"gemm", {{"trans_a", true}}, {{kMillion, 2}, {kMillion, 2}}},
      {"conv", {}, {square, square}},
      {"conv_backward_filter", one_tap, {square, square}},
      {"conv_backward_filter", one_tap, {{64, 1, 128, 128}, {64, 1, 128, 128}}},
      {"window_sum", window, {square}},
      {"window_sum", {{"kernel_shape", Sizes{kMillion, 1}}}, {{1, 1, kMillion, 1}}},
      {"scatter_elements", {{"reduction", "add"}}, {{2}, {kUpdates}, {kUpdates}}, 1},
      {"scatter_nd", {{"reduction", "add"}}, {{3, 2}, {kUpdates, 1}, {kUpdates, 2}}, 1},
      {"segment_reduce", {{"num_segments", 2}}, {{kMillion}, {kMillion}}, 1},
  };
  return all;
}

// Sums of a million equal terms in composite ops. Normalisations by the mean and logarithms of sums
// are missing, because their error bounds exceed the error of a serial sum. Not in the smoke test.
const std::vector<Line>& long_sums_of_composites() {
  static const Sizes square = {1, 1, kWide, kWide};
  static const AttrValues window = {{"kernel_shape", Sizes{kWide, kWide}}};
  static const AttrValues all_pads = {{"shape", Sizes{1, 1, 1, 1}}, {"pads", Sizes(4, kWide - 1)}};
  static const std::vector<Line> all = {
      {"gemm", {{"trans_b", true}}, {{3, kMillion}, {2, kMillion}}},
      {"dense", {}, {{2, kMillion}, {kMillion, 3}}},
      {"tensordot", {{"axes_a", Sizes{1}}, {"axes_b", Sizes{0}}}, {{2, kMillion}, {kMillion, 3}}},
      {"conv_backward_input", all_pads, {square, square}},
      {"conv_backward_input",
       {{"shape", Sizes{1, 1, 8, 8}}},
       {{1, kMillion / 8, 8, 8}, {kMillion / 8, 1, 1, 1}}},
      {"depthwise", {}, {square, square}},
      {"avg_pool", window, {square}},
      {"global_avg_pool", {}, {square}},
      {"sum_square", {}, {{kMillion}}},
      {"l1_norm", {}, {{kMillion}}},
      {"l2_norm", {}, {{kMillion}}},
      {"moments", {}, {{kMillion}}},
      {"rms_norm", {}, {{2, kMillion}, {kMillion}}},
      {"softmax_cross_entropy", {}, {{1, kMillion}, {1, kMillion}}},
      {"sparse_softmax_cross_entropy", {}, {{kMillion, 2}, {kMillion}}, 1},
  };
  return all;
}

// Logits between -100 and 100 in rows longer than a work group.
constexpr double kLogit = 100;
constexpr int64_t kGroup = 256;
constexpr double kFactor = 5;
// Test inputs for ops that apply `exp` to rows of logits.
const std::vector<Line>& logit_lines() {
  static const std::vector<Line> all = {
      {"softmax", {}, {{5, 300}}},
      {"softmax", {}, {{3, 1025}}},
      {"softmax", {{"axis", 0}}, {{517, 5}}},
      {"log_softmax", {}, {{5, 300}}},
      {"log_softmax", {}, {{3, 1025}}},
      {"log_softmax", {{"axis", 0}}, {{517, 5}}},
      {"logsumexp", {{"axes", Sizes{1}}}, {{5, 300}}},
      {"logsumexp", {{"axes", Sizes{0}}}, {{1025, 3}}},
      {"softmax_cross_entropy", {}, {{5, 300}, {5, 300}}},
      {"softmax_cross_entropy", {{"reduction", "none"}}, {{3, 1025}, {3, 1025}}},
      {"sparse_softmax_cross_entropy", {}, {{5, 300}, {5}}, 300},
      {"sparse_softmax_cross_entropy", {{"reduction", "none"}}, {{3, 1025}, {3}}, 1025},
      // Each attention score is a sum of 16 products of numbers up to kFactor, times 1/4.
      {"attention", {}, {{1, 2, 5, 16}, {1, 1, 300, 16}, {1, 1, 300, 3}}},
      {"attention", {{"is_causal", true}}, {{1, 1, 300, 16}, {1, 1, 300, 16}, {1, 1, 300, 3}}},
  };
  return all;
}

// Test inputs with rows longer than limits of some devices.
const std::vector<Line>& lines() {
  static const Sizes square = {1, 1, kSide, kSide};
  static const AttrValues window = {{"kernel_shape", Sizes{kSide, kSide}}};
  static const std::vector<Line> all = {
      {"sum", {}, {{kLong}}},
      {"max", {}, {{kLong}}},
      {"argmax", {}, {{kLong}}},
      {"argmin", {}, {{kLong}}},
      {"cumsum", {}, {{kLong}}},
      {"cumsum", {{"exclusive", true}, {"reverse", true}}, {{2, kLong}}},
      {"cummax", {}, {{kLong}}},
      {"cummax", {}, {{2, 6 * kLong}}},
      {"cummin", {{"reverse", true}}, {{kLong}}},
      {"sort", {}, {{kLong}}},
      {"top_k", {{"k", 20011}, {"sorted", false}}, {{kLong}}},
      {"nonzero", {{"size", 1000}}, {{3 * kLong}}},
      // Scatters of many updates into few elements, or of all updates into one element.
      {"scatter_elements", {{"reduction", "add"}}, {{1009}, {kLong}, {kLong}}, 1009},
      {"scatter_elements", {}, {{1009}, {kLong}, {kLong}}, 1009},
      {"scatter_elements", {{"reduction", "max"}}, {{2}, {kLong}, {kLong}}, 1},
      {"scatter_nd", {{"reduction", "add"}}, {{1009, 2}, {kLong, 1}, {kLong, 2}}, 1009},
      {"scatter_nd", {}, {{3, 3}, {kLong, 2}, {kLong}}, 3},
      {"matmul", {}, {{2, kLong}, {kLong, 3}}},
      {"int8_matmul", {}, {{2, kLong}, {kLong, 3}}},
      {"attention", {}, {{1, 2, 2, 3}, {1, 1, kLong, 3}, {1, 1, kLong, 2}}},
      {"conv", {}, {square, square}},
      {"conv_backward_filter", {{"shape", Sizes{1, 1, 1, 1}}}, {square, square}},
      {"max_pool", window, {{8, 1, kSide, kSide}}},
      {"window_sum", window, {square}},
  };
  return all;
}

// Test inputs with rows so long that devices also split the chunks of a row. Not in the smoke test.
const std::vector<Line>& longer_lines() {
  static const std::vector<Line> all = {
      {"cumsum", {}, {{42 * kLong}}},
      {"nonzero", {{"size", 1000}}, {{40 * kLong}}},
  };
  return all;
}

// Whether the claim is tested on long rows: its op is in lines(), and it has the one dtype of each
// kind that is tested. How devices split rows does not depend on the dtype.
bool has_lines(const Environment&, const Claim& claim) {
  if (claim.inputs.empty()) return false;
  const tenon_dtype dtype = claim.inputs[0];
  const bool is_told = claim.op->name == "int8_matmul" || dtype == TENON_FLOAT32 ||
                       (dtype == TENON_INT64 && !is_float(claim.inputs.back()));
  const auto& all = lines();
  return is_told && std::any_of(all.begin(), all.end(),
                                [&](const Line& line) { return claim.op->name == line.op; });
}

// Returns the problems of `lines` for the claim's op. Float inputs are drawn from [low, high).
std::vector<Problem> problems_of(const Environment& env, const Claim& claim,
                                 const std::vector<Line>& lines, double low, double high) {
  std::vector<Problem> problems;
  for (const Line& line : lines) {
    if (claim.op->name != line.op || claim.inputs.size() < line.shapes.size()) continue;
    Problem problem;
    problem.op = claim.op;
    problem.attrs = line.attrs;
    for (size_t i = 0; i < line.shapes.size(); ++i) {
      const bool is_index = line.bound > 0 && i == 1;
      Operand x = is_index ? indices(claim.inputs[i], line.shapes[i], line.bound, env.seed)
                           : uniform_operand(claim.inputs[i], line.shapes[i], env.seed + i);
      if (is_float(x.dtype)) x.fill.low = low, x.fill.high = high;
      problem.inputs.push_back(std::move(x));
    }
    problems.push_back(std::move(problem));
  }
  return problems;
}

// Returns the problems of `always` and, except in the smoke test, those of `thorough`.
std::vector<Problem> problems_of(const Environment& env, const Claim& claim,
                                 const std::vector<Line>& always, const std::vector<Line>& thorough,
                                 double low, double high) {
  std::vector<Problem> problems = problems_of(env, claim, always, low, high);
  if (!env.thorough) return problems;
  for (Problem& more : problems_of(env, claim, thorough, low, high)) {
    problems.push_back(std::move(more));
  }
  return problems;
}

// Returns problems with long rows, in which floats are positive. If terms cancelled each other, the
// effect of a missing term could stay within the error bound of a long sum.
std::vector<Problem> long_problems(const Environment& env, const Claim& claim) {
  return problems_of(env, claim, lines(), longer_lines(), 0.5, 1);
}

bool has_long_sums(const Environment& env, const Claim& claim) {
  const auto has = [&](const std::vector<Line>& all) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Line& line) { return claim.op->name == line.op; });
  };
  return !claim.inputs.empty() && claim.inputs[0] == TENON_FLOAT32 &&
         (has(long_sums()) || (env.thorough && has(long_sums_of_composites())));
}
std::vector<Problem> sum_problems(const Environment& env, const Claim& claim) {
  return problems_of(env, claim, long_sums(), long_sums_of_composites(), kTerm, kTerm);
}

// Checks that sums of a million terms are within the error bound.
Finding test_long_sums(const Environment& env, const Problem& problem) {
  return judge_values(env, problem, env.device.run(problem));
}

bool has_logit_lines(const Environment& env, const Claim& claim) {
  const auto& all = logit_lines();
  return has_float_input(env, claim) && (claim.claimed || claim.inputs[0] == TENON_FLOAT32) &&
         std::any_of(all.begin(), all.end(),
                     [&](const Line& line) { return claim.op->name == line.op; });
}

// Returns the operand with signs changed: along the axis, no value before index `from` is positive,
// and no later value is negative. The maximum of each row is thus found after the first work group.
Operand nonpositive_then_nonnegative(const Operand& x, size_t axis, int64_t from) {
  int64_t inner = 1;
  for (size_t i = axis + 1; i < x.shape.size(); ++i) inner *= x.shape[i];
  Reals values = x.values();
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) / inner % x.shape[axis];
    values[i] = at < from ? 0 - real_abs(values[i]) : real_abs(values[i]);
  }
  return with_values(x, std::move(values));
}

// Returns problems with rows of integer logits. Every dtype represents these exactly, so attention
// scores are exact as well.
std::vector<Problem> logit_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = problems_of(env, claim, logit_lines(), 0.25, 1);
  if (!env.thorough && problems.size() > 1) problems.resize(1);
  const auto set = [&](Operand& x, double most, size_t axis, int64_t from) {
    x.fill = {.kind = Fill::Kind::kWhole, .low = -most, .high = most + 1, .seed = env.seed};
    x = nonpositive_then_nonnegative(x, axis, from);
  };
  for (Problem& problem : problems) {
    if (claim.op->name == "attention") {
      set(problem.inputs[0], kFactor, 3, 0);
      set(problem.inputs[1], kFactor, 2, kGroup);
      continue;
    }
    const AttrValue* const axes = problem.attrs.find("axes");
    const bool is_first = (axes && axes->list()[0] == 0) || problem.attrs.find("axis");
    set(problem.inputs[0], kLogit, is_first ? 0 : 1, kGroup);
  }
  return problems;
}

// Checks that ops that apply `exp` to long rows of large logits neither overflow nor lose
// precision.
Finding test_logit_lines(const Environment& env, const Problem& problem) {
  Finding finding = judge_values(env, problem, env.device.run(problem));
  // Does not judge whether the oracle's values could reveal a fault: most of these probabilities
  // are close to zero.
  finding.trusted = true;
  return finding;
}

}  // namespace

std::vector<Check> long_line_checks() {
  return {
      {"long_lines", 2,
       "Results along axes of a hundred thousand elements, updates or products are right.",
       has_lines, long_problems, test_long_sums},
      {"long_sums", 2,
       "Sums of a million terms, where serial float32 accumulation exceeds the error bound.",
       has_long_sums, sum_problems, test_long_sums},
      {.name = "hard_rows",
       .level = 3,
       .what = "Logits of up to 100 in rows of more than 256 neither overflow nor lose precision.",
       .applies = has_logit_lines,
       .problems = logit_problems,
       .test = test_logit_lines,
       .of_unclaimed = true},
  };
}

}  // namespace tenon_kit
