// Arithmetic, reductions and casts.

#include <cmath>
#include <limits>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {
namespace {

// ---- reductions ----

// The meaning of the attribute noop_with_empty_axes if there are no axes. kItself: the op returns
// its input. kUnknown: ONNX does not specify it.
enum class EmptyAxes { kItself, kUnknown };

// Calls the reduction `op`. From operator set `since` on, the axes are an input instead of an
// attribute. Reduced axes are kept by default. `if_no_axes`: the meaning that noop_with_empty_axes
// has for this op.
Tensors reduce(const NodeCall& n, std::string_view op, int64_t since,
               EmptyAxes if_no_axes = EmptyAxes::kItself) {
  const Ints axes = n.ints_since(since, "axes", 1).value_or(Ints());
  const bool keepdims = n.flag("keepdims", true);
  if (n.flag("noop_with_empty_axes", false) && axes.empty()) {
    require_code(if_no_axes == EmptyAxes::kItself, Code::kUnimplemented,
                 "attribute noop_with_empty_axes is not supported for {}, where ONNX does not "
                 "specify its meaning",
                 n.node().op);
    return {n.in(0)};
  }
  return call_named(op, {{"axes", axes}, {"keepdims", int64_t{keepdims}}}, {n.in(0)});
}

// Returns a tensor filled with the largest or the smallest number of a dtype.
Tensor extreme_of(DType dtype, const Dims& shape, bool largest) {
  if (is_floating(dtype)) return fill(number(largest ? INFINITY : -INFINITY), shape, dtype);
  const int64_t least = is_unsigned_integer(dtype)
                            ? 0
                            : std::numeric_limits<int64_t>::min() >> (64 - 8 * size_of(dtype));
  const Tensor y = fill(integer(least), shape, dtype);
  return largest ? sub(y, integer(1)) : y;  // 0 - 1 wraps around to the largest number.
}

// Calls the maximum or minimum. For an empty input, returns the identity of the reduction, such as
// -inf. `of_nothing_is_largest`: whether the identity is the largest number.
Tensors reduce_extreme(const NodeCall& n, std::string_view op, bool of_nothing_is_largest) {
  const TensorType& x = n.in(0)->type;
  if (x.dtype == DType::kBool) return reduce(n, of_nothing_is_largest ? "all" : "any", 18);
  if (!is_numeric(x.dtype) || !(count(x.shape) == 0)) return reduce(n, op, 18);
  const Ints axes = n.ints_since(18, "axes", 1).value_or(Ints());
  const bool keepdims = n.flag("keepdims", true);
  if (n.flag("noop_with_empty_axes", false) && axes.empty()) return {n.in(0)};
  const Dims shape = reduced_shape(x.shape, require_axes(axes, x, "axes"), keepdims);
  return {extreme_of(x.dtype, shape, of_nothing_is_largest)};
}

// Calls argmax or argmin, which return the first of equal extremes. To select the last one,
// reverses the axis.
Tensors arg_reduce(const NodeCall& n, std::string_view op) {
  const int64_t axis = n.attr("axis", 0);
  const auto search = [&](const Tensor& x) {
    return call_named1(op, {{"axis", axis}, {"keepdims", int64_t{n.flag("keepdims", true)}}}, {x});
  };
  if (!n.flag("select_last_index", false)) return {search(n.in(0))};
  const auto along = static_cast<size_t>(require_axis(axis, n.rank(0), "axis"));
  const int64_t last = n.in(0)->shape()[along] - 1;
  return {sub(integer(last), search(flip(n.in(0), {axis})))};
}

// ---- any number of inputs ----

// Combines all inputs from left to right by join(a, b).
template <class Join>
Tensor fold_inputs(const NodeCall& n, const Join& join) {
  Tensor y = n.in(0);
  for (size_t i = 1; i < n.n_inputs(); ++i) y = join(y, n.in(i));
  return y;
}

// ---- along an axis ----

// Calls an op that works along an axis, such as Softmax. Before version 13, such ops reshaped x to
// a matrix, whose rows held all axes from `axis` on.
Tensors call_along_axis(const NodeCall& n, std::string_view op) {
  constexpr int64_t kFirstAlongOneAxis = 13;
  const Tensor& x = n.in(0);
  if (n.version() >= kFirstAlongOneAxis) {
    return call_named(op, {{"axis", n.attr("axis", -1)}}, {x});
  }
  const int64_t axis = n.attr("axis", 1);
  const int64_t first =
      axis == static_cast<int64_t>(x->rank()) ? axis : require_axis(axis, x->rank(), "axis");
  Size rows = 1, columns = 1;
  for (size_t i = 0; i < x->rank(); ++i) {
    (i < static_cast<size_t>(first) ? rows : columns) *= x->shape()[i];
  }
  const Tensor y = call_named1(op, {{"axis", int64_t{1}}}, {reshape(x, {rows, columns})});
  return {reshape(y, x->shape())};
}

}  // namespace

