// Sorting by merging: in each pass two sorted runs of a line become one, and every element finds
// its place there by a search in the other run. The first runs are blocks that a group sorts. What
// is moved are places, of 32 bits. Equal elements keep their order, since those of the first run go
// before those of the second.

#pragma once

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/lazy_pipeline.h"
#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

// Whether `a` comes before `b`. NaN comes behind all else in either direction, and nothing comes
// before what it equals.
spirv::Bool precedes(const spirv::Element& a, const spirv::Element& b, bool is_descending);

// The first number from `begin` on, and at most `end`, for which holds(number) is false; it holds
// for all before that.
template <class Holds>
spirv::U32 search(spirv::Code& code, spirv::U32 begin, spirv::U32 end, const Holds& holds) {
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

// Lines of an operand.
struct Lines {
  int64_t n_elements, length, stride;  // Of all lines; of one; from one to the next along it.
  const Axes& others;
};

class MergeSort {
 public:
  MergeSort(tenon_device_p* device, tenon_dtype dtype, bool is_descending)
      : device_(device), dtype_(dtype), is_descending_(is_descending) {}

  // How much room it needs, in bytes: places from one pass to the next, two of them.
  static uint64_t room_for(int64_t n_elements) { return 8 * static_cast<uint64_t>(n_elements); }

  // Gives the places of each line's elements within it, in their order: words, line by line, in
  // the room, and they may be read.
  tenon_error* enqueue(Encoder& encoder, const Operand& x, const Lines& lines, const Operand& room,
                       Operand* out_places) const;

 private:
  tenon_device_p* const device_;
  const tenon_dtype dtype_;
  const bool is_descending_;
  const LazyPipeline sort_blocks_, merge_;
};

}  // namespace tenon_vulkan
