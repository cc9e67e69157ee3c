// Fused loops over elements and over rows. Elementwise kernels and reductions are loops of one
// instruction.

#include "plugins/cuda/kernels/device_code.h"
#include "plugins/cuda/kernels/kernels.h"
#include "plugins/cuda/kernels/lazy_functions.h"
#include "plugins/cuda/kernels/loop_plan.h"
#include "plugins/cuda/kernels/product.h"

namespace tenon_cuda {
namespace {

// Maximum length of a row that one thread reduces.
constexpr int64_t kLongestRowOfThread = 32;

// Returns operand `i` of a launch: the inputs come first, then the outputs.
const tenon_view& operand(const tenon_launch& launch, size_t i) {
  return i < launch.n_inputs ? launch.inputs[i] : launch.outputs[i - launch.n_inputs];
}

class Loop final : public Kernel {
 public:
  Loop(tenon_device_p* device, LoopPlan plan) : device_(device), plan_(std::move(plan)) {
    set_name(loop_name(plan_));
    for (size_t v = 0; v < plan_.inputs.size(); ++v) {
      if (plan_.inputs[v].strides == TENON_STRIDES_STRIDED) strided_.push_back(v);
    }
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const tenon_view& out = launch.outputs[0];
    const int64_t n = tenon_sdk::count(out);
    if (n == 0) return nullptr;
    const Function* functions = nullptr;
    const auto source = [&] { return loop_source(plan_); };
    if (tenon_error* error = functions_.get(device_, name(), source, &functions)) return error;
    std::vector<const int64_t*> strides;
    for (const size_t v : strided_) strides.push_back(launch.inputs[v].strides);
    const Axes axes(out.rank, out.sizes, kAllAxes, strides);
    Parameters parameters;
    parameters.push(n);
    parameters.push(static_cast<int64_t>(axes.sizes().size()));
    parameters.push_list(axes.sizes());
    for (size_t i = 0; i < plan_.n_operands(); ++i) parameters.push_operand(operand(launch, i));
    for (size_t k = 0; k < strided_.size(); ++k) parameters.push_list(axes.strides(k));
    const bool by_vector = strided_.empty() && is_aligned(launch);
    const int64_t n_steps = by_vector ? n / vector_width(plan_) + 1 : n;
    return encoder.dispatch({.function = functions[by_vector ? 1 : 0],
                             .n_blocks = blocks_for(device_, n_steps),
                             .block_size = kBlockSize,
                             .parameters = parameters.words()});
  }

 private:
  // Whether all dense operands are aligned for vector accesses.
  bool is_aligned(const tenon_launch& launch) const {
    for (uint32_t i = 0; i < plan_.n_operands(); ++i) {
      if (plan_.is_input(i) && plan_.inputs[i].strides != TENON_STRIDES_DENSE) continue;
      const uint64_t bytes = vector_width(plan_) * tenon_sdk::size_of(plan_.operand_dtype(i));
      const uint64_t address = address_of(operand(launch, i));
      if (address == 0 || address % bytes != 0) return false;
    }
    return true;
  }

