// Fused loops over rows. A tile is a few rows, for which all elementwise spans and reductions run,
// so that values between stages stay in the L1 cache. A long row is a tile of its own. The spans
// and reductions of a stage run for one part of it after the other, so that its values stay in the
// cache.
//
// A value per row is an array with one element for each row of the tile. If an elementwise
// instruction per element reads the value, it is first repeated along the rows. So a span processes
// all rows of a tile at once, even if rows are short.
//
// If the rows extend along the last axes, their elements are contiguous. Other rows, such as all
// elements of one channel of a batch of images, consist of several runs of elements. The runs of a
// tile are copied to registers first, and the outputs are copied from registers at the end.

#include <array>
#include <bit>
#include <optional>

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/channel_gradient.h"
#include "plugins/simd/kernels/loop_steps.h"
#include "plugins/simd/kernels/multiply.h"
#include "plugins/simd/kernels/reduce.h"

namespace tenon_simd {
namespace {

// Maximum number of values, including the copies that are repeated along rows.
constexpr size_t kMaxStoredValues = 2 * kMaxLoopValues;
// Maximum total size in bytes of all registers for values per element. They share the L1 cache with
// inputs and outputs.
constexpr int64_t kMemory = 24 * 1024;
constexpr int64_t kMaxTile = 1024;  // Maximum number of elements of a tile with several rows.

// Location of a value.
struct ValueLocation {
  enum class Kind : uint8_t { kDense, kUniform, kPacked, kRegister, kOutput };
  Kind kind = Kind::kRegister;
  bool per_row = false;
  tenon_dtype dtype = TENON_DTYPE_NONE;
  uint32_t number = 0;  // Index of the input, output or register.
  int64_t start = 0;    // Offset of the register in bytes per element.

  bool has_register() const { return kind == Kind::kPacked || kind == Kind::kRegister; }
  bool moves() const { return kind == Kind::kDense || kind == Kind::kOutput; }
};

struct Step {
  enum class Kind : uint8_t { kElements, kRows, kReduce, kRepeat };
  Kind kind;
  SpanStep span = {};         // For kElements and kRows.
  uint32_t from = 0, to = 0;  // Operand and result of a reduction or repetition.
  uint32_t kernel = 0;        // Index of the reduction.
  // For kRepeat: whether a reduction reads the copy. Otherwise a tile of one row needs no copy.
  bool is_reduced = false;
  // For kElements: the inputs and strides in a tile of one row, in which values per row are read
  // directly.
  uint32_t one_row_inputs[kMaxSpanInputs] = {};
  size_t one_row_strides[kMaxSpanInputs] = {};

  bool is_in_stage() const { return kind == Kind::kElements || kind == Kind::kReduce; }
  bool is_span() const { return kind == Kind::kElements || kind == Kind::kRows; }
  std::vector<uint32_t> reads() const {
    if (!is_span()) return {from};
    std::vector<uint32_t> values(span.inputs, span.inputs + span.n_inputs);
    if (kind == Kind::kElements) {
      values.insert(values.end(), one_row_inputs, one_row_inputs + span.n_inputs);
    }
    return values;
  }
  uint32_t gives() const { return is_span() ? span.value : to; }
};

// The registers that hold values of one kind: values per element, or values per row.
struct Side {
  Registers registers;
  WideRegisters wide;
  int64_t bytes = 0;  // Total bytes of all registers per element.
  int64_t wide_starts[kMaxSpanInputs + 1] = {};

  void lay_out() {
    bytes = static_cast<int64_t>(registers.bytes_per_element());
    for (size_t k = 0; k <= kMaxSpanInputs; ++k) {
      if (wide.is_there[k])
        wide_starts[k] = static_cast<int64_t>(registers.start_of(wide.number[k]));
    }
  }
};

// Addresses of the float32 buffers for operands of half types.
struct Wide {
  std::byte* at[kMaxSpanInputs + 1];
};

class RowLoop final : public tenon_sdk::Kernel {
 public:
  explicit RowLoop(const tenon_sdk::LoopRequest& request)
      : pool_(pool_of(request.device())), row_axes_(request.row_axes()) {}

