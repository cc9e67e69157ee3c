// cumsum, cumprod, cummax and cummin.
//
// One invocation scans a line of up to max_short_line() elements. Sums are computed in runs of
// kScanRun elements: a result is the sum within its run plus the sum of all earlier runs.
//
// A longer line is split into parts of kPart elements, one per workgroup. If a line has several
// parts, the groups first reduce each part. A scan of these partial results yields the prefix of
// each part, that is the joined results of all earlier parts. Then each part is scanned, starting
// from its prefix.
//
// A part is scanned tile by tile. An invocation scans kEach elements. It then joins the partial
// results of earlier invocations of its block, and those of earlier blocks. So the order of
// operations depends on the line's length only. Subgroup scans are not used, because the driver
// chooses their order. Subgroup shuffles would save two of the five barriers of a tile, but tiles
// are memory-bound. Shuffles would also require that subgroups consist of consecutive invocations,
// which no driver guarantees.

#include <optional>
#include <utility>

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/lazy_pipeline.h"
#include "plugins/vulkan/kernels/reduction.h"
#include "plugins/vulkan/kernels/shader.h"

namespace tenon_vulkan {
namespace {

using spirv::Bool;
using spirv::Code;
using spirv::Elements;
using spirv::U32;
using Partial = Reduction::Partial;

// Returns the maximum length of a line that one invocation scans. On software drivers it is large,
// because a barrier takes longer than a hundred steps.
int64_t max_short_line(const Capabilities& capabilities) {
  return capabilities.runs_on_host ? kMaxIterations / 2 : 256;
}
constexpr uint32_t kScanRun = 256;
constexpr uint32_t kEach = 8;
constexpr uint32_t kTile = kEach * kLocalSize;
constexpr uint32_t kBlock = 8;  // Number of invocations in a block, and of blocks in a group.
static_assert(kBlock * kBlock == kLocalSize);
constexpr int64_t kPart = 4 * kTile;

struct Scan {
  bool is_exclusive, is_reverse;
  bool returns_indices;  // The second output is the index of the extreme element.
  bool adds = false;
};

// Selects a variant of the shader.
struct Pass {
  // A group processes a part of a line. If false, an invocation processes a line.
  bool by_groups;
  bool reduces;        // Reduces each part to a partial result. If false, scans.
  bool from_partials;  // The input is partial results, which are scanned exclusively in place.
  bool has_before;     // An operand holds the prefix of each part.
};

// Parameters: number of lines, length of a line, parts per line. If the input is a view, also the
// strides of input and result along a line, and the other axes.
enum : uint32_t { kLines, kLength, kParts, kFromStride, kToStride, kAxes };

// Partial results as operands: values and, for cummax and cummin, their indices.
class PartialMemory {
 public:
  PartialMemory(Code& code, const Reduction& reduction, uint32_t& operand)
      : values_(code, operand++, reduction.identity(code).value.dtype()) {
    if (reduction.is_search()) indices_.emplace(code, operand++, TENON_UINT32);
  }
  Partial load(U32 at) const {
    return {values_.load(at), indices_ ? indices_->load(at).word() : at};
  }
  void store(U32 at, const Partial& partial) const {
    values_.store(at, partial.value);
    if (indices_) indices_->store(at, {TENON_UINT32, partial.index});
  }

 private:
  const Elements values_;
  std::optional<Elements> indices_;
};

class ScanCode {
 public:
  // Operands: the input (a view or partial results), the outputs (none if partial results are
  // scanned in place) and, with `has_before`, the prefixes of the parts.
  ScanCode(Code& code, const Reduction& reduction, const Scan& scan, const Pass& pass,
           tenon_dtype dtype)
      : code_(code), reduction_(reduction), scan_(scan), pass_(pass), dtype_(dtype) {
    uint32_t operand = 0;
    if (pass.from_partials) {
      partials_.emplace(code, reduction, operand);
    } else {
      x_.emplace(code, operand++, dtype);
      axes_.emplace(code, code.u32(kAxes), 2);
    }
    if (pass.reduces) {
      given_.emplace(code, reduction, operand);
    } else if (!pass.from_partials) {
      y_.emplace(code, operand++, dtype);
      if (scan.returns_indices) where_.emplace(code, operand++, TENON_INT64);
    }
    if (pass.has_before) before_.emplace(code, reduction, operand);
  }

