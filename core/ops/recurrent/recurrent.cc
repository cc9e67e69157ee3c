// Runs recurrent layers (rnn, gru, lstm) over their time steps. recurrent_steps.cc computes single
// steps.

#include "core/ops/recurrent/recurrent.h"

#include "core/ops/definition/op_ids.h"
#include "core/ops/indexing/indexing.h"

namespace tenon {
namespace {

enum LayerInput : size_t { kX, kW, kR, kB, kSequenceLens, kInitialH, kInitialC, kPeepholes };
constexpr const char* kNames[] = {"x",         "w",         "r", "b", "sequence_lens",
                                  "initial_h", "initial_c", "p"};

// The sizes that constraint C3 of the layers refers to.
struct LayerSizes {
  Size steps, batch, features, hidden;
  int64_t directions;

  LayerSizes(const LayerIteration& iteration, const Dims& x, const Dims& r)
      : steps(x[iteration.batch_first() ? 1 : 0]),
        batch(x[iteration.batch_first() ? 0 : 1]),
        features(x[2]),
        hidden(r[2]),
        directions(iteration.directions()) {}

  Dims state(const LayerIteration& iteration) const {
    return iteration.batch_first() ? Dims{batch, directions, hidden}
                                   : Dims{directions, batch, hidden};
  }
};

// Splits x along one axis into slices without that axis.
Tensors unstack(const Tensor& x, size_t axis) {
  Dims shape = x->shape();
  const auto n = static_cast<size_t>(shape[axis]);
  if (n == 0) return {};
  const SplitAttrs each{.axis = static_cast<int64_t>(axis), .split = Sizes(n, 1)};
  Tensors parts = call_op(OpId::k_split, any_attrs(each), {&x, 1});
  shape.erase(axis);
  for (Tensor& part : parts) part = reshape(part, shape);
  return parts;
}

// Stacks tensors along a new axis; the inverse of unstack().
Tensor stack(const Tensors& parts, size_t axis) {
  const AxisAttrs attrs{.axis = static_cast<int64_t>(axis)};
  return call_single(OpId::k_stack, any_attrs(attrs), parts.span());
}

// Returns the slice of input `i` for each direction, in the compute dtype; empty tensors if the
// input is absent.
Tensors slices_by_direction(TensorSpan in, size_t i, size_t axis, int64_t directions) {
  if (!has(in, i)) return Tensors(static_cast<size_t>(directions), Tensor());
  return unstack(to_dtype(in[i], wide_dtype(in[kX]->type.dtype)), axis);
}

// Runs all steps of one direction. Returns h after each step, in the order of `inputs`, and
// replaces `states` by the final states. Steps after the end of a sequence (`lengths`) output zeros
// and keep the states.
Tensors iterate_steps(const Tensors& inputs, bool reverse, const Step& step, const Tensor& lengths,
                      Tensors& states) {
  const size_t n = inputs.size();
  Tensors outputs(n, Tensor());
  for (size_t i = 0; i < n; ++i) {
    const size_t t = reverse ? n - 1 - i : i;
    Tensors next = step(inputs[t], states);
    if (!lengths) {
      states = std::move(next);
      outputs[t] = states[0];
      continue;
    }
    const Tensor lasts = greater(lengths, integer(static_cast<int64_t>(t)));
    outputs[t] = where(lasts, next[0], number(0));
    for (size_t s = 0; s < states.size(); ++s) states[s] = where(lasts, next[s], states[s]);
  }
  return outputs;
}

}  // namespace

EnumInfo enum_info(Direction) {
  static constexpr const char* kValues[] = {"forward", "reverse", "bidirectional"};
  return {"direction", kValues};
}

// Infers the output types of a layer and checks constraints C1 to C6 of rnn, gru and lstm.
TensorTypes infer_layer(const LayerIteration& iteration, double clip, TypeSpan in, int64_t gates,
                        size_t states) {
  const TensorType& x = in[kX];
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in.has(i)) continue;
    const bool fits = i == kSequenceLens ? ops::is_index(in[i].dtype)
                                         : is_floating(x.dtype) && in[i].dtype == x.dtype;
    require(fits, "C1: {} must be {}, but is {}", kNames[i],
            i == kSequenceLens ? "int32 or int64" : "floating point with the dtype of x", in[i]);
  }
  for (const size_t i : {kX, kW, kR}) {
    require(in[i].rank() == 3, "C2: {} must have three axes, but is {}", kNames[i], in[i]);
  }
  require(iteration.layout == 0 || iteration.layout == 1, "C4: layout must be 0 or 1, but is {}",
          iteration.layout);
  require(clip >= 0, "C5: clip must not be negative, but is {}", clip);

  const LayerSizes n(iteration, x.shape, in[kR].shape);
  const Dims state = n.state(iteration);
  const auto require_shape = [&](size_t i, const Dims& shape) {
    if (!in.has(i)) return;
    require(in[i].shape == shape, "C3: {} must have the shape {}, but is {}", kNames[i], shape,
            in[i]);
  };
  require_shape(kW, {n.directions, gates * n.hidden, n.features});
  require_shape(kR, {n.directions, gates * n.hidden, n.hidden});
  require_shape(kB, {n.directions, 2 * gates * n.hidden});
  require_shape(kSequenceLens, {n.batch});
  require_shape(kInitialH, state);
  require_shape(kInitialC, state);
  require_shape(kPeepholes, {n.directions, 3 * n.hidden});

  TensorTypes types(1 + states, TensorType(x.dtype, state));
  types[0].shape = iteration.batch_first() ? Dims{n.batch, n.steps, n.directions, n.hidden}
                                           : Dims{n.steps, n.directions, n.batch, n.hidden};
  return types;  // C6
}