  // Adds the instructions of the request. Returns false, with the refusal, if an instruction cannot
  // be part of a loop.
  bool build(const tenon_sdk::LoopRequest& request, Prepared& refusal);
  // Whether all outputs (if `all`) or only output 0 may alias inputs. This requires that no input
  // is read after the output is written.
  bool may_alias(bool all) const;

  tenon_error* launch(tenon_stream_p*, const tenon_launch& launch) const override {
    const tenon_view& elements = launch.inputs[0];
    int64_t n_rows = 1, n = 1;
    for (size_t axis = 0; axis < elements.rank; ++axis) {
      ((row_axes_ >> axis & 1) != 0 ? n : n_rows) *= elements.sizes[axis];
    }
    pool_.parallel_tasks(n_rows, std::max<int64_t>(1, grain_ / std::max<int64_t>(1, n)),
                         [&](int64_t begin, int64_t end) { run(launch, n, begin, end); });
    return nullptr;
  }

 private:
  // Appends an entry to places_ for each value, and determines where the inputs are in memory.
  void add_inputs(const tenon_sdk::LoopRequest& request);
  // Adds a step for instruction `i`, a reduction. Returns false, with the refusal, if that fails.
  bool add_reduction(const tenon_sdk::LoopRequest& request, size_t i, Prepared& refusal);
  // Adds a step for instruction `i`, which is elementwise. Returns false, with the refusal, if that
  // fails.
  bool add_span(const tenon_sdk::LoopRequest& request, size_t i, Prepared& refusal);
  uint32_t repeat_along_row(uint32_t value);
  // Determines how steps read values per row in a tile of one row.
  void read_single_rows();
  // Returns the axes of a view: first those that number the rows, then those of a row.
  LoopAxes axes_by_row(const tenon_view& view) const;
  // Determines the location of each value, and reuses registers of values that are no longer read.
  void assign_locations();
  Side& side_of(const ValueLocation& place) { return sides_[place.per_row ? 1 : 0]; }
  void run(const tenon_launch& launch, int64_t n, int64_t begin, int64_t end) const;
  // Runs steps [begin, end), which are elementwise instructions per element and reductions, for all
  // elements. No instruction reads the result of one of these reductions.
  void run_stage(size_t begin, size_t end, std::byte* const* at, const Wide* wide, int64_t n_rows,
                 int64_t n) const;
  // Runs such steps for a long row, one block after the other. Returns false if a reduction does
  // not support that.
  bool run_blocks(size_t begin, size_t end, std::byte* const* at, const Wide& wide,
                  int64_t n) const;
  // Runs a step that is no elementwise instruction per element.
  void run_step(const Step& step, std::byte* const* at, const Wide* wide, int64_t n_rows,
                int64_t n) const;