  void write() {
    if (!pass_.by_groups) {
      code_.for_each(code_.parameter(kLines), [&](U32 line) { scan_line(place_of(line)); });
    } else if (pass_.reduces) {
      const GroupReduction group(code_, reduction_);
      for_each_part([&](U32 item, const Place& place, U32 begin, U32 end) {
        const PartialVar own(reduction_, code_);
        code_.for_(begin + code_.local_index(), end, code_.u32(kLocalSize),
                   [&](U32 step) { own.set(reduction_.join(own.get(), load(place, step))); });
        const Partial whole = group.reduce_group(own.get());
        code_.if_(code_.local_index() == 0, [&] { given_->store(item, whole); });
      });
    } else {
      tile_.emplace(code_, reduction_, kTile + kLocalSize);
      totals_.emplace(code_, reduction_, kLocalSize);
      blocks_.emplace(code_, reduction_, kBlock);
      for_each_part([&](U32 item, const Place& place, U32 begin, U32 end) {
        const PartialVar total(reduction_, code_);
        if (before_) total.set(before_->load(item));
        code_.for_(begin, end, code_.u32(kTile),
                   [&](U32 first) { total.set(scan_tile(place, first, end, total.get())); });
      });
    }
  }

 private:
  // Offsets of a line's first element in the input (`from`) and in the output (`to`).
  struct Place {
    U32 from, to;
  };

  Place place_of(U32 line) {
    if (pass_.from_partials) {
      const U32 first = line * code_.parameter(kLength);
      return {first, first};
    }
    const std::vector<U32> places = axes_->operand_offsets(line);
    return {places[0], places[1]};
  }

  // Calls body(part, place, begin, end) for each part, with the index of the part among all lines,
  // the offsets of its line, and its range of steps.
  template <class Body>
  void for_each_part(const Body& body) {
    const U32 n_parts = code_.parameter(kParts), length = code_.parameter(kLength);
    code_.for_(code_.group_index(), code_.parameter(kLines) * n_parts, code_.n_groups(),
               [&](U32 item) {
                 const U32 line = item / n_parts, begin = (item - line * n_parts) * kPart;
                 const U32 end = begin + min(code_.u32(kPart), length - begin);
                 body(item, place_of(line), begin, end);
               });
  }

  // Converts a step of the scan to the index of an element in the line, and an index to a step.
  // They differ in reverse scans.
  U32 turned(U32 step) { return scan_.is_reverse ? code_.parameter(kLength) - 1 - step : step; }

  Partial load(const Place& place, U32 step) {
    if (pass_.from_partials) return partials_->load(place.from + step);
    const U32 at = place.from + turned(step) * code_.parameter(kFromStride);
    return reduction_.make_partial(x_->load(at), step);
  }

  void store(const Place& place, U32 step, const Partial& shown) {
    if (pass_.from_partials) return partials_->store(place.to + step, shown);
    const U32 to = place.to + turned(step) * code_.parameter(kToStride);
    y_->store(to, spirv::cast(shown.value, dtype_));
    if (where_) where_->store(to, {TENON_INT64, spirv::zero_extended(turned(shown.index))});
  }

  bool is_exclusive_scan() const { return pass_.from_partials || scan_.is_exclusive; }

