// Draws programs from ops that a device claims for loop programs (kernel entries with LOOP).

#include <algorithm>
#include <optional>

#include "conformance/functions/draw_program.h"
#include "conformance/functions/drawer.h"

namespace tenon_kit::functions {
namespace {

class LoopDrawer : Drawer {
 public:
  LoopDrawer(const Session& device, uint64_t seed) : Drawer(device, seed) {}

  Program loop(std::span<const Claim* const> claims) {
    static const std::vector<Sizes> kShapes = {{7},    {1},       {0},       {2500},    {1025},  {},
                                               {3, 5}, {2, 3, 4}, {5, 1, 3}, {2, 0, 3}, {33, 70}};
    const Sizes shape = draw_.one_of(kShapes);
    add_loop_inputs(claims[0]->inputs[0], shape);
    for (const Claim* claim : claims) add_listed(*claim, shape, {});
    return make_program();
  }

  // Draws a program in which each reduction along rows is followed by calls that combine its result
  // with the elements of the rows.
  Program rows(const Claim& reduction, std::span<const Claim* const> claims) {
    static const std::vector<Sizes> kShapes = {{3, 5}, {1, 4},    {4, 1},   {2, 0},    {0, 3},
                                               {6},    {2, 3, 4}, {9, 300}, {1, 5000}, {5, 2, 1}};
    const Sizes shape = draw_.one_of(kShapes);
    const auto n = static_cast<int64_t>(shape.size());
    Sizes axes = draw_axes(n);
    if (axes.empty() || draw_.coin()) {
      axes.clear();
      for (int64_t axis = draw_.between(0, n - 1); axis < n; ++axis) axes.push_back(axis);
    }
    add_loop_inputs(reduction.inputs[0], shape);
    for (size_t i = 0; i <= claims.size(); ++i) {
      if (i % 3 == 1) add_listed(reduction, shape, elements_of(reduction.inputs[0], shape), axes);
      if (i < claims.size()) add_listed(*claims[i], shape, values_.size() - 1);
    }
    return make_program();
  }

  // Draws a program of an anchor and its epilogue; an empty program if no call of the anchor works.
  Program with_epilogue(const Claim& anchor, std::span<const Claim* const> claims) {
    for (int tries = 0; !add_claim(anchor); ++tries) {
      if (tries == 20) return {};
    }
    size_t last = values_.size() - 1;
    const Sizes shape = this->shape(last);
    add_loop_inputs(dtype(last), shape);
    for (const Claim* claim : claims) {
      const size_t n_steps = steps_.size();
      add_listed(*claim, shape, last);
      if (steps_.size() > n_steps) last = values_.size() - 1;
    }
    return make_program();
  }

 private:
  void add_loop_inputs(tenon_dtype dtype, const Sizes& shape) {
    for (int i = 0; i < 4; ++i) {
      Operand x = draw_operand(dtype, i < 2 ? shape : draw_broadcastable_shape(shape));
      x.layout = draw_.one_of(kAllLayouts);
      add_value(Kind::kInput, x);
    }
    if (!is_bool(dtype)) add_value(Kind::kInput, draw_scalar(dtype));
    add_constants(dtype, shape);
  }

  // Adds a call of a claim. Value `first` becomes operand 0 if it has the dtype that the claim
  // requires. A reduction reduces along `axes`.
  void add_listed(const Claim& claim, const Sizes& shape, std::optional<size_t> first,
                  const Sizes& axes = {}) {
    Step step;
    step.op = claim.op;
    for (const tenon_dtype wanted : claim.inputs) {
      const bool takes = step.inputs.empty() && first && dtype(*first) == wanted;
      step.inputs.push_back(takes ? *first : choose_value(wanted, shape));
    }
    for (const AttrFacts& attr : claim.op->attrs) {
      if (attr.type == "dtype") step.attrs[attr.name] = name_of(claim.outputs[0]);
      if (axes.empty()) continue;
      if (attr.name == "axes") step.attrs[attr.name] = axes;
      if (attr.name == "axis") step.attrs[attr.name] = axes.back();
      if (attr.name == "keepdims") step.attrs[attr.name] = draw_.between(0, 3) > 0;
    }
    add(std::move(step));
  }

  // Returns the index of the most recent tensor with this dtype and shape; nothing if there is
  // none.
  std::optional<size_t> elements_of(tenon_dtype wanted, const Sizes& sizes) const {
    for (size_t k = values_.size(); k-- > 0;) {
      if (dtype(k) == wanted && shape(k) == sizes && !values_[k].is_number) return k;
    }
    return std::nullopt;
  }
};

}  // namespace

Program draw_loop(const Session& device, std::span<const Claim* const> claims, uint64_t seed) {
  return LoopDrawer(device, seed).loop(claims);
}

Program draw_rows(const Session& device, const Claim& reduction,
                  std::span<const Claim* const> claims, uint64_t seed) {
  return LoopDrawer(device, seed).rows(reduction, claims);
}

Program draw_epilogue(const Session& device, const Claim& anchor,
                      std::span<const Claim* const> claims, uint64_t seed) {
  return LoopDrawer(device, seed).with_epilogue(anchor, claims);
}

}  // namespace tenon_kit::functions
