// scatter_elements and scatter_nd: y is a copy of x into which updates are combined. An update
// whose index is out of range is dropped and reported.
//
// Updates of one element are applied in order, independent of concurrency. A line is a sequence of
// updates that contains all updates of its targets: the updates along the axis of scatter_elements,
// or all tuples of scatter_nd. A target is one element of y for scatter_elements, or the `width`
// elements that a tuple selects for scatter_nd.
//
// - Algorithm 1: an invocation applies all updates of one line to one element of the width, in
//   order. Used for short lines, for lines that are numerous enough to keep the device busy, and on
//   software drivers.
// - Algorithm 2: the targets of all updates are computed and stably sorted. An invocation then
//   applies the updates of one target to one element of the width. Used otherwise.
//
// Both algorithms return the same bits. If there are many updates, several consecutive dispatches
// process them (kMaxIterations).
//
// Floating-point sums use algorithm 2 if a line has more than kLongestChain updates, or more than
// one update of a half type. An invocation then sums chains of at most longest_chain() updates, in
// float32 for half types, and adds each chain's sum to the total.

#include <optional>

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/indices.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/merge.h"
#include "plugins/vulkan/kernels/move.h"
#include "plugins/vulkan/kernels/product.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Bool;
using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::ElementVar;
using spirv::U32;
using spirv::Var;

// Lines with more than kMinSortedLine updates are sorted, unless the number of lines times the
// width is at least kMaxSortedLines.
constexpr int64_t kMinSortedLine = 64, kMaxSortedLines = 16384;
constexpr int64_t kLongestChain = 4096;

constexpr uint32_t kDroppedTarget = ~0u;  // The target of dropped updates, which sorts last.

struct Op {
  bool has_tuples;  // True for scatter_nd.
  int32_t reduction;
  tenon_dtype dtype,
      index_dtype;  // `dtype` is the unsigned dtype of the same size if updates replace elements.

  bool sums_floats() const {
    return reduction == TENON_SCATTER_REDUCTION_ADD && spirv::is_float(dtype);
  }
};

// Which of the three shaders of a scatter kernel is generated.
enum Variant : uint8_t { kApplyLines, kFindTargets, kApplyTargets };

// First parameters: number of lines, updates per line, width, range [kBegin, kEnd) of updates to
// apply, the launch's site, and maximum length of a chain.
enum : uint32_t { kLines, kLength, kWidth, kBegin, kEnd, kSite, kChain, kMore };
// More parameters of scatter_elements: size and stride of y along the axis, strides of indices and
// updates along the axis, and the other axes.
enum : uint32_t { kBound = kMore, kStride, kIndexStride, kUpdateStride, kLineAxes };
// More parameters of scatter_nd: number of indices per tuple, their stride, the bound of each
// index, the axes of the tuples, and the axes of the width with the strides of the updates.
enum : uint32_t { kTupleSize = kMore, kTupleStride, kBounds };

class ScatterCode {
 public:
  // Operands of the variants. kApplyLines: indices, updates, y, error record. kFindTargets:
  // indices, targets, error record. kApplyTargets: targets, indices of the updates in sorted order,
  // updates, y.
  ScatterCode(Code& code, const Op& op, Variant task) : code_(code), op_(op) {
    if (task != kApplyTargets) {
      indices_.emplace(code, 0, op.index_dtype);
      record_.emplace(code, task == kApplyLines ? 3 : 2, code.parameter(kSite));
    }
    if (task != kApplyLines) targets_.emplace(code, task == kFindTargets ? 1 : 0, TENON_UINT32);
    if (task == kApplyTargets) order_.emplace(code, 1, TENON_UINT32);
    if (task != kFindTargets) {
      updates_.emplace(code, task == kApplyLines ? 1 : 2, op.dtype);
      y_.emplace(code, task == kApplyLines ? 2 : 3, op.dtype);
    }
    if (op.has_tuples) {
      outer_.emplace(code, code.parameter(kTupleSize) + kBounds, 2);
      inner_.emplace(code, outer_->end(), 1);
    } else {
      lines_.emplace(code, code.u32(kLineAxes), 3);
    }
  }

