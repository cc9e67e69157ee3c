// sort, argsort and top_k by merge sort (kernels/merge.h), and searchsorted, which uses the same
// binary search.

#include "plugins/vulkan/kernels/each.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/merge.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::U32;

// Which results are stored after sorting: values, indices, or both; in sorted order or in order of
// the indices.
struct Kept {
  bool values, indices, in_index_order;

  uint32_t n_operands() const {
    return 2 + (in_index_order ? 1 : 0) + (values ? 1 : 0) + (indices ? 1 : 0);
  }
};

// Emits the shader that stores the results. Operands: the input; the indices of its elements in
// sorted order; if `in_index_order`, the order of the kept elements; the results. Parameters: the
// total number of kept elements, their number per line, the length of a line, the strides of input
// and results along a line, and the other axes.
Words write_results_shader(const Capabilities& capabilities, tenon_dtype dtype, const Kept& kept) {
  const uint32_t n_operands = kept.n_operands();
  Code code(capabilities, {.n_operands = n_operands, .local_size = kLocalSize});
  const tenon_dtype bits = bits_dtype(dtype);
  const Elements x(code, 0, bits), places(code, 1, TENON_UINT32);
  const U32 n_kept = code.parameter(1u), length = code.parameter(2u), stride = code.parameter(3u),
            step = code.parameter(4u);
  const AxesCode axes(code, code.u32(5), 2);
  code.for_each(code.parameter(0u), [&](U32 number) {
    const U32 line = number / n_kept, at = number - line * n_kept, first = line * length;
    const U32 rank = kept.in_index_order ? Elements(code, 2, TENON_UINT32).load(number).word() : at;
    const U32 place = places.load(first + rank).word();
    const std::vector<U32> lines = axes.operand_offsets(line);
    const U32 to = lines[1] + at * step;
    if (kept.values) {
      const uint32_t operand = n_operands - (kept.indices ? 2 : 1);
      Elements(code, operand, bits).store(to, x.load(lines[0] + place * stride));
    }
    if (kept.indices) {
      Elements(code, n_operands - 1, TENON_INT64)
          .store(to, {TENON_INT64, spirv::zero_extended(place)});
    }
  });
  return code.finish();
}

class SortKernel final : public Kernel {
 public:
  SortKernel(const Request& request, size_t axis, bool is_descending, const Kept& kept)
      : device_(request.device()),
        dtype_(request.input(0).dtype),
        axis_(axis),
        kept_(kept),
        sort_(device_, dtype_, is_descending),
        sort_places_(device_, TENON_UINT32, false) {}

  uint64_t workspace(const tenon_launch& launch) const override {
    const uint64_t room = MergeSort::workspace_bytes(tenon_sdk::count(launch.inputs[0]));
    if (!kept_.in_index_order) return room;
    return room + MergeSort::workspace_bytes(tenon_sdk::count(launch.outputs[0]));
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
    const int64_t n_kept = tenon_sdk::count(out);
    if (n_kept == 0) return nullptr;
    const int64_t length = in.sizes[axis_];
    const Operand x = operand_of(launch, 0);
    const int64_t* const strides[] = {in.strides, out.strides};
    const Axes others(in.rank, in.sizes, ~(uint32_t{1} << axis_), {strides, 1});
    const Lines lines = {tenon_sdk::count(in), length, in.strides[axis_], others};
    Operand places, order;
    tenon_error* error = sort_.enqueue(encoder, x, lines, workspace_of(launch), &places);
    if (error != nullptr) return error;
    if (kept_.in_index_order) {
      error = sort_indices(encoder, launch, places, &order);
      if (error != nullptr) return error;
    }
    const Pipeline* finish = nullptr;
    error = keep_.get(device_, kept_.n_operands(), &finish, [&] {
      return write_results_shader(capabilities_of(device_), dtype_, kept_);
    });
    if (error != nullptr) return error;
    Words words;
    for (const int64_t word :
         {n_kept, out.sizes[axis_], length, in.strides[axis_], out.strides[axis_]}) {
      push(words, word);
    }
    Axes(in.rank, in.sizes, ~(uint32_t{1} << axis_), strides).push(words);
    std::vector<Operand> operands = {x, places};
    if (kept_.in_index_order) operands.push_back(order);
    for (uint32_t i = 0; i < launch.n_outputs; ++i) operands.push_back(operand_of(launch, 1 + i));
    return encoder.dispatch({finish, operands, words, groups_for(static_cast<uint64_t>(n_kept))});
  }

