// sort, argsort and top_k by merging: in each pass two sorted runs of a line become one, and every
// element finds its place there by a search in the other run. What is moved are places, of 32 bits.
// Equal elements keep their order, since those of the first run go before those of the second.
//
// searchsorted is such a search.

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/each.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/lazy_pipeline.h"
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

// Whether `a` comes before `b`. NaN comes behind all else in either direction, and nothing comes
// before what it equals.
Bool precedes(const Element& a, const Element& b, bool is_descending) {
  const Bool before =
      a.kind() == spirv::Kind::kBool
          ? (is_descending ? a.boolean() & (!b.boolean()) : b.boolean() & (!a.boolean()))
          : compare(is_descending ? TENON_OP_greater : TENON_OP_less, a, b);
  if (!spirv::is_float(a.dtype())) return before;
  return select(is_nan(b), !is_nan(a), before);
}

// The first number from `begin` on, and at most `end`, for which holds(number) is false; it holds
// for all before that.
template <class Holds>
U32 search(Code& code, U32 begin, U32 end, const Holds& holds) {
  const Var<U32> low = code.var(begin), high = code.var(end);
  code.while_([&] { return low.get() < high.get(); },
              [&] {
                const U32 middle = (low.get() + high.get()) >> 1;
                const Bool is_below = holds(middle);
                low.set(select(is_below, middle + 1, low.get()));
                high.set(select(is_below, high.get(), middle));
              });
  return low.get();
}

