// concat, pad, dynamic_slice and dynamic_update_slice. These kernels move elements without
// computing, so elements are handled as unsigned integers of the same size.

#include "plugins/vulkan/kernels/move.h"

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

}  // namespace

// ---- strided copies

// Parameters: the number of elements, their offset in the result, and the axes.
tenon_error* make_strided_copy(tenon_device_p* device, tenon_dtype dtype,
                               PipelineRef* out_pipeline) {
  Code code(capabilities_of(device), {.n_operands = 2, .local_size = kLocalSize});
  const Elements from(code, 0, bits_dtype(dtype)), to(code, 1, bits_dtype(dtype));
  const U32 first = code.parameter(1u);
  const AxesCode axes(code, code.u32(2), 2);
  code.for_each(code.parameter(0u), [&](U32 i) {
    const std::vector<U32> places = axes.operand_offsets(i);
    to.store(first + places[1], from.load(places[0]));
  });
  return make_pipeline(device, code.finish(), 2, out_pipeline);
}

tenon_error* strided_copy(Encoder& encoder, const PipelineRef& pipeline, const Operand& from,
                          const Operand& to, const tenon_view& view, const int64_t* to_strides,
                          int64_t first) {
  const int64_t n = tenon_sdk::count(view);
  if (n == 0) return nullptr;
  Words words;
  push(words, n);
  push(words, first);
  const int64_t* const strides[] = {view.strides, to_strides};
  Axes(view.rank, view.sizes, kAllAxes, strides).push(words);
  const Operand operands[] = {from, to};
  const Rounds rounds = groups_for(static_cast<uint64_t>(n));
  return encoder.dispatch({.pipeline = pipeline.get(),
                           .operands = operands,
                           .words = words,
                           .groups = rounds.groups,
                           .iterations = kFewIterations,
                           .n = rounds.n});
}

// ---- concat

namespace {

class Concat final : public Kernel {
 public:
  Concat(PipelineRef copy, size_t axis) : copy_(std::move(copy)), axis_(axis) {}

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const tenon_view& out = launch.outputs[0];
    const Operand to = operand_of(launch, launch.n_inputs);
    int64_t first = 0;
    for (uint32_t i = 0; i < launch.n_inputs; ++i) {
      const tenon_view& in = launch.inputs[i];
      if (tenon_error* error =
              strided_copy(encoder, copy_, operand_of(launch, i), to, in, out.strides, first)) {
        return error;
      }
      if (tenon_sdk::count(in) > 0) first += in.sizes[axis_] * out.strides[axis_];
    }
    return nullptr;
  }

 private:
  const PipelineRef copy_;
  const size_t axis_;
};

}  // namespace

Prepared prepare_concat(const Request& request) {
  PipelineRef copy;
  if (tenon_error* error = make_strided_copy(request.device(), request.output(0).dtype, &copy)) {
    return {.error = error};
  }
  const size_t axis =
      tenon_sdk::from_front(request.attrs<tenon_concat_attrs>().axis, request.output(0).rank);
  return {.kernel = std::make_unique<Concat>(copy, axis),
          .traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC};
}

// ---- pad

