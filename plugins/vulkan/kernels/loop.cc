// An invocation computes as many neighbouring elements as make a word of the smallest result, so
// that words are written whole. Inputs are read where they lie: dense ones at the element's number,
// uniform ones once, strided ones at the sum of coordinates times strides, whose axes are merged at
// the launch as far as they go.

#include "plugins/vulkan/kernels/loop.h"

#include <array>
#include <optional>

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::U32;

// Parameters: how many elements; if any inputs are strided, their axes.
constexpr uint32_t kCount = 0, kAxes = 1;

class LoopCode {
 public:
  LoopCode(Code& code, const LoopPlan& plan)
      : code_(code), plan_(plan), n_(code.parameter(kCount)) {
    for (const LoopPlan::Input& input : plan.inputs) {
      memory_.emplace_back(code, static_cast<uint32_t>(memory_.size()), input.dtype);
      if (input.strides == TENON_STRIDES_STRIDED) ++n_strided_;
    }
    for (const uint32_t value : plan.outputs) {
      memory_.emplace_back(code, static_cast<uint32_t>(memory_.size()), plan.dtype(value));
      lanes_ = std::max(lanes_, memory_.back().per_word());
    }
    for (uint32_t v = 0; v < plan.inputs.size(); ++v) {
      const bool is_uniform = plan.inputs[v].strides == TENON_STRIDES_UNIFORM;
      uniform_.push_back(is_uniform ? memory_[v].load(code.u32(0)) : Element());
    }
    if (n_strided_ > 0) axes_.emplace(code, code.u32(kAxes), n_strided_);
  }

  uint32_t lanes() const { return lanes_; }

  void write() {
    const U32 n_steps = lanes_ == 1 ? n_ : (n_ + (lanes_ - 1)) / lanes_;
    code_.for_each(n_steps, [&](U32 step) {
      const U32 first = lanes_ == 1 ? step : step * lanes_;
      std::vector<std::vector<Element>> results(plan_.outputs.size());
      for (uint32_t lane = 0; lane < lanes_; ++lane) {
        // Beyond the last element the last one is computed again.
        const U32 index = lane == 0 ? first : min(first + lane, n_ - 1);
        const std::vector<Element> values = compute(index);
        for (size_t i = 0; i < results.size(); ++i) {
          results[i].push_back(values[plan_.outputs[i]]);
        }
      }
      for (size_t i = 0; i < results.size(); ++i) store(i, first, results[i]);
    });
  }

 private:
  std::vector<Element> compute(U32 index) {
    const std::vector<U32> places = axes_ ? axes_->places(index) : std::vector<U32>();
    std::vector<Element> values;
    size_t strided = 0;
    for (size_t v = 0; v < plan_.inputs.size(); ++v) {
      switch (plan_.inputs[v].strides) {
        case TENON_STRIDES_UNIFORM:
          values.push_back(uniform_[v]);
          break;
        case TENON_STRIDES_STRIDED:
          values.push_back(memory_[v].load(places[strided++]));
          break;
        default:
          values.push_back(memory_[v].load(index));
      }
    }
    for (const LoopPlan::Instruction& instruction : plan_.instructions) {
      std::vector<Element> inputs;
      for (const uint32_t value : instruction.inputs) inputs.push_back(values[value]);
      values.push_back(scalar_op(instruction.op, inputs, instruction.dtype));
    }
    return values;
  }

  void store(size_t output, U32 first, std::span<const Element> elements) {
    const Elements& memory = memory_[plan_.inputs.size() + output];
    if (lanes_ == 1) return memory.store(first, elements[0]);
    const uint32_t each = memory.per_word();
    for (uint32_t lane = 0; lane < lanes_; lane += each) {
      const U32 index = first + lane;
      if (each == 1) {
        code_.if_(index < n_, [&] { memory.store(index, elements[lane]); });
      } else {
        memory.store_word(index, elements.subspan(lane, each), n_);
      }
    }
  }

  Code& code_;
  const LoopPlan& plan_;
  const U32 n_;
  uint32_t lanes_ = 1, n_strided_ = 0;
  std::optional<AxesCode> axes_;
  std::vector<Elements> memory_;  // Of inputs, then outputs.
  std::vector<Element> uniform_;
};

}  // namespace

