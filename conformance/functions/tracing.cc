#include "conformance/functions/tracing.h"

#include <fmt/format.h>

#include "conformance/kit/bounds.h"

namespace tenon_kit::functions {

using tenon::Tensor;

tenon::Function as_function(const Code& code, const char* name) {
  return tenon::Function(
      [code](std::span<const Tensor> in, const tenon::Statics&) { return code(in); },
      {.name = name, .max_outputs = 64});
}

Results read_all(const Bench& bench, const Tensors& tensors) {
  Results results;
  for (const Tensor& x : tensors) results.push_back(bench.env.device.read(x));
  return results;
}

Tensors make_all(const Bench& bench, const std::vector<Operand>& operands) {
  if ((bench.env.features & TENON_FEATURE_FLUSH_TO_ZERO) == 0) {
    return bench.env.device.make(operands);
  }
  std::vector<Operand> without;
  for (const Operand& x : operands) without.push_back(flush_subnormals(x));
  return bench.env.device.make(without);
}

Fault compare_calls(const Bench& bench, const std::function<Tensors(const Tensors&)>& called,
                    const std::vector<Tensors>& inputs, const std::vector<Results>& want) {
  std::vector<Results> before;
  for (const Tensors& in : inputs) before.push_back(read_all(bench, in));
  const size_t n_calls = 3 * inputs.size();
  for (size_t n = 0; n < n_calls; ++n) {
    const size_t k = n % inputs.size();
    const Results got = read_all(bench, called(inputs[k]));
    if (Fault fault = bit_difference(got, want[k]); !fault.empty()) {
      return fmt::format("call {}: {}", n + 1, fault);
    }
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (Fault fault = bit_difference(read_all(bench, inputs[k]), before[k]); !fault.empty()) {
      return "an input that was not donated has changed: " + fault;
    }
  }
  return "";
}

PassesOff::PassesOff(std::vector<std::string> names) : names_(std::move(names)) {
  for (const std::string& name : names_) tenon::set_pass(name, false);
}
PassesOff::~PassesOff() {
  for (const std::string& name : names_) tenon::set_pass(name, true);
}

Code gradient_of(const Code& code, const std::vector<size_t>& sources) {
  return [code, sources](std::span<const Tensor> in) {
    const tenon::Tape tape;
    std::vector<tenon::Value> by;
    for (const size_t k : sources) {
      by.emplace_back(in[k]);
      tape.watch(by.back());
    }
    Tensors targets;
    for (const Tensor& y : code(in)) {
      if (is_float(y.dtype())) targets.push_back(y);
    }
    return by.empty() || targets.empty() ? Tensors() : tape.gradients(targets, {}, by);
  };
}

std::vector<size_t> differentiable_inputs(const std::vector<Operand>& inputs) {
  std::vector<size_t> sources;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].scalar && is_float(inputs[k].dtype)) sources.push_back(k);
  }
  return sources;
}

}  // namespace tenon_kit::functions
