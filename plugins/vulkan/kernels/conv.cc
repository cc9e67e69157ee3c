// conv and its derivative with respect to the filter: an invocation computes one element, in the
// order in which the channels and the taps lie.

#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/kernels/window.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::ElementVar;
using spirv::U32;

constexpr uint32_t kTraits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC;
constexpr uint32_t kPlanes = 1;

tenon_dtype computed_in(tenon_dtype dtype) {
  return dtype == TENON_FLOAT64 ? TENON_FLOAT64 : TENON_FLOAT32;
}

void add_product(const ElementVar& sum, const Element& a, const Element& b) {
  const tenon_dtype wide = sum.get().dtype();
  const Element product = arithmetic(TENON_OP_mul, spirv::cast(a, wide), spirv::cast(b, wide));
  sum.set(arithmetic(TENON_OP_add, sum.get(), product));
}

// Parameters: how many elements, and the planes of three views, then whatever `more` pushes.
template <class More>
auto fill_planes(const More& more) {
  return [more](const tenon_launch& launch, Words& words) {
    const int64_t n = tenon_sdk::count(launch.outputs[0]);
    push(words, n);
    Planes(launch.inputs[0]).push(words);
    Planes(launch.inputs[1]).push(words);
    Planes(launch.outputs[0]).push(words);
    more(launch, words);
    return groups_for(static_cast<uint64_t>(n));
  };
}

}  // namespace

Prepared prepare_conv(const Request& request) {
  const Capabilities& capabilities = capabilities_of(request.device());
  const tenon_dtype dtype = request.output(0).dtype, wide = computed_in(dtype);
  if (dtype == TENON_FLOAT64 && !capabilities.float64) return tenon_sdk::refuse("has no float64");
  const auto attrs = request.attrs<tenon_conv_attrs>({.group = 1});
  const Window window(attrs, request.input(0).rank);
  const bool has_bias = request.n_inputs() > 2 && request.input(2).dtype != TENON_DTYPE_NONE;
  const uint32_t n_operands = has_bias ? 4 : 3;
  Code code(capabilities, {.n_operands = n_operands, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), w(code, 1, dtype), y(code, n_operands - 1, dtype);
  const PlanesCode x_planes(code, kPlanes), w_planes(code, kPlanes + PlanesCode::kWords),
      y_planes(code, kPlanes + 2 * PlanesCode::kWords);
  const U32 bias_stride = code.parameter(kPlanes + 3 * PlanesCode::kWords);
  const U32 out_of_group = y_planes.channels / static_cast<uint32_t>(attrs.group);
  code.for_each(code.parameter(0u), [&](U32 i) {
    const PlanesCode::At at = y_planes.at(i);
    // The group's first channel of x.
    const U32 first = at.channel / out_of_group * w_planes.channels;
    const ElementVar sum(spirv::constant(code, wide, 0));
    code.for_(code.u32(0), w_planes.channels, code.u32(1), [&](U32 c) {
      for_each_place(code, w_planes.sizes, [&](const Place& k) {
        const Found found = find(code, window, at.p, k, x_planes.sizes);
        code.if_(found.is_there, [&] {
          add_product(sum, x.load(x_planes.place(at.n, first + c, found.place)),
                      w.load(w_planes.place(at.channel, c, k)));
        });
      });
    });
    if (has_bias) {
      const Element bias = Elements(code, 2, dtype).load(at.channel * bias_stride);
      sum.set(arithmetic(TENON_OP_add, sum.get(), spirv::cast(bias, wide)));
    }
    y.store(i, spirv::cast(sum.get(), dtype));
  });
  const auto more = [has_bias](const tenon_launch& launch, Words& words) {
    push(words, has_bias ? launch.inputs[2].strides[0] : 0);
  };
  return one_dispatch(request.device(), code, n_operands, kTraits, fill_planes(more));
}

// dw[out, c, k]: the sum of dy times the element of x that tap k lay on.
Prepared prepare_conv_backward_filter(const Request& request) {
  const Capabilities& capabilities = capabilities_of(request.device());
  const tenon_dtype dtype = request.output(0).dtype, wide = computed_in(dtype);
  if (dtype == TENON_FLOAT64 && !capabilities.float64) return tenon_sdk::refuse("has no float64");
  const auto attrs = request.attrs<tenon_conv_backward_filter_attrs>({.group = 1});
  const Window window(attrs, request.input(0).rank);
  Code code(capabilities, {.n_operands = 3, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), dy(code, 1, dtype), dw(code, 2, dtype);
  const PlanesCode x_planes(code, kPlanes), dy_planes(code, kPlanes + PlanesCode::kWords),
      dw_planes(code, kPlanes + 2 * PlanesCode::kWords);
  const U32 out_of_group = dy_planes.channels / static_cast<uint32_t>(attrs.group);
  code.for_each(code.parameter(0u), [&](U32 i) {
    const PlanesCode::At at = dw_planes.at(i);
    const U32 out = at.n, first = out / out_of_group * dw_planes.channels;
    const ElementVar sum(spirv::constant(code, wide, 0));
    code.for_(code.u32(0), dy_planes.batch, code.u32(1), [&](U32 n) {
      for_each_place(code, dy_planes.sizes, [&](const Place& p) {
        const Found found = find(code, window, p, at.p, x_planes.sizes);
        code.if_(found.is_there, [&] {
          add_product(sum, x.load(x_planes.place(n, first + at.channel, found.place)),
                      dy.load(dy_planes.place(n, out, p)));
        });
      });
    });
    dw.store(i, spirv::cast(sum.get(), dtype));
  });
  return one_dispatch(request.device(), code, 3, kTraits,
                      fill_planes([](const tenon_launch&, Words&) {}));
}

}  // namespace tenon_vulkan
