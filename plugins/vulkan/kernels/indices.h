// Loads indices from tensors, wraps negative ones, and reports those that are out of range.

#pragma once

#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

// An index that counts from the front; 0 if it is out of range.
struct Index {
  spirv::U32 at;
  spirv::Bool is_inside;
};

class Indices {
 public:
  // `dtype` is int32 or int64.
  Indices(spirv::Code& code, uint32_t operand, tenon_dtype dtype)
      : code_(code), elements_(code, operand, dtype) {}

  spirv::Wide load(spirv::U32 place) const;
  Index wrapped(const spirv::Wide& index, spirv::U32 bound) const;
  // Returns the start of a slice of `size` elements, clamped so that the slice is within `bound`. A
  // negative start counts from the end.
  spirv::U32 wrapped_start(const spirv::Wide& start, spirv::U32 bound, spirv::U32 size) const;

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
        first_(code.place(operand) >> 2),
        site_(site) {}

  // Only the first report is written.
  void report(const spirv::Wide& index, spirv::U32 bound) const;

 private:
  spirv::Code& code_;
  spirv::Memory memory_;
  spirv::U32 first_, site_;
};

}  // namespace tenon_vulkan
