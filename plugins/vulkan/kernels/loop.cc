// Elementwise loops. In the vectorised variant, an invocation computes four neighbouring elements
// at a time and accesses them as vectors of words. The other variant is used if operands are not
// aligned, there are few elements, or the body is long. In it, an invocation computes the elements
// of one word of the smallest output dtype, so that it writes whole words.

#include "plugins/vulkan/kernels/loop.h"

#include <array>

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/lazy_pipeline.h"
#include "plugins/vulkan/kernels/loop_code.h"
#include "plugins/vulkan/kernels/parts.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::U32;

// Parameters: the number of elements; the axes of strided inputs, if any.
constexpr uint32_t kCount = 0, kAxes = 1;

class LoopCode {
 public:
  LoopCode(Code& code, const LoopPlan& plan, bool is_vectorised)
      : code_(code),
        plan_(plan),
        by_four_(is_vectorised),
        lanes_(lanes(plan, is_vectorised)),
        n_(code.parameter(kCount)),
        operands_(code, plan, 0, static_cast<uint32_t>(plan.inputs.size()), code.u32(kAxes)) {}

  // Number of elements that an invocation computes at a time.
  static uint32_t lanes(const LoopPlan& plan, bool is_vectorised) {
    if (is_vectorised) return 4;
    size_t least = 4;
    for (const uint32_t value : plan.outputs) {
      least = std::min(least, tenon_sdk::size_of(plan.dtype(value)));
    }
    return static_cast<uint32_t>(4 / least);
  }

  void write() {
    if (!by_four_) {
      const U32 n_steps = lanes_ == 1 ? n_ : (n_ + (lanes_ - 1)) / lanes_;
      return code_.for_each(n_steps, [&](U32 step) {
        compute_lanes(lanes_ == 1 ? step : step * lanes_, lanes_, false);
      });
    }
    code_.for_each(n_ >> 2, [&](U32 step) { compute_lanes(step << 2, lanes_, true); });
    // Loops with strided operands are vectorised only if the row length is a multiple of four, so
    // they have no remainder.
    if (operands_.has_axes()) return;
    const U32 rest = n_ & 3;
    code_.if_(code_.invocation_index() < rest,
              [&] { compute_lanes(n_ - rest + code_.invocation_index(), 1, false); });
  }

 private:
  using Values = LoopOperands::Values;

  void compute_lanes(U32 first, uint32_t lanes, bool is_vectorised) {
    std::vector<U32> numbers = {first};  // Indices past the end recompute the last element.
    for (uint32_t lane = 1; lane < lanes; ++lane) {
      numbers.push_back(is_vectorised ? first + lane : min(first + lane, n_ - 1));
    }
    std::vector<Values> results(plan_.outputs.size());
    for (const Values& lane : operands_.load(numbers, is_vectorised)) {
      const Values values = compute(plan_, lane);
      for (size_t i = 0; i < results.size(); ++i) results[i].push_back(values[plan_.outputs[i]]);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const Elements& memory = operands_.output(i);
      is_vectorised ? memory.store_four(first, results[i]) : store(memory, first, results[i]);
    }
  }