Tensors reduce_sum(const NodeCall& n) { return reduce(n, "sum", 13); }
Tensors reduce_prod(const NodeCall& n) { return reduce(n, "prod", 18); }
Tensors reduce_max(const NodeCall& n) { return reduce_extreme(n, "max", false); }
Tensors reduce_min(const NodeCall& n) { return reduce_extreme(n, "min", true); }

// The mean of integers is truncated to an integer.
Tensors reduce_mean(const NodeCall& n) {
  const TensorType& x = n.in(0)->type;
  if (is_floating(x.dtype)) return reduce(n, "mean", 18);
  const Ints axes = n.ints_since(18, "axes", 1).value_or(Ints());
  const int64_t keepdims = n.attr("keepdims", 1);
  if (n.flag("noop_with_empty_axes", false) && axes.empty()) return {n.in(0)};
  const Tensor total =
      call_named1("sum", {{"axes", axes}, {"keepdims", keepdims}}, {cast(n.in(0), DType::kI64)});
  if (count(total->shape()) == 0) return {cast(total, x.dtype)};
  const int64_t terms = count(x.shape) / count(total->shape());
  require(terms > 0, "cannot compute the mean of an empty integer tensor");
  return {cast(div(total, integer(terms)), x.dtype)};
}

Tensors reduce_l1(const NodeCall& n) { return reduce(n, "l1_norm", 18, EmptyAxes::kUnknown); }
Tensors reduce_l2(const NodeCall& n) { return reduce(n, "l2_norm", 18, EmptyAxes::kUnknown); }
Tensors reduce_log_sum(const NodeCall& n) { return reduce(n, "log_sum", 18, EmptyAxes::kUnknown); }
Tensors reduce_log_sum_exp(const NodeCall& n) {
  return reduce(n, "logsumexp", 18, EmptyAxes::kUnknown);
}
Tensors reduce_sum_square(const NodeCall& n) {
  return reduce(n, "sum_square", 18, EmptyAxes::kUnknown);
}

Tensors arg_max(const NodeCall& n) { return arg_reduce(n, "argmax"); }
Tensors arg_min(const NodeCall& n) { return arg_reduce(n, "argmin"); }

Tensors max_of(const NodeCall& n) { return {fold_inputs(n, maximum)}; }
Tensors min_of(const NodeCall& n) { return {fold_inputs(n, minimum)}; }
Tensors sum_of(const NodeCall& n) { return {fold_inputs(n, add)}; }
Tensors mean_of(const NodeCall& n) {
  return {fold_inputs(n, add) / static_cast<double>(n.n_inputs())};
}

Tensors softmax(const NodeCall& n) { return call_along_axis(n, "softmax"); }
Tensors log_softmax(const NodeCall& n) { return call_along_axis(n, "log_softmax"); }
Tensors hardmax(const NodeCall& n) { return call_along_axis(n, "hardmax"); }