  void apply_lines() {
    const U32 width = code_.parameter(kWidth);
    code_.for_each(code_.parameter(kLines) * width, [&](U32 item) {
      const U32 line = item / width;
      const Place place = place_of(line, item - line * width);
      code_.for_(code_.parameter(kBegin), code_.parameter(kEnd), code_.u32(1), [&](U32 i) {
        const U32 target = target_of(place, i);
        code_.if_(target != kDroppedTarget, [&] {
          const U32 to = y_place(place, target);
          y_->store(to, met([&] { return y_->load(to); }, update(place, i)));
        });
      });
    });
  }

  void find_targets() {
    const U32 length = code_.parameter(kLength);
    code_.for_each(code_.parameter(kLines) * length, [&](U32 item) {
      const U32 line = item / length;
      const U32 target = target_of(place_of(line, code_.u32(0)), item - line * length);
      targets_->store(item, {TENON_UINT32, target});
    });
  }

  // Applies the updates at positions [kBegin, kEnd) of the sorted order of each line. The
  // invocation at the first position of a target applies all updates of that target. If updates
  // replace elements, the invocation at the last position of a target stores its update instead.
  void apply_targets() {
    const U32 width = code_.parameter(kWidth), length = code_.parameter(kLength);
    const U32 begin = code_.parameter(kBegin), end = code_.parameter(kEnd), n = end - begin;
    const bool replaces = op_.reduction == TENON_SCATTER_REDUCTION_NONE;
    code_.for_each(code_.parameter(kLines) * n * width, [&](U32 item) {
      const U32 number = item / width, line = number / n, at = number - line * n + begin;
      const U32 first = line * length;
      const auto update_at = [&](U32 i) { return order_->load(first + i).word(); };
      const auto target_at = [&](U32 i) { return targets_->load(first + update_at(i)).word(); };
      const U32 own = update_at(at), target = targets_->load(first + own).word();
      const Var<Bool> is_own = code_.var(target != kDroppedTarget);
      const Bool is_at_edge = replaces ? at + 1 == length : at == begin;
      code_.if_(is_own.get() & (!is_at_edge),
                [&] { is_own.set(target_at(replaces ? at + 1 : at - 1) != target); });
      code_.if_(is_own.get(), [&] {
        const Place place = place_of(line, item - number * width);
        const U32 to = y_place(place, target);
        if (replaces) return y_->store(to, update(place, own));
        const tenon_dtype wide = op_.sums_floats() ? product_dtype(op_.dtype) : op_.dtype;
        const ElementVar value(spirv::cast(y_->load(to), wide));
        // For floating-point sums, `total` is y plus the sums of all chains before the current one.
        // If a line has more than one chain, the first chain starts from zero, too, because y may
        // already contain the sums of earlier dispatches.
        std::optional<ElementVar> total;
        const Var<Bool> has_total = code_.var(code_.parameter(kChain) < length);
        const auto with_total = [&] {
          const Element sum = arithmetic(TENON_OP_add, total->get(), value.get());
          return spirv::select(has_total.get(), sum, value.get());
        };
        const Element zero = spirv::constant(code_, wide, 0);
        if (op_.sums_floats()) {
          total.emplace(value.get());
          value.set(spirv::select(has_total.get(), zero, value.get()));
        }
        const Var<U32> now = code_.var(at);
        code_.while_([&] { return is_own.get(); },
                     [&] {
                       const Element next = spirv::cast(update(place, update_at(now.get())), wide);
                       value.set(met([&] { return value.get(); }, next));
                       now.set(now.get() + 1);
                       is_own.set(now.get() < end);
                       code_.if_(is_own.get(), [&] { is_own.set(target_at(now.get()) == target); });
                       if (!total) return;
                       const Bool ends_chain = (now.get() - at) % code_.parameter(kChain) == 0;
                       code_.if_(is_own.get() & ends_chain, [&] {
                         total->set(with_total());
                         has_total.set(code_.boolean(true));
                         value.set(zero);
                       });
                     });
        y_->store(to, spirv::cast(total ? with_total() : value.get(), op_.dtype));
      });
    });
  }

 private:
  // Offsets of a line in the operands for one element of the width.
  struct Place {
    U32 indices, updates, y;
  };

  Place place_of(U32 line, U32 within) {
    if (op_.has_tuples) return {code_.u32(0), inner_->operand_offsets(within)[0], within};
    const std::vector<U32> places = lines_->operand_offsets(line);
    return {places[0], places[1], places[2]};
  }

