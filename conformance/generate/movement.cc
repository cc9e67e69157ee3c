// Generates problems of ops that move elements or create them.

#include <algorithm>

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

// Draws an axis, sets its size to the requested size, if any, and returns the axis.
int64_t set_requested_size(Draw& draw, Sizes& shape) {
  const int64_t axis = draw_axis(draw, static_cast<int64_t>(shape.size()));
  set_size(draw, shape, axis);
  return axis;
}

void add_concat(const Claim& claim, Draw& draw, Problem& problem) {
  Sizes shape = draw_shape(draw, 1, 4);
  const int64_t axis = set_requested_size(draw, shape);
  problem.attrs["axis"] = axis;
  const int64_t n = draw.between(1, 4);
  for (int64_t i = 0; i < n; ++i) {
    Sizes part = shape;
    const bool keeps = draw.wish().size >= 0 && i == 0;
    if (!keeps) part[static_cast<size_t>(axis)] = draw.between(0, 5);
    problem.inputs.push_back(uniform_operand(claim.inputs[0], part, draw.seed()));
  }
}

void add_pad(const Claim& claim, Draw& draw, Problem& problem) {
  Sizes shape = draw_shape(draw, 1, 4);
  const auto axis =
      static_cast<size_t>(draw.has_size_request() ? set_requested_size(draw, shape) : 0);
  Sizes pads;
  for (size_t i = 0; i < 2 * shape.size(); ++i) {
    // If a rank is requested, pad only one axis, since the result grows with each padded axis.
    const bool padded = draw.wish().rank < 0 || i % shape.size() == axis;
    pads.push_back(padded ? draw.between(0, 3) : 0);
  }
  problem.attrs["pads"] = pads;
  problem.inputs = {uniform_operand(claim.inputs[0], shape, draw.seed())};
  if (claim.inputs.size() > 1 && draw.coin()) {
    problem.inputs.push_back(uniform_operand(claim.inputs[1], {}, draw.seed()));
  }
}

// Adds dynamic_slice or dynamic_update_slice of a block at any start, including starts that must be
// clamped.
void add_block(const Claim& claim, Draw& draw, Problem& problem) {
  Sizes shape = draw_shape(draw, 0, 4);
  set_requested_size(draw, shape);
  Sizes block;
  for (const int64_t size : shape) {
    block.push_back(draw.between(std::min<int64_t>(1, size), size));
  }
  const auto rank = static_cast<int64_t>(shape.size());
  Operand starts = indices(claim.inputs.back(), {rank}, 12, draw.seed());
  starts.fill.low = -3;
  problem.inputs = {uniform_operand(claim.inputs[0], shape, draw.seed())};
  if (claim.op->name == "dynamic_slice") {
    problem.attrs["sizes"] = block;
  } else {
    problem.inputs.push_back(uniform_operand(claim.inputs[1], block, draw.seed()));
  }
  problem.inputs.push_back(starts);
}

}  // namespace

void add_movement(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const std::string& name = claim.op->name;
  Problem problem;
  if (name == "copy" || name == "cast") {
    Sizes shape = draw_shape(draw, 0, 4);
    if (draw.has_size_request()) set_requested_size(draw, shape);
    problem.inputs = {uniform_operand(claim.inputs[0], shape, draw.seed())};
    if (is_float(claim.inputs[0]) && is_integer(claim.outputs[0])) {
      // Casts of values between -1 and 1 to integers would all give 0.
      problem.inputs[0].fill.low = is_signed(claim.outputs[0]) ? -100 : 0;
      problem.inputs[0].fill.high = 120;
    }
  } else if (name == "concat") {
    add_concat(claim, draw, problem);
  } else if (name == "pad") {
    add_pad(claim, draw, problem);
  } else if (name == "dynamic_slice" || name == "dynamic_update_slice") {
    if (!draw.has_size_request()) return;  // Without a SizeRequest, resized cases cover these ops.
    add_block(claim, draw, problem);
  } else if (name == "fill") {
    Sizes shape = draw_shape(draw, 0, 4);
    if (draw.has_size_request()) set_requested_size(draw, shape);
    problem.attrs["shape"] = shape;
    problem.inputs = {uniform_operand(claim.inputs[0], {}, draw.seed())};
  } else if (name == "iota") {
    Sizes shape = draw_shape(draw, 1, 4);
    problem.attrs["axis"] = set_requested_size(draw, shape);
    problem.attrs["shape"] = shape;
  } else if (name == "rng_bits") {
    const std::vector<Problem> own = retargeted_cases(claim);
    if (!draw.has_size_request() || own.empty()) return;
    Sizes shape = draw_shape(draw, 0, 4);
    set_requested_size(draw, shape);
    problem = own[0];
    problem.expected.clear();
    problem.attrs["shape"] = shape;
  } else {
    return;
  }
  problems.push_back(std::move(problem));
}

}  // namespace tenon_kit
