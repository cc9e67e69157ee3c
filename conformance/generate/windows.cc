// Generates problems of ops with a window over spatial axes: convolutions, their derivatives, and
// pooling.

#include <algorithm>

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

struct Window {
  Sizes in, kernel, strides, pads, dilations, out;
  int64_t group = 1, channels = 0, filters = 0, batch = 0;
};

// Draws spatial axes that are large enough for at least one window. A requested size applies to the
// last spatial axis, to the number of channels or filters, or to the batch.
Window draw_window(Draw& draw) {
  Window w;
  const SizeRequest& wish = draw.wish();
  int64_t axes = wish.size >= 0 ? 1 : draw.between(1, 3);
  if (wish.rank >= 3 && wish.rank <= 5) axes = wish.rank - 2;
  for (int64_t i = 0; i < axes; ++i) {
    w.kernel.push_back(draw.between(1, 3));
    w.strides.push_back(draw.between(1, 3));
    w.dilations.push_back(draw.between(1, 2));
    w.pads.push_back(draw.between(0, w.kernel.back() / 2));
    const int64_t reach = (w.kernel.back() - 1) * w.dilations.back() + 1;
    w.in.push_back(reach + draw.between(0, axes == 1 && !draw.has_size_request() ? 40 : 7));
    if (wish.turn == 0) w.in.back() = std::max(reach, wish.size);
  }
  const Sizes before = w.pads;
  w.pads.insert(w.pads.end(), before.begin(), before.end());
  for (size_t i = 0; i < w.in.size(); ++i) {
    const int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    w.out.push_back((w.in[i] + 2 * before[i] - reach) / w.strides[i] + 1);
  }
  w.group = draw.between(1, 2);
  w.channels = w.group * draw.between(1, 4);
  w.filters = w.group * draw.between(1, 5);
  w.batch = draw.between(1, 3);
  // If one size is large, the others are small.
  if (wish.size > 300) w.batch = 1, w.channels = w.filters = w.group;
  if (wish.size < 0 || wish.turn == 0) return w;
  w.group = 1;
  (wish.turn == 1 ? w.channels : wish.turn == 2 ? w.filters : w.batch) = wish.size;
  return w;
}

Sizes join_sizes(Sizes front, const Sizes& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

}  // namespace

void add_windows(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const std::string& name = claim.op->name;
  const bool conv = name == "conv", filter = name == "conv_backward_filter";
  const bool input = name == "conv_backward_input";
  const bool pool = name == "max_pool" || name == "window_sum" || name == "avg_pool";
  if (!conv && !filter && !input && !pool) return;
  const Window w = draw_window(draw);
  const Sizes x = join_sizes({w.batch, w.channels}, w.in);
  const Sizes f = join_sizes({w.filters, w.channels / w.group}, w.kernel);
  const Sizes y = join_sizes({w.batch, w.filters}, w.out);
  Problem problem;
  problem.attrs["strides"] = w.strides;
  problem.attrs["pads"] = w.pads;
  problem.attrs["dilations"] = w.dilations;
  if (pool) {
    problem.attrs["kernel_shape"] = w.kernel;
    if (claim.op->attr("ceil_mode")) problem.attrs["ceil_mode"] = draw.coin();
    problem.inputs = {uniform_operand(claim.inputs[0], x, draw.seed())};
    problems.push_back(std::move(problem));
    return;
  }
  problem.attrs["group"] = w.group;
  if (conv) {
    problem.inputs = {uniform_operand(claim.inputs[0], x, draw.seed()),
                      uniform_operand(claim.inputs[1], f, draw.seed())};
    if (claim.inputs.size() > 2 && draw.coin()) {
      problem.inputs.push_back(uniform_operand(claim.inputs[2], {w.filters}, draw.seed()));
    }
  } else {
    problem.attrs["shape"] = filter ? f : x;
    problem.inputs = {uniform_operand(claim.inputs[0], filter ? x : y, draw.seed()),
                      uniform_operand(claim.inputs[1], filter ? y : f, draw.seed())};
  }
  problems.push_back(std::move(problem));
}

}  // namespace tenon_kit
