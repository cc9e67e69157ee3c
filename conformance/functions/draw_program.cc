#include "conformance/functions/draw_program.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace tenon_kit::functions {
namespace {

using tenon::Tensor;
using Words = std::vector<std::string>;

constexpr int64_t kMostElements = 6000;

// What a step may call, by the kind of dtype.
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
const std::vector<Layout> kAllLayouts(std::begin(kLayouts), std::end(kLayouts));

class Drawer {
 public:
  Drawer(const Session& device, uint64_t seed, std::span<const Claim> claims)
      : device_(device), claims_(claims), draw_(seed), in_(device.scope()) {}

  Program whole(const std::vector<tenon_dtype>& dtypes) {
    const Sizes base = draw_base();
    const tenon_dtype first = draw_.one_of(dtypes);
    const auto n_inputs = draw_.between(1, 3);
    for (int64_t i = 0; i < n_inputs; ++i) {
      // Mostly of one dtype, so that they meet.
      const tenon_dtype dtype = draw_.between(0, 3) > 0 ? first : draw_.one_of(dtypes);
      put(Kind::kInput, operand(i == 0 ? first : dtype, i == 0 ? base : part_of(base)));
    }
    if (draw_.between(0, 2) == 0) put(Kind::kInput, number(first));
    add_constants(first, base);
    const auto n_steps = static_cast<size_t>(draw_.between(3, 10));
    for (int tries = 0; steps_.size() < n_steps && tries < 80; ++tries) add_step();
    return finished();
  }

  Program loop(std::span<const Claim* const> claims) {
    static const std::vector<Sizes> kShapes = {{7},    {1},       {0},       {2500},    {1025},  {},
                                               {3, 5}, {2, 3, 4}, {5, 1, 3}, {2, 0, 3}, {33, 70}};
    const Sizes shape = draw_.one_of(kShapes);
    const tenon_dtype dtype = claims[0]->inputs[0];
    for (int i = 0; i < 4; ++i) {
      Operand x = operand(dtype, i < 2 ? shape : part_of(shape));
      x.layout = draw_.one_of(kAllLayouts);
      put(Kind::kInput, x);
    }
    if (!is_bool(dtype)) put(Kind::kInput, number(dtype));
    add_constants(dtype, shape);
    for (const Claim* claim : claims) {
      Step step;
      step.op = claim->op;
      for (const tenon_dtype wanted : claim->inputs) step.inputs.push_back(like(wanted, shape));
      for (const AttrFacts& attr : claim->op->attrs) {
        if (attr.type == "dtype") step.attrs[attr.name] = name_of(claim->outputs[0]);
      }
      add(std::move(step));
    }
    return finished();
  }

 private:
  enum class Kind { kInput, kConstant, kResult };

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

  // What is broadcast to the shape: it itself, some axes of it of one element, or its last ones.
  Sizes part_of(const Sizes& shape) {
    Sizes part = shape;
    const auto how = draw_.between(0, 3);
    if (how == 0) {
      part.erase(part.begin(), part.begin() + draw_.between(0, static_cast<int64_t>(part.size())));
    } else if (how == 1) {
      for (int64_t& size : part) size = draw_.coin() ? 1 : size;
    }
    return part;
  }

  Operand operand(tenon_dtype dtype, const Sizes& shape) {
    Operand x = plain(dtype, shape, draw_.seed());
    if (is_float(dtype)) {
      if (draw_.between(0, 3) == 0) x.fill.kind = Fill::Kind::kSpecial;
      x.fill.low = -2;
      x.fill.high = 2;
    }
    if (draw_.between(0, 3) == 0) x.layout = draw_.one_of(kAllLayouts);
    return x;
  }

  // An inline scalar for partners of a dtype; many are neutral for some op.
  Operand number(tenon_dtype partner) {
    const bool floating = is_float(partner);
    Operand x;
    x.scalar = true;
    x.dtype = floating ? TENON_FLOAT32 : is_bool(partner) ? TENON_BOOL : TENON_INT64;
    x.fill.values = {floating ? Real(draw_.one_of(std::vector<double>{0, -0.0, 1, -1, 2, 3.25}))
                     : is_bool(partner) ? Real(draw_.between(0, 1))
                                        : Real(draw_.between(0, 3))};
    return x;
  }

