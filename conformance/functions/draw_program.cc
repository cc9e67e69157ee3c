#include "conformance/functions/draw_program.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "conformance/functions/drawer.h"

namespace tenon_kit::functions {
namespace {

using tenon::Tensor;
using Words = std::vector<std::string>;

// Ops that a drawn step may call, by kind of dtype.
const Words kFloatUnary = {
    "neg", "abs", "sqrt",     "exp",  "tanh",   "relu", "sigmoid", "sign",       "floor",   "log1p",
    "erf", "sin", "softplus", "gelu", "square", "silu", "round",   "reciprocal", "identity"};
const Words kIntUnary = {"neg", "abs", "square", "sign", "bitwise_not", "identity"};
const Words kBoolUnary = {"logical_not", "identity"};
const Words kFloatBinary = {"add", "sub", "mul", "div", "maximum", "minimum", "atan2"};
const Words kIntBinary = {"add",     "sub",         "mul",         "maximum",
                          "minimum", "bitwise_and", "bitwise_xor", "floor_div"};
const Words kNeutral = {"add", "sub", "mul", "div"};
const Words kBoolBinary = {"logical_and", "logical_or", "logical_xor"};
const Words kCompare = {"less", "less_equal", "equal", "not_equal", "greater"};
const Words kReduce = {"sum", "mean", "max", "min", "prod", "moments", "any", "all"};
const Words kAlongAxis = {"softmax", "log_softmax", "cumsum", "sort", "argmax", "argmin"};
const Words kViews = {"reshape",     "transpose", "slice", "broadcast_to",
                      "expand_dims", "flip",      "split", "squeeze"};
const Words kCasts = {"f32", "f64", "f16", "bf16", "i32", "i64", "u8", "bool", "i8"};

class ProgramDrawer : Drawer {
 public:
  ProgramDrawer(const Session& device, uint64_t seed, std::span<const Claim> claims)
      : Drawer(device, seed), claims_(claims) {}

  Program whole(const std::vector<tenon_dtype>& dtypes) {
    const Sizes base = draw_base();
    const tenon_dtype first = draw_.one_of(dtypes);
    const auto n_inputs = draw_.between(1, 3);
    for (int64_t i = 0; i < n_inputs; ++i) {
      // Most inputs have the same dtype, so that they can be combined.
      const tenon_dtype dtype = draw_.between(0, 3) > 0 ? first : draw_.one_of(dtypes);
      add_value(Kind::kInput, draw_operand(i == 0 ? first : dtype,
                                           i == 0 ? base : draw_broadcastable_shape(base)));
    }
    if (draw_.between(0, 2) == 0) add_value(Kind::kInput, draw_scalar(first));
    add_constants(first, base);
    const auto n_steps = static_cast<size_t>(draw_.between(3, 10));
    for (int tries = 0; steps_.size() < n_steps && tries < 80; ++tries) add_step();
    return make_program();
  }

 private:
  // ---- shapes and operands

  Sizes draw_base() {
    if (draw_.between(0, 11) == 0) return {draw_.one_of(std::vector<int64_t>{1025, 2100, 5000})};
    Sizes shape;
    const auto rank = draw_.between(0, 3);
    for (int64_t i = 0; i < rank; ++i) {
      shape.push_back(draw_.one_of(std::vector<int64_t>{1, 2, 3, 4, 5, 8, 17}));
    }
    if (rank > 0 && draw_.between(0, 9) == 0) shape[0] = 0;
    return shape;
  }

  // Chooses an existing value that is a tensor, preferring recent ones.
  size_t any() {
    for (;;) {
      const auto n = static_cast<int64_t>(values_.size());
      const auto low = draw_.coin() ? std::max<int64_t>(0, n - 4) : 0;
      const auto k = static_cast<size_t>(draw_.between(low, n - 1));
      if (!values_[k].is_number) return k;
    }
  }

