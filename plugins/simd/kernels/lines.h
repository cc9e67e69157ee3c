// Iteration over the lines of an operand along one axis, for kernels that read a line more than
// once.

#pragma once

#include "plugins/simd/kernels/axes.h"

namespace tenon_simd {

// The lines of an operand along an axis.
struct Lines {
  LoopAxes others;  // The other axes, whose elements number the lines.
  int64_t n, stride;

  Lines(const tenon_view& view, size_t axis)
      : others(axes_without(view, axis)), n(view.sizes[axis]), stride(stride_of(view, axis)) {}
};

// Calls body(line, x) with the contiguous elements of lines [begin, end). Packs several lines at a
// time, because lines that are not contiguous may share cache lines.
template <class T, class Body>
void for_each_packed_line(const T* x, const Lines& lines, int64_t begin, int64_t end,
                          const Body& body) {
  constexpr int64_t kLines = 32;
  LoopAxes axes = lines.others;
  axes.push(lines.n, lines.stride);
  std::vector<T> packed(static_cast<size_t>(std::min(kLines, end - begin) * lines.n));
  for (int64_t first = begin; first < end; first += kLines) {
    const int64_t last = std::min(first + kLines, end);
    pack(x, axes, first * lines.n, last * lines.n, packed.data());
    for (int64_t line = first; line < last; ++line) {
      body(line, packed.data() + (line - first) * lines.n);
    }
  }
}

// Calls body(line, x) with the contiguous elements of lines [begin, end).
template <class T, class Body>
void for_each_line(const T* x, const Lines& lines, int64_t begin, int64_t end, const Body& body) {
  if (lines.stride != 1) return for_each_packed_line(x, lines, begin, end, body);
  for (int64_t line = begin; line < end; ++line) body(line, x + lines.others.offset(line));
}

}  // namespace tenon_simd