  void add_constants(tenon_dtype dtype, const Sizes& shape) {
    for (int i = 0; i < 2; ++i) put(Kind::kConstant, number(dtype));
    put(Kind::kConstant, operand(dtype, part_of(shape)));
  }

  // ---- values, numbered as they come

  size_t put(Kind kind, const Operand& x) {
    values_.push_back({device_.make(x), kind, x.scalar});
    (kind == Kind::kInput ? inputs_ : constants_).push_back(x);
    return values_.size() - 1;
  }

  tenon_dtype dtype(size_t k) const { return values_[k].tensor.dtype(); }
  Sizes shape(size_t k) const {
    const auto sizes = values_[k].tensor.shape();
    return Sizes(sizes.begin(), sizes.end());
  }
  int64_t rank(size_t k) const { return static_cast<int64_t>(values_[k].tensor.rank()); }

  // A tensor, and rather one of the last ones.
  size_t any() {
    for (;;) {
      const auto n = static_cast<int64_t>(values_.size());
      const auto low = draw_.coin() ? std::max<int64_t>(0, n - 4) : 0;
      const auto k = static_cast<size_t>(draw_.between(low, n - 1));
      if (!values_[k].is_number) return k;
    }
  }

  static bool is_broadcast(const Sizes& a, const Sizes& b) {
    for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
      const int64_t x = a[a.size() - i], y = b[b.size() - i];
      if (x != y && x != 1 && y != 1) return false;
    }
    return true;
  }

  // Something of the dtype that is broadcast with the shape, or a number that takes the dtype.
  size_t like(tenon_dtype wanted, const Sizes& with) {
    std::vector<size_t> fitting;
    bool any_tensor = false;
    for (size_t i = 0; i < values_.size(); ++i) {
      const bool number = values_[i].is_number;
      const bool fits =
          number ? is_float(dtype(i)) == is_float(wanted) && is_bool(dtype(i)) == is_bool(wanted)
                 : dtype(i) == wanted && is_broadcast(shape(i), with);
      if (fits) fitting.push_back(i);
      any_tensor = any_tensor || (fits && !number);
    }
    return any_tensor ? draw_.one_of(fitting) : put(Kind::kConstant, operand(wanted, with));
  }
  size_t partner(size_t k) { return like(dtype(k), shape(k)); }

  // ---- steps

  struct Drawn {
    Tensor tensor;
    Kind kind;
    bool is_number;
  };

