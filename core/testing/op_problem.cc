#include "core/testing/op_problem.h"

#include <cmath>
#include <ostream>
#include <random>

namespace tenon::testing {
namespace {

using Values = std::vector<double>;

// FNV-1a: seeds must not depend on the standard library's hash.
uint64_t seed_of(const std::string& text) {
  uint64_t hash = 14695981039346656037ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

// Draws n numbers from [low, high), rounded down to integers if `whole` is true.
Values draw(size_t n, double low, double high, bool whole, const std::string& seed) {
  std::mt19937_64 engine(seed_of(seed));
  Values values;
  for (size_t i = 0; i < n; ++i) {
    const double u = static_cast<double>(engine() >> 11) * 0x1p-53;
    const double value = low + (high - low) * u;
    values.push_back(whole ? std::floor(value) : value);
  }
  return values;
}

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Returns the derivative of f at 0, by central differences with Richardson extrapolation.
template <class F>
double slope(const F& f) {
  const auto difference = [&](double h) { return (f(h) - f(-h)) / (2 * h); };
  constexpr double kStep = 1e-4;
  return (4 * difference(kStep / 2) - difference(kStep)) / 3;
}

// Returns a message if the two derivatives differ too much; otherwise an empty string.
std::string mismatch_message(const char* what, size_t i, double analytic, double numeric) {
  const double bound = 1e-6 * std::max({1.0, std::abs(analytic), std::abs(numeric)});
  if (std::abs(analytic - numeric) <= bound) return {};
  return std::string(what) + " of input " + std::to_string(i) + ": " + std::to_string(analytic) +
         ", but the finite difference is " + std::to_string(numeric);
}

// Whether x is present and is a float64.
bool is_float64(const Tensor& x) { return x && x->type.dtype == DType::kF64; }

}  // namespace

OpProblem::OpProblem(const OpDef& op, const AnyCase& c)
    : op_(&op), attrs_(c.attrs), name_(op.name + "." + c.name) {
  for (const CaseTensor& t : c.inputs) {
    Input input{t.fill, t.scalar, t.type, t.values};
    if (t.fill == CaseTensor::Fill::kUniform) {
      input.values = draw(static_cast<size_t>(count(t.type.shape)), t.low, t.high,
                          !is_floating(t.type.dtype), name_ + std::to_string(inputs_.size()));
    }
    inputs_.push_back(std::move(input));
  }
}

// Returns the same problem with all floating-point inputs in this dtype.
OpProblem OpProblem::with_floats(DType dtype) const {
  OpProblem result = *this;
  for (Input& input : result.inputs_) {
    if (!is_floating(input.type.dtype)) continue;
    // The device receives the value rounded once, to the input's dtype.
    if (!input.scalar && input.fill != CaseTensor::Fill::kAbsent) {
      input.values = values_of(make_input(input));
    }
    input.type.dtype = dtype;
    input.scalar = false;
  }
  return result;
}

// Returns whether there are floating-point tensors among the inputs and all are float32.
bool OpProblem::is_float32() const {
  bool any = false;
  for (const Input& input : inputs_) {
    if (input.scalar || !is_floating(input.type.dtype)) continue;
    if (input.type.dtype != DType::kF32) return false;
    any = true;
  }
  return any;
}

size_t OpProblem::n_elements() const {
  size_t n = 0;
  for (const Input& input : inputs_) n += input.values.size();
  return n;
}

// Returns whether all values of the inputs are finite.
bool OpProblem::is_finite() const {
  for (const Input& input : inputs_) {
    for (const double value : input.values) {
      if (!std::isfinite(value)) return false;
    }
  }
  return true;
}

Tensor OpProblem::make_input(const Input& input) const {
  if (input.fill == CaseTensor::Fill::kAbsent) return {};
  if (input.scalar) {
    if (is_floating(input.type.dtype)) return make_scalar(input.values[0]);
    return make_scalar(static_cast<int64_t>(input.values[0]));
  }
  return make(input.type.dtype, input.type.shape, input.values);
}

Tensors OpProblem::inputs() const {
  Tensors result;
  for (const Input& input : inputs_) result.push_back(make_input(input));
  return result;
}

// Creates the inputs as views with gaps between their elements.
Tensors OpProblem::inputs_with_gaps() const {
  Tensors result;
  for (const Input& input : inputs_) {
    const size_t rank = input.type.rank();
    if (input.fill == CaseTensor::Fill::kAbsent || input.scalar || rank == 0) {
      result.push_back(make_input(input));
      continue;
    }
    Input apart = input;
    apart.type.shape[rank - 1] = 2 * input.type.shape[rank - 1] + 1;
    // Ones in the gaps are valid inputs of every op, but a kernel that reads them returns wrong
    // results.
    apart.values.assign(static_cast<size_t>(count(apart.type.shape)), 1);
    const auto row = static_cast<size_t>(input.type.shape[rank - 1]);
    for (size_t i = 0; i < input.values.size(); ++i) {
      apart.values[i / row * (2 * row + 1) + 2 * (i % row) + 1] = input.values[i];
    }
    result.push_back(slice(make_input(apart), {.starts = {1},
                                               .ends = {apart.type.shape[rank - 1]},
                                               .axes = {static_cast<int64_t>(rank) - 1},
                                               .steps = {2}}));
  }
  return result;
}

Tensors OpProblem::call(const Tensors& inputs) const {
  SmallVector<TensorImpl*, 6> borrowed;
  for (const Tensor& x : inputs) borrowed.push_back(x.get());
  return apply(current_scope(), *op_, attrs_.view(), borrowed);
}

// Returns the problem with `step * direction` added to input i.
OpProblem OpProblem::with_step(size_t i, const Values& direction, double step) const {
  OpProblem result = *this;
  for (size_t k = 0; k < direction.size(); ++k) result.inputs_[i].values[k] += step * direction[k];
  return result;
}

// Returns whether input i is present and is a float64.
bool OpProblem::is_differentiable_input(size_t i) const {
  return inputs_[i].fill != CaseTensor::Fill::kAbsent && inputs_[i].type.dtype == DType::kF64;
}

// Returns a random cotangent for each float64 output. The entries of other outputs are empty.
std::vector<Values> OpProblem::random_cotangents() const {
  std::vector<Values> result;
  for (const Tensor& y : call()) {
    const size_t n = is_float64(y) ? static_cast<size_t>(count(y->shape())) : 0;
    result.push_back(draw(n, -1, 1, false, name_ + ".cotangent" + std::to_string(result.size())));
  }
  return result;
}

// Compares the derivatives with finite differences. Returns the mismatch, or an empty string.
std::string OpProblem::check_gradient() const {
  const std::vector<Values> cotangents = random_cotangents();
  const auto loss = [&](const OpProblem& problem) {
    double sum = 0;
    const Tensors outputs = problem.call();
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (is_float64(outputs[o])) sum += dot(values_of(outputs[o]), cotangents[o]);
    }
    return sum;
  };

  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!is_differentiable_input(i)) continue;
    auto tape = Ref<Tape>::adopt(new Tape(Ref<Scope>::share(&current_scope()), {}));
    const Tensors xs = inputs();
    tape->watch(xs[i]);
    const Tensors outputs = call(xs);
    Tensors targets, seeds;
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (!is_float64(outputs[o])) continue;
      targets.push_back(outputs[o]);
      seeds.push_back(make(DType::kF64, outputs[o]->shape(), cotangents[o]));
    }
    if (targets.empty()) return {};
    const Source source[] = {xs[i]};
    const Tensors gradient = tape->gradient(targets, seeds, source);
    if (!(gradient[0]->type == xs[i]->type)) {
      return "the gradient of input " + std::to_string(i) + " is " + to_string(gradient[0]->type) +
             ", not " + to_string(xs[i]->type);
    }
    const Values direction = draw(inputs_[i].values.size(), -1, 1, false, name_ + ".direction");
    const double analytic = dot(values_of(gradient[0]), direction);
    const double numeric = slope([&](double h) { return loss(with_step(i, direction, h)); });
    if (const std::string fault = mismatch_message("the gradient", i, analytic, numeric);
        !fault.empty()) {
      return fault;
    }
  }
  return {};
}

