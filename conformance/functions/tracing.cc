#include "conformance/functions/tracing.h"

#include <fmt/format.h>

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
  return bench.env.device.make(operands);
}

Fault compare_calls(const Bench& bench, const std::function<Tensors(const Tensors&)>& called,
                    const std::vector<Tensors>& inputs, const std::vector<Results>& want) {
  std::vector<Results> before;
  for (const Tensors& in : inputs) before.push_back(read_all(bench, in));
  const size_t n_calls = 2 * std::max<size_t>(inputs.size(), 2);
  for (size_t n = 0; n < n_calls; ++n) {
    const size_t k = n % inputs.size();
    const Results got = read_all(bench, called(inputs[k]));
    if (Fault fault = same_bits(got, want[k]); !fault.empty()) {
      return fmt::format("call {}: {}", n + 1, fault);
    }
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (Fault fault = same_bits(read_all(bench, inputs[k]), before[k]); !fault.empty()) {
      return "an input that was not donated is another afterwards: " + fault;
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

Code gradient_of(const Code& code) {
  return [code](std::span<const Tensor> in) {
    const tenon::Tape tape;
    std::vector<tenon::Value> sources;
    for (const Tensor& x : in) {
      // An inline scalar lies on no device.
      if (!is_float(x.dtype()) || x.device().empty()) continue;
      sources.emplace_back(x);
      tape.watch(sources.back());
    }
    Tensors targets;
    for (const Tensor& y : code(in)) {
      if (is_float(y.dtype()) && !y.device().empty()) targets.push_back(y);
    }
    if (sources.empty() || targets.empty()) return Tensors();
    return tape.gradients(targets, {}, sources);
  };
}

}  // namespace tenon_kit::functions