  // Whether the call works here and gives no more than is quickly looked at.
  bool add(Step step) {
    if (step.op->name != "split") step.n_outputs = step.op->n_outputs;
    const std::pair<uint32_t, tenon_dtype> called = {
        step.op->id, step.inputs.empty() ? tenon_dtype(TENON_DTYPE_NONE) : dtype(step.inputs[0])};
    if (refused_.contains(called)) return false;
    Tensors in, outputs;
    for (const size_t k : step.inputs) in.push_back(values_[k].tensor);
    try {
      outputs = call(step, in);
    } catch (const tenon::Error& error) {
      const bool refused = error.code() == tenon::Code::kUnimplemented;
      if (refused) refused_.insert(called);
      if (refused || error.code() == tenon::Code::kInvalidArgument ||
          error.code() == tenon::Code::kOutOfRange) {
        return false;
      }
      throw;
    }
    for (const Tensor& y : outputs) {
      if (y.count() > kMostElements) return false;
    }
    for (Tensor& y : outputs) values_.push_back({std::move(y), Kind::kResult, false});
    steps_.push_back(std::move(step));
    return true;
  }
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
        const size_t chooses = like(TENON_BOOL, shape(x)), y = partner(x);
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
        add_twin();
        break;
      default:
        add_claim(claims_[static_cast<size_t>(
            draw_.between(0, static_cast<int64_t>(claims_.size()) - 1))]);
    }
  }

  // A call as the other levels make it.
  void add_claim(const Claim& claim) {
    static const std::set<std::string> kSizesOfValues = {"nonzero", "boolean_mask", "unique"};
    if (!claim.claimed || kSizesOfValues.contains(claim.op->name)) return;
    std::vector<Problem> problems = generated(claim, 1, draw_.seed());
    if (problems.empty()) return;
    const Problem& problem = draw_.one_of(problems);
    for (const Operand& x : problem.inputs) {
      if (x.absent || count_of(x.shape) > kMostElements) return;
    }
    Step step;
    step.op = claim.op;
    step.attrs = problem.attrs;
    if (claim.op->variadic_outputs) return;
    for (const Operand& x : problem.inputs) {
      step.inputs.push_back(put(draw_.coin() ? Kind::kInput : Kind::kConstant, x));
    }
    add(std::move(step));
  }

  // A number that may leave what it meets as it is: some do so for each value, some for all but -0.
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

  Sizes some_axes(int64_t n) {
    Sizes axes;
    for (int64_t axis = 0; axis < n; ++axis) {
      if (draw_.coin()) axes.push_back(draw_.coin() ? axis : axis - n);
    }
    return axes;
  }

  bool add_reduction(const std::string& op, size_t x) {
    return add(op, {x}, {{"axes", some_axes(rank(x))}, {"keepdims", draw_.coin()}});
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
    return add("matmul", {x, like(dtype(x), other)});
  }

  bool add_gather(size_t x) {
    if (rank(x) == 0) return false;
    const int64_t axis = draw_axis(draw_, rank(x)), bound = size_along(shape(x), axis);
    if (bound == 0) return false;
    const Sizes at = draw_.coin() ? Sizes{draw_.between(0, 5)} : Sizes{2, 2};
    const bool given = draw_.coin();
    const size_t chosen =
        put(given ? Kind::kInput : Kind::kConstant, indices(TENON_INT64, at, bound, draw_.seed()));
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
    if (op == "flip") return add(op, {x}, {{"axes", some_axes(n)}});
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

  // A call that was made already, once more; or with other attributes, or operands that change
  // places.
  void add_twin() {
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

  // ---- the end

  // What nobody reads is an output or, rarely, dead; some of the rest are outputs, too.
  Program finished() {
    std::vector<bool> read(values_.size(), false);
    for (const Step& step : steps_) {
      for (const size_t k : step.inputs) read[k] = true;
    }
    std::vector<size_t> chosen;
    for (size_t k = 0; k < values_.size(); ++k) {
      const bool own = values_[k].kind == Kind::kResult;
      if (own ? draw_.between(0, 9) < (read[k] ? 2 : 9) : draw_.between(0, 19) == 0) {
        if (!values_[k].is_number) chosen.push_back(k);
      }
    }
    if (chosen.empty()) chosen.push_back(values_.size() - 1);
    if (chosen.size() < 16 && draw_.between(0, 7) == 0) chosen.push_back(chosen[0]);
    chosen.resize(std::min<size_t>(chosen.size(), 16));
    std::vector<size_t> number(values_.size());
    size_t n = 0;
    for (const Kind kind : {Kind::kInput, Kind::kConstant, Kind::kResult}) {
      for (size_t k = 0; k < values_.size(); ++k) {
        if (values_[k].kind == kind) number[k] = n++;
      }
    }
    for (Step& step : steps_) {
      for (size_t& k : step.inputs) k = number[k];
    }
    for (size_t& k : chosen) k = number[k];
    return {std::move(inputs_), std::move(constants_), std::move(steps_), std::move(chosen)};
  }

  const Session& device_;
  std::span<const Claim> claims_;
  Draw draw_;
  tenon::ScopeGuard in_;
  std::vector<Drawn> values_;
  std::vector<Operand> inputs_, constants_;
  std::vector<Step> steps_;
  std::set<std::pair<uint32_t, tenon_dtype>> refused_;
};

}  // namespace

Program draw_program(const Session& device, const std::vector<tenon_dtype>& dtypes, uint64_t seed,
                     std::span<const Claim> claims) {
  return Drawer(device, seed, claims).whole(dtypes);
}

Program draw_loop(const Session& device, std::span<const Claim* const> claims, uint64_t seed) {
  return Drawer(device, seed, {}).loop(claims);
}

}  // namespace tenon_kit::functions
