// Compares a body run call by call with the same body as a function, on the device and bit for bit.

#pragma once

#include "conformance/checks/check.h"
#include "conformance/functions/function_check.h"

namespace tenon_kit::functions {

using Code = std::function<Tensors(std::span<const tenon::Tensor>)>;

// Makes the device's scope the current scope of the thread.
inline tenon::ScopeGuard on_device(const Bench& bench) {
  return tenon::ScopeGuard(bench.env.device.scope());
}

tenon::Function as_function(const Code& code, const char* name = "traced");

Results read_all(const Bench& bench, const Tensors& tensors);
// Makes tensors of the operands. If the device flushes subnormals, they are replaced by zeros,
// because a function that eliminates an op, such as adding -0, would not flush them.
Tensors make_all(const Bench& bench, const std::vector<Operand>& operands);

// Calls the code three times with each of the inputs in turn. The first call traces, the next one
// records launches with other values, and the rest replay these. `want` holds the results of
// call-by-call execution for each input. Also checks that the calls do not change their inputs.
Fault compare_calls(const Bench& bench, const std::function<Tensors(const Tensors&)>& called,
                    const std::vector<Tensors>& inputs, const std::vector<Results>& want);

// Disables passes for functions that are traced during the object's lifetime.
class PassesOff {
 public:
  explicit PassesOff(std::vector<std::string> names);
  PassesOff(const PassesOff&) = delete;
  PassesOff& operator=(const PassesOff&) = delete;
  ~PassesOff();

 private:
  std::vector<std::string> names_;
};

// Code that records `code` on a tape and returns the gradients of the sum of its floating-point
// outputs with respect to the inputs with these indices. Empty if there is nothing to
// differentiate.
Code gradient_of(const Code& code, const std::vector<size_t>& sources);
// The indices of the inputs that can be differentiated by, that is, of floating-point tensors.
std::vector<size_t> differentiable_inputs(const std::vector<Operand>& inputs);

}  // namespace tenon_kit::functions