// Parameters of a pass: how many elements in all lines, how long a line is, how long runs are, the
// stride along a line, and the other axes.
Words merge_pass(const Capabilities& capabilities, tenon_dtype dtype, bool is_descending) {
  Code code(capabilities, {.n_operands = 3, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), from(code, 1, TENON_UINT32), to(code, 2, TENON_UINT32);
  const U32 length = code.parameter(1u), run = code.parameter(2u), stride = code.parameter(3u);
  const AxesCode axes(code, code.u32(4), 1);
  // Runs of one element are the elements in their order.
  const Bool is_first = run == 1;
  code.for_each(code.parameter(0u), [&](U32 number) {
    const U32 line = number / length, at = number - line * length, first = line * length;
    const U32 place = axes.places(line)[0];
    const auto place_at = [&](U32 i) {
      const Var<U32> found = code.var(i);
      code.if_(!is_first, [&] { found.set(from.load(first + i).word()); });
      return found.get();
    };
    const U32 own_place = place_at(at);
    const Element own = x.load(place + own_place * stride);
    const U32 own_run = at / run;
    const Bool is_right = (own_run & 1) != 0;
    const U32 pair = (own_run & ~code.u32(1)) * run;
    const U32 middle = min(pair + run, length);
    const U32 begin = select(is_right, pair, middle);
    const U32 end = select(is_right, middle, min(middle + run, length));
    const U32 found = search(code, begin, end, [&](U32 i) {
      const Element other = x.load(place + place_at(i) * stride);
      // What equals it and comes from before stays before it.
      return select(is_right, !precedes(own, other, is_descending),
                    precedes(other, own, is_descending));
    });
    // Behind those of its own run before it and those of the other that it found.
    const U32 own_begin = select(is_right, middle, pair);
    to.store(first + pair + (at - own_begin) + (found - begin), {TENON_UINT32, own_place});
  });
  return code.finish();
}

// What is kept of sorted places. Parameters: how many elements are kept in all lines, how many of a
// line, how long it is, the strides of input and results along it, and the other axes.
struct Kept {
  bool values, indices, in_order_of_places;
};

Words keep(const Capabilities& capabilities, tenon_dtype dtype, const Kept& kept) {
  const uint32_t n_operands = 2 + (kept.values ? 1 : 0) + (kept.indices ? 1 : 0);
  Code code(capabilities, {.n_operands = n_operands, .local_size = kLocalSize});
  const tenon_dtype bits = bits_dtype(dtype);
  const Elements x(code, 0, bits), places(code, 1, TENON_UINT32);
  const U32 n_kept = code.parameter(1u), length = code.parameter(2u), stride = code.parameter(3u),
            step = code.parameter(4u);
  const AxesCode axes(code, code.u32(5), 2);
  code.for_each(code.parameter(0u), [&](U32 number) {
    const U32 line = number / n_kept, at = number - line * n_kept, first = line * length;
    const U32 place = places.load(first + at).word();
    const std::vector<U32> lines = axes.places(line);
    U32 rank = at;
    if (kept.in_order_of_places) {
      const Var<U32> below = code.var(code.u32(0));
      code.for_many(code.u32(0), n_kept, [&](U32 i) {
        below.set(below.get() + to_u32(places.load(first + i).word() < place));
      });
      rank = below.get();
    }
    const U32 to = lines[1] + rank * step;
    if (kept.values) Elements(code, 2, bits).store(to, x.load(lines[0] + place * stride));
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
        is_descending_(is_descending),
        kept_(kept) {}

  // Places from one pass to the next: two of them.
  uint64_t workspace(const tenon_launch& launch) const override {
    return 8 * static_cast<uint64_t>(tenon_sdk::count(launch.inputs[0]));
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
    const int64_t n = tenon_sdk::count(in), n_kept = tenon_sdk::count(out);
    if (n_kept == 0) return nullptr;
    const int64_t length = in.sizes[axis_];
    const Pipeline *merge = nullptr, *finish = nullptr;
    tenon_error* error = merge_.get(device_, 3, &merge, [&] {
      return merge_pass(capabilities_of(device_), dtype_, is_descending_);
    });
    if (error != nullptr) return error;
    const uint32_t n_operands = 2 + (kept_.values ? 1 : 0) + (kept_.indices ? 1 : 0);
    error = keep_.get(device_, n_operands, &finish,
                      [&] { return keep(capabilities_of(device_), dtype_, kept_); });
    if (error != nullptr) return error;

    Operand from = workspace_of(launch), to = from;
    from.end = from.begin + 4 * static_cast<uint64_t>(n);
    to.begin = to.first = from.end;
    const Operand x = operand_of(launch, 0);
    const int64_t* const strides[] = {in.strides, out.strides};
    const Axes lines(in.rank, in.sizes, ~(uint32_t{1} << axis_), {strides, 1});
    // A line of one element, too, needs its places written.
    for (int64_t run = 1; run < length || run == 1; run *= 2) {
      Words words;
      for (const int64_t word : {n, length, run, in.strides[axis_]}) push(words, word);
      lines.push(words);
      from.is_written = false;
      to.is_written = true;
      const Operand operands[] = {x, from, to};
      error = encoder.dispatch({merge, operands, words, groups_for(static_cast<uint64_t>(n))});
      if (error != nullptr) return error;
      std::swap(from, to);
    }
    from.is_written = false;
    Words words;
    for (const int64_t word :
         {n_kept, out.sizes[axis_], length, in.strides[axis_], out.strides[axis_]}) {
      push(words, word);
    }
    Axes(in.rank, in.sizes, ~(uint32_t{1} << axis_), strides).push(words);
    const Operand all[] = {x, from, operand_of(launch, 1),
                           launch.n_outputs > 1 ? operand_of(launch, 2) : Operand{}};
    return encoder.dispatch(
        {finish, {all, n_operands}, words, groups_for(static_cast<uint64_t>(n_kept))});
  }

 private:
  tenon_device_p* const device_;
  const tenon_dtype dtype_;
  const size_t axis_;
  const bool is_descending_;
  const Kept kept_;
  const LazyPipeline merge_, keep_;
};

Prepared sort_kernel(const Request& request, int64_t axis, bool is_descending, const Kept& kept) {
  if (request.input(0).dtype == TENON_FLOAT64 && !capabilities_of(request.device()).float64) {
    return tenon_sdk::refuse("has no float64");
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
                     {.values = true, .indices = false, .in_order_of_places = false});
}

Prepared prepare_argsort(const Request& request) {
  const auto attrs = request.attrs<tenon_argsort_attrs>();
  return sort_kernel(request, attrs.axis, attrs.descending,
                     {.values = false, .indices = true, .in_order_of_places = false});
}

Prepared prepare_top_k(const Request& request) {
  const auto attrs = request.attrs<tenon_top_k_attrs>();
  return sort_kernel(request, attrs.axis, attrs.largest,
                     {.values = true, .indices = true, .in_order_of_places = !attrs.sorted});
}

// Parameters: how many values, how long the sequence is, its stride, and the values' axes.
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
    const Element value = x.load(axes.places(i)[0]);
    const U32 place = search(code, code.u32(0), length, [&](U32 at) {
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
  return one_dispatch(request.device(), code, 3,
                      TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC, fill);
}

}  // namespace tenon_vulkan