// Compares second derivatives with finite differences. Returns the mismatch, or an empty string.
std::string OpProblem::check_second_order() const {
  std::vector<Values> cotangents = random_cotangents();
  std::vector<Values> weights;
  for (const Input& input : inputs_) {
    weights.push_back(draw(input.values.size(), -1, 1, false, name_ + ".weight"));
  }
  // Computes the weighted sum of the gradients of all inputs, as a function of inputs and
  // cotangents.
  const auto weighted = [&](const Tensors& xs, const Tensors& seeds) -> Tensor {
    auto tape = Ref<Tape>::adopt(new Tape(Ref<Scope>::share(&current_scope()), {}));
    std::vector<Source> sources;
    std::vector<size_t> which;
    for (size_t i = 0; i < xs.size(); ++i) {
      if (!is_differentiable_input(i)) continue;
      tape->watch(xs[i]);
      sources.emplace_back(xs[i]);
      which.push_back(i);
    }
    const Tensors outputs = call(xs);
    Tensors targets, given;
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (!is_float64(outputs[o])) continue;
      targets.push_back(outputs[o]);
      given.push_back(seeds[o]);
    }
    const Tensors gradients = tape->gradient(targets, given, sources);
    Tensor total;
    for (size_t k = 0; k < which.size(); ++k) {
      const size_t i = which[k];
      const Tensor part = sum(gradients[k] * make(DType::kF64, inputs_[i].type.shape, weights[i]));
      total = total ? total + part : part;
    }
    return total;
  };

  const Tensors base_outputs = call();
  const auto make_seeds = [&] {
    Tensors seeds;
    for (size_t o = 0; o < base_outputs.size(); ++o) {
      const bool wide = is_float64(base_outputs[o]);
      seeds.push_back(wide ? make(DType::kF64, base_outputs[o]->shape(), cotangents[o]) : Tensor());
    }
    return seeds;
  };

  auto outer = Ref<Tape>::adopt(new Tape(Ref<Scope>::share(&current_scope()), {}));
  const Tensors xs = inputs(), seeds = make_seeds();
  std::vector<Source> sources;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!is_differentiable_input(i)) continue;
    outer->watch(xs[i]);
    sources.emplace_back(xs[i]);
  }
  const size_t n_inputs = sources.size();
  for (const Tensor& seed : seeds) {
    if (!seed) continue;
    outer->watch(seed);
    sources.emplace_back(seed);
  }
  const Tensor total = weighted(xs, seeds);
  if (!total) return {};
  const Tensors found = outer->gradient({&total, 1}, {}, sources);
  outer.reset();

  size_t k = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!is_differentiable_input(i)) continue;
    const Values direction = draw(inputs_[i].values.size(), -1, 1, false, name_ + ".direction");
    const double analytic = dot(values_of(found[k++]), direction);
    const double numeric = slope([&](double h) {
      const OpProblem there = with_step(i, direction, h);
      return values_of(weighted(there.inputs(), seeds))[0];
    });
    const std::string fault = mismatch_message("the second derivative", i, analytic, numeric);
    if (!fault.empty()) return fault;
  }
  k = n_inputs;
  for (size_t o = 0; o < seeds.size(); ++o) {
    if (!seeds[o]) continue;
    const Values direction = draw(cotangents[o].size(), -1, 1, false, name_ + ".direction");
    const double analytic = dot(values_of(found[k++]), direction);
    const Values held = cotangents[o];
    const double numeric = slope([&](double h) {
      for (size_t e = 0; e < held.size(); ++e) cotangents[o][e] = held[e] + h * direction[e];
      return values_of(weighted(xs, make_seeds()))[0];
    });
    cotangents[o] = held;
    const std::string fault =
        mismatch_message("the derivative by the cotangent", o, analytic, numeric);
    if (!fault.empty()) return fault;
  }
  return {};
}

void PrintTo(const OpParam& param, std::ostream* out) { *out << param.op->name; }

std::vector<OpParam> ops_with_cases() {
  std::vector<OpParam> all;
  for (const OpDef& op : all_ops()) {
    if (op.cases) all.push_back({&op});
  }
  return all;
}

}  // namespace tenon::testing