  const Pool& pool_;
  uint32_t row_axes_;
  bool has_runs_ = false;  // Whether a row consists of several runs of elements.
  int64_t grain_ = 0;
  std::vector<Step> steps_;
  std::vector<std::unique_ptr<const RowKernel>> reductions_;
  std::vector<ValueLocation> places_;  // Location of each value and of each repeated copy.
  std::vector<uint32_t> repeated_;     // Index of the repeated copy of each value; 0: none.
  std::vector<uint32_t> packed_;
  // Index of each output that is copied from a register, and of its value.
  std::vector<std::pair<uint32_t, uint32_t>> unpacked_;
  Side sides_[2];  // Index 0: values per element. Index 1: values per row.
};

bool RowLoop::build(const tenon_sdk::LoopRequest& request, Prepared& refusal) {
  const uint32_t all = (uint32_t{1} << request.rank()) - 1;
  const int first = std::countr_zero(row_axes_);
  has_runs_ = row_axes_ != (all >> first << first);
  if (row_axes_ <= all / 2) {
    refusal = refuse("supports fused loops only over rows along the last axis");
    return false;
  }
  add_inputs(request);
  int64_t work = 0;
  for (size_t i = 0; i < request.n_instructions(); ++i) {
    const bool is_reduction = request.reduces(i);
    if (!(is_reduction ? add_reduction(request, i, refusal) : add_span(request, i, refusal))) {
      return false;
    }
    work += !is_reduction && steps_.back().span.cost == Cost::kHeavy ? 8 : 1;
  }
  if (places_.size() > kMaxStoredValues) {
    refusal = refuse("supports loops of at most 96 values");
    return false;
  }
  // Moves repetitions before the instructions per element that precede them, so that these
  // instructions are adjacent.
  for (size_t i = 1; i < steps_.size(); ++i) {
    for (size_t k = i; steps_[k].kind == Step::Kind::kRepeat && k > 0 &&
                       steps_[k - 1].kind == Step::Kind::kElements;
         --k) {
      std::swap(steps_[k], steps_[k - 1]);
    }
  }
  read_single_rows();
  grain_ = std::max<int64_t>(2048, 128 * 1024 / work);
  for (uint32_t i = 0; i < request.n_outputs(); ++i) {
    ValueLocation& output = places_[request.output(i)];
    if (has_runs_ && !output.per_row) {
      unpacked_.emplace_back(i, request.output(i));
      continue;
    }
    output.kind = ValueLocation::Kind::kOutput;
    output.number = i;
  }
  assign_locations();
  return true;
}

void RowLoop::add_inputs(const tenon_sdk::LoopRequest& request) {
  for (uint32_t v = 0; v < request.n_values(); ++v) {
    ValueLocation& place = places_.emplace_back();
    place.dtype = request.dtype(v);
    place.per_row = request.is_per_row(v);
    if (v >= request.n_inputs()) continue;
    const tenon_stride_class strides = request.input(v).strides;
    place.kind = strides == TENON_STRIDES_UNIFORM ? ValueLocation::Kind::kUniform
                 : strides == TENON_STRIDES_DENSE ? ValueLocation::Kind::kDense
                                                  : ValueLocation::Kind::kPacked;
    place.number = v;
    if (has_runs_ && !place.per_row && place.kind == ValueLocation::Kind::kDense) {
      place.kind = ValueLocation::Kind::kPacked;
    }
  }
  // Reductions read elements from memory, so their uniform inputs are packed.
  for (size_t i = 0; i < request.n_instructions(); ++i) {
    ValueLocation& input = places_[request.instruction(i).inputs[0]];
    if (request.reduces(i) && input.kind == ValueLocation::Kind::kUniform) {
      input.kind = ValueLocation::Kind::kPacked;
    }
  }
  repeated_.assign(request.n_values(), 0);
}

bool RowLoop::add_reduction(const tenon_sdk::LoopRequest& request, size_t i, Prepared& refusal) {
  Prepared made = request.prepare_instruction(i, true);
  if (made.kernel && tenon_sdk::kernel_cast<RowKernel>(made.kernel.get()) == nullptr) {
    made = refuse("has no row-wise kernel for this reduction");
  }
  if (!made.kernel) {
    refusal = std::move(made);
    return false;
  }
  const uint32_t from = repeat_along_row(request.instruction(i).inputs[0]);
  steps_.push_back({.kind = Step::Kind::kReduce,
                    .from = from,
                    .to = static_cast<uint32_t>(request.n_inputs() + i),
                    .kernel = static_cast<uint32_t>(reductions_.size())});
  // A smart pointer owns the kernel even if the vector cannot grow.
  std::unique_ptr<const RowKernel> kernel(static_cast<const RowKernel*>(made.kernel.release()));
  reductions_.push_back(std::move(kernel));
  return true;
}

bool RowLoop::add_span(const tenon_sdk::LoopRequest& request, size_t i, Prepared& refusal) {
  SpanStep span;
  if (!span.build(request, i, refusal)) return false;
  const bool is_on_rows = request.is_on_rows(i);
  for (size_t k = 0; k < span.n_inputs; ++k) {
    if (!is_on_rows) span.inputs[k] = repeat_along_row(span.inputs[k]);
    span.strides[k] = places_[span.inputs[k]].kind == ValueLocation::Kind::kUniform ? 0 : 1;
  }
  steps_.push_back({.kind = is_on_rows ? Step::Kind::kRows : Step::Kind::kElements, .span = span});
  return true;
}

// Returns the index of the value or, for a value per row, of its copy that is repeated along the
// rows. Adds a step that makes the copy if necessary.
uint32_t RowLoop::repeat_along_row(uint32_t value) {
  const ValueLocation& place = places_[value];
  if (!place.per_row || place.kind == ValueLocation::Kind::kUniform) return value;
  if (repeated_[value] == 0) {
    repeated_[value] = static_cast<uint32_t>(places_.size());
    steps_.push_back({.kind = Step::Kind::kRepeat, .from = value, .to = repeated_[value]});
    places_.push_back({.dtype = place.dtype});
  }
  return repeated_[value];
}

void RowLoop::read_single_rows() {
  std::vector<bool> is_reduced(places_.size());
  std::vector<std::optional<uint32_t>> source(places_.size());  // Of each copy.
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::kReduce) is_reduced[step.from] = true;
  }
  for (Step& step : steps_) {
    if (step.kind == Step::Kind::kRepeat) {
      step.is_reduced = is_reduced[step.to];
      if (!step.is_reduced) source[step.to] = step.from;
    }
    for (size_t k = 0; step.kind == Step::Kind::kElements && k < step.span.n_inputs; ++k) {
      const uint32_t v = step.span.inputs[k];
      step.one_row_inputs[k] = source[v].value_or(v);
      step.one_row_strides[k] = source[v] ? 0 : step.span.strides[k];
    }
  }
}