// Runs a layer with `states` states over its time steps. Returns y and the final states.
Tensors run_layer(const LayerIteration& iteration, TensorSpan in, size_t states,
                  const std::function<DirectedStep(const LayerWeights&)>& step_of) {
  const TensorType& type = in[kX]->type;
  const DType wide = wide_dtype(type.dtype);
  const LayerSizes n(iteration, type.shape, in[kR]->shape());
  const size_t time = iteration.batch_first() ? 1 : 0, of_state = iteration.batch_first() ? 1 : 0;

  const Tensor x = reshape(to_dtype(in[kX], wide), {n.steps * n.batch, n.features});
  const Tensor lengths =
      has(in, kSequenceLens) ? reshape(in[kSequenceLens], {n.batch, 1}) : Tensor();
  const Tensors w = slices_by_direction(in, kW, 0, n.directions),
                r = slices_by_direction(in, kR, 0, n.directions);
  const Tensors b = slices_by_direction(in, kB, 0, n.directions);
  const Tensors p = slices_by_direction(in, kPeepholes, 0, n.directions);
  const Tensors first[] = {slices_by_direction(in, kInitialH, of_state, n.directions),
                           slices_by_direction(in, kInitialC, of_state, n.directions)};

  Tensors y;
  Tensors last[2];
  for (size_t d = 0; d < w.size(); ++d) {
    const DirectedStep directed = step_of({w[d], r[d], b[d], p[d]});
    Dims shape = type.shape;
    shape[2] = w[d]->shape()[0];
    const Tensor products = reshape(input_product(x, w[d], directed.input_bias), shape);

    Tensors now;
    for (size_t s = 0; s < states; ++s) {
      now.push_back(first[s][d] ? first[s][d] : zeros(TensorType(wide, {n.batch, n.hidden})));
    }
    const bool reverse = iteration.direction == Direction::kReverse || d == 1;
    shape[2] = n.hidden;
    // The loop is unrolled, so a trace is specialised to one number of steps.
    const Tensors outputs =
        iterate_steps(unstack(products, time), reverse, directed.step, lengths, now);
    y.push_back(outputs.empty() ? zeros(TensorType(wide, shape)) : stack(outputs, time));
    for (size_t s = 0; s < states; ++s) last[s].push_back(now[s]);
  }
  Tensors results{stack(y, iteration.batch_first() ? 2 : 1)};
  for (size_t s = 0; s < states; ++s) results.push_back(stack(last[s], of_state));
  for (Tensor& result : results) result = to_dtype(result, type.dtype);
  return results;
}

}  // namespace tenon
