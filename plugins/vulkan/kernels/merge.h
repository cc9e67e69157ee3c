// Merge sort: each pass merges two sorted runs of a line, and every element finds its position by a
// binary search in the other run. The first runs are blocks, each sorted by a group. The sort moves
// 32-bit indices. It is stable, since elements of the first run precede equal ones of the second.

#pragma once

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/lazy_pipeline.h"
#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

// Whether `a` sorts before `b`. NaN sorts last in ascending and in descending order. False for
// equal elements.
spirv::Bool precedes(const spirv::Element& a, const spirv::Element& b, bool is_descending);

// Binary search: returns the first index in [begin, end) for which holds(index) is false, or `end`
// if there is none. holds() must be true before that index and false from it on.
template <class Holds>
spirv::U32 find_first_false(spirv::Code& code, spirv::U32 begin, spirv::U32 end,
                            const Holds& holds) {
  const spirv::Var<spirv::U32> low = code.var(begin), high = code.var(end);
  code.while_([&] { return low.get() < high.get(); },
              [&] {
                const spirv::U32 middle = low.get() + ((high.get() - low.get()) >> 1);
                const spirv::Bool is_below = holds(middle);
                low.set(select(is_below, middle + 1, low.get()));
                high.set(select(is_below, high.get(), middle));
              });
  return low.get();
}

// The lines of an operand, each of which is sorted by itself. `others`: all axes but that of the
// lines.
struct Lines {
  int64_t n_elements, length,
      stride;  // Total number of elements; elements per line; stride along a line.
  const Axes& others;
};

class MergeSort {
 public:
  MergeSort(tenon_device_p* device, tenon_dtype dtype, bool is_descending)
      : device_(device), dtype_(dtype), is_descending_(is_descending) {}

  // Returns the size of the workspace in bytes: two arrays of 32-bit indices, which passes read and
  // write alternately.
  static uint64_t workspace_bytes(int64_t n_elements) {
    return 8 * static_cast<uint64_t>(n_elements);
  }

  // Computes, for each line, the indices of its elements in sorted order. Stores them as 32-bit
  // words, line by line, in the workspace `room`; `out_indices` is the location of the result in
  // it.
  tenon_error* enqueue(Encoder& encoder, const Operand& x, const Lines& lines, const Operand& room,
                       Operand* out_indices) const;

 private:
  tenon_device_p* const device_;
  const tenon_dtype dtype_;
  const bool is_descending_;
  const LazyPipeline sort_blocks_, merge_;
};

}  // namespace tenon_vulkan