  tenon_device_p* const device_;
  const LoopPlan plan_;
  std::vector<size_t> strided_;  // Indices of strided inputs.
  const LazyFunctions<2> functions_{{"loop_single", "loop_vector"}};
};

class RowLoop final : public Kernel {
 public:
  RowLoop(tenon_device_p* device, LoopPlan plan) : device_(device), plan_(std::move(plan)) {
    set_name(loop_name(plan_));
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const tenon_view& x = launch.inputs[0];
    int64_t n_rows = 1, length = 1;
    for (size_t axis = 0; axis < x.rank; ++axis) {
      (is_of_row(axis) ? length : n_rows) *= x.sizes[axis];
    }
    if (n_rows == 0) return nullptr;
    const Function* functions = nullptr;
    const auto source = [&] { return row_loop_source(plan_); };
    if (tenon_error* error = functions_.get(device_, name(), source, &functions)) return error;
    const Axes beside = axes(launch, ~plan_.row_axes), along = axes(launch, plan_.row_axes);
    Parameters parameters;
    parameters.push(n_rows);
    parameters.push(length);
    for (const Axes* const each : {&beside, &along}) {
      parameters.push(static_cast<int64_t>(each->sizes().size()));
      parameters.push_list(each->sizes());
    }
    const size_t n = plan_.n_operands();
    for (size_t i = 0; i < n; ++i) parameters.push_operand(operand(launch, i));
    for (size_t i = 0; i < n; ++i) parameters.push_list(beside.strides(i));
    for (size_t i = 0; i < n; ++i) parameters.push_list(along.strides(i));
    const bool by_block = length > kLongestRowOfThread;
    return encoder.dispatch({.function = functions[by_block ? 1 : 0],
                             .n_blocks = blocks_for(device_, n_rows, by_block ? 1 : kBlockSize),
                             .block_size = kBlockSize,
                             .parameters = parameters.words()});
  }

 private:
  bool is_of_row(size_t axis) const { return (plan_.row_axes >> axis & 1) != 0; }

  // Returns the axes of `mask` with the strides of all operands. Values per row have stride 0 along
  // the row. Outputs per row are dense in the shape that has size 1 along the row's axes.
  Axes axes(const tenon_launch& launch, uint32_t mask) const {
    const tenon_view& x = launch.inputs[0];
    int64_t row_sizes[kMaxRank];
    for (size_t axis = 0; axis < x.rank; ++axis) {
      row_sizes[axis] = is_of_row(axis) ? 1 : x.sizes[axis];
    }
    const tenon_sdk::DenseStrides of_rows(x.rank, row_sizes), of_elements(x.rank, x.sizes);
    std::vector<const int64_t*> strides;
    for (uint32_t i = 0; i < plan_.n_operands(); ++i) {
      const bool is_input = plan_.is_input(i);
      const uint32_t value = is_input ? i : plan_.outputs[i - plan_.inputs.size()];
      const bool is_per_row = plan_.is_per_row(value);
      const tenon_view& view = operand(launch, i);
      if (is_input) {
        const bool is_fixed =
            view.strides_class == TENON_STRIDES_UNIFORM || (is_per_row && mask == plan_.row_axes);
        strides.push_back(is_fixed ? nullptr : view.strides);
      } else if (is_per_row) {
        strides.push_back(mask == plan_.row_axes ? nullptr : of_rows.values);
      } else {
        strides.push_back(of_elements.values);
      }
    }
    return Axes(x.rank, x.sizes, mask, strides);
  }

