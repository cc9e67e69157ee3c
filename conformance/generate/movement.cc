// Ops that move elements, and those that make them out of nothing.

#include "conformance/generate/generate.h"

namespace tenon_kit {
void add_movement(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const std::string& name = claim.op->name;
  Problem problem;
  if (name == "copy" || name == "cast") {
    problem.inputs = {plain(claim.inputs[0], draw_shape(draw, 0, 4), draw.seed())};
  } else if (name == "concat") {
    const Sizes shape = draw_shape(draw, 1, 4);
    const int64_t axis = draw.between(0, static_cast<int64_t>(shape.size()) - 1);
    problem.attrs["axis"] = axis;
    const int64_t n = draw.between(1, 4);
    for (int64_t i = 0; i < n; ++i) {
      Sizes part = shape;
      part[static_cast<size_t>(axis)] = draw.between(0, 5);
      problem.inputs.push_back(plain(claim.inputs[0], part, draw.seed()));
    }
  } else if (name == "pad") {
    const Sizes shape = draw_shape(draw, 1, 4);
    Sizes pads;
    for (size_t i = 0; i < 2 * shape.size(); ++i) pads.push_back(draw.between(0, 3));
    problem.attrs["pads"] = pads;
    problem.inputs = {plain(claim.inputs[0], shape, draw.seed())};
    if (claim.inputs.size() > 1 && draw.coin()) {
      problem.inputs.push_back(plain(claim.inputs[1], {}, draw.seed()));
    }
  } else if (name == "fill") {
    problem.attrs["shape"] = draw_shape(draw, 0, 4);
    problem.inputs = {plain(claim.inputs[0], {}, draw.seed())};
  } else if (name == "iota") {
    const Sizes shape = draw_shape(draw, 1, 4);
    problem.attrs["shape"] = shape;
    problem.attrs["axis"] = draw.between(0, static_cast<int64_t>(shape.size()) - 1);
  } else {
    return;
  }
  problems.push_back(std::move(problem));
}

}  // namespace tenon_kit
