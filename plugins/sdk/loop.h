// Requests to prepare a loop program, and StepByStep, the simplest implementation.

#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "plugins/sdk/kernel.h"
#include "plugins/sdk/view.h"

namespace tenon_sdk {

// The request passed to prepare_loop.
class LoopRequest {
 public:
  LoopRequest(tenon_device_p* device, const tenon_loop_request& request)
      : device_(device), request_(request) {}

  tenon_device_p* device() const { return device_; }
  size_t n_inputs() const { return request_.n_inputs; }
  size_t n_instructions() const { return request_.n_instructions; }
  size_t n_values() const { return first_result() + n_instructions(); }
  size_t n_outputs() const { return request_.n_outputs; }
  const tenon_operand& input(size_t i) const { return request_.inputs[i]; }
  const tenon_loop_instruction& instruction(size_t i) const { return request_.instructions[i]; }
  // If this loop is the epilogue of an anchor kernel, returns the request for that kernel,
  // otherwise NULL. The result of the anchor is the value that follows the inputs.
  const tenon_kernel_request* anchor() const {
    return TENON_SDK_HAS(request_, anchor) ? request_.anchor : nullptr;
  }
  // The index, among the values, of the first instruction's result.
  size_t first_result() const { return n_inputs() + (anchor() != nullptr ? 1 : 0); }
  // The index, among the values, of output `i`.
  uint32_t output(size_t i) const { return request_.outputs[i]; }
  // Bit i is set if rows extend along axis i; 0 if the loop has no rows.
  uint32_t row_axes() const { return request_.row_axes; }
  // The rank of all values that have one element per element of the loop (not per row).
  uint16_t rank() const {
    if (anchor() != nullptr) return anchor()->outputs[0].rank;
    return n_inputs() > 0 ? input(0).rank : uint16_t{0};
  }
  // Whether a value has one element per row.
  bool is_per_row(size_t value) const {
    if (value < n_inputs()) return value >= n_inputs() - request_.n_row_inputs;
    return value >= first_result() && (instruction_at(value).flags & TENON_LOOP_PER_ROW) != 0;
  }
  // Whether instruction `i` is a reduction along the rows.
  bool reduces(size_t i) const { return (instruction(i).flags & TENON_LOOP_REDUCES) != 0; }
  // Whether instruction `i` is elementwise over rows: it reads per-row values and UNIFORM inputs,
  // and its result has one element per row.
  bool is_on_rows(size_t i) const {
    return (instruction(i).flags & (TENON_LOOP_PER_ROW | TENON_LOOP_REDUCES)) == TENON_LOOP_PER_ROW;
  }
  tenon_dtype dtype(size_t value) const {
    if (value < n_inputs()) return input(value).dtype;
    return value < first_result() ? anchor()->outputs[0].dtype : instruction_at(value).dtype;
  }

  // Prepares a kernel for instruction `i` alone. Per-row operands of an instruction on elements are
  // strided, because they repeat along the row. If `packed`, the caller copies all strided operands
  // to dense memory first.
  Prepared prepare_instruction(size_t i, bool packed) const {
    const tenon_loop_instruction& instruction = request_.instructions[i];
    std::vector<tenon_operand> operands;
    for (size_t k = 0; k < instruction.n_inputs; ++k) {
      const uint32_t value = instruction.inputs[k];
      operands.push_back(value < n_inputs() ? input(value) : dense_operand(dtype(value)));
      tenon_stride_class& strides = operands.back().strides;
      if (is_per_row(value) && !is_on_rows(i)) strides = TENON_STRIDES_STRIDED;
      if (packed && strides == TENON_STRIDES_STRIDED) strides = TENON_STRIDES_DENSE;
    }
    const tenon_operand output = dense_operand(instruction.dtype);
    return prepare({.struct_size = sizeof(tenon_kernel_request),
                    .flags = request_.flags,
                    .line = instruction.line,
                    .attrs = instruction.attrs,
                    .n_inputs = operands.size(),
                    .n_outputs = 1,
                    .inputs = operands.data(),
                    .outputs = &output});
  }
  // Prepares a kernel for the anchor alone.
  Prepared prepare_anchor() const { return prepare(*anchor()); }

