// Generates problems of layers with any rank, attention, classification losses, and optimizer
// steps.

#include <algorithm>
#include <set>

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

const std::set<std::string> kGated = {"glu", "swiglu"};
const std::set<std::string> kOfLastAxes = {"layer_norm", "rms_norm"};
const std::set<std::string> kOfChannels = {"group_norm", "batch_norm_train", "batch_norm",
                                           "instance_norm"};
const std::set<std::string> kLosses = {"softmax_cross_entropy", "sparse_softmax_cross_entropy"};
// Returns the number of leading operands of an optimizer step that have the shape of its
// parameters.
size_t n_parameter_shaped(const std::string& name) {
  if (name == "sgd") return 2;
  if (name == "momentum" || name == "rmsprop" || name == "adagrad") return 3;
  return name == "adam" || name == "adamw" || name == "lamb" ? 4 : 0;
}

// An operand with values that are positive and not close to zero.
Operand positive_operand(tenon_dtype dtype, Sizes shape, Draw& draw) {
  Operand x = uniform_operand(dtype, std::move(shape), draw.seed());
  x.fill.low = is_float(dtype) ? 0.25 : 1;
  x.fill.high = is_float(dtype) ? 1 : 5;
  return x;
}

// A gated activation (glu, swiglu). The axis that is split must have an even size.
Problem gated_activation(const Claim& claim, Draw& draw) {
  Sizes shape = draw_shape(draw, 1, 4);
  const int64_t axis = draw_axis(draw, static_cast<int64_t>(shape.size()));
  set_size(draw, shape, draw.wish().turn < 3 ? axis : 0);
  int64_t& size = shape[static_cast<size_t>(axis)];
  if (draw.wish().turn >= 3 || draw.wish().rank >= 0) size = 2 * std::max<int64_t>(1, size / 2);
  Problem problem;
  problem.attrs["axis"] = axis;
  problem.inputs = {uniform_operand(claim.inputs[0], shape, draw.seed())};
  return problem;
}

// A layer_norm or rms_norm. The scale, and the bias if there is one, have the sizes of x from
// `axis` on.
Problem norm_of_last_axes(const Claim& claim, Draw& draw) {
  Sizes shape = draw_shape(draw, 1, 4);
  const int64_t axis = draw_axis(draw, static_cast<int64_t>(shape.size()));
  set_size(draw, shape, draw.wish().turn < 3 ? axis : 0);
  Problem problem;
  problem.attrs["axis"] = axis;
  problem.inputs = {uniform_operand(claim.inputs[0], shape, draw.seed())};
  const Sizes behind(shape.begin() + axis, shape.end());
  for (size_t i = 1; i < claim.inputs.size(); ++i) {
    problem.inputs.push_back(uniform_operand(claim.inputs[i], behind, draw.seed()));
  }
  return problem;
}

// A normalisation of channels. Axes of x: batch, channels, then any spatial axes.
Problem norm_of_channels(const Claim& claim, Draw& draw) {
  Sizes shape = draw_shape(draw, 2, 4);
  if (draw.wish().turn == 2 && shape.size() < 3) shape.push_back(3);
  set_size(draw, shape, draw_axis(draw, static_cast<int64_t>(shape.size())));
  Problem problem;
  if (claim.op->attr("num_groups")) problem.attrs["num_groups"] = shape[1] % 2 == 0 ? 2 : 1;
  problem.inputs = {uniform_operand(claim.inputs[0], shape, draw.seed())};
  for (size_t i = 1; i < claim.inputs.size(); ++i) {
    problem.inputs.push_back(positive_operand(claim.inputs[i], {shape[1]}, draw));
  }
  return problem;
}

// A requested size applies to the number of queries or keys, the size of a key or value, or the
// number of heads.
Problem attention(const Claim& claim, Draw& draw) {
  Sizes sizes = {5, 6, 4, 3, 1};
  sizes[static_cast<size_t>(draw.wish().turn)] = draw.wish().size;
  const int64_t queries = sizes[0], keys = sizes[1], size = sizes[2], heads = sizes[4];
  const int64_t sharing = draw.between(1, 2);
  Problem problem;
  problem.attrs["is_causal"] = draw.coin();
  if (draw.coin()) problem.attrs["softcap"] = 1.5;
  problem.inputs = {
      uniform_operand(claim.inputs[0], {1, heads * sharing, queries, size}, draw.seed()),
      uniform_operand(claim.inputs[1], {1, heads, keys, size}, draw.seed()),
      uniform_operand(claim.inputs[2], {1, heads, keys, sizes[3]}, draw.seed())};
  if (claim.inputs.size() > 3 && claim.inputs[3] != TENON_DTYPE_NONE && draw.coin()) {
    problem.inputs.push_back(uniform_operand(claim.inputs[3], {queries, keys}, draw.seed()));
  }
  return problem;
}

// A classification loss: scores, and either class indices or probabilities.
Problem classification_loss(const Claim& claim, Draw& draw) {
  Sizes shape = draw_shape(draw, 2, 2);
  set_size(draw, shape, draw_axis(draw, static_cast<int64_t>(shape.size())));
  Problem problem;
  problem.inputs = {uniform_operand(claim.inputs[0], shape, draw.seed())};
  const bool sparse = claim.op->name == "sparse_softmax_cross_entropy";
  problem.inputs.push_back(sparse ? indices(claim.inputs[1], {shape[0]}, shape[1], draw.seed())
                                  : positive_operand(claim.inputs[1], shape, draw));
  return problem;
}

// A step of an optimizer: tensors with the parameters' shape, then scalars.
Problem optimizer_step(const Claim& claim, Draw& draw) {
  // An optimizer step treats all axes alike, so `turn` makes no difference.
  Sizes shape = draw_shape(draw, 0, 1);
  // There are many combinations of dtypes for step and rate; only a few of them are tried with many
  // elements.
  const bool is_plain = claim.inputs.back() == claim.inputs[0];
  if (is_plain || draw.wish().size < 300) set_size(draw, shape, 0);
  const size_t alike = n_parameter_shaped(claim.op->name);
  Problem problem;
  for (size_t i = 0; i < claim.inputs.size(); ++i) {
    // The last operand with the parameters' shape is, or may be, the mean of squares, so it must be
    // positive.
    problem.inputs.push_back(
        i + 1 < alike ? uniform_operand(claim.inputs[i], shape, draw.seed())
                      : positive_operand(claim.inputs[i], i < alike ? shape : Sizes(), draw));
  }
  return problem;
}

}  // namespace

void add_layers(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const std::string& name = claim.op->name;
  if (!draw.has_size_request()) return;
  if (kGated.contains(name)) problems.push_back(gated_activation(claim, draw));
  if (kOfLastAxes.contains(name)) problems.push_back(norm_of_last_axes(claim, draw));
  if (kOfChannels.contains(name)) problems.push_back(norm_of_channels(claim, draw));
  if (name == "attention" && draw.wish().size >= 0) problems.push_back(attention(claim, draw));
  if (kLosses.contains(name)) problems.push_back(classification_loss(claim, draw));
  if (n_parameter_shaped(name) > 0) problems.push_back(optimizer_step(claim, draw));
}

}  // namespace tenon_kit
