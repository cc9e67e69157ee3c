// Indices that tensors hold: read, wrapped, and reported where they are out of range.

#pragma once

#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

// An index from the front; where it is not inside, it is 0.
struct Index {
  spirv::U32 at;
  spirv::Bool is_inside;
};

class Indices {
 public:
  // int32 or int64 elements.
  Indices(spirv::Code& code, uint32_t operand, tenon_dtype dtype)
      : code_(code), elements_(code, operand, dtype) {}

  spirv::Wide load(spirv::U32 place) const;
  Index wrapped(const spirv::Wide& index, spirv::U32 bound) const;
  // Where a slice of `size` elements begins that lies inside of `bound`: a negative start counts
  // from the end, and then it is moved as little as possible.
  spirv::U32 wrapped_start(const spirv::Wide& start, spirv::U32 bound, spirv::U32 size) const;

 private:
  spirv::Code& code_;
  spirv::Elements elements_;
};

// The launch's error record (tenon_error_record), an operand.
class Record {
 public:
  Record(spirv::Code& code, uint32_t operand, spirv::U32 site)
      : code_(code),
        memory_(code.operand(operand)),
        first_(code.place(operand) >> 2),
        site_(site) {}

  // The first that reports writes.
  void report(const spirv::Wide& index, spirv::U32 bound) const;

 private:
  spirv::Code& code_;
  spirv::Memory memory_;
  spirv::U32 first_, site_;
};

}  // namespace tenon_vulkan