  // Loads an index and wraps it if it is negative. Reports it if it is out of range, unless
  // `is_dropped` is already true.
  Index index_at(U32 place, U32 bound, Bool is_dropped) {
    const spirv::Wide given = indices_->load(place);
    const Index index = indices_->wrap(given, bound);
    code_.if_(!(index.is_inside | is_dropped), [&] { record_->report(given, bound); });
    return index;
  }

  U32 target_of(const Place& place, U32 i) {
    const U32 nowhere = code_.u32(kDroppedTarget);
    if (!op_.has_tuples) {
      const U32 at = place.indices + i * code_.parameter(kIndexStride);
      const Index index = index_at(at, code_.parameter(kBound), code_.boolean(false));
      return select(index.is_inside, index.at, nowhere);
    }
    const U32 at = outer_->operand_offsets(i)[0];
    const Var<U32> target = code_.var(code_.u32(0));
    code_.for_(code_.u32(0), code_.parameter(kTupleSize), code_.u32(1), [&](U32 j) {
      const U32 bound = code_.parameter(j + kBounds), before = target.get();
      const Bool is_dropped = before == kDroppedTarget;
      const Index index = index_at(at + j * code_.parameter(kTupleStride), bound, is_dropped);
      target.set(select(is_dropped | (!index.is_inside), nowhere, before * bound + index.at));
    });
    return target.get();
  }

  U32 y_place(const Place& place, U32 target) {
    const uint32_t stride = op_.has_tuples ? uint32_t{kWidth} : uint32_t{kStride};
    return target * code_.parameter(stride) + place.y;
  }

  Element update(const Place& place, U32 i) {
    return updates_->load(place.updates + (op_.has_tuples ? outer_->operand_offsets(i)[1]
                                                          : i * code_.parameter(kUpdateStride)));
  }

  // Returns the new value of an element: the value of old() combined with the update.
  template <class Old>
  Element met(const Old& old, const Element& update) {
    switch (op_.reduction) {
      case TENON_SCATTER_REDUCTION_ADD:
        return arithmetic(TENON_OP_add, old(), update);
      case TENON_SCATTER_REDUCTION_MUL:
        return arithmetic(TENON_OP_mul, old(), update);
      case TENON_SCATTER_REDUCTION_MIN:
        return minimum(old(), update);
      case TENON_SCATTER_REDUCTION_MAX:
        return maximum(old(), update);
      default:
        return update;
    }
  }

  Code& code_;
  const Op op_;
  std::optional<Indices> indices_;
  std::optional<Record> record_;
  std::optional<Elements> targets_, order_, updates_, y_;
  std::optional<AxesCode> lines_, outer_, inner_;
};

class Scatter final : public Kernel {
 public:
  Scatter(const Request& request, const Op& op, size_t axis, PipelineRef copy)
      : device_(request.device()),
        op_(op),
        axis_(axis),
        copy_(copy),
        sort_(request.device(), TENON_UINT32, false) {}

