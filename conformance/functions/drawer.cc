#include "conformance/functions/drawer.h"

#include <algorithm>

namespace tenon_kit::functions {

using tenon::Tensor;

Sizes Drawer::draw_broadcastable_shape(const Sizes& shape) {
  Sizes part = shape;
  const auto how = draw_.between(0, 3);
  if (how == 0) {
    part.erase(part.begin(), part.begin() + draw_.between(0, static_cast<int64_t>(part.size())));
  } else if (how == 1) {
    for (int64_t& size : part) size = draw_.coin() ? 1 : size;
  }
  return part;
}

Operand Drawer::draw_operand(tenon_dtype dtype, const Sizes& shape) {
  Operand x = uniform_operand(dtype, shape, draw_.seed());
  if (is_float(dtype)) {
    if (draw_.between(0, 3) == 0) x.fill.kind = Fill::Kind::kSpecial;
    x.fill.low = -2;
    x.fill.high = 2;
  }
  if (draw_.between(0, 3) == 0) x.layout = draw_.one_of(kAllLayouts);
  return x;
}

Operand Drawer::draw_scalar(tenon_dtype partner) {
  const bool floating = is_float(partner);
  Operand x;
  x.scalar = true;
  x.dtype = floating ? TENON_FLOAT32 : is_bool(partner) ? TENON_BOOL : TENON_INT64;
  x.fill.values = {floating ? Real(draw_.one_of(std::vector<double>{0, -0.0, 1, -1, 2, 3.25}))
                   : is_bool(partner) ? Real(draw_.between(0, 1))
                                      : Real(draw_.between(0, 3))};
  return x;
}

void Drawer::add_constants(tenon_dtype dtype, const Sizes& shape) {
  for (int i = 0; i < 2; ++i) add_value(Kind::kConstant, draw_scalar(dtype));
  add_value(Kind::kConstant, draw_operand(dtype, draw_broadcastable_shape(shape)));
}

Sizes Drawer::draw_axes(int64_t n) {
  Sizes axes;
  for (int64_t axis = 0; axis < n; ++axis) {
    if (draw_.coin()) axes.push_back(draw_.coin() ? axis : axis - n);
  }
  return axes;
}

size_t Drawer::add_value(Kind kind, const Operand& x) {
  values_.push_back({device_.make(x), kind, x.scalar});
  (kind == Kind::kInput ? inputs_ : constants_).push_back(x);
  return values_.size() - 1;
}

Sizes Drawer::shape(size_t k) const {
  const auto sizes = values_[k].tensor.shape();
  return Sizes(sizes.begin(), sizes.end());
}

// Whether the two shapes can be broadcast with each other.
bool Drawer::can_broadcast(const Sizes& a, const Sizes& b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

size_t Drawer::choose_value(tenon_dtype wanted, const Sizes& with) {
  std::vector<size_t> fitting;
  bool any_tensor = false;
  for (size_t i = 0; i < values_.size(); ++i) {
    const bool number = values_[i].is_number;
    const bool fits =
        number ? is_float(dtype(i)) == is_float(wanted) && is_bool(dtype(i)) == is_bool(wanted)
               : dtype(i) == wanted && can_broadcast(shape(i), with);
    if (fits) fitting.push_back(i);
    any_tensor = any_tensor || (fits && !number);
  }
  return any_tensor ? draw_.one_of(fitting)
                    : add_value(Kind::kConstant, draw_operand(wanted, with));
}

// Adds the step if the call works on the device and its results are small. Returns whether it did.
bool Drawer::add(Step step) {
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
    if (y.count() > kMaxElements) return false;
  }
  for (Tensor& y : outputs) values_.push_back({std::move(y), Kind::kResult, false});
  steps_.push_back(std::move(step));
  return true;
}

bool Drawer::add_claim(const Claim& claim) {
  static const std::set<std::string> kSizesOfValues = {"nonzero", "boolean_mask", "unique"};
  if (!claim.claimed || kSizesOfValues.contains(claim.op->name)) return false;
  const std::vector<Problem> problems = generate_problems(claim, 1, draw_.seed());
  if (problems.empty() || claim.op->variadic_outputs) return false;
  const Problem& problem = draw_.one_of(problems);
  for (const Operand& x : problem.inputs) {
    if (x.absent || count_of(x.shape) > kMaxElements) return false;
  }
  Step step;
  step.op = claim.op;
  step.attrs = problem.attrs;
  for (const Operand& x : problem.inputs) {
    step.inputs.push_back(add_value(draw_.coin() ? Kind::kInput : Kind::kConstant, x));
  }
  return add(std::move(step));
}

Program Drawer::make_program() {
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

}  // namespace tenon_kit::functions
