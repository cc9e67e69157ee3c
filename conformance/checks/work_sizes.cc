// Checks launches with the sizes of real work. Two or three extents are large at once, each past
// the blocks and tiles into which kernels split them, and devices split the launch among threads.
// Inputs are small integers, so results are exact and compared bit by bit.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "conformance/checks/check.h"
#include "conformance/kit/whole.h"

namespace tenon_kit {
namespace {

// Inputs are integers from -2 to 2, so a product is at most 4. The float32 error of a sum of at
// most 1000 products, in any order, is below 4 * 1000^2 * 2^-24, which is about a quarter.
constexpr double kLow = -2, kHigh = 3;
constexpr double kSumTolerance = 0.25;
// More threads than some machines have cores, so that some tasks wait while others run.
constexpr uint32_t kThreads = 4;

struct Work {
  const char* op;
  AttrValues attrs;
  std::vector<Sizes> shapes;         // Shapes of the inputs.
  std::vector<Layout> layouts = {};  // Layouts of the inputs; empty: dense.
  int64_t bound = 0;  // Exclusive upper bound of the indices in the second input; 0 for none.
};

constexpr Layout kDense = Layout::kDense, kTransposed = Layout::kTransposed;
constexpr Layout kStepped = Layout::kStepped, kReversed = Layout::kReversed;

// Matrix products whose sizes m, n and k exceed 512 and 768, the sizes of the kernels' blocks: one
// size at a time, and several sizes together.
const std::vector<Work>& matrix_product_work() {
  static const std::vector<Work> all = {
      {"matmul", {}, {{531, 801}, {801, 785}}},
      {"matmul", {{"transpose_a", true}}, {{785, 801}, {785, 65}}},
      {"matmul", {{"transpose_b", true}}, {{33, 801}, {785, 801}}},
      {"matmul", {{"transpose_a", true}, {"transpose_b", true}}, {{17, 785}, {801, 17}}},
      {"matmul", {}, {{785, 545}, {545, 1}}},
      {"matmul", {}, {{3, 129, 257}, {257, 161}}},
      {"matmul", {}, {{1, 97, 161}, {5, 161, 97}}, {kDense, kTransposed}},
      // More matrices than a grid has blocks along its third axis.
      {"matmul", {}, {{70001, 2, 3}, {70001, 3, 1}}},
      {"gemm", {{"trans_b", true}}, {{545, 801}, {97, 801}, {97}}},
      {"int8_matmul", {}, {{531, 801}, {801, 97}}},
      {"int8_matmul", {}, {{97, 785}, {785, 531}}},
  };
  return all;
}

// Convolutions that, as matrix products, have two extents of more than 512 rows, columns or terms.
const std::vector<Work>& convolution_work() {
  static const Sizes same = {1, 1, 1, 1}, twice = {2, 2};
  struct Conv {
    Sizes x, w, y;
    AttrValues attrs;
  };
  static const std::vector<Conv> convs = {
      {{2, 97, 17, 19}, {65, 97, 3, 3}, {2, 65, 17, 19}, {{"pads", same}}},
      {{1, 33, 31, 31}, {545, 33, 1, 1}, {1, 545, 31, 31}, {}},
      {{2, 33, 35, 37}, {65, 33, 3, 3}, {2, 65, 18, 19}, {{"pads", same}, {"strides", twice}}},
      {{1, 66, 30, 31}, {66, 1, 3, 3}, {1, 66, 30, 31}, {{"pads", same}, {"group", 66}}},
      {{1, 36, 29, 33},
       {70, 18, 3, 3},
       {1, 70, 29, 33},
       {{"pads", Sizes{2, 2, 2, 2}}, {"dilations", twice}, {"group", 2}}},
  };
  static const std::vector<Work> all = [] {
    std::vector<Work> list;
    for (const Conv& conv : convs) {
      list.push_back({"conv", conv.attrs, {conv.x, conv.w}});
      list.push_back({"conv_backward_input", conv.attrs, {conv.y, conv.w}});
      list.back().attrs["shape"] = conv.x;
      list.push_back({"conv_backward_filter", conv.attrs, {conv.x, conv.y}});
      list.back().attrs["shape"] = conv.w;
    }
    return list;
  }();
  return all;
}

// Ops on more than 200,000 elements. Both sizes of moved and reduced tensors exceed a multiple of
// 32 by 1.
const std::vector<Work>& elementwise_and_move_work() {
  static const Sizes wide = {417, 545}, tall = {1057, 225};
  static const AttrValues window = {{"kernel_shape", Sizes{3, 3}}, {"strides", Sizes{2, 2}}};
  static const std::vector<Work> all = {
      {"copy", {}, {tall}, {kTransposed}},
      {"copy", {}, {wide}, {kTransposed}},
      {"copy", {}, {{65, 33, 97}}, {kTransposed}},
      {"copy", {}, {wide}, {kStepped}},
      {"copy", {}, {wide}, {kReversed}},
      {"cast", {}, {wide}, {kTransposed}},
      {"fill", {{"shape", wide}}, {Sizes{}}},
      {"iota", {{"shape", wide}, {"axis", 0}}, {}},
      {"iota", {{"shape", wide}, {"axis", 1}}, {}},
      {"add", {}, {wide, {545}}},
      {"add", {}, {{417, 1}, {1, 545}}, {kDense, kTransposed}},
      {"mul", {}, {wide, {417, 1}}, {kTransposed, kDense}},
      {"sub", {}, {wide, wide}, {kDense, kTransposed}},
      {"maximum", {}, {wide, {417, 1}}, {kStepped, kDense}},
      {"less", {}, {wide, wide}, {kTransposed, kTransposed}},
      {"where", {}, {{417, 1}, wide, {545}}, {kDense, kTransposed, kDense}},
      {"concat", {{"axis", 1}}, {{417, 33}, {417, 512}}, {kTransposed, kDense}},
      {"concat", {{"axis", 0}}, {{417, 545}, {33, 545}}},
      {"pad", {{"pads", Sizes{1, 2, 33, 4}}}, {wide}, {kTransposed}},
      {"dynamic_slice", {{"sizes", Sizes{385, 527}}}, {wide, {2}}, {}, 19},
      {"dynamic_update_slice", {}, {wide, {385, 527}, {2}}},
      {"sum", {{"axes", Sizes{0}}}, {wide}},
      {"sum", {{"axes", Sizes{1}}}, {wide}},
      {"sum", {{"axes", Sizes{0}}}, {tall}, {kTransposed}},
      {"sum", {{"axes", Sizes{1}}}, {tall}, {kTransposed}},
      {"sum", {{"axes", Sizes{0, 2}}}, {{25, 257, 35}}},
      {"sum", {{"axes", Sizes{1}}}, {{65, 97, 35}}},
      // More rows than a grid has blocks along its second axis.
      {"sum", {{"axes", Sizes{1}}}, {{70001, 3}}},
      {"max", {{"axes", Sizes{1}}}, {{70001, 3}}},
      {"cumsum", {{"axis", 1}}, {{70001, 3}}},
      {"softmax", {{"axis", 1}}, {{70001, 3}}},
      {"layer_norm", {}, {{70001, 3}, {3}, {3}}},
      {"max", {{"axes", Sizes{0}}}, {wide}},
      {"max", {{"axes", Sizes{1}}}, {wide}, {kTransposed}},
      {"min", {{"axes", Sizes{1}}}, {{65, 97, 35}}},
      {"any", {{"axes", Sizes{1}}}, {{70001, 3}}},
      {"all", {{"axes", Sizes{0}}}, {{3, 70001}}},
      {"mean", {{"axes", Sizes{0}}}, {wide}},
      {"argmax", {{"axis", 0}}, {wide}},
      {"argmax", {{"axis", 1}}, {wide}, {kTransposed}},
      {"argmin", {{"axis", 1}}, {{65, 97, 35}}},
      {"cumsum", {{"axis", 0}}, {wide}},
      {"cumsum", {{"axis", 1}}, {wide}, {kTransposed}},
      {"cumsum", {{"axis", 1}, {"reverse", true}}, {{65, 97, 35}}},
      {"cummax", {{"axis", 0}}, {wide}},
      {"cummin", {{"axis", 1}}, {wide}},
      {"sort", {{"axis", 0}}, {wide}},
      {"sort", {{"axis", 1}, {"descending", true}}, {wide}},
      {"argsort", {{"axis", 0}}, {wide}},
      {"top_k", {{"axis", 1}, {"k", 33}}, {wide}},
      {"gather", {{"axis", 0}}, {wide, {401}}, {}, 417},
      {"gather", {{"axis", 1}}, {wide, {401}}, {}, 545},
      {"gather", {{"axis", 1}}, {wide, {401}}, {kTransposed}, 545},
      {"gather_elements", {{"axis", 0}}, {wide, {401, 545}}, {}, 417},
      {"gather_nd", {}, {{417, 17, 33}, {401, 1}}, {}, 417},
      {"scatter_elements", {{"axis", 0}}, {{257, 545}, wide, wide}, {}, 257},
      {"scatter_nd", {}, {{257, 545}, {417, 1}, wide}, {}, 257},
      {"scatter_elements", {{"axis", 0}, {"reduction", "add"}}, {{257, 545}, wide, wide}, {}, 257},
      {"scatter_nd", {{"reduction", "add"}}, {{257, 545}, {417, 1}, wide}, {}, 257},
      {"max_pool", window, {{2, 33, 65, 97}}},
      {"max_pool", {{"kernel_shape", Sizes{2, 2}}, {"strides", Sizes{2, 2}}}, {{2, 33, 65, 97}}},
      {"window_sum", window, {{2, 33, 65, 97}}},
  };
  return all;
}

const std::vector<Work>& all_work() {
  static const std::vector<Work> all = [] {
    std::vector<Work> list = matrix_product_work();
    for (const auto* more : {&convolution_work(), &elementwise_and_move_work()}) {
      list.insert(list.end(), more->begin(), more->end());
    }
    return list;
  }();
  return all;
}

// Whether the claim's op is in all_work(), which only an ordinary run tests.
bool has_work(const Environment& env, const Claim& claim) {
  const auto& all = all_work();
  return env.thorough && std::any_of(all.begin(), all.end(),
                                     [&](const Work& work) { return claim.op->name == work.op; });
}

std::vector<Problem> work_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems;
  for (const Work& work : all_work()) {
    if (claim.op->name != work.op ||
        claim.inputs.size() < std::min<size_t>(1, work.shapes.size())) {
      continue;
    }
    Problem problem;
    problem.op = claim.op;
    problem.attrs = work.attrs;
    for (const AttrFacts& attr : claim.op->attrs) {
      if (attr.type == "dtype") problem.attrs[attr.name] = name_of(claim.outputs[0]);
    }
    for (size_t i = 0; i < work.shapes.size(); ++i) {
      Operand x;
      x.dtype = claim.inputs[std::min(i, claim.inputs.size() - 1)];
      x.shape = work.shapes[i];
      x.layout = i < work.layouts.size() ? work.layouts[i] : Layout::kDense;
      const bool is_index = work.bound > 0 && i == 1;
      const bool has_sign = is_float(x.dtype) || is_signed(x.dtype);
      x.fill = {.kind = Fill::Kind::kWhole,
                .low = is_index || !has_sign ? 0 : kLow,
                .high = is_index           ? static_cast<double>(work.bound)
                        : is_bool(x.dtype) ? 2
                                           : kHigh,
                .seed = env.seed + i};
      problem.inputs.push_back(std::move(x));
    }
    if (is_valid(problem, claim, env.oracle)) problems.push_back(std::move(problem));
  }
  return problems;
}

// ---- expected results

// The expected product of two matrices, computed here because the oracle would take seconds.
std::vector<std::byte> product(const Problem& problem) {
  const bool flips_a = problem.attr("transpose_a").flag();
  const bool flips_b = problem.attr("transpose_b").flag();
  const Operand &x = problem.inputs[0], &y = problem.inputs[1];
  const int64_t m = x.shape[flips_a], k = x.shape[!flips_a], n = y.shape[!flips_b];
  const std::vector<int32_t> a = integer_elements(x), b = integer_elements(y);
  std::vector<int32_t> sums(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i) {
    int32_t* const row = &sums[static_cast<size_t>(i * n)];
    for (int64_t l = 0; l < k; ++l) {
      const int32_t left = a[static_cast<size_t>(flips_a ? l * m + i : i * k + l)];
      const int32_t* const right = &b[static_cast<size_t>(flips_b ? l : l * n)];
      const int64_t step = flips_b ? k : 1;
      for (int64_t j = 0; j < n; ++j) row[j] += left * right[j * step];
    }
  }
  return encode_integers(sums, x.dtype);
}

// Computes the expected results: matrix products of small integers here, all others by the oracle.
std::vector<Result> expected_results(const Environment& env, const Problem& problem) {
  const bool is_whole = std::all_of(
      problem.inputs.begin(), problem.inputs.end(),
      [](const Operand& x) { return is_tensor(x) && x.fill.kind == Fill::Kind::kWhole; });
  if (problem.op->name != "matmul" || problem.inputs[0].shape.size() != 2 ||
      problem.inputs[1].shape.size() != 2 || !is_whole) {
    return env.oracle.run(problem);
  }
  const auto [dtype, shape] = env.oracle.infer(problem).at(0);
  return {{dtype, shape, product(problem)}};
}

// ---- the test

// Whether results are exact: the op moves or compares values, or sums integers.
bool is_exact(const OpFacts& op) {
  return op.numeric == "exact" || op.numeric == "rounded" ||
         (op.numeric == "accumulation" && op.name != "mean");
}

// Formats the multidimensional index of the i-th element of an array, such as "[1,2]".
std::string index_text(size_t i, const Sizes& shape) {
  Sizes at(shape.size());
  auto rest = static_cast<int64_t>(i);
  for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) at[axis] = rest % shape[axis];
  return fmt::format("[{}]", fmt::join(at, ","));
}