  size_t partner(size_t k) { return choose_value(dtype(k), shape(k)); }

  // ---- steps

  using Drawer::add;
  bool add(const std::string& op, std::vector<size_t> inputs, AttrValues attrs = {}) {
    Step step;
    step.op = &op_named(op);
    step.attrs = std::move(attrs);
    step.inputs = std::move(inputs);
    return add(std::move(step));
  }

  const Words& by_kind(size_t k, const Words& floats, const Words& ints, const Words& bools) {
    return is_float(dtype(k)) ? floats : is_bool(dtype(k)) ? bools : ints;
  }

  void add_step() {
    const size_t x = any();
    switch (draw_.between(0, claims_.empty() ? 15 : 17)) {
      case 0:
      case 1:
        add(draw_.one_of(by_kind(x, kFloatUnary, kIntUnary, kBoolUnary)), {x});
        break;
      case 2:
      case 3:
      case 4: {
        const size_t y = partner(x);
        const std::string& op = draw_.one_of(by_kind(x, kFloatBinary, kIntBinary, kBoolBinary));
        draw_.coin() ? add(op, {x, y}) : add(op, {y, x});
        break;
      }
      case 5:
        add(draw_.one_of(kCompare), {x, partner(x)});
        break;
      case 6: {
        const size_t chooses = choose_value(TENON_BOOL, shape(x)), y = partner(x);
        draw_.coin() ? add("where", {chooses, x, y}) : add("where", {chooses, y, x});
        break;
      }
      case 7:
        add("cast", {x}, {{"to", draw_.one_of(kCasts)}});
        break;
      case 8:
        add_reduction(draw_.one_of(kReduce), x);
        break;
      case 9:
        add_along(draw_.one_of(kAlongAxis), x);
        break;
      case 10:
        add_product(x);
        break;
      case 11:
        add_gather(x);
        break;
      case 12:
        add_view(draw_.one_of(kViews), x);
        break;
      case 13:
        add("concat", {x, partner(x)}, {{"axis", draw_axis(draw_, std::max<int64_t>(1, rank(x)))}});
        break;
      case 14:
        add_neutral(x);
        break;
      case 15:
        repeat_or_vary_call();
        break;
      default:
        add_claim(claims_[static_cast<size_t>(
            draw_.between(0, static_cast<int64_t>(claims_.size()) - 1))]);
    }
  }

  // Combines x with a scalar that may be the neutral element of the op (except for -0 in some ops).
  void add_neutral(size_t x) {
    std::vector<size_t> numbers;
    for (size_t k = 0; k < values_.size(); ++k) {
      if (values_[k].is_number) numbers.push_back(k);
    }
    if (numbers.empty()) return;
    const size_t y = draw_.one_of(numbers);
    const std::string& op = draw_.one_of(kNeutral);
    draw_.between(0, 2) ? add(op, {x, y}) : add(op, {y, x});
  }

  bool add_reduction(const std::string& op, size_t x) {
    return add(op, {x}, {{"axes", draw_axes(rank(x))}, {"keepdims", draw_.coin()}});
  }

  bool add_along(const std::string& op, size_t x) {
    if (rank(x) == 0) return false;
    AttrValues attrs = {{"axis", draw_axis(draw_, rank(x))}};
    if (op == "cumsum") {
      attrs["exclusive"] = draw_.coin();
      attrs["reverse"] = draw_.coin();
    } else if (op == "sort") {
      attrs["descending"] = draw_.coin();
    } else if (op == "argmax" || op == "argmin") {
      attrs["keepdims"] = draw_.coin();
    }
    return add(op, {x}, attrs);
  }

  bool add_product(size_t x) {
    if (rank(x) < 2) return false;
    const Sizes own = shape(x);
    if (draw_.coin()) return add("matmul", {x, x}, {{"transpose_b", true}});
    const Sizes other = {own.back(), draw_.between(1, 6)};
    return add("matmul", {x, choose_value(dtype(x), other)});
  }

