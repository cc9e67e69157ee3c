#include "plugins/vulkan/kernels/indices.h"

namespace tenon_vulkan {

using spirv::Bool;
using spirv::Element;
using spirv::U32;
using spirv::Wide;

Wide Indices::load(U32 place) const {
  const Element x = elements_.load(place);
  return x.kind() == spirv::Kind::kWide ? x.wide() : spirv::sign_extended(x.word());
}

Index Indices::wrap(const Wide& index, U32 bound) const {
  const Wide limit = spirv::zero_extended(bound);
  const Wide from_front = spirv::select(is_negative(index), index + limit, index);
  const Bool is_inside =
      from_front < limit;  // The comparison is unsigned, so negative indices are out of range.
  return {select(is_inside, from_front.low, code_.u32(0)), is_inside};
}

U32 Indices::clamp_start(const Wide& start, U32 bound, U32 size) const {
  const Wide from_front =
      spirv::select(is_negative(start), start + spirv::zero_extended(bound), start);
  const U32 last = bound - size;
  const Bool is_beyond = spirv::zero_extended(last) < from_front;
  const U32 bounded = select(is_beyond, last, from_front.low);
  return select(is_negative(from_front), code_.u32(0), bounded);
}

void Record::report(const Wide& index, U32 bound) const {
  const U32 zero = code_.u32(0);
  const U32 before = memory_.compare_exchange(first_, zero, code_.u32(1));
  code_.if_(before == 0, [&] {
    memory_.store(first_ + 1, site_);
    memory_.store(first_ + 2, index.low);
    memory_.store(first_ + 3, index.high);
    memory_.store(first_ + 4, bound);
    memory_.store(first_ + 5, zero);
  });
}

}  // namespace tenon_vulkan
