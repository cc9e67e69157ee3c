// Generates problems of ops that sort, search and count.

#include <algorithm>
#include <set>

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

// An operand with few distinct values, to test ties.
Operand operand_with_ties(tenon_dtype dtype, Sizes shape, Draw& draw) {
  Operand x = uniform_operand(dtype, std::move(shape), draw.seed());
  if (!is_float(dtype)) return x;
  Reals values = x.values();
  for (Real& value : values) value = real_rint(value * 8) / 8;
  x.fill = {.kind = Fill::Kind::kValues, .values = std::move(values)};
  return x;
}

// Sorts each row along the last axis in ascending order.
Operand sort_rows(Operand x) {
  Reals values = x.values();
  const int64_t n = x.shape.back();
  for (auto line = values.begin(); n > 0 && line != values.end(); line += n) {
    std::sort(line, line + n);
  }
  x.fill = {.kind = Fill::Kind::kValues, .values = std::move(values)};
  return x;
}

}  // namespace

void add_sorting(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  static const std::set<std::string> kOfOne = {"sort",    "argsort", "top_k",
                                               "nonzero", "unique",  "bincount"};
  const std::string& name = claim.op->name;
  if (!kOfOne.contains(name) && name != "searchsorted") return;
  const bool flat = name == "unique" || name == "bincount" || name == "searchsorted";
  const bool takes_rank_0 = draw.has_size_request() && !claim.op->attr("axis");
  Sizes shape = draw_shape(draw, takes_rank_0 ? 0 : 1, flat ? 1 : 3);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto axis = static_cast<size_t>(draw_axis(draw, rank));
  set_size(draw, shape, static_cast<int64_t>(axis));

  Problem problem;
  if (claim.op->attr("axis")) {
    problem.attrs["axis"] = static_cast<int64_t>(axis) - (draw.coin() ? rank : 0);
  }
  for (const char* flag : {"descending", "largest", "sorted"}) {
    if (claim.op->attr(flag)) problem.attrs[flag] = draw.coin();
  }
  if (claim.op->attr("size") && draw.coin()) problem.attrs["size"] = draw.between(0, 40);
  if (name == "searchsorted") problem.attrs["side"] = draw.coin() ? "left" : "right";
  if (name == "top_k") problem.attrs["k"] = draw.between(0, shape[axis]);
  // Gradients are checked only if the values have no ties, because a tie is a kink.
  problem.check_gradient = draw.coin();
  problem.inputs = {problem.check_gradient ? uniform_operand(claim.inputs[0], shape, draw.seed())
                                           : operand_with_ties(claim.inputs[0], shape, draw)};
  if (name == "unique" && is_bool(claim.inputs[0])) {
    // All elements are true except the last, so the indices that `unique` returns are mostly not
    // zero. Zeros would hide errors.
    problem.attrs = {};
    problem.inputs[0].fill = {.kind = Fill::Kind::kValues,
                              .values = Reals(static_cast<size_t>(count_of(shape)), 1)};
    if (count_of(shape) > 1) problem.inputs[0].fill.values.back() = 0;
  }
  if (name == "searchsorted") {
    // A requested shape applies to the values that are searched for, or to the sorted values if
    // `turn` is 0.
    const bool is_sought = draw.has_size_request() && (draw.wish().turn > 0 || rank != 1);
    if (is_sought) problem.inputs[0] = operand_with_ties(claim.inputs[0], {17}, draw);
    problem.inputs[0] = sort_rows(problem.inputs[0]);
    const Sizes sought = is_sought ? shape : Sizes{draw.between(0, 40)};
    problem.inputs.push_back(operand_with_ties(claim.inputs[1], sought, draw));
  }
  if (name == "bincount") {
    problem.inputs[0] = indices(claim.inputs[0], shape, 9, draw.seed());
    if (claim.inputs.size() > 1 && draw.coin()) {
      problem.inputs.push_back(uniform_operand(claim.inputs[1], shape, draw.seed()));
    }
  }
  problems.push_back(std::move(problem));
}

}  // namespace tenon_kit
