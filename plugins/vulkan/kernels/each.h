// What goes over the elements of a result.

#pragma once

#include <vector>

#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

// Stores compute(i) for each number below n. An invocation has the elements of a word.
template <class Compute>
void for_each_element(spirv::Code& code, const spirv::Elements& to, spirv::U32 n,
                      const Compute& compute) {
  const uint32_t lanes = to.per_word();
  if (lanes == 1) return code.for_each(n, [&](spirv::U32 i) { to.store(i, compute(i)); });
  code.for_each((n + (lanes - 1)) / lanes, [&](spirv::U32 step) {
    const spirv::U32 first = step * lanes;
    std::vector<spirv::Element> elements;
    // Beyond the last element the last one is computed again.
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      elements.push_back(compute(min(first + lane, n - 1)));
    }
    to.store_word(first, elements, n);
  });
}

// How many invocations that takes.
inline uint64_t steps_for(int64_t n, size_t element_bytes) {
  const uint64_t lanes = element_bytes < 4 ? 4 / element_bytes : 1;
  return (static_cast<uint64_t>(n) + lanes - 1) / lanes;
}

}  // namespace tenon_vulkan
