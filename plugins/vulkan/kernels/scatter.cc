// scatter_elements and scatter_nd: y is x, and updates meet what is there. An index outside of its
// axis drops its update and is reported.
//
// Updates of one place come in their order, whatever else runs: one invocation makes all that may
// meet. Of scatter_elements these are the updates of a line along the axis; of scatter_nd all
// tuples, each invocation having one of the elements that a tuple stands for.

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/indices.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/move.h"
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

// An update that meets what is there. Updates that replace are moved, as bits.
Element met(int32_t reduction, const Element& old, const Element& update) {
  switch (reduction) {
    case TENON_SCATTER_REDUCTION_ADD:
      return arithmetic(TENON_OP_add, old, update);
    case TENON_SCATTER_REDUCTION_MUL:
      return arithmetic(TENON_OP_mul, old, update);
    case TENON_SCATTER_REDUCTION_MIN:
      return minimum(old, update);
    case TENON_SCATTER_REDUCTION_MAX:
      return maximum(old, update);
    default:
      return update;
  }
}

// Operands: indices, updates, y and the record. The first parameters: how many invocations have
// something to do, how many updates each makes, and the launch's site.
struct ScatterCode {
  ScatterCode(const Request& request, int32_t reduction_of_it)
      : reduction(reduction_of_it),
        dtype(reduction == TENON_SCATTER_REDUCTION_NONE ? bits_dtype(request.output(0).dtype)
                                                        : request.output(0).dtype),
        code(capabilities_of(request.device()), {.n_operands = 4, .local_size = kLocalSize}),
        updates(code, 1, dtype),
        y(code, 2, dtype),
        indices(code, 0, request.input(1).dtype),
        record(code, 3, code.parameter(2u)) {}

  void update(U32 to, U32 from) {
    y.store(to, reduction == TENON_SCATTER_REDUCTION_NONE
                    ? updates.load(from)
                    : met(reduction, y.load(to), updates.load(from)));
  }

  const int32_t reduction;
  const tenon_dtype dtype;
  Code code;
  const Elements updates, y;
  const Indices indices;
  const Record record;
};

// Two dispatches: the copy, and the updates.
template <class Fill>
class Scatter final : public Kernel {
 public:
  Scatter(const Pipeline* copy, const Pipeline* update, Fill fill)
      : copy_(copy), update_(update), fill_(std::move(fill)) {}

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const tenon_view &x = launch.inputs[0], &out = launch.outputs[0];
    Operand y = operand_of(launch, 3);
    if (tenon_error* error =
            strided_copy(encoder, copy_, operand_of(launch, 0), y, x, out.strides, 0)) {
      return error;
    }
    if (tenon_sdk::count(launch.inputs[2]) == 0) return nullptr;
    Words words;
    const std::array<uint32_t, 3> groups = fill_(launch, words);
    const Operand operands[] = {operand_of(launch, 1), operand_of(launch, 2), y, record_of(launch)};
    return encoder.dispatch({update_, operands, words, groups});
  }

 private:
  const Pipeline *copy_, *update_;
  const Fill fill_;
};

template <class Fill>
Prepared scatter_kernel(const Request& request, ScatterCode& scatter, Fill fill) {
  const Pipeline *copy = nullptr, *update = nullptr;
  tenon_error* error = make_strided_copy(request.device(), scatter.dtype, &copy);
  if (error == nullptr) {
    error = make_pipeline(request.device(), scatter.code.finish(), 4, &update);
  }
  if (error != nullptr) return {.error = error};
  return {.kernel = std::make_unique<Scatter<Fill>>(copy, update, std::move(fill)),
          .traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC};
}

// The reason for which it is not to be had here, or none.
tenon_string refusal(const Request& request, int32_t reduction) {
  const tenon_dtype dtype = request.output(0).dtype;
  const bool is_moved = reduction == TENON_SCATTER_REDUCTION_NONE;
  if (!is_moved && dtype == TENON_BOOL) return TENON_STR("has no such reduction of bool");
  if (!is_moved && dtype == TENON_FLOAT64 && !capabilities_of(request.device()).float64) {
    return TENON_STR("has no float64");
  }
  return {};
}

}  // namespace

