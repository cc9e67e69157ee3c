// The memory layout of a dispatch's parameters: offsets of operands, the kernel's words, then the
// operands that are passed by value.

#pragma once

#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

// Returns the number of bytes that an operand passed by value occupies among the parameters: its
// size rounded up to a multiple of 16 bytes.
inline uint64_t room_for_value(const Operand& value) {
  constexpr uint64_t kRoom = 16;
  return (value.end - value.begin + kRoom - 1) / kRoom * kRoom;
}

struct ParameterLayout {
  uint64_t words;   // Offset of the kernel's words.
  uint64_t values;  // Offset of the operands that are passed by value.
  uint64_t size;

  explicit ParameterLayout(const Dispatch& dispatch)
      : words(dispatch.operands.size() * sizeof(uint32_t)),
        values((words + dispatch.words.size_bytes() + 7) / 8 * 8),
        size(values) {
    for (const Operand& operand : dispatch.operands) {
      if (operand.buffer == nullptr) size += room_for_value(operand);
    }
  }
};

// Location of parameters: the host address for writing, and the block and offset for the device.
struct ParameterLocation {
  std::byte* data;
  const Block* block;
  uint64_t offset;
};

}  // namespace tenon_vulkan