Prepared prepare_loop(tenon_device_p* device, LoopPlan plan) {
  const Capabilities& capabilities = capabilities_of(device);
  const auto n_operands = static_cast<uint32_t>(plan.inputs.size() + plan.outputs.size());
  if (n_operands > std::min<size_t>(capabilities.max_operands, Axes::kMostOperands)) {
    return tenon_sdk::refuse("has no room for so many operands in one shader");
  }
  const auto n_values = static_cast<uint32_t>(plan.inputs.size() + plan.instructions.size());
  for (uint32_t value = 0; value < n_values; ++value) {
    if (plan.dtype(value) == TENON_FLOAT64 && !capabilities.float64) {
      return tenon_sdk::refuse("has no float64");
    }
  }
  if (plan.row_axes != 0) return prepare_row_loop(device, std::move(plan));
  Code code(capabilities, {.n_operands = n_operands, .local_size = kLocalSize});
  LoopCode loop(code, plan);
  loop.write();

  std::vector<uint32_t> strided;
  for (uint32_t v = 0; v < plan.inputs.size(); ++v) {
    if (plan.inputs[v].strides == TENON_STRIDES_STRIDED) strided.push_back(v);
  }
  const auto fill = [device, lanes = loop.lanes(), strided](const tenon_launch& launch,
                                                            Words& words) {
    const int64_t n = tenon_sdk::count(launch.outputs[0]);
    push(words, n);
    if (!strided.empty()) {
      std::array<const int64_t*, Axes::kMostOperands> strides;
      for (size_t k = 0; k < strided.size(); ++k) strides[k] = launch.inputs[strided[k]].strides;
      const tenon_view& out = launch.outputs[0];
      Axes(out.rank, out.sizes, kAllAxes, {strides.data(), strided.size()}).push(words);
    }
    return groups_for((static_cast<uint64_t>(n) + lanes - 1) / lanes);
  };
  return one_dispatch(
      device, code, n_operands,
      TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_MAY_ALIAS | TENON_KERNEL_DETERMINISTIC, fill);
}

Prepared prepare_loop(const tenon_sdk::LoopRequest& request) {
  LoopPlan plan;
  plan.row_axes = request.row_axes();
  for (size_t i = 0; i < request.n_inputs(); ++i) {
    plan.inputs.push_back(
        {request.input(i).dtype, request.input(i).strides, request.is_per_row(i)});
  }
  for (size_t i = 0; i < request.n_instructions(); ++i) {
    const tenon_loop_instruction& given = request.instruction(i);
    plan.instructions.push_back({given.line->op,
                                 {given.inputs, given.inputs + given.n_inputs},
                                 given.dtype,
                                 (given.flags & TENON_LOOP_PER_ROW) != 0,
                                 (given.flags & TENON_LOOP_REDUCES) != 0});
  }
  for (size_t i = 0; i < request.n_outputs(); ++i) plan.outputs.push_back(request.output(i));
  return prepare_loop(request.device(), plan);
}

Prepared prepare_elementwise(const Request& request) {
  LoopPlan plan;
  // What is chosen is moved.
  const bool moves = request.op() == TENON_OP_where;
  const auto as = [&](tenon_dtype dtype) {
    return moves && dtype != TENON_BOOL ? bits_dtype(dtype) : dtype;
  };
  LoopPlan::Instruction instruction = {request.op(), {}, as(request.output(0).dtype)};
  for (uint32_t i = 0; i < request.n_inputs(); ++i) {
    plan.inputs.push_back({as(request.input(i).dtype), request.input(i).strides});
    instruction.inputs.push_back(i);
  }
  plan.outputs = {static_cast<uint32_t>(request.n_inputs())};
  plan.instructions.push_back(std::move(instruction));
  return prepare_loop(request.device(), plan);
}

// What is only moved keeps its bits.
Prepared prepare_copy(const Request& request) {
  return prepare_loop(
      request.device(),
      {.inputs = {{bits_dtype(request.input(0).dtype), request.input(0).strides}}, .outputs = {0}});
}

Prepared prepare_fill(const Request& request) {
  return prepare_loop(
      request.device(),
      {.inputs = {{bits_dtype(request.output(0).dtype), TENON_STRIDES_UNIFORM}}, .outputs = {0}});
}

}  // namespace tenon_vulkan