// Clamps x. Before version 11, the bounds are attributes. Each bound is optional.
Tensors clip(const NodeCall& n) {
  Tensor y = n.in(0);
  const auto bound = [&](std::string_view name, size_t i) {
    if (n.version() >= 11) return n.optional(i);
    return n.has_attr(name) ? number(n.attr_float(name, 0)) : Tensor();
  };
  const Tensor min = bound("min", 1), max = bound("max", 2);
  if (min) y = maximum(y, min);
  if (max) y = minimum(y, max);
  return {y};
}

Tensors mod(const NodeCall& n) {
  return {n.flag("fmod", false) ? fmod(n.in(0), n.in(1)) : tenon::mod(n.in(0), n.in(1))};
}

// Returns the dtype of the base, regardless of the dtype of the exponent.
Tensors pow(const NodeCall& n) {
  const Tensor &x = n.in(0), &y = n.in(1);
  const DType base = x->type.dtype, exponent = y->type.dtype;
  if (base == exponent) return {tenon::pow(x, y)};
  DType common = promote(base, exponent);
  if (common == DType::kNone) common = is_floating(exponent) ? exponent : base;
  if (is_floating(exponent) && !is_floating(base)) {
    const bool has_float64 = current_scope().device().features() & TENON_FEATURE_FLOAT64;
    common = exponent == DType::kF64 || has_float64 ? DType::kF64 : DType::kF32;
  }
  return {cast(tenon::pow(cast(x, common), cast(y, common)), base)};
}

Tensors bit_shift(const NodeCall& n) {
  const std::string direction = n.attr_text("direction", "");
  require(direction == "LEFT" || direction == "RIGHT",
          "attribute direction must be \"LEFT\" or \"RIGHT\", but is \"{}\"", direction);
  return {direction == "LEFT" ? shift_left(n.in(0), n.in(1)) : shift_right(n.in(0), n.in(1))};
}

Tensors gemm(const NodeCall& n) {
  return call_named("gemm",
                    {{"alpha", n.attr_float("alpha", 1)},
                     {"beta", n.attr_float("beta", 1)},
                     {"trans_a", n.attr("transA", 0)},
                     {"trans_b", n.attr("transB", 0)}},
                    {n.in(0), n.in(1), n.optional(2)});
}

Tensors gelu(const NodeCall& n) {
  const std::string approximate = n.attr_text("approximate", "none");
  require(approximate == "none" || approximate == "tanh",
          "attribute approximate must be \"none\" or \"tanh\", but is \"{}\"", approximate);
  return call_named("gelu", {{"approximate", int64_t{approximate == "tanh"}}}, {n.in(0)});
}

Tensors is_inf(const NodeCall& n) {
  const Tensor& x = n.in(0);
  const bool positive = n.flag("detect_positive", true);
  const bool negative = n.flag("detect_negative", true);
  if (positive && negative) return {isinf(x)};
  if (!positive && !negative) return {zeros(TensorType(DType::kBool, x->shape()))};
  return {equal(x, number(positive ? INFINITY : -INFINITY))};
}

// Ignores the attributes saturate and round_mode, which affect only 8-bit floating-point dtypes.
// Those dtypes are rejected.
namespace {

// Rounds to the next power of two, up or down. The result is exact in e8m0.
Tensor round_to_power(const Tensor& x, bool up) {
  constexpr int64_t kMantissa = 0x7fffff;
  Tensor bits = bitcast(cast(x, DType::kF32), DType::kI32);
  if (up) bits = add(bits, integer(kMantissa));
  const Tensor power = bitcast(bitwise_and(bits, integer(~kMantissa)), DType::kF32);
  return where(isfinite(x), power, cast(x, DType::kF32));
}

Tensors convert(const NodeCall& n, DType to) {
  const bool saturate = n.attr("saturate", 1) != 0;
  const std::string mode = n.attr_text("round_mode", "up");
  require(mode == "up" || mode == "down" || mode == "nearest",
          "attribute round_mode must be \"up\", \"down\" or \"nearest\", but is \"{}\"", mode);
  Tensor x = n.in(0);
  if (to == DType::kF8E8M0FNU && is_floating(x->type.dtype) && mode != "nearest") {
    x = round_to_power(x, mode == "up");
  }
  // ONNX leaves floats beyond the range of an integer undefined. Its tests keep their low bits.
  if (is_storage_integer(to) && is_floating(x->type.dtype)) x = cast(x, DType::kI32);
  return {cast(x, to, saturate)};
}

}  // namespace