  bool add_gather(size_t x) {
    if (rank(x) == 0) return false;
    const int64_t axis = draw_axis(draw_, rank(x)), bound = size_along(shape(x), axis);
    if (bound == 0) return false;
    const Sizes at = draw_.coin() ? Sizes{draw_.between(0, 5)} : Sizes{2, 2};
    const bool given = draw_.coin();
    const size_t chosen = add_value(given ? Kind::kInput : Kind::kConstant,
                                    indices(TENON_INT64, at, bound, draw_.seed()));
    return add("gather", {x, chosen}, {{"axis", axis}});
  }

  bool add_view(const std::string& op, size_t x) {
    const Sizes own = shape(x);
    const int64_t n = rank(x);
    if (op == "reshape") {
      if (draw_.coin()) return add(op, {x}, {{"shape", Sizes{count_of(own)}}});
      Sizes other(own.rbegin(), own.rend());
      return add(op, {x}, {{"shape", other}});
    }
    if (op == "transpose") {
      Sizes perm(own.size());
      std::iota(perm.begin(), perm.end(), int64_t{0});
      for (size_t i = perm.size(); i-- > 1;) {
        std::swap(perm[i], perm[static_cast<size_t>(draw_.between(0, static_cast<int64_t>(i)))]);
      }
      return add(op, {x}, {{"perm", perm}});
    }
    if (op == "broadcast_to") {
      Sizes larger = own;
      for (int64_t& size : larger) size = size == 1 ? draw_.between(1, 3) : size;
      if (draw_.coin()) larger.insert(larger.begin(), draw_.between(0, 3));
      return add(op, {x}, {{"shape", larger}});
    }
    if (op == "expand_dims") return add(op, {x}, {{"axes", Sizes{draw_.between(0, n)}}});
    if (op == "flip") return add(op, {x}, {{"axes", draw_axes(n)}});
    if (op == "squeeze") return add(op, {x});
    if (n == 0) return false;
    const int64_t axis = draw_.between(0, n - 1), size = own[static_cast<size_t>(axis)];
    if (op == "slice") {
      const int64_t start = draw_.between(0, size), end = draw_.between(start, size);
      return add(op, {x},
                 {{"starts", Sizes{start}},
                  {"ends", Sizes{end}},
                  {"axes", Sizes{axis}},
                  {"steps", Sizes{draw_.between(1, 2)}}});
    }
    Step step;
    step.op = &op_named("split");
    const int64_t at = draw_.between(0, size);
    step.attrs = {{"axis", axis}, {"split", Sizes{at, size - at}}};
    step.inputs = {x};
    step.n_outputs = 2;
    return add(std::move(step));
  }

  // Repeats an earlier call, or varies its attributes or the order of its operands. Tests CSE.
  void repeat_or_vary_call() {
    if (steps_.empty()) return;
    Step twin = draw_.one_of(steps_);
    const std::string& op = twin.op->name;
    const auto is_of = [&](const Words& words) {
      return std::find(words.begin(), words.end(), op) != words.end();
    };
    if (draw_.coin()) {
      if (is_of(kReduce)) return void(add_reduction(op, twin.inputs[0]));
      if (is_of(kAlongAxis)) return void(add_along(op, twin.inputs[0]));
      if (is_of(kViews)) return void(add_view(op, twin.inputs[0]));
      if (op == "cast") return void(add(op, twin.inputs, {{"to", draw_.one_of(kCasts)}}));
      if (op != "gather") std::reverse(twin.inputs.begin(), twin.inputs.end());
    }
    add(std::move(twin));
  }

  std::span<const Claim> claims_;
};

}  // namespace

Program draw_program(const Session& device, const std::vector<tenon_dtype>& dtypes, uint64_t seed,
                     std::span<const Claim> claims) {
  return ProgramDrawer(device, seed, claims).whole(dtypes);
}

}  // namespace tenon_kit::functions