 private:
  // After the elements of each line are sorted by value, only the indices of the first elements are
  // kept. Sorts these indices in ascending order. Uses the end of the workspace.
  tenon_error* sort_indices(Encoder& encoder, const tenon_launch& launch, const Operand& places,
                            Operand* out_order) const {
    const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
    const int64_t n_kept = tenon_sdk::count(out), of_line = out.sizes[axis_];
    const int64_t n_lines = n_kept / of_line;
    const int64_t* const strides[] = {&in.sizes[axis_]};
    const Axes others(1, &n_lines, kAllAxes, strides);
    Operand room = workspace_of(launch);
    room.begin = room.first = room.begin + MergeSort::workspace_bytes(tenon_sdk::count(in));
    return sort_places_.enqueue(encoder, places, {n_kept, of_line, 1, others}, room, out_order);
  }

  tenon_device_p* const device_;
  const tenon_dtype dtype_;
  const size_t axis_;
  const Kept kept_;
  const MergeSort sort_, sort_places_;
  const LazyPipeline keep_;
};

// Prepares a kernel that sorts along `axis` and then stores the results that `kept` selects.
Prepared sort_kernel(const Request& request, int64_t axis, bool is_descending, const Kept& kept) {
  if (request.input(0).dtype == TENON_FLOAT64 && !capabilities_of(request.device()).float64) {
    return tenon_sdk::refuse("has no float64");
  }
  if (const tenon_string reason = refusal_of_operands(request.device(), kept.n_operands());
      reason.size > 0) {
    return {.reason = reason};
  }
  const size_t from_front = tenon_sdk::from_front(axis, request.input(0).rank);
  return {
      .kernel = std::make_unique<SortKernel>(request, from_front, is_descending, kept),
      .traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC | TENON_KERNEL_WORKSPACE};
}

}  // namespace

Prepared prepare_sort(const Request& request) {
  const auto attrs = request.attrs<tenon_sort_attrs>();
  return sort_kernel(request, attrs.axis, attrs.descending,
                     {.values = true, .indices = false, .in_index_order = false});
}

Prepared prepare_argsort(const Request& request) {
  const auto attrs = request.attrs<tenon_argsort_attrs>();
  return sort_kernel(request, attrs.axis, attrs.descending,
                     {.values = false, .indices = true, .in_index_order = false});
}

Prepared prepare_top_k(const Request& request) {
  const auto attrs = request.attrs<tenon_top_k_attrs>();
  return sort_kernel(request, attrs.axis, attrs.largest,
                     {.values = true, .indices = true, .in_index_order = !attrs.sorted});
}

// Parameters: the number of values, the length of the sequence, its stride, and the values' axes.
Prepared prepare_searchsorted(const Request& request) {
  const Capabilities& capabilities = capabilities_of(request.device());
  const tenon_dtype dtype = request.input(0).dtype;
  if (dtype == TENON_FLOAT64 && !capabilities.float64) return tenon_sdk::refuse("has no float64");
  const bool is_right =
      request.attrs<tenon_searchsorted_attrs>().side == TENON_SEARCHSORTED_SIDE_RIGHT;
  Code code(capabilities, {.n_operands = 3, .local_size = kLocalSize});
  const Elements sequence(code, 0, dtype), x(code, 1, dtype), y(code, 2, TENON_INT64);
  const U32 length = code.parameter(1u), stride = code.parameter(2u);
  const AxesCode axes(code, code.u32(3), 1);
  for_each_element(code, y, code.parameter(0u), [&](U32 i) {
    const Element value = x.load(axes.operand_offsets(i)[0]);
    const U32 place = find_first_false(code, code.u32(0), length, [&](U32 at) {
      const Element element = sequence.load(at * stride);
      return is_right ? !precedes(value, element, false) : precedes(element, value, false);
    });
    return Element(TENON_INT64, spirv::zero_extended(place));
  });
  const auto fill = [](const tenon_launch& launch, Words& words) {
    const tenon_view &ordered = launch.inputs[0], &values = launch.inputs[1];
    const int64_t n = tenon_sdk::count(values);
    for (const int64_t word : {n, ordered.sizes[0], ordered.strides[0]}) push(words, word);
    const int64_t* const strides[] = {values.strides};
    Axes(values.rank, values.sizes, kAllAxes, strides).push(words);
    return groups_for(static_cast<uint64_t>(n));
  };
  return prepare_one_dispatch(request.device(), code, 3,
                              TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC, fill);
}

}  // namespace tenon_vulkan
