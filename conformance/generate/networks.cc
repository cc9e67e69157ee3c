// Problems that do not depend on the seed, with configurations that are common in neural networks:
// pooling and convolutions with the usual windows, normalisations of a batch, attention, and tables
// with more than 65,536 rows.

#include <algorithm>
#include <set>

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

enum class Size { kSmall, kReal };

struct Common {
  const char* op;
  AttrValues attrs;
  std::vector<Sizes> shapes;  // Shapes of the inputs.
  Size size = Size::kSmall;
};

// ---- windows

struct Window {
  Sizes x, w, y;  // Shapes of the input, the filter and the output.
  AttrValues attrs;
  Size size = Size::kSmall;
};

// Attributes of a convolution or pooling with equal values along both spatial axes.
AttrValues window_attrs(int64_t stride, int64_t pad, int64_t dilation = 1, int64_t group = 1) {
  return {{"strides", Sizes{stride, stride}},
          {"pads", Sizes{pad, pad, pad, pad}},
          {"dilations", Sizes{dilation, dilation}},
          {"group", group}};
}

const std::vector<Window>& convolution_windows() {
  static const std::vector<Window> all = {
      // Kernels of 1x1, of 3x3 with strides 1 and 2, and of 7x7 with stride 2.
      {{2, 5, 4, 6}, {3, 5, 1, 1}, {2, 3, 4, 6}, window_attrs(1, 0)},
      {{2, 3, 6, 5}, {4, 3, 3, 3}, {2, 4, 6, 5}, window_attrs(1, 1)},
      {{2, 3, 7, 8}, {4, 3, 3, 3}, {2, 4, 4, 4}, window_attrs(2, 1)},
      {{1, 3, 11, 12}, {2, 3, 7, 7}, {1, 2, 6, 6}, window_attrs(2, 3)},
      // Two depthwise convolutions, with one and with two filters per channel, and two grouped
      // convolutions with dilation.
      {{2, 4, 6, 5}, {4, 1, 3, 3}, {2, 4, 6, 5}, window_attrs(1, 1, 1, 4)},
      {{1, 3, 7, 6}, {6, 1, 3, 3}, {1, 6, 4, 3}, window_attrs(2, 1, 1, 3)},
      {{1, 6, 7, 8}, {4, 3, 3, 3}, {1, 4, 7, 8}, window_attrs(1, 2, 2, 2)},
      {{1, 4, 9, 8}, {6, 2, 3, 2}, {1, 6, 3, 4}, window_attrs(2, 0, 2, 2)},
      // Sizes of ResNet and MobileNet layers.
      {{2, 64, 14, 14}, {96, 64, 1, 1}, {2, 96, 14, 14}, window_attrs(1, 0), Size::kReal},
      {{2, 32, 28, 28}, {32, 32, 3, 3}, {2, 32, 28, 28}, window_attrs(1, 1), Size::kReal},
      {{2, 32, 28, 28}, {48, 32, 3, 3}, {2, 48, 14, 14}, window_attrs(2, 1), Size::kReal},
      {{1, 3, 96, 96}, {16, 3, 7, 7}, {1, 16, 48, 48}, window_attrs(2, 3), Size::kReal},
      {{2, 48, 28, 28}, {48, 1, 3, 3}, {2, 48, 28, 28}, window_attrs(1, 1, 1, 48), Size::kReal},
      {{1, 32, 28, 28}, {48, 8, 3, 3}, {1, 48, 28, 28}, window_attrs(1, 2, 2, 4), Size::kReal},
  };
  return all;
}

const std::vector<Window>& pooling_windows() {
  static const std::vector<Window> all = {
      {{2, 3, 6, 8}, {2, 2}, {}, window_attrs(2, 0)},
      {{1, 2, 7, 9}, {2, 2}, {}, window_attrs(2, 0)},
      {{2, 2, 9, 8}, {3, 3}, {}, window_attrs(2, 1)},
      {{1, 3, 7, 7}, {3, 3}, {}, window_attrs(1, 1)},
      {{4, 16, 28, 28}, {2, 2}, {}, window_attrs(2, 0), Size::kReal},
      {{2, 16, 56, 56}, {3, 3}, {}, window_attrs(2, 1), Size::kReal},
  };
  return all;
}

std::vector<Common> window_configurations() {
  std::vector<Common> all;
  for (const Window& conv : convolution_windows()) {
    all.push_back({"conv", conv.attrs, {conv.x, conv.w, {conv.w[0]}}, conv.size});
    all.push_back({"conv_backward_input", conv.attrs, {conv.y, conv.w}, conv.size});
    all.back().attrs["shape"] = conv.x;
    all.push_back({"conv_backward_filter", conv.attrs, {conv.x, conv.y}, conv.size});
    all.back().attrs["shape"] = conv.w;
  }
  for (const Window& pool : pooling_windows()) {
    for (const char* op : {"max_pool", "avg_pool", "window_sum"}) {
      all.push_back({op, {{"kernel_shape", pool.w}}, {pool.x}, pool.size});
      for (const char* name : {"strides", "pads"}) all.back().attrs[name] = *pool.attrs.find(name);
    }
  }
  return all;
}

// ---- layers

