// Code that is run call by call and as a function, on the device, and compared to the bit.

#pragma once

#include "conformance/checks/check.h"
#include "conformance/functions/function_check.h"

namespace tenon_kit::functions {

using Code = std::function<Tensors(std::span<const tenon::Tensor>)>;

// The device's scope as the thread's current one.
inline tenon::ScopeGuard on_device(const Bench& bench) {
  return tenon::ScopeGuard(bench.env.device.scope());
}

tenon::Function as_function(const Code& code, const char* name = "traced");

Results read_all(const Bench& bench, const Tensors& tensors);
// A device that flushes gets no subnormal numbers: an op that a function leaves out, as adding -0,
// keeps what the device would have flushed.
Tensors make_all(const Bench& bench, const std::vector<Operand>& operands);

// The code is called with each of these in turn, three times, so that it is traced, written down as
// launches with other values than before, and these are launched. `want`: what it gives call by
// call for each. Also looks at the inputs afterwards.
Fault compare_calls(const Bench& bench, const std::function<Tensors(const Tensors&)>& called,
                    const std::vector<Tensors>& inputs, const std::vector<Results>& want);

// Leaves passes out of what runs first while it lives.
class PassesOff {
 public:
  explicit PassesOff(std::vector<std::string> names);
  PassesOff(const PassesOff&) = delete;
  PassesOff& operator=(const PassesOff&) = delete;
  ~PassesOff();

 private:
  std::vector<std::string> names_;
};

// The gradients of the sum of the floating outputs by the inputs of these numbers, by a tape around
// the code; none where there is nothing to differentiate.
Code gradient_of(const Code& code, const std::vector<size_t>& sources);
// Those inputs by which there are any: floating tensors.
std::vector<size_t> sources_of(const std::vector<Operand>& inputs);

}  // namespace tenon_kit::functions