  void scan_line(const Place& place) {
    const PartialVar total(reduction_, code_);
    const U32 length = code_.parameter(kLength);
    if (!scan_.adds) {
      return code_.for_many(code_.u32(0), length, [&](U32 step) {
        const Partial before = total.get();
        const Partial after = reduction_.join(before, load(place, step));
        total.set(after);
        store(place, step, is_exclusive_scan() ? before : after);
      });
    }
    code_.for_(code_.u32(0), length, code_.u32(kScanRun), [&](U32 first) {
      const PartialVar run(reduction_, code_);
      code_.for_many(first, min(first + kScanRun, length), [&](U32 step) {
        const Partial before = run.get();
        const Partial after = reduction_.join(before, load(place, step));
        run.set(after);
        store(place, step, reduction_.join(total.get(), is_exclusive_scan() ? before : after));
      });
      total.set(reduction_.join(total.get(), run.get()));
    });
  }

  // Returns the position of an element of the tile in shared memory. A tile is transposed in shared
  // memory, because invocations load neighbouring elements but each scans kEach contiguous
  // elements. A gap after every kEach elements avoids bank conflicts.
  static U32 slot(U32 element) { return element + element / kEach; }

  // Scans the tile that begins at step `first`. `total`: the tile's prefix, that is the joined
  // elements before it. Returns the prefix of the next tile.
  Partial scan_tile(const Place& place, U32 first, U32 end, const Partial& total) {
    const U32 self = code_.local_index(), own_slots = self * (kEach + 1);
    for (uint32_t k = 0; k < kEach; ++k) {
      const U32 element = self + k * kLocalSize, step = first + element;
      const PartialVar x(reduction_, code_);
      code_.if_(step < end, [&] { x.set(load(place, step)); });
      tile_->set(slot(element), x.get());
    }
    code_.barrier();
    std::vector<Partial> own = {tile_->get(own_slots)};
    for (uint32_t k = 1; k < kEach; ++k) {
      own.push_back(reduction_.join(own.back(), tile_->get(own_slots + k)));
    }
    const auto [before, next] = across(total, own.back());
    for (uint32_t k = 0; k < kEach; ++k) {
      const bool is_before = is_exclusive_scan() && k == 0;
      const Partial& met = own[is_exclusive_scan() && k > 0 ? k - 1 : k];
      tile_->set(own_slots + k, is_before ? before : reduction_.join(before, met));
    }
    code_.barrier();
    for (uint32_t k = 0; k < kEach; ++k) {
      const U32 element = self + k * kLocalSize, step = first + element;
      code_.if_(step < end, [&] { store(place, step, tile_->get(slot(element))); });
    }
    code_.barrier();
    return next;
  }

  // Returns the prefix of the invocation's elements (the joined partial results of all elements
  // before them) and the prefix of the next tile. `own`: the partial result of the invocation's
  // elements. `total`: the prefix of this tile.
  std::pair<Partial, Partial> across(const Partial& total, const Partial& own) {
    const U32 self = code_.local_index(), block = self / kBlock, within = self % kBlock;
    totals_->set(self, own);
    code_.barrier();
    const Partial in_block = join_prefix(*totals_, block * kBlock, within);
    code_.if_(within == kBlock - 1, [&] { blocks_->set(block, reduction_.join(in_block, own)); });
    code_.barrier();
    const Partial blocks_before =
        reduction_.join(total, join_prefix(*blocks_, code_.u32(0), block));
    const Partial all = join_prefix(*blocks_, code_.u32(0), code_.u32(kBlock));
    return {reduction_.join(blocks_before, in_block), reduction_.join(total, all)};
  }

  // Joins the first `n` of the kBlock partial results from index `first` on.
  Partial join_prefix(const SharedPartials& partials, U32 first, U32 n) {
    Partial sum = reduction_.identity(code_);
    for (uint32_t i = 0; i < kBlock; ++i) {
      const Partial with = reduction_.join(sum, partials.get(first + i));
      const Bool is_one = n > i;
      sum = {spirv::select(is_one, with.value, sum.value), select(is_one, with.index, sum.index)};
    }
    return sum;
  }

