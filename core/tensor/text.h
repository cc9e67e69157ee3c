// A tensor as text, as NumPy prints an array with str().

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/shape.h"

namespace tenon {

// NumPy's print options, with its defaults.
struct TextOptions {
  int precision = 8;         // The most digits behind a floating point.
  int64_t threshold = 1000;  // More elements than this are summarised,
  int64_t edge_items = 3;    // with so many, at least 1, at each end of an axis.
  int line_width = 75;
};

// `data` holds the elements row-major without gaps.
std::string to_text(const TensorType& type, const void* data, const TextOptions& options = {});

}  // namespace tenon
