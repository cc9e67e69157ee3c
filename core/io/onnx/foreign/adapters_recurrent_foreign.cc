// DynamicQuantizeLSTM: an LSTM whose weights are stored as 8-bit integers. Each product quantises
// its left operand to uint8 by the range of that operand, multiplies exactly in integers, and
// rescales. onnxruntime's quantiser writes this op.

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/foreign/foreign.h"
#include "core/ops/recurrent/recurrent.h"
#include "core/trace/control/control.h"

namespace tenon::onnx::adapters {
namespace {

enum Input : size_t {
  kX,
  kW,
  kR,
  kB,
  kSequenceLens,
  kInitialH,
  kInitialC,
  kP,
  kWScale,
  kWZeroPoint,
  kRScale,
  kRZeroPoint
};

// A matrix with one column per gate and unit, its scale, and its zero point, which may be absent.
// Both parameters have one element, or one per column.
struct QuantizedMatrix {
  Tensor elements, scale, zero_point;
};

// Returns element `d` of axis 0 of input `i`; an empty tensor if the input is absent.
Tensor of_direction(const NodeCall& n, size_t i, int64_t d) {
  if (!n.has(i)) return Tensor();
  return squeeze(slice(n.in(i), {.starts = {d}, .ends = {d + 1}, .axes = {0}}), {0});
}

QuantizedMatrix matrix_of(const NodeCall& n, size_t elements, size_t scale, int64_t d) {
  return {of_direction(n, elements, d), of_direction(n, scale, d), of_direction(n, scale + 1, d)};
}

Tensor multiply(const Tensor& x, const QuantizedMatrix& by) {
  const Tensors q = quantize_dynamically(x);
  const Tensor sums = call_named1("int8_matmul", {}, {q[0], by.elements, q[2], by.zero_point});
  return cast(sums, DType::kF32) * (q[1] * by.scale);
}

struct Options {
  Size steps, batch;
  int64_t hidden;
  bool input_forget;
  double clip;
};

// Returns X with zeros after the end of the longest sequence, so that these steps do not change the
// range by which X is quantised.
Tensor without_unused_steps(const NodeCall& n, Size steps) {
  if (!n.has(kSequenceLens)) return n.in(kX);
  const Tensor longest = max(cast(n.in(kSequenceLens), DType::kI64));
  return where(less(iota({steps, 1, 1}, DType::kI64, 0), longest), n.in(kX), number(0));
}

// Runs one direction. Returns y [steps, batch, hidden], and the last h and c.
Tensors run_direction(const NodeCall& n, const Options& options, int64_t d, bool reverse) {
  const QuantizedMatrix w = matrix_of(n, kW, kWScale, d), r = matrix_of(n, kR, kRScale, d);
  const Dims& x = n.shape(kX);
  const int64_t columns = 4 * options.hidden;
  const Tensor used = without_unused_steps(n, options.steps);
  Tensor products = multiply(reshape(used, {options.steps * options.batch, x[2]}), w);
  if (const Tensor bias = add_biases(of_direction(n, kB, d))) products = products + bias;
  const auto initial = [&](size_t i) {
    const Tensor given = of_direction(n, i, d);
    return given ? given : zeros(TensorType(DType::kF32, {options.batch, options.hidden}));
  };
  const LstmOptions gates = {of_direction(n, kP, d), options.input_forget, options.clip};
  const Tensor lengths =
      n.has(kSequenceLens) ? reshape(n.in(kSequenceLens), {options.batch, 1}) : Tensor();
  // Carries h and c. After its last step, a sequence keeps its state and returns zeros.
  const Block step = [&](TensorSpan in) {
    const Tensor &h = in[0], &c = in[1];
    const LstmState next = lstm_update(in[2] + multiply(h, r), c, options.hidden, gates);
    if (!lengths) return Tensors{next.h, next.c, next.h};
    const Tensor lasts = greater(cast(lengths, DType::kI64), in[3]);
    return Tensors{where(lasts, next.h, h), where(lasts, next.c, c),
                   where(lasts, next.h, number(0))};
  };
  const Tensor scanned[] = {reshape(products, {options.steps, options.batch, columns}),
                            iota({options.steps}, DType::kI64, 0)};
  const Tensor carried[] = {initial(kInitialH), initial(kInitialC)};
  const Tensors found = scan(current_scope(), step, carried, scanned, {.reverse = reverse});
  return {found[2], found[0], found[1]};
}

Tensor stack(const Tensors& parts, int64_t axis) {
  Tensors expanded;
  for (const Tensor& part : parts) expanded.push_back(expand_dims(part, {axis}));
  return concat(expanded, axis);
}

}  // namespace

// Weights are [directions, features, 4 * hidden], the transpose of those of LSTM.
Tensors dynamic_quantize_lstm(const NodeCall& n) {
  require_default_activations(n, {"Sigmoid", "Tanh", "Tanh"});
  const std::string direction = n.attr_text("direction", "forward");
  require(direction == "forward" || direction == "reverse" || direction == "bidirectional",
          "attribute direction must be \"forward\", \"reverse\" or \"bidirectional\", but is "
          "\"{}\"",
          direction);
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  const TensorType &x = n.in(kX)->type, &w = n.in(kW)->type, &r = n.in(kR)->type;
  require(x.rank() == 3 && w.rank() == 3 && r.rank() == 3,
          "X, W and R must have three axes, but are {}, {} and {}", x, w, r);
  const int64_t hidden = n.attr("hidden_size", r.shape[1]);
  require(r.shape == Dims{directions, hidden, 4 * hidden} &&
              w.shape == Dims{directions, x.shape[2], 4 * hidden},
          "W must be [{},{},{}] and R [{},{},{}], but they are {} and {}", directions, x.shape[2],
          4 * hidden, directions, hidden, 4 * hidden, w, r);
  const Options options = {x.shape[0], x.shape[1], hidden, n.flag("input_forget", false),
                           n.attr_float("clip", 0)};
  Tensors results[3];
  for (int64_t d = 0; d < directions; ++d) {
    const Tensors found = run_direction(n, options, d, d == 1 || direction == "reverse");
    for (size_t i = 0; i < 3; ++i) results[i].push_back(found[i]);
  }
  return {stack(results[0], 1), stack(results[1], 0), stack(results[2], 0)};
}

}  // namespace tenon::onnx::adapters