// pad. A negative pad removes elements. Without a value operand, the padding is zero. Parameters:
// the number of elements, then for each axis, from the last to the first: sizes of result and
// input, padding before, and stride of the input.
Prepared prepare_pad(const Request& request) {
  const auto attrs = request.attrs<tenon_pad_attrs>();
  if (attrs.mode != TENON_PAD_MODE_CONSTANT || attrs.n_axes > 0) {
    return tenon_sdk::refuse("supports only constant padding of all axes");
  }
  const bool has_value = request.n_inputs() > 1 && request.input(1).dtype != TENON_DTYPE_NONE;
  const uint32_t n_operands = has_value ? 3 : 2;
  const tenon_dtype dtype = bits_dtype(request.output(0).dtype);
  Code code(capabilities_of(request.device()),
            {.n_operands = n_operands, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), y(code, n_operands - 1, dtype);
  const Element value =
      has_value ? Elements(code, 1, dtype).load(code.u32(0)) : spirv::constant(code, dtype, 0);
  const U32 rank = code.parameter(1u);
  for_each_element(code, y, code.parameter(0u), [&](U32 i) {
    const Var<U32> rest = code.var(i), place = code.var(code.u32(0));
    const Var<Bool> is_inside = code.var(code.boolean(true));
    code.for_(code.u32(0), rank, code.u32(1), [&](U32 axis) {
      const U32 at = axis * 4 + 2;
      const U32 size = code.parameter(at);
      const U32 before = rest.get(), quotient = before / size;
      // The coordinate in the input. A coordinate in the leading padding wraps to a value beyond
      // the size.
      const U32 coordinate = before - quotient * size - code.parameter(at + 2);
      rest.set(quotient);
      is_inside.set(is_inside.get() & (coordinate < code.parameter(at + 1)));
      place.set(place.get() + coordinate * code.parameter(at + 3));
    });
    const Bool takes = is_inside.get();
    const spirv::ElementVar result(value);
    code.if_(takes, [&] { result.set(x.load(place.get())); });
    return result.get();
  });
  const tenon_sdk::List pads = tenon_sdk::list(attrs.pads, attrs.n_pads);
  const auto fill = [pads, size = tenon_sdk::size_of(dtype)](const tenon_launch& launch,
                                                             Words& words) {
    const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
    const int64_t n = tenon_sdk::count(out);
    push(words, n);
    push(words, out.rank);
    for (size_t axis = out.rank; axis-- > 0;) {
      // Clamps larger paddings, which does not change the result.
      const int64_t before = std::clamp(pads[axis], -in.sizes[axis], out.sizes[axis]);
      for (const int64_t word : {out.sizes[axis], in.sizes[axis], before, in.strides[axis]}) {
        push(words, word);
      }
    }
    return groups_for(n_words_of_elements(n, size));
  };
  return prepare_one_dispatch(request.device(), code, n_operands,
                              TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC, fill);
}

// ---- slices with dynamic starts

namespace {

// Parameters of a slice: the number of elements, the number of axes, the stride of the starts. Then
// for each axis, from the last to the first: its number, the sizes of the sliced tensor and of the
// slice, and strides.
constexpr uint32_t kSliceAxes = 3;

// Pushes the parameters of a slice `part` of the tensor `whole`. `walked`: the view whose elements
// the shader iterates over.
void push_slice(const tenon_view& whole, const tenon_view& part, const tenon_view& starts,
                const tenon_view& walked, const int64_t* first_strides,
                const int64_t* second_strides, Words& words) {
  push(words, tenon_sdk::count(walked));
  push(words, whole.rank);
  push(words, starts.strides[0]);
  for (size_t axis = whole.rank; axis-- > 0;) {
    push(words, static_cast<int64_t>(axis));
    push(words, whole.sizes[axis]);
    push(words, part.sizes[axis]);
    push(words, first_strides[axis]);
    push(words, second_strides[axis]);
  }
}

// Calls each(start, part_size, whole_size, first_stride, second_stride) for each axis.
template <class Each>
void for_each_axis(Code& code, const Indices& starts, const Each& each) {
  const U32 start_stride = code.parameter(2u);
  code.for_(code.u32(0), code.parameter(1u), code.u32(1), [&](U32 i) {
    const U32 at = i * 5 + kSliceAxes;
    const U32 whole = code.parameter(at + 1), part = code.parameter(at + 2);
    const U32 start =
        starts.clamp_start(starts.load(code.parameter(at) * start_stride), whole, part);
    each(start, part, whole, code.parameter(at + 3), code.parameter(at + 4));
  });
}

}  // namespace

Prepared prepare_dynamic_slice(const Request& request) {
  const tenon_dtype dtype = bits_dtype(request.output(0).dtype);
  Code code(capabilities_of(request.device()), {.n_operands = 3, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), y(code, 2, dtype);
  const Indices starts(code, 1, request.input(1).dtype);
  for_each_element(code, y, code.parameter(0u), [&](U32 i) {
    const Var<U32> rest = code.var(i), place = code.var(code.u32(0));
    for_each_axis(code, starts, [&](U32 start, U32 part, U32, U32 stride, U32) {
      const U32 before = rest.get(), quotient = before / part;
      rest.set(quotient);
      place.set(place.get() + (start + before - quotient * part) * stride);
    });
    return x.load(place.get());
  });
  const auto fill = [size = tenon_sdk::size_of(dtype)](const tenon_launch& launch, Words& words) {
    const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
    push_slice(in, out, launch.inputs[1], out, in.strides, in.strides, words);
    return groups_for(n_words_of_elements(tenon_sdk::count(out), size));
  };
  return prepare_one_dispatch(request.device(), code, 3,
                              TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC, fill);
}

// Each element of the result is from the update if it is inside the slice, otherwise from x.
Prepared prepare_dynamic_update_slice(const Request& request) {
  const tenon_dtype dtype = bits_dtype(request.output(0).dtype);
  Code code(capabilities_of(request.device()), {.n_operands = 4, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), update(code, 1, dtype), y(code, 3, dtype);
  const Indices starts(code, 2, request.input(2).dtype);
  for_each_element(code, y, code.parameter(0u), [&](U32 i) {
    const U32 zero = code.u32(0);
    const Var<U32> rest = code.var(i), place = code.var(zero), within = code.var(zero);
    const Var<Bool> is_updated = code.var(code.boolean(true));
    for_each_axis(code, starts, [&](U32 start, U32 part, U32 whole, U32 stride, U32 update_stride) {
      const U32 before = rest.get(), quotient = before / whole;
      const U32 coordinate = before - quotient * whole;
      rest.set(quotient);
      place.set(place.get() + coordinate * stride);
      within.set(within.get() + (coordinate - start) * update_stride);
      is_updated.set(is_updated.get() & (coordinate - start < part));
    });
    const spirv::ElementVar result(spirv::constant(code, dtype, 0));
    code.if_(
        is_updated.get(), [&] { result.set(update.load(within.get())); },
        [&] { result.set(x.load(place.get())); });
    return result.get();
  });
  const auto fill = [size = tenon_sdk::size_of(dtype)](const tenon_launch& launch, Words& words) {
    const tenon_view &in = launch.inputs[0], &update_view = launch.inputs[1];
    push_slice(in, update_view, launch.inputs[2], launch.outputs[0], in.strides,
               update_view.strides, words);
    return groups_for(n_words_of_elements(tenon_sdk::count(in), size));
  };
  return prepare_one_dispatch(request.device(), code, 4,
                              TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC, fill);
}

}  // namespace tenon_vulkan