  void store(const Elements& memory, U32 first, std::span<const Element> elements) {
    if (elements.size() == 1) return memory.store(first, elements[0]);
    const uint32_t each = memory.per_word();
    for (uint32_t lane = 0; lane < elements.size(); lane += each) {
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
  const bool by_four_;
  const uint32_t lanes_;
  const U32 n_;
  const LoopOperands operands_;
};

class Loop final : public Kernel {
 public:
  Loop(tenon_device_p* device, LoopPlan plan) : device_(device), plan_(std::move(plan)) {
    for (uint32_t v = 0; v < plan_.inputs.size(); ++v) {
      if (plan_.inputs[v].strides == TENON_STRIDES_STRIDED) strided_.push_back(v);
    }
    iterations_ = iterations_of(plan_);
    is_long_ = 4 * iterations_ > kMaxIterations ||
               module(false).size() > kLong * LoopCode::lanes(plan_, false);
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const tenon_view& out = launch.outputs[0];
    const int64_t n = tenon_sdk::count(out);
    if (n == 0) return nullptr;
    Operand operands[Axes::kMaxOperands];
    for (uint32_t i = 0; i < n_operands(); ++i) operands[i] = operand_of(launch, i);
    if (!are_seen({operands, n_operands()})) return enqueue_parts(encoder, launch);
    std::array<const int64_t*, Axes::kMaxOperands> strides;
    for (size_t k = 0; k < strided_.size(); ++k) strides[k] = launch.inputs[strided_[k]].strides;
    const Axes axes(out.rank, out.sizes, kAllAxes, {strides.data(), strided_.size()});
    const bool is_vectorised = n >= kMany && can_vectorise({operands, n_operands()}, axes);
    const Pipeline* pipeline = nullptr;
    tenon_error* error = pipelines_[is_vectorised ? 1 : 0].get(
        device_, n_operands(), &pipeline, [&] { return module(is_vectorised); });
    if (error != nullptr) return error;
    Words words;
    push(words, n);
    if (!strided_.empty()) axes.push(words);
    const uint32_t lanes = LoopCode::lanes(plan_, is_vectorised);
    const uint64_t n_steps = (static_cast<uint64_t>(n) + lanes - 1) / lanes;
    const Rounds rounds =
        iterations_ > 0 ? rounds_for(n_steps, lanes * iterations_) : groups_for(n_steps);
    if (error = check_iterations(device_, rounds.iterations); error != nullptr) return error;
    return encoder.dispatch({.pipeline = pipeline,
                             .operands = {operands, n_operands()},
                             .words = words,
                             .groups = rounds.groups,
                             .iterations = iterations_ > 0 ? 0 : kFewIterations,
                             .n = rounds.n});
  }

 private:
  // Maximum size of the body, in SPIR-V words per element, for vectorisation. In longer bodies
  // arithmetic dominates memory accesses, so four copies of the body are not worthwhile.
  static constexpr size_t kLong = 2000;
  // Minimum number of elements for vectorisation. With fewer, one invocation per element finishes
  // before a driver has compiled five copies of the body (four lanes and the remainder).
  static constexpr int64_t kMany = 256;

  uint32_t n_inputs() const { return static_cast<uint32_t>(plan_.inputs.size()); }
  uint32_t n_operands() const { return plan_.n_operands(n_inputs()); }

  bool are_seen(std::span<const Operand> operands) const {
    const uint64_t most = capabilities_of(device_).bindable_bytes();
    return std::all_of(operands.begin(), operands.end(),
                       [&](const Operand& operand) { return operand.end - operand.begin <= most; });
  }
  tenon_error* enqueue_parts(Encoder& encoder, const tenon_launch& launch) const {
    Parts parts(launch, capabilities_of(device_).bindable_bytes());
    while (parts.next()) {
      if (tenon_error* error = enqueue(encoder, parts.launch())) return error;
    }
    return nullptr;
  }

  Words module(bool is_vectorised) const {
    Code code(capabilities_of(device_),
              {.n_operands = n_operands(),
               .local_size = kLocalSize,
               .vectors = is_vectorised ? plan_.vector_operand_mask(n_inputs()) : 0});
    LoopCode(code, plan_, is_vectorised).write();
    return code.finish();
  }

  // Whether the vectorised variant can run. The result depends on operand offsets modulo 32 bytes,
  // which are the same in each replay of a recording. Operands by value may have any offset.
  bool can_vectorise(std::span<const Operand> operands, const Axes& axes) const {
    if (is_long_ || (!strided_.empty() && axes.last_size() % 4 != 0)) return false;
    for (uint32_t i = 0; i < operands.size(); ++i) {
      if (!plan_.is_dense(n_inputs(), i)) continue;
      if (!is_aligned_to_four(operands[i], plan_.operand_dtype(n_inputs(), i))) return false;
    }
    return true;
  }

  tenon_device_p* const device_;
  const LoopPlan plan_;
  std::vector<uint32_t> strided_;  // Indices of strided inputs.
  bool is_long_;
  uint64_t iterations_;        // Loop iterations per element.
  LazyPipeline pipelines_[2];  // [1] is vectorised.
};

}  // namespace

std::vector<Element> compute(const LoopPlan& plan, std::vector<Element> values) {
  for (const LoopPlan::Instruction& instruction : plan.instructions) {
    std::vector<Element> inputs;
    for (const uint32_t value : instruction.inputs) inputs.push_back(values[value]);
    values.push_back(scalar_op(instruction.op, inputs, instruction.dtype));
  }
  return values;
}

uint32_t LoopPlan::vector_operand_mask(uint32_t n_inputs) const {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < n_operands(n_inputs); ++i) {
    if (is_dense(n_inputs, i) && Elements::needs_vectors(operand_dtype(n_inputs, i))) {
      bits |= 1u << i;
    }
  }
  return bits;
}