void RowLoop::assign_locations() {
  std::vector<size_t> last(places_.size(), 0);
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (const uint32_t v : steps_[i].reads()) last[v] = i;
  }
  for (const auto& [output, v] : unpacked_) last[v] = steps_.size();
  for (uint32_t v = 0; v < places_.size(); ++v) {
    ValueLocation& place = places_[v];
    if (place.kind != ValueLocation::Kind::kPacked) continue;
    packed_.push_back(v);
    place.number = side_of(place).registers.allocate(place.dtype);
  }
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::kElements) sides_[0].wide.add(step.span, sides_[0].registers);
    if (step.kind == Step::Kind::kRows) sides_[1].wide.add(step.span, sides_[1].registers);
    if (step.kind == Step::Kind::kReduce && reductions_[step.kernel]->widens()) {
      sides_[0].wide.add(size_t{0}, sides_[0].registers);
    }
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (const uint32_t v : steps_[i].reads()) {
      const ValueLocation& input = places_[v];
      if (last[v] == i && input.has_register()) side_of(input).registers.give_back(input.number);
    }
    ValueLocation& result = places_[steps_[i].gives()];
    if (result.kind != ValueLocation::Kind::kRegister) continue;
    result.number = side_of(result).registers.allocate(result.dtype);
    if (last[steps_[i].gives()] <= i) side_of(result).registers.give_back(result.number);
  }
  for (ValueLocation& place : places_) {
    if (!place.has_register()) continue;
    place.start = static_cast<int64_t>(side_of(place).registers.start_of(place.number));
  }
  for (Side& side : sides_) side.lay_out();
}

