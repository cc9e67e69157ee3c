#include "plugins/cuda/testing/examples.h"

namespace tenon_cuda::testing {
namespace {

using namespace tenon_sdk::testing;

constexpr int64_t kOne[] = {1, 1}, kTwo[] = {2, 2}, kNone[] = {0, 0, 0, 0}, kLast[] = {1},
                  kPads[] = {1, -1}, kFilter[] = {1, 1, 2}, kInput[] = {1, 1, 5};

constexpr tenon_iota_attrs kIota = {.struct_size = sizeof kIota, .axis = 1};
constexpr tenon_concat_attrs kConcat = {.struct_size = sizeof kConcat, .axis = 1};
constexpr tenon_pad_attrs kPad = {.struct_size = sizeof kPad, .pads = kPads, .n_pads = 2};
constexpr tenon_gather_attrs kGather = {.struct_size = sizeof kGather, .axis = 1};
constexpr tenon_gather_elements_attrs kElements = {.struct_size = sizeof kElements, .axis = 1};
constexpr tenon_gather_nd_attrs kNd = {.struct_size = sizeof kNd, .batch_dims = 0};
constexpr tenon_scatter_elements_attrs kAdd = {
    .struct_size = sizeof kAdd, .axis = 1, .reduction = TENON_SCATTER_REDUCTION_ADD};
constexpr tenon_scatter_nd_attrs kReplace = {.struct_size = sizeof kReplace,
                                             .reduction = TENON_SCATTER_REDUCTION_NONE};
constexpr tenon_nonzero_attrs kNonZero = {.struct_size = sizeof kNonZero, .size = 3, .fill = -1};
constexpr tenon_sort_attrs kSort = {.struct_size = sizeof kSort, .axis = 0, .descending = false};
constexpr tenon_argsort_attrs kArgsort = {
    .struct_size = sizeof kArgsort, .axis = 0, .descending = true};
constexpr tenon_top_k_attrs kTopK = {
    .struct_size = sizeof kTopK, .k = 2, .axis = 0, .largest = true, .sorted = false};
constexpr tenon_searchsorted_attrs kSearch = {.struct_size = sizeof kSearch,
                                              .side = TENON_SEARCHSORTED_SIDE_RIGHT};
constexpr tenon_sum_attrs kRows = {.struct_size = sizeof kRows, .axes = kLast, .n_axes = 1};
constexpr tenon_argmax_attrs kArgmax = {.struct_size = sizeof kArgmax, .axis = 1};
constexpr tenon_cumsum_attrs kCumsum = {
    .struct_size = sizeof kCumsum, .axis = 0, .exclusive = true, .reverse = true};
constexpr tenon_cummax_attrs kCummax = {.struct_size = sizeof kCummax, .axis = 0, .reverse = false};
constexpr tenon_matmul_attrs kTransposedB = {
    .struct_size = sizeof kTransposedB, .transpose_a = false, .transpose_b = true};
constexpr tenon_conv_attrs kConv = {.struct_size = sizeof kConv,
                                    .strides = kOne,
                                    .n_strides = 1,
                                    .pads = kNone,
                                    .n_pads = 2,
                                    .dilations = kOne,
                                    .n_dilations = 1,
                                    .group = 1};
constexpr tenon_conv_backward_filter_attrs kConvFilter = {.struct_size = sizeof kConvFilter,
                                                          .shape = kFilter,
                                                          .n_shape = 3,
                                                          .strides = kOne,
                                                          .n_strides = 1,
                                                          .pads = kNone,
                                                          .n_pads = 2,
                                                          .dilations = kOne,
                                                          .n_dilations = 1,
                                                          .group = 1};
constexpr tenon_gemm_attrs kGemm = {
    .struct_size = sizeof kGemm, .alpha = 0.5, .beta = 2, .trans_a = false, .trans_b = true};
constexpr tenon_attention_attrs kCausal = {
    .struct_size = sizeof kCausal, .is_causal = true, .scale = 1, .softcap = 0};
constexpr tenon_conv_backward_input_attrs kConvInput = {.struct_size = sizeof kConvInput,
                                                        .shape = kInput,
                                                        .n_shape = 3,
                                                        .strides = kTwo,
                                                        .n_strides = 1,
                                                        .pads = kNone,
                                                        .n_pads = 2,
                                                        .dilations = kOne,
                                                        .n_dilations = 1,
                                                        .group = 1};
constexpr tenon_max_pool_attrs kPool = {.struct_size = sizeof kPool,
                                        .kernel_shape = kTwo,
                                        .n_kernel_shape = 1,
                                        .strides = kTwo,
                                        .n_strides = 1,
                                        .pads = kNone,
                                        .n_pads = 2,
                                        .dilations = kOne,
                                        .n_dilations = 1};
constexpr tenon_window_sum_attrs kWindowSum = {.struct_size = sizeof kWindowSum,
                                               .kernel_shape = kTwo,
                                               .n_kernel_shape = 1,
                                               .strides = kOne,
                                               .n_strides = 1,
                                               .pads = kNone,
                                               .n_pads = 2,
                                               .dilations = kOne,
                                               .n_dilations = 1};

std::vector<Example> make_examples() {
  const Tensor six = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  return {
      {"iota", TENON_OP_iota, &kIota, {}, {f32({2, 3}, {})}, {{0, 1, 2, 0, 1, 2}}},
      {"copy",
       TENON_OP_copy,
       nullptr,
       {six.as({3, 2}, {1, 3})},
       {f32({3, 2}, {})},
       {{1, 4, 2, 5, 3, 6}}},
      {"fill", TENON_OP_fill, nullptr, {by_value(i32({}, {7}))}, {i32({3}, {})}, {{7, 7, 7}}},
      // The first known-answer test vector of Philox4x32-10.
      {"rng_bits",
       TENON_OP_rng_bits,
       nullptr,
       {u32({0, 0, 0, 0, 0, 0})},
       {u32({4}, {}), u32({6}, {})},
       {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}, {0, 0, 1, 0, 0, 0}}},
      {"concat",
       TENON_OP_concat,
       &kConcat,
       {six, f32({2, 1}, {7, 8})},
       {f32({2, 4}, {})},
       {{1, 2, 3, 7, 4, 5, 6, 8}}},
      {"pad",
       TENON_OP_pad,
       &kPad,
       {f32({1, 2, 3}), by_value(f32({}, {9}))},
       {f32({3}, {})},
       {{9, 1, 2}}},
      {"dynamic_slice",
       TENON_OP_dynamic_slice,
       nullptr,
       {six, i64({1, -1})},
       {f32({1, 2}, {})},
       {{5, 6}}},
      {"dynamic_update_slice",
       TENON_OP_dynamic_update_slice,
       nullptr,
       {six, f32({1, 2}, {8, 9}), i32({0, 1})},
       {f32({2, 3}, {})},
       {{1, 8, 9, 4, 5, 6}}},
      {"gather", TENON_OP_gather, &kGather, {six, i64({2, -3})}, {f32({2, 2}, {})}, {{3, 1, 6, 4}}},
      {"gather_elements",
       TENON_OP_gather_elements,
       &kElements,
       {six, i32({2, 1}, {1, 2})},
       {f32({2, 1}, {})},
       {{2, 6}}},
      {"gather_nd",
       TENON_OP_gather_nd,
       &kNd,
       {six, i64({2, 2}, {0, 1, 1, 2})},
       {f32({2}, {})},
       {{2, 6}}},
      {"scatter_elements",
       TENON_OP_scatter_elements,
       &kAdd,
       {six, i64({2, 2}, {0, 0, 2, 1}), f32({2, 2}, {10, 20, 30, 40})},
       {f32({2, 3}, {})},
       {{31, 2, 3, 4, 45, 36}}},
      {"scatter_nd",
       TENON_OP_scatter_nd,
       &kReplace,
       {six, i64({2, 1}, {1, 1}), f32({2, 3}, {7, 7, 7, 8, 9, 10})},
       {f32({2, 3}, {})},
       {{1, 2, 3, 8, 9, 10}}},
      {"nonzero",
       TENON_OP_nonzero,
       &kNonZero,
       {f32({2, 2}, {0, 5, 6, 0})},
       {i64({2, 3}, {}), i64({}, {})},
       {{0, 1, -1, 1, 0, -1}, {2}}},
      {"sort", TENON_OP_sort, &kSort, {f32({3, 1, 2, 1, 0})}, {f32({5}, {})}, {{0, 1, 1, 2, 3}}},
      {"argsort",
       TENON_OP_argsort,
       &kArgsort,
       {bf16({3, 1, 2, 1, 0})},
       {i64({5}, {})},
       {{0, 2, 1, 3, 4}}},
      {"top_k",
       TENON_OP_top_k,
       &kTopK,
       {i32({1, 5, 3, 4})},
       {i32({2}, {}), i64({2}, {})},
       {{5, 4}, {1, 3}}},
      {"searchsorted",
       TENON_OP_searchsorted,
       &kSearch,
       {f32({1, 2, 2, 3}), f32({2, 0, 9})},
       {i64({3}, {})},
       {{3, 0, 4}}},
      {"sum", TENON_OP_sum, &kRows, {six}, {f32({2}, {})}, {{6, 15}}},
      {"prod", TENON_OP_prod, &kRows, {i8({2, 3}, {1, 2, 3, 4, 5, 6})}, {i8({2}, {})}, {{6, 120}}},
      {"max", TENON_OP_max, &kRows, {f16({2, 3}, {1, 2, 3, 4, 5, 6})}, {f16({2}, {})}, {{3, 6}}},
      {"min", TENON_OP_min, &kRows, {six}, {f32({2}, {})}, {{1, 4}}},
      {"argmax", TENON_OP_argmax, &kArgmax, {six}, {i64({2}, {})}, {{2, 2}}},
      {"argmin", TENON_OP_argmin, &kArgmax, {six}, {i64({2}, {})}, {{0, 0}}},
      {"cumsum", TENON_OP_cumsum, &kCumsum, {f32({1, 2, 3})}, {f32({3}, {})}, {{5, 3, 0}}},
      {"cumprod", TENON_OP_cumprod, nullptr, {f64({1, 2, 3})}, {f64({3}, {})}, {{1, 2, 6}}},
      {"cummax",
       TENON_OP_cummax,
       &kCummax,
       {f32({1, 3, 2, 3})},
       {f32({4}, {}), i64({4}, {})},
       {{1, 3, 3, 3}, {0, 1, 1, 1}}},
      {"cummin",
       TENON_OP_cummin,
       &kCummax,
       {f32({2, 1, 3})},
       {f32({3}, {}), i64({3}, {})},
       {{2, 1, 1}, {0, 1, 1}}},
      {"matmul", TENON_OP_matmul, &kTransposedB, {six, six}, {f32({2, 2}, {})}, {{14, 32, 32, 77}}},
      {"matmul of halves",
       TENON_OP_matmul,
       nullptr,
       {f16({1, 2}, {1, 2}), f16({2, 1}, {3, 4})},
       {f16({1, 1}, {})},
       {{11}}},
      {"gemm",
       TENON_OP_gemm,
       &kGemm,
       {six, six, f32({10, 20})},
       {f32({2, 2}, {})},
       {{27, 56, 36, 78.5}}},
      // The second query has the same score with two keys.
      {"attention",
       TENON_OP_attention,
       &kCausal,
       {f32({1, 1, 2, 1}, {0, 0}), f32({1, 1, 2, 1}, {1, 2}), f32({1, 1, 2, 1}, {4, 8})},
       {f32({1, 1, 2, 1}, {})},
       {{4, 6}}},
      {"attention of halves",
       TENON_OP_attention,
       nullptr,
       {f16({1, 1, 1, 1}, {0}), f16({1, 1, 2, 1}, {1, 2}), f16({1, 1, 2, 1}, {4, 8}),
        boolean({1, 2}, {false, true})},
       {f16({1, 1, 1, 1}, {})},
       {{8}}},
      // Heads of size 0: all scores are 0.
      {"attention of heads without a size",
       TENON_OP_attention,
       nullptr,
       {f32({1, 1, 1, 0}, {}), f32({1, 1, 2, 0}, {}), f32({1, 1, 2, 1}, {1, 2})},
       {f32({1, 1, 1, 1}, {})},
       {{1.5}}},
      {"int8_matmul",
       TENON_OP_int8_matmul,
       nullptr,
       {i8({1, 2}, {-1, 2}), u8({2, 1}, {3, 200}), none(), u8({1, 1}, {1})},
       {i32({1, 1}, {})},
       {{396}}},
      {"conv",
       TENON_OP_conv,
       &kConv,
       {f32({1, 1, 3}, {1, 2, 3}), f32({1, 1, 2}, {1, 10}), f32({100})},
       {f32({1, 1, 2}, {})},
       {{121, 132}}},
      {"conv_backward_filter",
       TENON_OP_conv_backward_filter,
       &kConvFilter,
       {f32({1, 1, 3}, {1, 2, 3}), f32({1, 1, 2}, {1, 10})},
       {f32({1, 1, 2}, {})},
       {{21, 32}}},
      {"conv_backward_input",
       TENON_OP_conv_backward_input,
       &kConvInput,
       {f32({1, 1, 2}, {1, 10}), f32({1, 1, 2}, {3, 4})},
       {f32({1, 1, 5}, {})},
       {{3, 4, 30, 40, 0}}},
      {"max_pool",
       TENON_OP_max_pool,
       &kPool,
       {f32({1, 1, 4}, {1, 4, 3, 2})},
       {f32({1, 1, 2}, {}), i64({1, 1, 2}, {})},
       {{4, 3}, {1, 2}}},
      {"window_sum",
       TENON_OP_window_sum,
       &kWindowSum,
       {f32({1, 1, 3}, {1, 2, 3})},
       {f32({1, 1, 2}, {})},
       {{3, 5}}},
  };
}

// Returns a tensor of ones for an operand of a signature. If the operand is a dtype variable (a
// letter), the dtype is float32 or another dtype of the variable's class.
Tensor ones(std::string_view operand, std::string_view classes) {
  const auto is = [&](std::string_view name) {
    if (operand == name) return true;
    const std::string letter = std::string(operand) + ":";
    const size_t at = classes.find(letter);
    if (operand.size() != 1 || at == std::string_view::npos) return false;
    const std::string_view members = classes.substr(at + 2, classes.find(' ', at) - at - 2);
    return members.find(name) != std::string_view::npos;
  };
  if (operand != "bool" && (is("float") || is("any"))) return f32({1, 1, 1});
  return is("int") ? i32({1, 1, 1}) : boolean({true, true, true});
}

}  // namespace

