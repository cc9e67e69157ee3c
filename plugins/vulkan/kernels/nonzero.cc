// nonzero: the coordinates of elements that are not zero, in their order. One group goes over x
// twice: each invocation counts what a stretch of it holds, and then knows where its own go.

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Bool;
using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::Shared;
using spirv::U32;
using spirv::Var;

// Parameters: how many elements, how many there is room for, what fills the rest, x's rank and
// sizes, and its axes.
enum : uint32_t { kCount, kRoom, kFillLow, kFillHigh, kRank, kSizes };

}  // namespace

Prepared prepare_nonzero(const Request& request) {
  const auto attrs = request.attrs<tenon_nonzero_attrs>();
  if (attrs.size < 0) return tenon_sdk::refuse("needs to be told the size of the result");
  const Capabilities& capabilities = capabilities_of(request.device());
  const tenon_dtype dtype = request.input(0).dtype;
  if (dtype == TENON_FLOAT64 && !capabilities.float64) return tenon_sdk::refuse("has no float64");

  Code code(capabilities, {.n_operands = 3, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), indices(code, 1, TENON_INT64), total(code, 2, TENON_INT64);
  const U32 n = code.parameter(kCount), room = code.parameter(kRoom), rank = code.parameter(kRank);
  const U32 zero = code.u32(0), one = code.u32(1);
  const AxesCode axes(code, rank + kSizes, 1);
  const Element filling = {TENON_INT64,
                           spirv::Wide{code.parameter(kFillLow), code.parameter(kFillHigh)}};
  const U32 self = code.local_index();
  const U32 stretch = (n + (kLocalSize - 1)) / kLocalSize;
  const U32 begin = min(self * stretch, n), end = min(begin + stretch, n);
  const auto counts = [&](U32 i) {
    return spirv::cast(x.load(axes.places(i)[0]), TENON_BOOL).boolean();
  };

  const Shared<U32> found = code.shared<U32>(kLocalSize);
  const Var<U32> own = code.var(zero);
  code.for_(begin, end, one, [&](U32 i) { own.set(own.get() + to_u32(counts(i))); });
  found.set(self, own.get());
  code.barrier();
  const Var<U32> column = code.var(zero), all = code.var(zero);
  code.for_(zero, code.u32(kLocalSize), one, [&](U32 i) {
    const U32 there = found.get(i);
    all.set(all.get() + there);
    column.set(column.get() + select(i < self, there, zero));
  });

  code.for_(begin, end, one, [&](U32 i) {
    code.if_(counts(i), [&] {
      code.if_(column.get() < room, [&] {
        const Var<U32> rest = code.var(i);
        code.for_(zero, rank, one, [&](U32 back) {
          const U32 axis = rank - 1 - back, size = code.parameter(axis + kSizes);
          const U32 quotient = rest.get() / size;
          indices.store(axis * room + column.get(),
                        {TENON_INT64, spirv::zero_extended(rest.get() - quotient * size)});
          rest.set(quotient);
        });
      });
      column.set(column.get() + 1);
    });
  });
  // What is left of each axis' row.
  code.for_(all.get() + self, room, code.u32(kLocalSize), [&](U32 at) {
    code.for_(zero, rank, one, [&](U32 axis) { indices.store(axis * room + at, filling); });
  });
  code.if_(self == 0, [&] { total.store(zero, {TENON_INT64, spirv::zero_extended(all.get())}); });

  const auto fill = [attrs](const tenon_launch& launch, Words& words) {
    const tenon_view& in = launch.inputs[0];
    for (const int64_t word :
         {tenon_sdk::count(in), attrs.size, attrs.fill, attrs.fill >> 32, int64_t{in.rank}}) {
      push(words, word);
    }
    for (size_t axis = 0; axis < in.rank; ++axis) push(words, in.sizes[axis]);
    const int64_t* const strides[] = {in.strides};
    Axes(in.rank, in.sizes, kAllAxes, strides).push(words);
    return groups_for(1);
  };
  return one_dispatch(request.device(), code, 3,
                      TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC, fill);
}

}  // namespace tenon_vulkan
