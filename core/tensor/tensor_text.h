// Formats a tensor as NumPy's str() formats an array.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/shape.h"

namespace tenon {

// NumPy's print options, with its defaults.
struct TextOptions {
  int precision = 8;         // Maximum number of digits after the point.
  int64_t threshold = 1000;  // Larger tensors are summarised.
  // Number of elements shown at each end of a summarised axis; at least 1.
  int64_t edge_items = 3;
  int line_width = 75;
};

// Returns the text of a tensor. `data` holds the elements, row-major without gaps.
std::string to_text(const TensorType& type, const void* data, const TextOptions& options = {});

}  // namespace tenon
