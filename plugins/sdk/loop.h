// Loops: what the host asks for, and the plainest way to run one.

#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "plugins/sdk/kernel.h"
#include "plugins/sdk/view.h"

namespace tenon_sdk {

// What prepare_loop is asked for.
class LoopRequest {
 public:
  LoopRequest(tenon_device_p* device, const tenon_loop_request& request)
      : device_(device), request_(request) {}

  tenon_device_p* device() const { return device_; }
  size_t n_inputs() const { return request_.n_inputs; }
  size_t n_instructions() const { return request_.n_instructions; }
  size_t n_values() const { return n_inputs() + n_instructions(); }
  size_t n_outputs() const { return request_.n_outputs; }
  const tenon_operand& input(size_t i) const { return request_.inputs[i]; }
  const tenon_loop_instruction& instruction(size_t i) const { return request_.instructions[i]; }
  // Which value an output is.
  uint32_t output(size_t i) const { return request_.outputs[i]; }
  tenon_dtype dtype(size_t value) const {
    return value < n_inputs() ? input(value).dtype : instruction(value - n_inputs()).dtype;
  }

  // The kernel of instruction `i` alone. `packed`: what is strided will come densely.
  Prepared step(size_t i, bool packed) const {
    const tenon_loop_instruction& instruction = request_.instructions[i];
    std::vector<tenon_operand> operands;
    for (size_t k = 0; k < instruction.n_inputs; ++k) {
      const uint32_t value = instruction.inputs[k];
      operands.push_back(value < n_inputs() ? input(value) : dense(instruction_at(value).dtype));
      tenon_stride_class& strides = operands.back().strides;
      if (packed && strides == TENON_STRIDES_STRIDED) strides = TENON_STRIDES_DENSE;
    }
    const tenon_operand output = dense(instruction.dtype);
    const tenon_kernel_request request = {.struct_size = sizeof request,
                                          .flags = request_.flags,
                                          .line = instruction.line,
                                          .attrs = instruction.attrs,
                                          .n_inputs = operands.size(),
                                          .n_outputs = 1,
                                          .inputs = operands.data(),
                                          .outputs = &output};
    Prepared prepared;
    tenon_kernel_p* kernel = nullptr;
    tenon_kernel_traits traits = {.struct_size = sizeof traits, .flags = 0};
    prepared.error =
        instruction.line->prepare(device_, &request, &kernel, &traits, &prepared.reason);
    prepared.kernel.reset(from_c(kernel));
    prepared.traits = traits.flags;
    return prepared;
  }

 private:
  const tenon_loop_instruction& instruction_at(size_t value) const {
    return request_.instructions[value - n_inputs()];
  }
  tenon_operand dense(tenon_dtype dtype) const {
    const uint16_t rank = n_inputs() > 0 ? input(0).rank : uint16_t{0};
    return {.dtype = dtype, .rank = rank, .strides = TENON_STRIDES_DENSE};
  }

  tenon_device_p* device_;
  const tenon_loop_request& request_;
};

// One instruction after the other over all elements, with memory for every value: obviously right,
// and never faster than launching them one by one.
class StepByStep final : public Kernel {
 public:
  static Prepared prepare(const LoopRequest& request) {
    auto made = std::make_unique<StepByStep>();
    uint32_t traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC;
    for (size_t i = 0; i < request.n_instructions(); ++i) {
      Prepared step = request.step(i, false);
      if (!step.kernel) return step;
      if (step.traits & TENON_KERNEL_WORKSPACE) return refuse("needs a workspace for this op");
      traits &= step.traits;
      const tenon_loop_instruction& given = request.instruction(i);
      made->steps_.push_back(
          {std::move(step.kernel), {given.inputs, given.inputs + given.n_inputs}, given.dtype, -1});
    }
    made->n_inputs_ = request.n_inputs();
    for (size_t i = 0; i < request.n_outputs(); ++i) {
      made->steps_[request.output(i) - request.n_inputs()].output = static_cast<int>(i);
    }
    return {.kernel = std::move(made), .traits = traits};
  }

  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const override {
    std::vector<tenon_view> values(launch.inputs, launch.inputs + n_inputs_);
    std::vector<std::unique_ptr<std::byte[]>> memory;
    for (const Step& step : steps_) {
      tenon_view result = launch.outputs[step.output < 0 ? 0 : step.output];
      if (step.output < 0) {
        memory.push_back(std::make_unique<std::byte[]>(
            static_cast<size_t>(count(result)) * size_of(step.dtype) + 1));
        result.data = memory.back().get();
        result.dtype = step.dtype;
      }
      std::vector<tenon_view> inputs;
      for (const uint32_t value : step.inputs) inputs.push_back(values[value]);
      tenon_launch own = launch;
      own.inputs = inputs.data();
      own.n_inputs = static_cast<uint32_t>(inputs.size());
      own.outputs = &result;
      own.n_outputs = 1;
      if (tenon_error* error = step.kernel->launch(stream, own)) return error;
      values.push_back(result);
    }
    return nullptr;
  }

 private:
  struct Step {
    KernelPtr kernel;
    std::vector<uint32_t> inputs;
    tenon_dtype dtype;
    int output;  // -1: none.
  };

  size_t n_inputs_ = 0;
  std::vector<Step> steps_;
};

// What the host calls: `function` in the shape of the slot.
template <Prepared (*function)(const LoopRequest&)>
tenon_error* prepare_loop(tenon_device_p* device, const tenon_loop_request* request,
                          tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                          tenon_string* out_reason) {
  return answer([&] { return function(LoopRequest(device, *request)); }, out_kernel, out_traits,
                out_reason);
}

}  // namespace tenon_sdk