std::vector<Common> layer_configurations() {
  const Size real = Size::kReal;
  std::vector<Common> all = {
      {"layer_norm", {}, {{3, 5, 24}, {24}, {24}}},
      {"layer_norm", {}, {{4, 33, 384}, {384}, {384}}, real},
      {"rms_norm", {}, {{3, 5, 24}, {24}}},
      {"rms_norm", {}, {{4, 33, 384}, {384}}, real},
      {"group_norm", {{"num_groups", 2}}, {{2, 6, 4, 5}, {6}, {6}}},
      {"group_norm", {{"num_groups", 8}}, {{2, 32, 14, 14}, {32}, {32}}, real},
      {"instance_norm", {}, {{2, 3, 4, 5}, {3}, {3}}},
      {"instance_norm", {}, {{2, 16, 28, 28}, {16}, {16}}, real},
      // Attention with heads that share keys and values, and with as many heads for these as for
      // queries; with and without masks.
      {"attention", {}, {{2, 4, 7, 8}, {2, 2, 9, 8}, {2, 2, 9, 6}}},
      {"attention", {{"is_causal", true}}, {{1, 2, 9, 8}, {1, 2, 9, 8}, {1, 2, 9, 8}}},
      {"attention", {}, {{1, 8, 128, 64}, {1, 2, 128, 64}, {1, 2, 128, 64}}, real},
      {"attention", {{"is_causal", true}}, {{2, 4, 97, 32}, {2, 4, 97, 32}, {2, 4, 97, 32}}, real},
      {"attention", {}, {{1, 4, 65, 32}, {1, 4, 97, 32}, {1, 4, 97, 32}, {65, 97}}, real},
  };
  for (const auto& [x, size] :
       {std::pair(Sizes{8, 3, 4, 5}, Size::kSmall), std::pair(Sizes{33, 6}, Size::kSmall),
        std::pair(Sizes{32, 16, 14, 14}, real), std::pair(Sizes{128, 65}, real)}) {
    const Sizes c = {x[1]};
    all.push_back({"batch_norm_train", {}, {x, c, c, c, c}, size});
    all.push_back({"batch_norm", {}, {x, c, c, c, c}, size});
  }
  return all;
}

bool is_norm(const std::string& op) { return op.find("norm") != std::string::npos; }

// ---- tables with more than 2^16 rows

constexpr int64_t kRows = 70001;

const std::set<std::string> kTables = {"embedding",       "gather",     "gather_nd",
                                       "gather_elements", "scatter_nd", "scatter_elements"};

Problem table_problem(const Claim& claim, uint64_t seed) {
  const std::string& op = claim.op->name;
  const bool writes = op == "scatter_nd" || op == "scatter_elements";
  // Rows on both sides of 2^16, and the last one.
  const Reals rows = {0, 65535, 65536, kRows - 1, 65537, 1, 69999, 131, 4465};
  const auto n = static_cast<int64_t>(rows.size());
  const bool is_flat = op == "scatter_elements" || op == "gather_elements";
  const bool has_tuples = op == "scatter_nd" || op == "gather_nd";
  const Sizes row = is_flat ? Sizes() : Sizes{3};
  const auto of = [&](int64_t size) {
    Sizes shape = {size};
    shape.insert(shape.end(), row.begin(), row.end());
    return shape;
  };
  Problem problem;
  problem.inputs = {uniform_operand(claim.inputs[0], of(kRows), seed),
                    explicit_operand(claim.inputs[1], has_tuples ? Sizes{n, 1} : Sizes{n}, rows)};
  if (writes) problem.inputs.push_back(uniform_operand(claim.inputs[2], of(n), seed + 1));
  return problem;
}

// Number of random values to draw. A generator draws them in blocks of four, and a 16-bit counter
// of blocks would overflow.
constexpr int64_t kBits = 300000;

const std::vector<Common>& common_configurations() {
  static const std::vector<Common> all = [] {
    std::vector<Common> list = window_configurations();
    for (Common& layer : layer_configurations()) list.push_back(std::move(layer));
    return list;
  }();
  return all;
}

// Whether the oracle computes the claim quickly enough for the sizes of real networks. It computes
// float64 in binary128, which is too slow; the check `work_sizes` tests such sizes in every dtype.
bool is_quick(const Claim& claim) {
  return claim.outputs.empty() || claim.outputs[0] != TENON_FLOAT64;
}

}  // namespace

bool has_common_problems(const OpFacts& op, bool real) {
  const auto& all = common_configurations();
  return std::any_of(all.begin(), all.end(), [&](const Common& c) { return op.name == c.op; }) ||
         (real && (op.name == "rng_bits" || kTables.contains(op.name)));
}

std::vector<Problem> common_problems(const Claim& claim, bool real, uint64_t seed,
                                     const Session& session) {
  std::vector<Problem> problems;
  for (const Common& common : common_configurations()) {
    const bool is_wanted = common.size == Size::kSmall || (real && is_quick(claim));
    if (claim.op->name != common.op || !is_wanted) continue;
    Problem problem;
    problem.attrs = common.attrs;
    for (size_t i = 0; i < common.shapes.size(); ++i) {
      if (i >= claim.inputs.size() || claim.inputs[i] == TENON_DTYPE_NONE) break;
      problem.inputs.push_back(uniform_operand(claim.inputs[i], common.shapes[i], seed + i));
      // Scales and variances are positive.
      if (is_norm(claim.op->name) && i > 0) problem.inputs.back().fill.low = 0.25;
    }
    problems.push_back(std::move(problem));
  }
  if (real && kTables.contains(claim.op->name)) problems.push_back(table_problem(claim, seed));
  if (real && claim.op->name == "rng_bits") {
    problems.push_back(retargeted_cases(claim).at(0));
    problems.back().name.clear();
    problems.back().expected.clear();
    problems.back().inputs = {uniform_operand(claim.inputs[0], {6}, seed)};
    problems.back().attrs["shape"] = Sizes{kBits};
  }
  for (Problem& problem : problems) problem.op = claim.op;
  std::erase_if(problems, [&](const Problem& p) {
    return claim.op->index_rule.empty() && !is_valid(p, claim, session);
  });
  return problems;
}

}  // namespace tenon_kit