bool RowLoop::may_alias(bool all) const {
  bool is_written = false;
  for (const Step& step : steps_) {
    for (const uint32_t v : step.reads()) {
      if (is_written && places_[v].kind == ValueLocation::Kind::kDense) return false;
    }
    const ValueLocation& result = places_[step.gives()];
    is_written =
        is_written || (result.kind == ValueLocation::Kind::kOutput && (all || result.number == 0));
  }
  return true;
}

LoopAxes RowLoop::axes_by_row(const tenon_view& view) const {
  LoopAxes axes;
  for (const bool of_row : {false, true}) {
    for (size_t axis = 0; axis < view.rank; ++axis) {
      if (((row_axes_ >> axis & 1) != 0) == of_row) {
        axes.push(view.sizes[axis], stride_of(view, axis));
      }
    }
  }
  return axes;
}

// Processes rows [begin, end) of `n` elements each.
void RowLoop::run(const tenon_launch& launch, int64_t n, int64_t begin, int64_t end) const {
  const int64_t longest = std::min(kMaxTile, kMemory / std::max<int64_t>(1, sides_[0].bytes));
  const int64_t tile = std::clamp<int64_t>(longest / std::max<int64_t>(1, n), 1, end - begin);
  const auto rounded = [](int64_t length) { return (length + 63) / 64 * 64; };
  const int64_t lengths[] = {rounded(tile * n), rounded(tile)};
  std::byte* const memory =
      scratch_of<std::byte>(kScratchC, lengths[0] * sides_[0].bytes + lengths[1] * sides_[1].bytes);
  std::byte* const starts[] = {memory, memory + lengths[0] * sides_[0].bytes};

  Wide wide[2];
  for (size_t side = 0; side < 2; ++side) {
    for (size_t k = 0; k <= kMaxSpanInputs; ++k) {
      wide[side].at[k] = starts[side] + sides_[side].wide_starts[k] * lengths[side];
    }
  }
  std::byte* at[kMaxStoredValues];
  int64_t moves[kMaxStoredValues];  // For each value, the bytes between its rows.
  for (size_t v = 0; v < places_.size(); ++v) {
    const ValueLocation& place = places_[v];
    const size_t side = place.per_row ? 1 : 0;
    moves[v] = 0;
    if (place.has_register()) {
      at[v] = starts[side] + place.start * lengths[side];
      continue;
    }
    const bool is_output = place.kind == ValueLocation::Kind::kOutput;
    at[v] = data<std::byte>(is_output ? launch.outputs[place.number] : launch.inputs[place.number]);
    if (place.kind == ValueLocation::Kind::kUniform) continue;
    moves[v] = static_cast<int64_t>(size_of(place.dtype)) * (place.per_row ? 1 : n);
    at[v] += begin * moves[v];
  }
  std::vector<PackedInput> inputs;
  for (const uint32_t v : packed_) {
    inputs.emplace_back(launch.inputs[v], axes_by_row(launch.inputs[v]));
  }

  while (begin < end) {
    const int64_t n_rows = std::min(tile, end - begin);
    for (size_t i = 0; i < packed_.size(); ++i) {
      const ValueLocation& place = places_[packed_[i]];
      const int64_t length = place.per_row ? 1 : n;
      std::byte* const tile =
          starts[place.per_row ? 1 : 0] + place.start * lengths[place.per_row ? 1 : 0];
      at[packed_[i]] = inputs[i].pack(begin * length, (begin + n_rows) * length, tile);
    }
    for (size_t i = 0; i < steps_.size();) {
      size_t next = i;
      while (next < steps_.size() && steps_[next].is_in_stage()) ++next;
      run_stage(i, next, at, wide, n_rows, n);
      if (next < steps_.size()) run_step(steps_[next], at, wide, n_rows, n);
      i = next + 1;
    }
    for (const auto& pair : unpacked_) {
      const uint32_t output = pair.first, v = pair.second;  // A lambda cannot capture bindings.
      dispatch_bits(places_[v].dtype, [&]<class T>(Type<T>) {
        unpack(reinterpret_cast<const T*>(at[v]), axes_by_row(launch.outputs[output]), begin * n,
               (begin + n_rows) * n, data<T>(launch.outputs[output]));
        return 0;
      });
    }
    for (size_t v = 0; v < places_.size(); ++v) at[v] += n_rows * moves[v];
    begin += n_rows;
  }
}