// Parameters: y's size and stride along the axis, the strides of indices and updates along it, and
// the other axes.
Prepared prepare_scatter_elements(const Request& request) {
  const auto attrs = request.attrs<tenon_scatter_elements_attrs>();
  if (const tenon_string reason = refusal(request, attrs.reduction); reason.size > 0) {
    return {.reason = reason};
  }
  ScatterCode scatter(request, attrs.reduction);
  Code& code = scatter.code;
  const U32 n_updates = code.parameter(1u), bound = code.parameter(3u), stride = code.parameter(4u),
            index_stride = code.parameter(5u), update_stride = code.parameter(6u);
  const AxesCode axes(code, code.u32(7), 3);
  code.for_each(code.parameter(0u), [&](U32 line) {
    const std::vector<U32> places = axes.places(line);
    code.for_(code.u32(0), n_updates, code.u32(1), [&](U32 i) {
      const spirv::Wide given = scatter.indices.load(places[0] + i * index_stride);
      const Index index = scatter.indices.wrapped(given, bound);
      code.if_(
          index.is_inside,
          [&] { scatter.update(places[2] + index.at * stride, places[1] + i * update_stride); },
          [&] { scatter.record.report(given, bound); });
    });
  });
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  const auto fill = [axis](const tenon_launch& launch, Words& words) {
    const tenon_view &indices = launch.inputs[1], &updates = launch.inputs[2],
                     &out = launch.outputs[0];
    const int64_t n_lines = tenon_sdk::count(indices) / indices.sizes[axis];
    for (const int64_t word : {n_lines, indices.sizes[axis], int64_t{launch.site}, out.sizes[axis],
                               out.strides[axis], indices.strides[axis], updates.strides[axis]}) {
      push(words, word);
    }
    const int64_t* const strides[] = {indices.strides, updates.strides, out.strides};
    Axes(indices.rank, indices.sizes, ~(uint32_t{1} << axis), strides).push(words);
    return groups_for(static_cast<uint64_t>(n_lines));
  };
  return scatter_kernel(request, scatter, fill);
}

// Parameters: how many indices a tuple has, their stride, each one's bound and y's stride; the axes
// of the tuples, with the updates' strides; the axes of what a tuple stands for.
Prepared prepare_scatter_nd(const Request& request) {
  const int32_t reduction = request.attrs<tenon_scatter_nd_attrs>().reduction;
  if (const tenon_string reason = refusal(request, reduction); reason.size > 0) {
    return {.reason = reason};
  }
  ScatterCode scatter(request, reduction);
  Code& code = scatter.code;
  const U32 n_tuples = code.parameter(1u), tuple_size = code.parameter(3u),
            tuple_stride = code.parameter(4u);
  const U32 zero = code.u32(0), one = code.u32(1);
  const AxesCode outer(code, tuple_size * 2 + 5, 2), inner(code, outer.end(), 2);
  code.for_each(code.parameter(0u), [&](U32 i) {
    const std::vector<U32> within = inner.places(i);
    code.for_(zero, n_tuples, one, [&](U32 tuple) {
      const std::vector<U32> places = outer.places(tuple);
      const Var<U32> to = code.var(within[1]);
      const Var<Bool> is_inside = code.var(code.boolean(true));
      code.for_(zero, tuple_size, one, [&](U32 j) {
        const U32 bound = code.parameter(j * 2 + 5);
        const spirv::Wide given = scatter.indices.load(places[0] + j * tuple_stride);
        const Index index = scatter.indices.wrapped(given, bound);
        code.if_(is_inside.get() & (!index.is_inside),
                 [&] { scatter.record.report(given, bound); });
        is_inside.set(is_inside.get() & index.is_inside);
        to.set(to.get() + index.at * code.parameter(j * 2 + 6));
      });
      code.if_(is_inside.get(), [&] { scatter.update(to.get(), places[1] + within[0]); });
    });
  });
  const auto fill = [](const tenon_launch& launch, Words& words) {
    const tenon_view &indices = launch.inputs[1], &updates = launch.inputs[2],
                     &out = launch.outputs[0];
    const size_t last = indices.rank - size_t{1};
    const auto whole = static_cast<size_t>(indices.sizes[last]);
    const int64_t n_inner = tenon_sdk::count(out.rank - whole, out.sizes + whole);
    for (const int64_t word : {n_inner, tenon_sdk::count(last, indices.sizes), int64_t{launch.site},
                               indices.sizes[last], indices.strides[last]}) {
      push(words, word);
    }
    for (size_t axis = 0; axis < whole; ++axis) {
      push(words, out.sizes[axis]);
      push(words, out.strides[axis]);
    }
    const int64_t* const outer_strides[] = {indices.strides, updates.strides};
    const int64_t* const inner_strides[] = {updates.strides + last, out.strides + whole};
    Axes(last, indices.sizes, kAllAxes, outer_strides).push(words);
    Axes(out.rank - whole, out.sizes + whole, kAllAxes, inner_strides).push(words);
    return groups_for(static_cast<uint64_t>(n_inner));
  };
  return scatter_kernel(request, scatter, fill);
}

}  // namespace tenon_vulkan
