#include "plugins/vulkan/kernels/window.h"

namespace tenon_vulkan {

using spirv::Bool;
using spirv::Code;
using spirv::U32;

WindowCode::WindowCode(Code& code, uint32_t at) {
  for (Place* const of_axes : {&steps_, &dilations_, &pads_}) {
    for (U32& word : *of_axes) word = code.parameter(at++);
  }
  for (size_t i = 0; i < kSpatial; ++i, at += Division::kWords) {
    by_lhs_dilations_.push_back(Division::load(code, code.u32(at)));
  }
}

// Finds the position in x under tap `k` of the window at output position `p`, and whether x, whose
// spatial sizes are `sizes`, has an element there.
WindowCode::Found WindowCode::find(const Place& p, const Place& k, const Place& sizes) const {
  Found found = {{}, p[0].code->boolean(true)};
  for (size_t i = 0; i < kSpatial; ++i) {
    const U32 dilated = p[i] * steps_[i] + k[i] * dilations_[i] - pads_[i];
    const auto [place, between] = by_lhs_dilations_[i].divide_by_any_divisor(dilated);
    found.place[i] = place;
    // `dilated` is negative in the padding before the first element.
    const Bool is_before = signed_less(dilated, 0);
    found.is_there = found.is_there & (!is_before) & (between == 0) & (place < sizes[i]);
  }
  return found;
}

}  // namespace tenon_vulkan