  Code& code_;
  const Reduction& reduction_;
  const Scan scan_;
  const Pass pass_;
  const tenon_dtype dtype_;
  std::optional<Elements> x_, y_, where_;
  std::optional<AxesCode> axes_;
  std::optional<PartialMemory> partials_, given_, before_;
  std::optional<SharedPartials> tile_, totals_, blocks_;
};

// Returns the reduction whose results a scan accumulates.
uint32_t reduction_op_of(uint32_t op) {
  switch (op) {
    case TENON_OP_cumsum:
      return TENON_OP_sum;
    case TENON_OP_cumprod:
      return TENON_OP_prod;
    case TENON_OP_cummax:
      return TENON_OP_argmax;
    default:
      return TENON_OP_argmin;
  }
}

// Returns the number of parts into which a line of this length is split.
int64_t n_parts_of(int64_t length) { return (length + kPart - 1) / kPart; }

class ScanKernel final : public Kernel {
 public:
  ScanKernel(const Request& request, size_t axis, const Scan& scan)
      : device_(request.device()),
        reduction_(reduction_op_of(request.op()), request.input(0).dtype),
        dtype_(request.input(0).dtype),
        axis_(axis),
        scan_(scan) {}

  uint64_t workspace(const tenon_launch& launch) const override {
    const int64_t length = launch.inputs[0].sizes[axis_];
    if (length <= max_short_line(capabilities_of(device_))) return 0;
    int64_t n = 0;
    for (int64_t parts = n_parts_of(length); parts > 1; parts = n_parts_of(parts)) n += parts;
    return kPartialBytes * static_cast<uint64_t>(n * lines_of(launch));
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
    if (tenon_sdk::count(in) == 0) return nullptr;
    Line line = {.n = lines_of(launch), .length = in.sizes[axis_]};
    push(line.more, in.strides[axis_]);
    push(line.more, out.strides[axis_]);
    const int64_t* const strides[] = {in.strides, out.strides};
    Axes(in.rank, in.sizes, ~(uint32_t{1} << axis_), strides).push(line.more);
    std::vector<Operand> results = {operand_of(launch, 1)};
    if (scan_.returns_indices) results.push_back(operand_of(launch, 2));
    if (line.length <= max_short_line(capabilities_of(device_))) {
      return run(encoder, {}, line, {operand_of(launch, 0)}, results, {});
    }
    Operand rest = workspace_of(launch);
    return scan(encoder, false, line, {operand_of(launch, 0)}, results, rest);
  }

 private:
  static constexpr uint64_t kPartialBytes = 12;  // A value of up to 8 bytes and a 4-byte index.
  using Operands = std::vector<Operand>;

  struct Line {
    int64_t n, length;
    Words more;  // Additional parameters if the input is a view.
  };

  int64_t lines_of(const tenon_launch& launch) const {
    const tenon_view& in = launch.inputs[0];
    const int64_t n = tenon_sdk::count(in);
    return n == 0 ? 0 : n / in.sizes[axis_];
  }

  // Allocates partial results at the beginning of the remaining workspace.
  Operands allocate_partials(Operand& rest, int64_t n) const {
    Operand values = rest, indices = rest;
    values.end = values.begin + 8 * static_cast<uint64_t>(n);
    indices.begin = indices.first = values.end;
    indices.end = indices.begin + 4 * static_cast<uint64_t>(n);
    rest.begin = rest.first = indices.end;
    return reduction_.is_search() ? Operands{values, indices} : Operands{values};
  }

  static Operands read_only(Operands operands) {
    for (Operand& operand : operands) operand.is_written = false;
    return operands;
  }

