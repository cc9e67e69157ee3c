// Loads indices from tensors, wraps negative ones, and reports those that are out of range.

#pragma once

#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

// An index after wrapping: `at` counts from the front, and is 0 if the index is out of range.
struct Index {
  spirv::U32 at;
  spirv::Bool is_inside;
};

class Indices {
 public:
  // `dtype` is int32 or int64.
  Indices(spirv::Code& code, uint32_t operand, tenon_dtype dtype)
      : code_(code), elements_(code, operand, dtype) {}

  // Loads the index at element `place` of the operand.
  spirv::Wide load(spirv::U32 place) const;
  // Adds `bound`, the size of the axis, to a negative index. Checks that the result is below
  // `bound`.
  Index wrap(const spirv::Wide& index, spirv::U32 bound) const;
  // Returns the start of a slice of `size` elements, clamped so that the slice is within `bound`. A
  // negative start counts from the end.
  spirv::U32 clamp_start(const spirv::Wide& start, spirv::U32 bound, spirv::U32 size) const;

 private:
  spirv::Code& code_;
  spirv::Elements elements_;
};

// The launch's error record (tenon_error_record), as an operand.
class Record {
 public:
  Record(spirv::Code& code, uint32_t operand, spirv::U32 site)
      : code_(code),
        memory_(code.operand(operand)),
        first_(code.operand_offset(operand) >> 2),
        site_(site) {}

  // Reports an index that is not below `bound`. The record keeps only the first report of a launch.
  void report(const spirv::Wide& index, spirv::U32 bound) const;

 private:
  spirv::Code& code_;
  spirv::Memory memory_;
  spirv::U32 first_, site_;
};

}  // namespace tenon_vulkan
