// Loops over the elements of a result.

#pragma once

#include <vector>

#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

// Emits a loop that stores compute(i) for each index i below n. An invocation computes all elements
// of one word.
template <class Compute>
void for_each_element(spirv::Code& code, const spirv::Elements& to, spirv::U32 n,
                      const Compute& compute) {
  const uint32_t lanes = to.per_word();
  if (lanes == 1) return code.for_each(n, [&](spirv::U32 i) { to.store(i, compute(i)); });
  code.for_each((n + (lanes - 1)) / lanes, [&](spirv::U32 step) {
    const spirv::U32 first = step * lanes;
    std::vector<spirv::Element> elements;
    // Lanes past the end recompute the last element.
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      elements.push_back(compute(min(first + lane, n - 1)));
    }
    to.store_word(first, elements, n);
  });
}

// Returns the number of words that `n` elements occupy. for_each_element() iterates over this many
// indices.
inline uint64_t n_words_of_elements(int64_t n, size_t element_bytes) {
  const uint64_t lanes = element_bytes < 4 ? 4 / element_bytes : 1;
  return (static_cast<uint64_t>(n) + lanes - 1) / lanes;
}

}  // namespace tenon_vulkan