// Compares one output. Returns a message, or an empty string if the output is right.
std::string compare_output(const Problem& problem, const Result& got, const Result& want) {
  if (std::string types = compare_types(got, want.dtype, want.shape); !types.empty()) return types;
  if (got.bytes == want.bytes) return "";
  const bool sums = problem.op->numeric == "accumulation" && is_float(got.dtype);
  const size_t size = facts(got.dtype).size, n = got.bytes.size() / size;
  for (size_t i = 0; i < n; ++i) {
    if (std::memcmp(&got.bytes[i * size], &want.bytes[i * size], size) == 0) continue;
    const Real x = decode(std::span(got.bytes).subspan(i * size, size), got.dtype)[0];
    const Real right = decode(std::span(want.bytes).subspan(i * size, size), want.dtype)[0];
    // A sum close to the midpoint of two values may be rounded in either direction.
    const Real unit = ulp(right, got.dtype), allowed = kSumTolerance + (unit > 0.25 ? unit : 0);
    if (sums && real_abs(x - right) <= allowed) continue;
    return fmt::format("element {} of {} is {}, not {}", index_text(i, got.shape),
                       type_text(got.dtype, got.shape), text(x), text(right));
  }
  return "";
}

// Checks that launches with several large extents give the expected results.
Finding test_work(const Environment& env, const Problem& problem) {
  const std::shared_ptr<Session> threaded = env.with_threads ? env.with_threads(kThreads) : nullptr;
  const std::vector<Result> got = (threaded ? *threaded : env.device).run(problem);
  if (!is_exact(*problem.op)) {
    Finding finding = judge_values(env, problem, got);
    finding.trusted = true;
    return finding;
  }
  const std::vector<Result> want = expected_results(env, problem);
  for (size_t i = 0; i < got.size() && i < want.size(); ++i) {
    const std::string fault = compare_output(problem, got[i], want[i]);
    if (fault.empty()) continue;
    return Finding::fault(got.size() == 1 ? fault : fmt::format("output {}: {}", i, fault));
  }
  return {};
}

}  // namespace

std::vector<Check> work_size_checks() {
  return {
      {"work_sizes", 2,
       "Launches with several large extents, with edges past blocks and tiles, are right on four "
       "threads.",
       has_work, work_problems, test_work},
  };
}

}  // namespace tenon_kit
