// nonzero: the coordinates of nonzero elements, in row-major order. A group processes a piece of x
// in two passes. First, each invocation counts the nonzero elements of its section, and a scan of
// the counts yields the positions of its results. Then each invocation writes its results.
// Consecutive dispatches process the pieces, which limits the loop iterations of each
// (kMaxIterations). The output `count` passes the number of nonzero elements so far from one
// dispatch to the next. A last dispatch fills the remainder of the result.

#include <algorithm>

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

// Number of elements per invocation. An invocation iterates over them twice, and over the axes for
// each nonzero element.
constexpr int64_t kStretch = 1024;
constexpr int64_t kPiece = kStretch * kLocalSize;

// Parameters: the range of elements, the capacity of the result, x's rank and sizes, and its axes.
enum : uint32_t { kBegin, kEnd, kRoom, kRank, kSizes };

// Emits the shader that finds nonzero elements. Operands: x, the coordinates, and the number of
// nonzero elements so far.
Words write_find_shader(const Capabilities& capabilities, tenon_dtype dtype) {
  Code code(capabilities, {.n_operands = 3, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), indices(code, 1, TENON_INT64), total(code, 2, TENON_INT64);
  const U32 room = code.parameter(kRoom), rank = code.parameter(kRank);
  const U32 zero = code.u32(0), one = code.u32(1);
  const AxesCode axes(code, rank + kSizes, 1);
  const U32 self = code.local_index();
  const U32 first = code.parameter(kBegin), last = code.parameter(kEnd);
  const U32 begin = min(first + self * kStretch, last), end = min(begin + kStretch, last);
  const auto counts = [&](U32 i) {
    return spirv::cast(x.load(axes.operand_offsets(i)[0]), TENON_BOOL).boolean();
  };

  const Shared<U32> found = code.shared<U32>(kLocalSize);
  const Var<U32> own = code.var(zero), before = code.var(zero);
  code.if_(first != 0, [&] { before.set(total.load(zero).wide().low); });
  code.for_(begin, end, one, [&](U32 i) { own.set(own.get() + to_u32(counts(i))); });
  found.set(self, own.get());
  code.barrier();
  const Var<U32> column = code.var(before.get()), all = code.var(before.get());
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
  code.if_(self == 0, [&] { total.store(zero, {TENON_INT64, spirv::zero_extended(all.get())}); });
  return code.finish();
}

// Emits the shader that fills the remainder of each row of the result (one row per axis). Operands:
// the coordinates, and the number of nonzero elements. Parameters: the number of coordinates, the
// length of a row, and the fill value.
Words write_fill_shader(const Capabilities& capabilities) {
  Code code(capabilities, {.n_operands = 2, .local_size = kLocalSize});
  const Elements indices(code, 0, TENON_INT64), total(code, 1, TENON_INT64);
  const U32 room = code.parameter(1u), found = total.load(code.u32(0)).wide().low;
  const Element filling = {TENON_INT64, spirv::Wide{code.parameter(2u), code.parameter(3u)}};
  code.for_each(code.parameter(0u),
                [&](U32 i) { code.if_(i % room >= found, [&] { indices.store(i, filling); }); });
  return code.finish();
}

class Nonzero final : public Kernel {
 public:
  Nonzero(tenon_device_p* device, const tenon_nonzero_attrs& attrs, PipelineRef find,
          PipelineRef fill)
      : device_(device), attrs_(attrs), find_(std::move(find)), fill_(std::move(fill)) {}

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const tenon_view& in = launch.inputs[0];
    Operand indices = operand_of(launch, 1), total = operand_of(launch, 2);
    const Operand operands[] = {operand_of(launch, 0), indices, total};
    const int64_t n = tenon_sdk::count(in);
    if (tenon_error* error = check_count(device_, n)) return error;
    // The loop runs at least once, because `count` is written even if x is empty.
    for (int64_t begin = 0; begin < n || begin == 0; begin += kPiece) {
      Words words;
      for (const int64_t word :
           {begin, std::min(n, begin + kPiece), attrs_.size, int64_t{in.rank}}) {
        push(words, word);
      }
      for (size_t axis = 0; axis < in.rank; ++axis) push(words, in.sizes[axis]);
      const int64_t* const strides[] = {in.strides};
      Axes(in.rank, in.sizes, kAllAxes, strides).push(words);
      if (tenon_error* error = encoder.dispatch({find_.get(), operands, words, {1, 1, 1}}))
        return error;
    }
    const int64_t n_indices = tenon_sdk::count(launch.outputs[0]);
    if (n_indices == 0) return nullptr;
    Words words;
    for (const int64_t word : {n_indices, attrs_.size, attrs_.fill, attrs_.fill >> 32}) {
      push(words, word);
    }
    total.is_written = false;
    const Operand filled[] = {indices, total};
    return encoder.dispatch(
        {fill_.get(), filled, words, groups_for(static_cast<uint64_t>(n_indices))});
  }

 private:
  tenon_device_p* const device_;
  const tenon_nonzero_attrs attrs_;
  const PipelineRef find_, fill_;
};

}  // namespace

Prepared prepare_nonzero(const Request& request) {
  const auto attrs = request.attrs<tenon_nonzero_attrs>();
  if (attrs.size < 0)
    return tenon_sdk::refuse("requires that the call specifies the size of the result");
  const Capabilities& capabilities = capabilities_of(request.device());
  const tenon_dtype dtype = request.input(0).dtype;
  if (dtype == TENON_FLOAT64 && !capabilities.float64) return tenon_sdk::refuse("has no float64");
  PipelineRef find, fill;
  tenon_error* error =
      make_pipeline(request.device(), write_find_shader(capabilities, dtype), 3, &find);
  if (error == nullptr)
    error = make_pipeline(request.device(), write_fill_shader(capabilities), 2, &fill);
  if (error != nullptr) return {.error = error};
  return {.kernel = std::make_unique<Nonzero>(request.device(), attrs, find, fill),
          .traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC};
}

}  // namespace tenon_vulkan