  // The workspace holds the targets and the workspace of the sort.
  uint64_t workspace(const tenon_launch& launch) const override {
    const Sizes sizes = sizes_of(launch);
    if (!are_sorted(sizes)) return 0;
    return 4 * static_cast<uint64_t>(sizes.n_updates()) +
           MergeSort::workspace_bytes(sizes.n_updates());
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const tenon_view &x = launch.inputs[0], &out = launch.outputs[0];
    const Sizes sizes = sizes_of(launch);
    if (tenon_error* error = check_axes(device_, launch)) return error;
    if (tenon_error* error = check_count(device_, sizes.length)) return error;
    Operand y = operand_of(launch, 3);
    if (tenon_error* error =
            strided_copy(encoder, copy_, operand_of(launch, 0), y, x, out.strides, 0)) {
      return error;
    }
    if (tenon_sdk::count(launch.inputs[2]) == 0) return nullptr;
    Words words;
    for (const int64_t word : {sizes.n_lines, sizes.length, sizes.width, int64_t{0}, sizes.length,
                               int64_t{launch.site}, longest_chain(sizes.length)}) {
      push(words, word);
    }
    push_more(launch, words);
    const Operand indices = operand_of(launch, 1), updates = operand_of(launch, 2);
    if (!are_sorted(sizes)) {
      const auto groups = groups_for(static_cast<uint64_t>(sizes.n_lines * sizes.width));
      const Operand operands[] = {indices, updates, y, error_record_of(launch)};
      const uint32_t at_once = max_steps_per_dispatch(
          static_cast<uint64_t>(sizes.n_lines * sizes.width), groups, iterations(launch));
      return run_in_pieces(encoder, kApplyLines, operands, words, groups, at_once);
    }
    const auto n = static_cast<uint64_t>(sizes.n_updates());
    Operand targets = workspace_of(launch), room = targets, order;
    targets.end = room.begin = room.first = targets.begin + 4 * n;
    const Operand found[] = {indices, targets, error_record_of(launch)};
    const Pipeline* find = nullptr;
    tenon_error* error = pipeline(kFindTargets, 3, &find);
    if (error == nullptr) error = encoder.dispatch({find, found, words, groups_for(n)});
    if (error != nullptr) return error;
    targets.is_written = false;
    const int64_t* const strides[] = {&sizes.length};
    const Lines lines = {sizes.n_updates(), sizes.length, 1,
                         Axes(1, &sizes.n_lines, kAllAxes, strides)};
    error = sort_.enqueue(encoder, targets, lines, room, &order);
    if (error != nullptr) return error;
    // Number of items of a dispatch that processes `length` updates of each line.
    const auto of_piece = [&](int64_t length) {
      return static_cast<uint64_t>(sizes.n_lines * std::min(length, sizes.length) * sizes.width);
    };
    // Limits the items of a dispatch to the number that shaders can count. If updates replace
    // elements, an invocation applies only one update, so its loop iterations are not limited here.
    const int64_t max_at_once = std::max<int64_t>(1, kMaxCount / (sizes.n_lines * sizes.width));
    auto at_once = static_cast<uint32_t>(std::min(sizes.length, max_at_once));
    uint64_t n_items = of_piece(at_once);
    if (op_.reduction != TENON_SCATTER_REDUCTION_NONE) {
      n_items = of_piece(kMaxIterations);
      at_once = max_steps_per_dispatch(n_items, groups_for(n_items), iterations(launch));
    }
    const Operand operands[] = {targets, order, updates, y};
    return run_in_pieces(encoder, kApplyTargets, operands, words, groups_for(n_items), at_once);
  }

 private:
  struct Sizes {
    int64_t n_lines = 1, length = 1, width = 1;
    int64_t n_updates() const { return n_lines * length; }
  };

  bool are_sorted(const Sizes& sizes) const {
    const bool is_half = tenon_sdk::size_of(op_.dtype) == 2;
    if (op_.sums_floats() && sizes.length > (is_half ? 1 : kLongestChain) &&
        sizes.n_updates() <= int64_t{kMaxCount}) {
      return true;
    }
    return !capabilities_of(device_).runs_on_host && sizes.length > kMinSortedLine &&
           sizes.n_lines * sizes.width < kMaxSortedLines;
  }

  Sizes sizes_of(const tenon_launch& launch) const {
    const tenon_view &indices = launch.inputs[1], &out = launch.outputs[0];
    if (op_.has_tuples) {
      const size_t last = indices.rank - size_t{1};
      const auto whole = static_cast<size_t>(indices.sizes[last]);
      return {1, tenon_sdk::count(last, indices.sizes),
              tenon_sdk::count(out.rank - whole, out.sizes + whole)};
    }
    const int64_t length = indices.sizes[axis_];
    return {length == 0 ? 0 : tenon_sdk::count(indices) / length, length, 1};
  }

  void push_more(const tenon_launch& launch, Words& words) const {
    const tenon_view &indices = launch.inputs[1], &updates = launch.inputs[2],
                     &out = launch.outputs[0];
    if (op_.has_tuples) {
      const size_t last = indices.rank - size_t{1};
      const auto whole = static_cast<size_t>(indices.sizes[last]);
      push(words, indices.sizes[last]);
      push(words, indices.strides[last]);
      for (size_t axis = 0; axis < whole; ++axis) push(words, out.sizes[axis]);
      const int64_t* const outer[] = {indices.strides, updates.strides};
      const int64_t* const inner[] = {updates.strides + last};
      Axes(last, indices.sizes, kAllAxes, outer).push(words);
      Axes(out.rank - whole, out.sizes + whole, kAllAxes, inner).push(words);
      return;
    }
    for (const int64_t word :
         {out.sizes[axis_], out.strides[axis_], indices.strides[axis_], updates.strides[axis_]}) {
      push(words, word);
    }
    const int64_t* const strides[] = {indices.strides, updates.strides, out.strides};
    Axes(indices.rank, indices.sizes, ~(uint32_t{1} << axis_), strides).push(words);
  }

