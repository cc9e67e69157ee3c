// Generates problems of ops over axes: reductions, argmax and argmin, scans, and normalisations
// along one axis.

#include <algorithm>
#include <cmath>
#include <set>

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

const std::set<std::string> kOverAxes = {"sum",       "prod",    "max",          "min",
                                         "mean",      "any",     "all",          "var",
                                         "logsumexp", "l2_norm", "count_nonzero"};
const std::set<std::string> kAlongAxis = {"argmax", "argmin", "cumsum",  "cumprod",
                                          "cummax", "cummin", "softmax", "log_softmax"};

// Returns the operand with values for which results can reveal a fault: long products neither
// underflow nor overflow, and `any` and `all` give both true and false.
Operand revealing_operand(const std::string& name, Operand x, Draw& draw) {
  const double count = static_cast<double>(count_of(x.shape));
  const bool product = name == "prod" || name == "cumprod";
  if (product && is_float(x.dtype)) {
    const double spread = 2 / std::sqrt(std::max(16.0, count));
    x.fill.low = 1 - spread;
    x.fill.high = 1 + spread;
  } else if (product) {
    Reals values = x.values();  // Made odd below: a product of many even integers wraps to 0.
    for (Real& value : values) value = 2 * value + 1;
    x.fill = {.kind = Fill::Kind::kValues, .values = std::move(values)};
  } else if (is_bool(x.dtype) && (name == "any" || name == "all")) {
    Reals values = x.values();
    const auto most = static_cast<int64_t>(std::sqrt(count));
    for (Real& value : values) value = (draw.between(0, most) == 0) == (name == "any") ? 1 : 0;
    x.fill = {.kind = Fill::Kind::kValues, .values = std::move(values)};
  }
  return x;
}

}  // namespace

void add_reductions(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const std::string& name = claim.op->name;
  const bool over = kOverAxes.contains(name), along = kAlongAxis.contains(name);
  if ((!over && !along) || claim.inputs.size() != 1) return;
  Sizes shape = draw_shape(draw, over && draw.has_size_request() ? 0 : 1, 4);
  const auto rank = static_cast<int64_t>(shape.size());

  Problem problem;
  if (along) {
    const bool search = name == "argmax" || name == "argmin";
    if (search) std::replace(shape.begin(), shape.end(), int64_t{0}, int64_t{5});
    int64_t axis = draw.has_size_request() ? draw_axis(draw, rank) : draw.between(-rank, rank - 1);
    set_size(draw, shape, axis);
    if (draw.has_size_request() && draw.coin()) axis -= rank;
    problem.attrs["axis"] = axis;
    for (const char* flag : {"exclusive", "reverse", "descending", "keepdims"}) {
      if (claim.op->attr(flag)) problem.attrs[flag] = draw.coin();
    }
  } else if (draw.has_size_request()) {
    // Reduces one axis, all axes, or the first and the last.
    const int64_t turn = draw.wish().turn;
    Sizes axes = {draw_axis(draw, rank)};
    set_size(draw, shape, axes[0]);
    if (turn == 3 || rank == 0) axes.clear();
    if (turn == 4 && rank > 1) axes = {-1, 0};
    problem.attrs["axes"] = axes;
    if (claim.op->attr("keepdims")) problem.attrs["keepdims"] = turn % 2 == 1;
  } else {
    Sizes axes;
    for (int64_t i = 0; i < rank; ++i) {
      if (draw.coin()) axes.push_back(draw.coin() ? i : i - rank);
    }
    problem.attrs["axes"] = axes;
    if (claim.op->attr("keepdims")) problem.attrs["keepdims"] = draw.coin();
  }
  problem.inputs = {
      revealing_operand(name, uniform_operand(claim.inputs[0], shape, draw.seed()), draw)};
  problems.push_back(std::move(problem));
}

}  // namespace tenon_kit
