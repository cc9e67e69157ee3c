#include "plugins/vulkan/encoder.h"

#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/driver/stream.h"

namespace tenon_vulkan {
namespace {

uint64_t element_bytes(tenon_dtype dtype) {
  return uint64_t{TENON_DTYPE_BITS(dtype)} * TENON_DTYPE_LANES(dtype) / 8;
}

// Offsets of a view's lowest and highest element in memory, relative to its first element, in
// elements.
struct Extent {
  int64_t least = 0, most = 0;
  bool is_empty = false;
};

// Returns the extent of a view by its sizes and strides.
Extent extent_of(const tenon_view& view) {
  Extent extent;
  for (uint16_t axis = 0; axis < view.rank; ++axis) {
    if (view.sizes[axis] == 0) extent.is_empty = true;
  }
  if (view.strides_class == TENON_STRIDES_UNIFORM || extent.is_empty) return extent;
  if (view.strides_class == TENON_STRIDES_DENSE) {
    extent.most = tenon_sdk::count(view) - 1;
    return extent;
  }
  for (uint16_t axis = 0; axis < view.rank; ++axis) {
    const int64_t way = (view.sizes[axis] - 1) * view.strides[axis];
    (way < 0 ? extent.least : extent.most) += way;
  }
  return extent;
}

}  // namespace

const Capabilities& capabilities_of(tenon_device_p* device) {
  return from_c(device).capabilities();
}

bool has_names(tenon_device_p* device) { return from_c(device).driver().has_names(); }

tenon_error* make_error(tenon_device_p* device, tenon_code code, std::string_view message) {
  return from_c(device).driver().error(code, message);
}

tenon_string refusal_of_operands(tenon_device_p* device, size_t n) {
  if (n <= capabilities_of(device).max_operands) return {};
  return TENON_STR("the call has more operands than can be bound to one shader");
}

tenon_error* check_iterations(tenon_device_p* device, uint64_t iterations) {
  const uint64_t most = capabilities_of(device).max_iterations;
  if (iterations <= most) return nullptr;
  return make_error(device, TENON_UNIMPLEMENTED,
                    "the launch needs " + std::to_string(iterations) +
                        " loop iterations per invocation, but this driver ends the loops of an "
                        "invocation after " +
                        std::to_string(most));
}

tenon_error* check_count(tenon_device_p* device, int64_t n) {
  if (n <= int64_t{kMaxCount}) return nullptr;
  return make_error(device, TENON_UNIMPLEMENTED,
                    std::to_string(n) + " elements exceed the maximum of " +
                        std::to_string(kMaxCount) + " that shaders can count with 32 bits");
}

tenon_error* check_axes(tenon_device_p* device, const tenon_launch& launch) {
  for (uint32_t i = 0; i < launch.n_inputs; ++i) {
    const tenon_view& x = launch.inputs[i];
    for (uint16_t axis = 0; axis < x.rank; ++axis) {
      if (tenon_error* error = check_count(device, x.sizes[axis])) return error;
    }
  }
  return nullptr;
}

tenon_error* make_pipeline(tenon_device_p* device, std::span<const uint32_t> spirv,
                           uint32_t n_operands, PipelineRef* out_pipeline, uint32_t texels) {
  return from_c(device).pipelines().get(spirv, {n_operands, texels}, *out_pipeline);
}

bool is_aligned_to_four(const Operand& operand, tenon_dtype dtype) {
  return operand.buffer != nullptr && operand.first % (4 * tenon_sdk::size_of(dtype)) == 0;
}

std::vector<Operand> operands_of(const tenon_launch& launch) {
  std::vector<Operand> operands;
  for (uint32_t i = 0; i < launch.n_inputs + launch.n_outputs; ++i) {
    const bool is_absent = i < launch.n_inputs && launch.inputs[i].dtype == TENON_DTYPE_NONE;
    if (!is_absent) operands.push_back(operand_of(launch, i));
  }
  return operands;
}

Operand operand_of(const tenon_launch& launch, uint32_t number) {
  const bool is_written = number >= launch.n_inputs;
  const tenon_view& view =
      is_written ? launch.outputs[number - launch.n_inputs] : launch.inputs[number];
  const uint64_t size = element_bytes(view.dtype);
  if (view.buffer == nullptr) return {number, nullptr, view.data, 0, size, 0, is_written};
  const Extent extent = extent_of(view);
  const int64_t n = extent.is_empty ? 0 : extent.most + 1;
  return {.number = number,
          .buffer = view.buffer,
          .value = nullptr,
          .begin = view.byte_offset + static_cast<uint64_t>(extent.least) * size,
          .end = view.byte_offset + static_cast<uint64_t>(n) * size,
          .first = view.byte_offset,
          .is_written = is_written};
}

Operand workspace_of(const tenon_launch& launch) {
  const tenon_view& view = launch.workspace;
  return {.number = launch.n_inputs + launch.n_outputs,
          .buffer = view.buffer,
          .value = nullptr,
          .begin = view.byte_offset,
          .end = view.byte_offset + (view.buffer == nullptr ? 0 : launch.workspace_size),
          .first = view.byte_offset,
          .is_written = true};
}

Operand error_record_of(const tenon_launch& launch) {
  static constexpr tenon_error_record kUntouched = {};
  const uint64_t begin = launch.record_buffer == nullptr ? 0 : launch.record_offset;
  return {.number = launch.n_inputs + launch.n_outputs + 1,
          .buffer = launch.record_buffer,
          .value = launch.record_buffer == nullptr ? &kUntouched : nullptr,
          .begin = begin,
          .end = begin + sizeof(tenon_error_record),
          .first = begin,
          .is_written = true};
}

tenon_error* Kernel::launch(tenon_stream_p* stream, const tenon_launch& launch) const {
  return from_c(stream).launch(*this, launch);
}

}  // namespace tenon_vulkan
