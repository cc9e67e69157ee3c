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

// Returns a function whose body is `code`.
tenon::Function as_function(const Code& code, const char* name = "traced");

// Copies the tensors to the host.
Results read_all(const Bench& bench, const Tensors& tensors);
// Makes tensors of the operands. If the device flushes subnormals, they are replaced by zeros,
// because a function that eliminates an op, such as adding -0, would not flush them.
Tensors make_all(const Bench& bench, const std::vector<Operand>& operands);

// Calls `called`, a function, with each element of `inputs` in turn, three times. The first call
// traces, the second one records launches, and later calls replay the recording. Describes how the
// results differ from `want`, the results of eager execution for each element, or which inputs the
// calls have changed; empty if there is no difference.
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

// Returns code that records `code` on a tape, and whose outputs are the gradients of the sum of the
// floating-point outputs with respect to the inputs with indices `sources`. It has no outputs if
// there is nothing to differentiate.
Code gradient_of(const Code& code, const std::vector<size_t>& sources);
// Returns the indices of the floating-point tensors among the inputs. Gradients with respect to
// these exist.
std::vector<size_t> differentiable_inputs(const std::vector<Operand>& inputs);

}  // namespace tenon_kit::functions