 private:
  // Calls the prepare function of the requested kernel entry.
  Prepared prepare(const tenon_kernel_request& request) const {
    Prepared prepared;
    tenon_kernel_p* kernel = nullptr;
    tenon_kernel_traits traits = {.struct_size = sizeof traits, .flags = 0};
    prepared.error = request.line->prepare(device_, &request, &kernel, &traits, &prepared.reason);
    prepared.kernel.reset(from_c(kernel));
    prepared.traits = traits.flags;
    return prepared;
  }
  // Returns the instruction whose result is this value.
  const tenon_loop_instruction& instruction_at(size_t value) const {
    return request_.instructions[value - first_result()];
  }
  // Returns the description of a dense operand with the rank of the loop.
  tenon_operand dense_operand(tenon_dtype dtype) const {
    return {.dtype = dtype, .rank = rank(), .strides = TENON_STRIDES_DENSE};
  }

  tenon_device_p* device_;
  const tenon_loop_request& request_;
};

// Runs the instructions one after another over all elements or rows, and stores every value in
// memory. Simple enough to verify by reading, but no faster than separate launches.
class StepByStep final : public Kernel {
 public:
  // Prepares the kernels of all instructions. Refuses loops that one of them does not support.
  static Prepared prepare(const LoopRequest& request) {
    auto made = std::make_unique<StepByStep>();
    uint32_t traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC;
    if (request.anchor() != nullptr) {
      Prepared anchor = request.prepare_anchor();
      if (!anchor.kernel) return anchor;
      if (anchor.traits & TENON_KERNEL_WORKSPACE)
        return refuse("does not support loops with an op that needs a workspace");
      traits &= anchor.traits;
      made->anchor_.kernel = std::move(anchor.kernel);
      made->anchor_.n_inputs = request.anchor()->n_inputs;
      made->steps_.push_back({.dtype = request.anchor()->outputs[0].dtype, .output = -1});
    }
    for (size_t i = 0; i < request.n_instructions(); ++i) {
      Prepared step = request.prepare_instruction(i, false);
      if (!step.kernel) return step;
      if (step.traits & TENON_KERNEL_WORKSPACE)
        return refuse("does not support loops with an op that needs a workspace");
      const tenon_loop_instruction& given = request.instruction(i);
      const bool repeats = !request.is_on_rows(i) &&
                           std::any_of(given.inputs, given.inputs + given.n_inputs,
                                       [&](uint32_t value) { return request.is_per_row(value); });
      if (repeats && !(step.traits & TENON_KERNEL_STRIDED_INPUTS)) {
        return refuse(
            "has no kernel with strided operands for this op; per-row values in loops need one");
      }
      traits &= step.traits;
      made->steps_.push_back({.kernel = std::move(step.kernel),
                              .inputs = {given.inputs, given.inputs + given.n_inputs},
                              .dtype = given.dtype,
                              .is_on_rows = request.is_on_rows(i),
                              .is_per_row = request.is_per_row(request.first_result() + i),
                              .output = -1});
    }
    made->row_axes_ = request.row_axes();
    for (size_t v = 0; v < request.n_inputs(); ++v) {
      made->is_per_row_.push_back(request.is_per_row(v));
    }
    for (size_t i = 0; i < request.n_outputs(); ++i) {
      made->steps_[request.output(i) - request.n_inputs()].output = static_cast<int>(i);
    }
    return {.kernel = std::move(made), .traits = traits};
  }

  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const override {
    const tenon_view& all = anchor_.kernel ? launch.outputs[0] : launch.inputs[0];
    const Shape elements(all.rank, all.sizes, 0);
    const Shape rows(all.rank, all.sizes, row_axes_);
    std::vector<Value> values;
    for (size_t v = 0; v < is_per_row_.size(); ++v) {
      values.push_back({launch.inputs[anchor_.n_inputs + v], is_per_row_[v], nullptr});
    }
    for (const Step& step : steps_) {
      const Shape& to = step.is_per_row ? rows : elements;
      Value result = {launch.outputs[step.output < 0 ? 0 : step.output], step.is_per_row, nullptr};
      if (step.output < 0) {
        result.memory = std::make_unique<std::byte[]>(
            static_cast<size_t>(count(to.rank, to.sizes)) * size_of(step.dtype) + 1);
        result.view.data = result.memory.get();
        result.view.dtype = step.dtype;
        result.view.sizes = to.sizes;
        result.view.strides = to.strides;
      }
      std::vector<tenon_view> inputs;
      std::vector<Strides> strides(step.inputs.size());
      for (size_t k = 0; k < step.inputs.size(); ++k) {
        const Value& value = values[step.inputs[k]];
        inputs.push_back(value.view);
        if (value.is_per_row == step.is_on_rows) continue;
        inputs[k].sizes = (step.is_on_rows ? rows : elements).sizes;
        if (step.is_on_rows) continue;  // The input is UNIFORM: zero strides broadcast it to rows.
        strides[k] = strides_along_rows(value.view);
        inputs[k].strides = strides[k].data();
        inputs[k].strides_class = TENON_STRIDES_STRIDED;
      }
      const bool is_anchor = step.kernel == nullptr;
      tenon_launch own = launch;
      own.inputs = is_anchor ? launch.inputs : inputs.data();
      own.n_inputs = static_cast<uint32_t>(is_anchor ? anchor_.n_inputs : inputs.size());
      own.outputs = &result.view;
      own.n_outputs = 1;
      const Kernel& kernel = is_anchor ? *anchor_.kernel : *step.kernel;
      if (tenon_error* error = kernel.launch(stream, own)) return error;
      values.push_back(std::move(result));
    }
    return nullptr;
  }

