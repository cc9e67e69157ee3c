// scatter_elements and scatter_nd: y is x, and updates meet what is there. An index outside of its
// axis drops its update and is reported.
//
// Updates of one place come in their order, whatever else runs: one invocation makes all that may
// meet. Of scatter_elements these are the updates of a line along the axis; of scatter_nd all
// tuples, each invocation having one of the elements that a tuple stands for. Many updates are made
// by several dispatches, one after the other (kMostIterations).

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

// The first parameters: how many invocations have something to do, which updates each of them
// makes, and the launch's site.
enum : uint32_t { kInvocations, kBegin, kEnd, kSite, kMore };

// Operands: indices, updates, y and the record.
struct ScatterCode {
  ScatterCode(const Request& request, int32_t reduction_of_it)
      : reduction(reduction_of_it),
        dtype(reduction == TENON_SCATTER_REDUCTION_NONE ? bits_dtype(request.output(0).dtype)
                                                        : request.output(0).dtype),
        code(capabilities_of(request.device()), {.n_operands = 4, .local_size = kLocalSize}),
        updates(code, 1, dtype),
        y(code, 2, dtype),
        indices(code, 0, request.input(1).dtype),
        record(code, 3, code.parameter(kSite)) {}

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

// The copy, and the updates.
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
    const uint32_t iterations = fill_(launch, words);
    const std::array<uint32_t, 3> groups = groups_for(words[kInvocations]);
    const Operand operands[] = {operand_of(launch, 1), operand_of(launch, 2), y, record_of(launch)};
    const uint32_t n_updates = words[kEnd];
    const uint32_t at_once = steps_at_once(words[kInvocations], groups, iterations);
    for (uint32_t begin = 0; begin < n_updates; begin += at_once) {
      words[kBegin] = begin;
      words[kEnd] = std::min(n_updates, begin + at_once);
      if (tenon_error* error = encoder.dispatch({update_, operands, words, groups})) return error;
    }
    return nullptr;
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
  const U32 bound = code.parameter(kMore), stride = code.parameter(kMore + 1),
            index_stride = code.parameter(kMore + 2), update_stride = code.parameter(kMore + 3);
  const AxesCode axes(code, code.u32(kMore + 4), 3);
  code.for_each(code.parameter(kInvocations), [&](U32 line) {
    const std::vector<U32> places = axes.places(line);
    code.for_(code.parameter(kBegin), code.parameter(kEnd), code.u32(1), [&](U32 i) {
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
    for (const int64_t word :
         {n_lines, int64_t{0}, indices.sizes[axis], int64_t{launch.site}, out.sizes[axis],
          out.strides[axis], indices.strides[axis], updates.strides[axis]}) {
      push(words, word);
    }
    const int64_t* const strides[] = {indices.strides, updates.strides, out.strides};
    Axes(indices.rank, indices.sizes, ~(uint32_t{1} << axis), strides).push(words);
    return 1u;
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
  const U32 tuple_size = code.parameter(kMore), tuple_stride = code.parameter(kMore + 1);
  const U32 zero = code.u32(0), one = code.u32(1);
  constexpr uint32_t kBounds = kMore + 2;
  const AxesCode outer(code, tuple_size * 2 + kBounds, 2), inner(code, outer.end(), 2);
  code.for_each(code.parameter(kInvocations), [&](U32 i) {
    const std::vector<U32> within = inner.places(i);
    code.for_(code.parameter(kBegin), code.parameter(kEnd), one, [&](U32 tuple) {
      const std::vector<U32> places = outer.places(tuple);
      const Var<U32> to = code.var(within[1]);
      const Var<Bool> is_inside = code.var(code.boolean(true));
      code.for_(zero, tuple_size, one, [&](U32 j) {
        const U32 bound = code.parameter(j * 2 + kBounds);
        const spirv::Wide given = scatter.indices.load(places[0] + j * tuple_stride);
        const Index index = scatter.indices.wrapped(given, bound);
        code.if_(is_inside.get() & (!index.is_inside),
                 [&] { scatter.record.report(given, bound); });
        is_inside.set(is_inside.get() & index.is_inside);
        to.set(to.get() + index.at * code.parameter(j * 2 + (kBounds + 1)));
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
    for (const int64_t word : {n_inner, int64_t{0}, tenon_sdk::count(last, indices.sizes),
                               int64_t{launch.site}, indices.sizes[last], indices.strides[last]}) {
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
    // A tuple's own, its indices' and, of axes that are many, those of its place.
    return 1 + static_cast<uint32_t>(whole + last);
  };
  return scatter_kernel(request, scatter, fill);
}

}  // namespace tenon_vulkan