  tenon_device_p* const device_;
  const LoopPlan plan_;
  const LazyFunctions<2> functions_{{"rows_by_thread", "rows_by_block"}};
};

// Prepares a kernel of class Made, which is Loop or RowLoop.
template <class Made>
Prepared prepare_as(tenon_device_p* device, LoopPlan plan, uint32_t traits) {
  return {.kernel = std::make_unique<Made>(device, std::move(plan)), .traits = traits};
}

// Prepares a loop without an anchor kernel. Refuses loops with too many operands.
Prepared prepare_plan(tenon_device_p* device, LoopPlan plan) {
  if (plan.row_axes == 0) {
    if (18 + plan.n_operands() * 19 > kMaxParameterWords) {
      return tenon_sdk::refuse(
          "the operands need more than the 4096 bytes of parameters of one kernel");
    }
    return prepare_as<Loop>(device, std::move(plan), kTraits | TENON_KERNEL_MAY_ALIAS);
  }
  if (36 + plan.n_operands() * 35 > kMaxParameterWords) {
    return tenon_sdk::refuse(
        "the operands need more than the 4096 bytes of parameters of one kernel");
  }
  return prepare_as<RowLoop>(device, std::move(plan), kTraits);
}

// Returns the unsigned integer dtype with the same element size, for kernels that move elements
// without computing.
tenon_dtype bits_dtype(tenon_dtype dtype) {
  switch (tenon_sdk::size_of(dtype)) {
    case 1:
      return TENON_UINT8;
    case 2:
      return TENON_UINT16;
    case 4:
      return TENON_UINT32;
    default:
      return TENON_UINT64;
  }
}

// Returns the bit mask of the axes. An empty list stands for all axes.
uint32_t mask_of(const int64_t* axes, size_t n_axes, size_t rank) {
  if (n_axes == 0) return (1u << rank) - 1;
  uint32_t mask = 0;
  for (size_t i = 0; i < n_axes; ++i) mask |= 1u << tenon_sdk::from_front(axes[i], rank);
  return mask;
}

// Prepares a reduction over the axes of `mask` as a loop of one instruction.
Prepared prepare_reduction(const Request& request, uint32_t mask) {
  LoopPlan plan;
  plan.row_axes = mask;
  plan.inputs = {{request.input(0).dtype, request.input(0).strides}};
  plan.instructions = {{request.op(), {0}, request.output(0).dtype, true, true}};
  plan.outputs = {1};
  if (mask == 0) {  // If no axis is reduced, reduces an appended axis of size 1.
    if (request.input(0).rank == kMaxRank)
      return tenon_sdk::refuse("does not support a reduction over no axes at rank 16");
    plan.row_axes = 1u << request.input(0).rank;
  }
  return prepare_plan(request.device(), std::move(plan));
}

// Prepares a matrix product or convolution with a loop as its epilogue.
Prepared prepare_epilogue(const tenon_sdk::LoopRequest& request, LoopPlan plan) {
  const Request anchor(request.device(), *request.anchor());
  plan.inputs.push_back({anchor.output(0).dtype, TENON_STRIDES_DENSE});
  switch (anchor.op()) {
    case TENON_OP_matmul:
      return prepare_matmul(anchor, std::move(plan));
    case TENON_OP_gemm:
      return prepare_gemm(anchor, std::move(plan));
    case TENON_OP_conv:
      return prepare_conv(anchor, std::move(plan));
    default:
      return tenon_sdk::refuse("does not support an epilogue after this op");
  }
}

}  // namespace

Prepared prepare_loop(const tenon_sdk::LoopRequest& request) {
  LoopPlan plan{tenon_sdk::loop_plan(request)};
  if (request.anchor() != nullptr) return prepare_epilogue(request, std::move(plan));
  return prepare_plan(request.device(), std::move(plan));
}

Prepared prepare_elementwise(const Request& request) {
  LoopPlan plan;
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
  return prepare_plan(request.device(), std::move(plan));
}

Prepared prepare_copy(const Request& request) {
  LoopPlan plan;
  plan.inputs = {{bits_dtype(request.input(0).dtype), request.input(0).strides}};
  plan.outputs = {0};
  return prepare_plan(request.device(), std::move(plan));
}

Prepared prepare_fill(const Request& request) {
  LoopPlan plan;
  plan.inputs = {{bits_dtype(request.output(0).dtype), TENON_STRIDES_UNIFORM}};
  plan.outputs = {0};
  return prepare_plan(request.device(), std::move(plan));
}

// Prepares sum, prod, max and min. Their attribute structs have the same layout.
Prepared prepare_reduce(const Request& request) {
  const auto attrs = request.attrs<tenon_sum_attrs>();
  return prepare_reduction(request, mask_of(attrs.axes, attrs.n_axes, request.input(0).rank));
}

// Prepares argmax and argmin.
Prepared prepare_arg_reduce(const Request& request) {
  const auto attrs = request.attrs<tenon_argmax_attrs>();
  return prepare_reduction(request, 1u << tenon_sdk::from_front(attrs.axis, request.input(0).rank));
}

}  // namespace tenon_cuda