  // Returns the loop iterations per update: one, plus those over the indices of a tuple, plus those
  // over the axes for its position.
  uint32_t iterations(const tenon_launch& launch) const {
    const tenon_view& indices = launch.inputs[1];
    if (!op_.has_tuples) return 1;
    const size_t last = indices.rank - size_t{1};
    return 1 + static_cast<uint32_t>(indices.sizes[last]) + static_cast<uint32_t>(last);
  }

  tenon_error* pipeline(Variant task, uint32_t n_operands, const Pipeline** out_pipeline) const {
    return pipelines_[task].get(device_, n_operands, out_pipeline, [&] {
      Code code(capabilities_of(device_), {.n_operands = n_operands, .local_size = kLocalSize});
      ScatterCode scatter(code, op_, task);
      if (task == kApplyLines) scatter.apply_lines();
      if (task == kFindTargets) scatter.find_targets();
      if (task == kApplyTargets) scatter.apply_targets();
      return code.finish();
    });
  }

  tenon_error* run_in_pieces(Encoder& encoder, Variant task, std::span<const Operand, 4> operands,
                             Words& words, const std::array<uint32_t, 3>& groups,
                             uint32_t at_once) const {
    const Pipeline* made = nullptr;
    if (tenon_error* error = pipeline(task, 4, &made)) return error;
    const uint32_t length = words[kLength];
    for (uint32_t begin = 0; begin < length; begin += at_once) {
      words[kBegin] = begin;
      words[kEnd] = begin + std::min(at_once, length - begin);
      if (tenon_error* error = encoder.dispatch({made, operands, words, groups})) return error;
    }
    return nullptr;
  }

  tenon_device_p* const device_;
  const Op op_;
  const size_t axis_;  // The axis of scatter_elements.
  const PipelineRef copy_;
  const MergeSort sort_;
  LazyPipeline pipelines_[3];
};

Prepared scatter_kernel(const Request& request, bool has_tuples, int32_t reduction, size_t axis) {
  const tenon_dtype dtype = request.output(0).dtype;
  const bool is_moved = reduction == TENON_SCATTER_REDUCTION_NONE;
  if (!is_moved && dtype == TENON_BOOL)
    return tenon_sdk::refuse("does not support this reduction for bool");
  if (!is_moved && dtype == TENON_FLOAT64 && !capabilities_of(request.device()).float64) {
    return tenon_sdk::refuse("has no float64");
  }
  // Operands: indices, updates, y and the error record or, if sorted, targets, their order, updates
  // and y.
  if (const tenon_string reason = refusal_of_operands(request.device(), 4); reason.size > 0) {
    return {.reason = reason};
  }
  const Op op = {.has_tuples = has_tuples,
                 .reduction = reduction,
                 .dtype = is_moved ? bits_dtype(dtype) : dtype,
                 .index_dtype = request.input(1).dtype};
  PipelineRef copy;
  tenon_error* error = make_strided_copy(request.device(), op.dtype, &copy);
  if (error != nullptr) return {.error = error};
  return {
      .kernel = std::make_unique<Scatter>(request, op, axis, copy),
      .traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC | TENON_KERNEL_WORKSPACE};
}

}  // namespace

Prepared prepare_scatter_elements(const Request& request) {
  const auto attrs = request.attrs<tenon_scatter_elements_attrs>();
  return scatter_kernel(request, false, attrs.reduction,
                        tenon_sdk::from_front(attrs.axis, request.input(0).rank));
}

Prepared prepare_scatter_nd(const Request& request) {
  return scatter_kernel(request, true, request.attrs<tenon_scatter_nd_attrs>().reduction, 0);
}

}  // namespace tenon_vulkan