Tensors cast_to(const NodeCall& n) { return convert(n, n.attr_dtype("to", DType::kNone)); }

Tensors cast_like(const NodeCall& n) { return convert(n, n.in(1)->type.dtype); }

// Cumulative sum. The axis is an input with one element.
Tensors running_sum(const NodeCall& n) {
  return {cumsum(n.in(0), {.axis = n.one_int(1),
                           .exclusive = n.flag("exclusive", false),
                           .reverse = n.flag("reverse", false)})};
}

Tensors running_product(const NodeCall& n) {
  return call_named("cumprod",
                    {{"axis", n.one_int(1)},
                     {"exclusive", n.attr("exclusive", 0)},
                     {"reverse", n.attr("reverse", 0)}},
                    {n.in(0)});
}

Tensors bit_cast(const NodeCall& n) {
  const Tensor& x = n.in(0);
  const DType to = n.attr_dtype("to", DType::kNone);
  if (to == DType::kBool && size_of(x->type.dtype) == 1) {
    return {not_equal(cast(x, DType::kI32), integer(0))};
  }
  require(to == DType::kNone || size_of(to) == size_of(x->type.dtype),
          "the elements of {} and of {} must have equal sizes", x->type, to);
  return {bitcast(x, to)};
}

Tensors swish(const NodeCall& n) {
  const double alpha = n.attr_float("alpha", 1);
  return {in_wide(n.in(0), [&](const Tensor& x) { return x * sigmoid(x * alpha); })};
}

// Returns the length of an integer range whose operands are known sizes. Returns nothing if start
// and limit are numbers, if delta is not a positive number, or if an operand is not known.
static std::optional<Size> size_of_range(const NodeCall& n) {
  for (size_t i = 0; i < 3; ++i) {
    if (!n.known(i) || is_floating(n.known(i)->dtype)) return std::nullopt;
  }
  const Size start = n.one_size(0), limit = n.one_size(1), delta = n.one_size(2);
  if (start.known() && limit.known()) return std::nullopt;
  if (!delta.known() || delta <= 0) return std::nullopt;
  return greatest((limit - start + delta - 1) / delta, 0);
}

// Returns the numbers start + i * delta, up to but excluding limit.
Tensors range(const NodeCall& n) {
  const Tensor &start = n.in(0), &delta = n.in(2);
  if (const std::optional<Size> size = size_of_range(n)) {
    const Tensor i = iota({*size}, start->type.dtype, 0);
    return {add(mul(i, reshape(delta, {})), reshape(start, {}))};
  }
  const double step = n.one_number(2);
  require(step != 0, "delta must not be 0");
  const double size = std::ceil((n.one_number(1) - n.one_number(0)) / step);
  require(size < 0x1p53, "the range from {} to {} by {} has too many elements", n.one_number(0),
          n.one_number(1), step);
  const auto rounded = static_cast<int64_t>(std::max(size, 0.0));
  const Tensor i = iota({rounded}, start->type.dtype, 0);
  return {add(mul(i, reshape(delta, {})), reshape(start, {}))};
}

Tensors triangle(const NodeCall& n) {
  const int64_t k = n.has(1) ? n.one_int(1) : 0;
  return call_named(n.flag("upper", true) ? "triu" : "tril", {{"k", k}}, {n.in(0)});
}

Tensors top_k(const NodeCall& n) {
  const Size k = n.version() >= 10 ? n.one_size(1) : Size::number(n.attr("k", 0));
  return call_named("top_k",
                    {{"k", k},
                     {"axis", n.attr("axis", -1)},
                     {"largest", n.attr("largest", 1)},
                     {"sorted", n.attr("sorted", 1)}},
                    {n.in(0)});
}

}  // namespace tenon::onnx::adapters