const std::vector<Example>& examples() {
  static const std::vector<Example> all = make_examples();
  return all;
}

bool is_elementwise(const tenon_kernel& line) {
  switch (line.op) {
    case TENON_OP_sum:
    case TENON_OP_prod:
    case TENON_OP_max:
    case TENON_OP_min:
    case TENON_OP_argmax:
    case TENON_OP_argmin:
      return false;
    default:
      return tenon_sdk::text(line.signature).find(" LOOP") != std::string_view::npos;
  }
}

Example elementwise_example(const tenon_kernel& line) {
  const std::string_view signature = tenon_sdk::text(line.signature);
  const size_t arrow = signature.find("->"), end = signature.find(' ');
  const std::string_view classes = end < signature.size() ? signature.substr(end) : "";
  Example example = {"elementwise", line.op, nullptr, {}, {}, {}};
  std::string_view operands = signature.substr(0, arrow);
  while (!operands.empty()) {
    const size_t comma = operands.find(',');
    example.inputs.push_back(ones(operands.substr(0, comma), classes));
    operands = comma < operands.size() ? operands.substr(comma + 1) : "";
  }
  example.outputs.push_back(ones(signature.substr(arrow + 2, end - arrow - 2), classes));
  return example;
}

}  // namespace tenon_cuda::testing