  // Scans lines of one or several parts. Calls itself to scan the partial results.
  tenon_error* scan(Encoder& encoder, bool from_partials, const Line& line, const Operands& from,
                    const Operands& to, Operand& rest) const {
    const int64_t n_parts = n_parts_of(line.length);
    Pass pass = {.by_groups = true,
                 .reduces = false,
                 .from_partials = from_partials,
                 .has_before = n_parts > 1};
    if (n_parts == 1) return run(encoder, pass, line, from, to, {});
    const Operands partials = allocate_partials(rest, line.n * n_parts);
    Pass down = pass;
    down.reduces = true;
    down.has_before = false;
    tenon_error* error = run(encoder, down, line, read_only(from), partials, {});
    if (error == nullptr) {
      error = scan(encoder, true, {.n = line.n, .length = n_parts, .more = {}}, partials, {}, rest);
    }
    if (error != nullptr) return error;
    return run(encoder, pass, line, from, to, read_only(partials));
  }

  tenon_error* run(Encoder& encoder, const Pass& pass, const Line& line, Operands operands,
                   const Operands& to, const Operands& before) const {
    operands.insert(operands.end(), to.begin(), to.end());
    operands.insert(operands.end(), before.begin(), before.end());
    const auto n_operands = static_cast<uint32_t>(operands.size());
    const LazyPipeline& lazy = pipelines_[8 * pass.by_groups + 4 * pass.reduces +
                                          2 * pass.from_partials + pass.has_before];
    const Pipeline* pipeline = nullptr;
    tenon_error* error = lazy.get(device_, n_operands, &pipeline, [&] {
      Code code(capabilities_of(device_), {.n_operands = n_operands, .local_size = kLocalSize});
      ScanCode(code, reduction_, scan_, pass, dtype_).write();
      return code.finish();
    });
    if (error != nullptr) return error;
    const int64_t n_parts = n_parts_of(line.length);
    Words words;
    for (const int64_t word : {line.n, line.length, n_parts}) push(words, word);
    words.insert(words.end(), line.more.begin(), line.more.end());
    const auto n_lines = static_cast<uint64_t>(line.n), n_items = static_cast<uint64_t>(n_parts);
    const auto groups =
        pass.by_groups ? groups_up_to_limit(n_lines * n_items) : groups_for(n_lines);
    return encoder.dispatch({pipeline, operands, words, groups});
  }

  tenon_device_p* const device_;
  const Reduction reduction_;
  const tenon_dtype dtype_;
  const size_t axis_;
  const Scan scan_;
  LazyPipeline pipelines_[16];
};

Prepared scan_kernel(const Request& request, int64_t given_axis, const Scan& scan) {
  const tenon_operand& x = request.input(0);
  if (x.dtype == TENON_FLOAT64 && !capabilities_of(request.device()).float64) {
    return tenon_sdk::refuse("has no float64");
  }
  // Operands: input, result and prefixes. For cummax and cummin also the indices of results and of
  // prefixes.
  const size_t n_operands = scan.returns_indices ? 5 : 3;
  if (const tenon_string reason = refusal_of_operands(request.device(), n_operands);
      reason.size > 0) {
    return {.reason = reason};
  }
  const size_t axis = tenon_sdk::from_front(given_axis, x.rank);
  return {
      .kernel = std::make_unique<ScanKernel>(request, axis, scan),
      .traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC | TENON_KERNEL_WORKSPACE};
}

}  // namespace

// Prepares cumsum and cumprod. Their attribute structs have the same layout.
Prepared prepare_scan(const Request& request) {
  const auto attrs = request.attrs<tenon_cumsum_attrs>();
  return scan_kernel(request, attrs.axis,
                     {.is_exclusive = attrs.exclusive != 0,
                      .is_reverse = attrs.reverse != 0,
                      .returns_indices = false,
                      .adds = request.op() == TENON_OP_cumsum});
}

Prepared prepare_extreme_scan(const Request& request) {
  const auto attrs = request.attrs<tenon_cummax_attrs>();
  return scan_kernel(
      request, attrs.axis,
      {.is_exclusive = false, .is_reverse = attrs.reverse != 0, .returns_indices = true});
}

}  // namespace tenon_vulkan
