#include "plugins/vulkan/kernels/window.h"

namespace tenon_vulkan {

using spirv::Bool;
using spirv::U32;

Found find(spirv::Code& code, const Window& window, const Place& p, const Place& k,
           const Place& sizes) {
  Found found = {{}, code.boolean(true)};
  for (size_t i = 0; i < kSpatial; ++i) {
    const auto word = [](int64_t value) { return static_cast<uint32_t>(value); };
    // On padding before the first element this wraps beyond the last.
    const U32 dilated = p[i] * word(window.steps[i]) + k[i] * word(window.dilations[i]) -
                        code.u32(word(window.pads[i]));
    const uint32_t lhs = word(window.lhs_dilations[i]);
    if (lhs == 1) {
      found.place[i] = dilated;
      found.is_there = found.is_there & (dilated < sizes[i]);
      continue;
    }
    found.place[i] = dilated / lhs;
    const Bool is_before = signed_less(dilated, 0);
    const Bool is_between = dilated - found.place[i] * lhs != 0;
    found.is_there = found.is_there & (!is_before) & (!is_between) & (found.place[i] < sizes[i]);
  }
  return found;
}

}  // namespace tenon_vulkan
