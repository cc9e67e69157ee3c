// glu and swiglu: elementwise spans whose inputs are the two halves of one operand.

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/elementwise.h"

namespace tenon_simd {
namespace {

class Gated final : public tenon_sdk::Kernel {
 public:
  Gated(tenon_sdk::KernelPtr of_halves, size_t axis)
      : of_halves_(std::move(of_halves)), axis_(axis) {}

  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const override {
    const tenon_view &x = launch.inputs[0], &out = launch.outputs[0];
    int64_t strides[TENON_MAX_RANK];
    for (size_t axis = 0; axis < x.rank; ++axis) strides[axis] = stride_of(x, axis);
    tenon_view first = x;
    first.sizes = out.sizes;
    first.strides = strides;
    first.strides_class = TENON_STRIDES_STRIDED;
    tenon_view second = first;
    const int64_t elements = out.sizes[axis_] * strides[axis_];
    second.data = data<std::byte>(x) + elements * static_cast<int64_t>(size_of(x.dtype));

    const tenon_view halves[] = {first, second};
    tenon_launch of_halves = launch;
    of_halves.n_inputs = 2;
    of_halves.inputs = halves;
    return of_halves_->launch(stream, of_halves);
  }

 private:
  tenon_sdk::KernelPtr of_halves_;
  size_t axis_;
};

}  // namespace

Prepared prepare_gated_unit(const Request& request) {
  tenon_operand half = request.input(0);
  half.strides = TENON_STRIDES_STRIDED;
  const tenon_operand halves[] = {half, half};
  tenon_kernel_request of_halves{};
  of_halves.n_inputs = 2;
  of_halves.n_outputs = 1;
  of_halves.inputs = halves;
  of_halves.outputs = &request.output(0);
  const SpanEntry* entry = find_span(request.op(), compute_dtype(half.dtype));
  Prepared prepared =
      make_elementwise(Request(request.device(), of_halves), entry->span, entry->cost);
  const int64_t axis = request.attrs<tenon_swiglu_attrs>({.axis = -1}).axis;
  prepared.kernel =
      std::make_unique<Gated>(std::move(prepared.kernel), tenon_sdk::from_front(axis, half.rank));
  prepared.traits = kTraits;
  return prepared;
}

}  // namespace tenon_simd