bool RowLoop::run_blocks(size_t begin, size_t end, std::byte* const* at, const Wide& wide,
                         int64_t n) const {
  std::vector<std::unique_ptr<RowReduction>> rows(end - begin);
  for (size_t i = begin; i < end; ++i) {
    if (steps_[i].kind != Step::Kind::kReduce) continue;
    rows[i - begin] = reductions_[steps_[i].kernel]->begin_row();
    if (rows[i - begin] == nullptr) return false;
  }
  for (int64_t first = 0; first < n; first += kReduceBlock) {
    const int64_t size = std::min(kReduceBlock, n - first);
    for (size_t i = begin; i < end; ++i) {
      const Step& step = steps_[i];
      if (rows[i - begin] == nullptr) {
        step.span.run(at, wide.at, static_cast<size_t>(first), static_cast<size_t>(size),
                      step.one_row_inputs, step.one_row_strides);
      } else {
        const auto element = static_cast<int64_t>(size_of(places_[step.from].dtype));
        rows[i - begin]->add(at[step.from] + first * element, size,
                             reinterpret_cast<float*>(wide.at[0]));
      }
    }
  }
  for (size_t i = begin; i < end; ++i) {
    if (rows[i - begin] != nullptr) rows[i - begin]->finish(n, at[steps_[i].to]);
  }
  return true;
}

void RowLoop::run_stage(size_t begin, size_t end, std::byte* const* at, const Wide* wide,
                        int64_t n_rows, int64_t n) const {
  if (n_rows == 1 && n > kReduceBlock && run_blocks(begin, end, at, wide[0], n)) return;
  for (size_t i = begin; i < end; ++i) {
    const Step& step = steps_[i];
    if (step.kind == Step::Kind::kReduce) {
      run_step(step, at, wide, n_rows, n);
    } else if (n != 0) {
      step.span.run(at, wide[0].at, 0, static_cast<size_t>(n_rows * n),
                    n_rows == 1 ? step.one_row_inputs : step.span.inputs,
                    n_rows == 1 ? step.one_row_strides : step.span.strides);
    }
  }
}

void RowLoop::run_step(const Step& step, std::byte* const* at, const Wide* wide, int64_t n_rows,
                       int64_t n) const {
  switch (step.kind) {
    case Step::Kind::kElements:
      break;
    case Step::Kind::kRows:
      step.span.run(at, wide[1].at, static_cast<size_t>(n_rows));
      break;
    case Step::Kind::kReduce:
      reductions_[step.kernel]->reduce(at[step.from], n_rows, n, at[step.to],
                                       reinterpret_cast<float*>(wide[0].at[0]));
      break;
    case Step::Kind::kRepeat:
      if (n_rows == 1 && !step.is_reduced) break;
      dispatch_bits(places_[step.to].dtype, [&]<class T>(Type<T>) {
        const T* const x = reinterpret_cast<const T*>(at[step.from]);
        T* to = reinterpret_cast<T*>(at[step.to]);
        for (int64_t row = 0; row < n_rows; ++row, to += n) repeat(x[row], n, to);
        return 0;
      });
      break;
  }
}

}  // namespace

Prepared prepare_row_loop(const tenon_sdk::LoopRequest& request) {
  Prepared general = prepare_as<RowLoop>(request);
#ifdef __EMSCRIPTEN__
  return general;  // Web pages download the kernels, and few of them train networks.
#else
  return prepare_channel_gradient(request, std::move(general));
#endif
}

}  // namespace tenon_simd