uint64_t iterations_of(const LoopPlan& plan, bool per_row) {
  uint64_t n = 0;
  for (const LoopPlan::Instruction& each : plan.instructions) {
    if (each.is_per_row == per_row) n += spirv::iterations_of(each.op, each.dtype);
  }
  return n;
}

tenon_string refusal_of_loop(tenon_device_p* device, const LoopPlan& plan, uint32_t n_others) {
  const Capabilities& capabilities = capabilities_of(device);
  const size_t n_operands = plan.inputs.size() + plan.outputs.size() + n_others;
  if (n_operands > Axes::kMaxOperands) return TENON_STR("supports at most 32 operands in a loop");
  if (const tenon_string reason = refusal_of_operands(device, n_operands); reason.size > 0) {
    return reason;
  }
  const auto n_values = static_cast<uint32_t>(plan.inputs.size() + plan.instructions.size());
  for (uint32_t value = 0; value < n_values; ++value) {
    if (plan.dtype(value) == TENON_FLOAT64 && !capabilities.float64) {
      return TENON_STR("has no float64");
    }
  }
  return {};
}

Prepared prepare_loop(tenon_device_p* device, LoopPlan plan) {
  if (const tenon_string reason = refusal_of_loop(device, plan); reason.size > 0)
    return {.reason = reason};
  if (plan.row_axes != 0) return prepare_row_loop(device, std::move(plan));
  const uint64_t iterations = LoopCode::lanes(plan, false) * iterations_of(plan);
  if (iterations > std::min<uint64_t>(kMaxIterations, capabilities_of(device).max_iterations)) {
    return tenon_sdk::refuse(
        "would need more loop iterations per invocation than the driver permits");
  }
  return {
      .kernel = std::make_unique<Loop>(device, std::move(plan)),
      .traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_MAY_ALIAS | TENON_KERNEL_DETERMINISTIC};
}

Prepared prepare_loop(const tenon_sdk::LoopRequest& request) {
  LoopPlan plan{tenon_sdk::loop_plan(request)};
  if (request.anchor() == nullptr) return prepare_loop(request.device(), plan);
  plan.inputs.push_back({request.anchor()->outputs[0].dtype, TENON_STRIDES_DENSE});
  return prepare_with_epilogue(Request(request.device(), *request.anchor()), std::move(plan));
}

Prepared prepare_elementwise(const Request& request) {
  LoopPlan plan;
  // `where` does not compute with elements, so it uses their unsigned integer dtype.
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

// copy moves the bits of elements and does not interpret them.
Prepared prepare_copy(const Request& request) {
  LoopPlan plan;
  plan.inputs = {{bits_dtype(request.input(0).dtype), request.input(0).strides}};
  plan.outputs = {0};
  return prepare_loop(request.device(), std::move(plan));
}

Prepared prepare_fill(const Request& request) {
  LoopPlan plan;
  plan.inputs = {{bits_dtype(request.output(0).dtype), TENON_STRIDES_UNIFORM}};
  plan.outputs = {0};
  return prepare_loop(request.device(), std::move(plan));
}

}  // namespace tenon_vulkan
