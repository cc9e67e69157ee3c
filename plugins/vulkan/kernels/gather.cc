// gather, gather_elements and gather_nd. An index out of range of its axis gathers zero and is
// reported; a negative one counts from the end.

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/each.h"
#include "plugins/vulkan/kernels/indices.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Bool;
using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::U32;
using spirv::Var;

constexpr uint32_t kTraits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC;

// Shader code of all gather kernels. Operands: x, indices, y and the error record. The first two
// parameters are the number of elements of y and the launch's site, which is written to the error
// record.
struct GatherCode {
  GatherCode(const Request& request)
      : dtype(bits_dtype(request.output(0).dtype)),
        code(capabilities_of(request.device()), {.n_operands = 4, .local_size = kLocalSize}),
        x(code, 0, dtype),
        y(code, 2, dtype),
        indices(code, 1, request.input(1).dtype),
        record(code, 3, code.parameter(1u)) {}

  // An element of x, or zero if the index is out of range.
  Element load(Bool is_inside, U32 place) {
    const spirv::ElementVar result(spirv::constant(code, dtype, 0));
    code.if_(is_inside, [&] { result.set(x.load(place)); });
    return result.get();
  }
  void report_index_out_of_range(const Index& index, const spirv::Wide& given, U32 bound) {
    code.if_(!index.is_inside, [&] { record.report(given, bound); });
  }

  const tenon_dtype dtype;
  Code code;
  const Elements x, y;
  const Indices indices;
  const Record record;
};

// Prepares a gather kernel. `fill` pushes the remaining parameters of a launch.
template <class Fill>
Prepared gather_kernel(const Request& request, GatherCode& gather, const Fill& fill) {
  const auto fill_all = [fill, size = tenon_sdk::size_of(gather.dtype)](const tenon_launch& launch,
                                                                        Words& words) {
    const int64_t n = tenon_sdk::count(launch.outputs[0]);
    push(words, n);
    push(words, launch.site);
    if (n > 0) fill(launch, words);
    return groups_for(n_words_of_elements(n, size));
  };
  return prepare_one_dispatch(request.device(), gather.code, 4, kTraits, fill_all, true);
}

}  // namespace

// Parameters: size and stride of x along the axis, number of indices, number of elements after the
// axis. Then the axes of x before the axis, the axes of the indices, and the axes of x after the
// axis.
Prepared prepare_gather(const Request& request) {
  GatherCode gather(request);
  Code& code = gather.code;
  const U32 bound = code.parameter(2u), stride = code.parameter(3u);
  const U32 n_indices = code.parameter(4u), n_inner = code.parameter(5u);
  const AxesCode outer(code, code.u32(6), 1), picks(code, outer.end(), 1),
      inner(code, picks.end(), 1);
  for_each_element(code, gather.y, code.parameter(0u), [&](U32 i) {
    const U32 pick = i / n_inner, row = pick / n_indices;
    const spirv::Wide given = gather.indices.load(picks.operand_offsets(pick - row * n_indices)[0]);
    const Index index = gather.indices.wrap(given, bound);
    gather.report_index_out_of_range(index, given, bound);
    const U32 place = outer.operand_offsets(row)[0] + index.at * stride +
                      inner.operand_offsets(i - pick * n_inner)[0];
    return gather.load(index.is_inside, place);
  });
  const size_t axis =
      tenon_sdk::from_front(request.attrs<tenon_gather_attrs>().axis, request.input(0).rank);
  const auto fill = [axis](const tenon_launch& launch, Words& words) {
    const tenon_view &x = launch.inputs[0], &indices = launch.inputs[1];
    const size_t behind = axis + 1;
    push(words, x.sizes[axis]);
    push(words, x.strides[axis]);
    push(words, tenon_sdk::count(indices));
    push(words, tenon_sdk::count(x.rank - behind, x.sizes + behind));
    const int64_t* const x_strides[] = {x.strides};
    const int64_t* const index_strides[] = {indices.strides};
    const uint32_t before = (uint32_t{1} << axis) - 1;
    Axes(axis, x.sizes, before, x_strides).push(words);
    Axes(indices.rank, indices.sizes, kAllAxes, index_strides).push(words);
    Axes(x.rank, x.sizes, ~(before | uint32_t{1} << axis), x_strides).push(words);
  };
  return gather_kernel(request, gather, fill);
}