 private:
  struct Step {
    KernelPtr kernel;  // NULL for the anchor.
    std::vector<uint32_t> inputs;
    tenon_dtype dtype;
    bool is_on_rows = false, is_per_row = false;
    int output;  // Index of the loop's output; -1 if the value is internal.
  };
  struct Anchor {
    KernelPtr kernel;
    size_t n_inputs = 0;
  };
  struct Value {
    tenon_view view;
    bool is_per_row;
    std::unique_ptr<std::byte[]> memory;
  };
  using Strides = std::array<int64_t, TENON_MAX_RANK>;

  // Sizes and dense strides of a value. The axes in the mask `of_one` have size 1: in per-row
  // values, these are the row axes.
  struct Shape {
    Shape(size_t rank_of_all, const int64_t* sizes_of_all, uint32_t of_one) : rank(rank_of_all) {
      for (size_t axis = 0; axis < rank; ++axis) {
        sizes[axis] = (of_one >> axis & 1) != 0 ? 1 : sizes_of_all[axis];
      }
      std::copy_n(DenseStrides(rank, sizes).values, rank, strides);
    }
    size_t rank;
    int64_t sizes[TENON_MAX_RANK];
    int64_t strides[TENON_MAX_RANK];
  };

  // Strides that broadcast a per-row value along the row: 0 along the row axes.
  Strides strides_along_rows(const tenon_view& value) const {
    Strides strides = {};
    for (size_t axis = 0; axis < value.rank; ++axis) {
      if ((row_axes_ >> axis & 1) == 0) strides[axis] = value.strides[axis];
    }
    return strides;
  }

  Anchor anchor_;
  uint32_t row_axes_ = 0;
  std::vector<bool> is_per_row_;  // For each input, whether it is per row.
  std::vector<Step> steps_;
};

// Adapts `function` to the signature of tenon_plugin_calls.prepare_loop.
template <Prepared (*function)(const LoopRequest&)>
tenon_error* prepare_loop(tenon_device_p* device, const tenon_loop_request* request,
                          tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                          tenon_string* out_reason) {
  return answer([&] { return function(LoopRequest(device, *request)); }, out_kernel, out_traits,
                out_reason);
}

}  // namespace tenon_sdk