// Parameters: x's size and stride along the axis, and the indices' axes, with x's strides except
// along that axis.
Prepared prepare_gather_elements(const Request& request) {
  GatherCode gather(request);
  Code& code = gather.code;
  const U32 bound = code.parameter(2u), stride = code.parameter(3u);
  const AxesCode axes(code, code.u32(4), 2);
  for_each_element(code, gather.y, code.parameter(0u), [&](U32 i) {
    const std::vector<U32> places = axes.operand_offsets(i);
    const spirv::Wide given = gather.indices.load(places[0]);
    const Index index = gather.indices.wrap(given, bound);
    gather.report_index_out_of_range(index, given, bound);
    return gather.load(index.is_inside, places[1] + index.at * stride);
  });
  const size_t axis = tenon_sdk::from_front(request.attrs<tenon_gather_elements_attrs>().axis,
                                            request.input(0).rank);
  const auto fill = [axis](const tenon_launch& launch, Words& words) {
    const tenon_view &x = launch.inputs[0], &indices = launch.inputs[1];
    push(words, x.sizes[axis]);
    push(words, x.strides[axis]);
    int64_t others[TENON_MAX_RANK];
    std::copy_n(x.strides, x.rank, others);
    others[axis] = 0;
    const int64_t* const strides[] = {indices.strides, others};
    Axes(indices.rank, indices.sizes, kAllAxes, strides).push(words);
  };
  return gather_kernel(request, gather, fill);
}

// Parameters: the number of elements per tuple, the number of indices per tuple, their stride, and
// for each index its bound and x's stride. Then the axes of the tuples, with x's strides along the
// batch axes, and the axes of x that are not indexed.
Prepared prepare_gather_nd(const Request& request) {
  GatherCode gather(request);
  Code& code = gather.code;
  const U32 n_inner = code.parameter(2u), tuple_size = code.parameter(3u),
            tuple_stride = code.parameter(4u);
  const U32 zero = code.u32(0);
  const AxesCode outer(code, tuple_size * 2 + 5, 2), inner(code, outer.end(), 1);
  for_each_element(code, gather.y, code.parameter(0u), [&](U32 i) {
    const U32 tuple = i / n_inner;
    const std::vector<U32> places = outer.operand_offsets(tuple);
    const Var<U32> place = code.var(places[1] + inner.operand_offsets(i - tuple * n_inner)[0]);
    const Var<Bool> is_inside = code.var(code.boolean(true));
    code.for_(zero, tuple_size, code.u32(1), [&](U32 j) {
      const U32 bound = code.parameter(j * 2 + 5);
      const spirv::Wide given = gather.indices.load(places[0] + j * tuple_stride);
      const Index index = gather.indices.wrap(given, bound);
      code.if_(is_inside.get(), [&] { gather.report_index_out_of_range(index, given, bound); });
      is_inside.set(is_inside.get() & index.is_inside);
      place.set(place.get() + index.at * code.parameter(j * 2 + 6));
    });
    return gather.load(is_inside.get(), place.get());
  });
  const auto batch = static_cast<size_t>(request.attrs<tenon_gather_nd_attrs>().batch_dims);
  const auto fill = [batch](const tenon_launch& launch, Words& words) {
    const tenon_view &x = launch.inputs[0], &indices = launch.inputs[1];
    const size_t last = indices.rank - size_t{1};
    const auto size = static_cast<size_t>(indices.sizes[last]);
    const size_t whole = batch + size;
    push(words, tenon_sdk::count(x.rank - whole, x.sizes + whole));
    push(words, indices.sizes[last]);
    push(words, indices.strides[last]);
    for (size_t axis = batch; axis < whole; ++axis) {
      push(words, x.sizes[axis]);
      push(words, x.strides[axis]);
    }
    int64_t in_batch[TENON_MAX_RANK] = {};
    std::copy_n(x.strides, batch, in_batch);
    const int64_t* const outer_strides[] = {indices.strides, in_batch};
    const int64_t* const inner_strides[] = {x.strides};
    Axes(last, indices.sizes, kAllAxes, outer_strides).push(words);
    Axes(x.rank, x.sizes, ~((uint32_t{1} << whole) - 1), inner_strides).push(words);
  };
  return gather_kernel(request, gather, fill);
}

}  // namespace tenon_vulkan
