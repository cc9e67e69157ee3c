// Fused elementwise loops. For each tile, runs the spans of all ops, so that intermediate values
// stay in the L1 cache. row_loop.cc implements loops over rows.
//
// Contiguous inputs are read in place, and strided inputs are packed into the tile's memory. If
// such an input repeats each element many times, tiles end where its element changes, so that it is
// uniform in each tile. Outputs are written directly. Other values use registers. A register is an
// array of the tile's length, which is reused after the last use of its value.

#include <array>

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/loop_steps.h"

namespace tenon_simd {
namespace {

// Maximum total size of all registers in bytes. They share the L1 cache with inputs and outputs.
constexpr size_t kMemory = 24 * 1024;
// Minimum and maximum length of a tile. Longer tiles are less than 4 % faster for data in the
// cache, and 10 % slower for data in memory.
constexpr int64_t kMinTile = 64, kMaxTile = 512;

// Location of a value's elements.
struct ValueLocation {
  enum class Kind : uint8_t { kDense, kUniform, kPacked, kRegister, kOutput };
  Kind kind = Kind::kRegister;
  tenon_dtype dtype = TENON_DTYPE_NONE;
  uint32_t size = 0;    // Size of an element in bytes.
  uint32_t number = 0;  // Index of the input, output or register.
  uint32_t start = 0;   // Offset of the register in the tile's memory.
};

class Loop final : public tenon_sdk::Kernel {
 public:
  explicit Loop(const tenon_sdk::LoopRequest& request) : pool_(pool_of(request.device())) {}

  // Adds the instructions of the request. Returns false, with the refusal, if an instruction cannot
  // be part of a loop.
  bool build(const tenon_sdk::LoopRequest& request, Prepared& refusal);
  // Whether all outputs (if `all`) or only output 0 may alias inputs. This requires that no input
  // is read after the output is written.
  bool may_alias(bool all) const;

  tenon_error* launch(tenon_stream_p*, const tenon_launch& launch) const override {
    const int64_t n = count(launch.outputs[0]);
    pool_.parallel_ranges(n, grain_, [&](int64_t begin, int64_t end) {
      packed_.empty() ? run<false>(launch, begin, end) : run<true>(launch, begin, end);
    });
    return nullptr;
  }

 private:
  // Merges each `maximum` with the `minimum` of its result, which clips to two bounds. One step
  // takes half the time of two.
  void merge_bounds(const tenon_sdk::LoopRequest& request);
  // Determines the location of each value, and reuses registers of values that are no longer read.
  void assign_locations(const tenon_sdk::LoopRequest& request);
  // Chooses the tile's length, and computes the offsets of the registers in its memory.
  void assign_offsets(const Registers& registers);
  // Computes elements [begin, end) tile by tile.
  template <bool kPacks>
  void run(const tenon_launch& launch, int64_t begin, int64_t end) const;
  // Adapts a copy of the steps to values that are uniform in each tile, and marks the results that
  // are uniform, too.
  void use_uniform(std::vector<SpanStep>& steps, std::vector<bool>& is_uniform) const;

  const Pool& pool_;
  int64_t grain_ = 0;
  int64_t tile_ = kMaxTile;
  std::vector<SpanStep> steps_;
  std::vector<ValueLocation> places_;  // One for each value.
  // moving_: values whose addresses change from tile to tile. packed_: strided inputs.
  std::vector<uint32_t> moving_, packed_;
  WideRegisters wide_;
  uint32_t wide_starts_[kMaxSpanInputs + 1] = {};
};

bool Loop::build(const tenon_sdk::LoopRequest& request, Prepared& refusal) {
  int64_t work = 0;
  for (size_t i = 0; i < request.n_instructions(); ++i) {
    SpanStep& step = steps_.emplace_back();
    if (!step.build(request, i, refusal)) return false;
    for (size_t k = 0; k < step.n_inputs; ++k) {
      const uint32_t value = step.inputs[k];
      const bool is_uniform =
          value < request.n_inputs() && request.input(value).strides == TENON_STRIDES_UNIFORM;
      step.strides[k] = is_uniform ? 0 : 1;
    }
    work += step.cost == Cost::kHeavy ? 8 : 1;
  }
  grain_ = std::max<int64_t>(2048, 128 * 1024 / work);
  merge_bounds(request);
  assign_locations(request);
  if (tile_ >= kMinTile) return true;
  refusal = refuse("supports loops with at most 384 bytes of live values per element");
  return false;
}

void Loop::merge_bounds(const tenon_sdk::LoopRequest& request) {
  const auto op_of = [&](const SpanStep& step) {
    return request.instruction(step.value - request.n_inputs()).line->op;
  };
  const auto uses = [&](uint32_t value) {
    ptrdiff_t n = 0;
    for (size_t i = 0; i < request.n_outputs(); ++i) n += request.output(i) == value;
    for (const SpanStep& step : steps_) {
      n += std::count(step.inputs, step.inputs + step.n_inputs, value);
    }
    return n;
  };
  for (size_t i = 1; i < steps_.size(); ++i) {
    const SpanStep lower = steps_[i - 1];
    SpanStep& upper = steps_[i];
    const Span span = maximum_minimum_span(request.dtype(upper.value));
    if (span == nullptr || op_of(lower) != TENON_OP_maximum || op_of(upper) != TENON_OP_minimum ||
        upper.inputs[0] != lower.value || uses(lower.value) != 1) {
      continue;
    }
    upper.span = span;
    upper.n_inputs = 3;
    upper.inputs[2] = upper.inputs[1];
    upper.strides[2] = upper.strides[1];
    upper.sizes[2] = upper.sizes[1];
    for (size_t k = 0; k < 2; ++k) {
      upper.inputs[k] = lower.inputs[k];
      upper.strides[k] = lower.strides[k];
      upper.sizes[k] = lower.sizes[k];
    }
    steps_.erase(steps_.begin() + static_cast<ptrdiff_t>(i) - 1);
  }
}

void Loop::assign_locations(const tenon_sdk::LoopRequest& request) {
  const auto add = [&](ValueLocation::Kind kind, tenon_dtype dtype, uint32_t number) {
    places_.push_back({kind, dtype, static_cast<uint32_t>(size_of(dtype)), number, 0});
  };
  for (uint32_t i = 0; i < request.n_inputs(); ++i) {
    const tenon_operand& input = request.input(i);
    const ValueLocation::Kind kind =
        input.strides == TENON_STRIDES_UNIFORM ? ValueLocation::Kind::kUniform
        : input.strides == TENON_STRIDES_DENSE ? ValueLocation::Kind::kDense
                                               : ValueLocation::Kind::kPacked;
    add(kind, input.dtype, i);
  }
  for (size_t v = request.n_inputs(); v < request.n_values(); ++v) {
    add(ValueLocation::Kind::kRegister, request.dtype(v), 0);
  }
  std::vector<size_t> last(request.n_values(), 0);
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (size_t k = 0; k < steps_[i].n_inputs; ++k) last[steps_[i].inputs[k]] = i;
  }
  for (size_t i = 0; i < request.n_outputs(); ++i) {
    ValueLocation& output = places_[request.output(i)];
    output.kind = ValueLocation::Kind::kOutput;
    output.number = static_cast<uint32_t>(i);
  }
  Registers registers;
  for (uint32_t v = 0; v < request.n_inputs(); ++v) {
    if (places_[v].kind != ValueLocation::Kind::kPacked) continue;
    packed_.push_back(v);
    places_[v].number = registers.allocate(places_[v].dtype);
  }
  for (const SpanStep& step : steps_) wide_.add(step, registers);
  for (size_t i = 0; i < steps_.size(); ++i) {
    const SpanStep& step = steps_[i];
    for (size_t k = 0; k < step.n_inputs; ++k) {
      const uint32_t v = step.inputs[k];
      const bool is_first = std::find(step.inputs, step.inputs + k, v) == step.inputs + k;
      if (is_first && last[v] == i && places_[v].kind == ValueLocation::Kind::kRegister) {
        registers.give_back(places_[v].number);
      }
    }
    ValueLocation& result = places_[step.value];
    if (result.kind != ValueLocation::Kind::kRegister) continue;
    result.number = registers.allocate(result.dtype);
    if (last[step.value] <= i) registers.give_back(result.number);  // The value is never read.
  }
  for (uint32_t v = 0; v < places_.size(); ++v) {
    if (places_[v].kind == ValueLocation::Kind::kDense ||
        places_[v].kind == ValueLocation::Kind::kOutput) {
      moving_.push_back(v);
    }
  }
  assign_offsets(registers);
}

void Loop::assign_offsets(const Registers& registers) {
  const size_t bytes = std::max<size_t>(1, registers.bytes_per_element());
  tile_ = std::min(kMaxTile, static_cast<int64_t>(kMemory / bytes) / kMinTile * kMinTile);
  const auto start = [&](uint32_t number) {
    return static_cast<uint32_t>(registers.start_of(number)) * static_cast<uint32_t>(tile_);
  };
  for (ValueLocation& place : places_) {
    const bool is_register =
        place.kind == ValueLocation::Kind::kPacked || place.kind == ValueLocation::Kind::kRegister;
    if (is_register) place.start = start(place.number);
  }
  for (size_t k = 0; k <= kMaxSpanInputs; ++k) {
    if (wide_.is_there[k]) wide_starts_[k] = start(wide_.number[k]);
  }
}

bool Loop::may_alias(bool all) const {
  bool is_written = false;
  for (const SpanStep& step : steps_) {
    for (size_t k = 0; k < step.n_inputs; ++k) {
      if (is_written && places_[step.inputs[k]].kind == ValueLocation::Kind::kDense) return false;
    }
    const ValueLocation& result = places_[step.value];
    is_written =
        is_written || (result.kind == ValueLocation::Kind::kOutput && (all || result.number == 0));
  }
  return true;
}

void Loop::use_uniform(std::vector<SpanStep>& steps, std::vector<bool>& is_uniform) const {
  for (SpanStep& step : steps) {
    bool all = true;
    for (size_t k = 0; k < step.n_inputs; ++k) {
      if (is_uniform[step.inputs[k]]) step.strides[k] = 0;
      all = all && step.strides[k] == 0;
    }
    is_uniform[step.value] = all && places_[step.value].kind == ValueLocation::Kind::kRegister;
  }
}

template <bool kPacks>
void Loop::run(const tenon_launch& launch, int64_t begin, int64_t end) const {
  alignas(64) std::byte memory[kMemory];
  std::byte* at[kMaxLoopValues];
  for (size_t v = 0; v < places_.size(); ++v) {
    const ValueLocation& place = places_[v];
    switch (place.kind) {
      case ValueLocation::Kind::kDense:
        at[v] = data<std::byte>(launch.inputs[place.number]) + begin * place.size;
        break;
      case ValueLocation::Kind::kUniform:
        at[v] = data<std::byte>(launch.inputs[place.number]);
        break;
      case ValueLocation::Kind::kOutput:
        at[v] = data<std::byte>(launch.outputs[place.number]) + begin * place.size;
        break;
      case ValueLocation::Kind::kPacked:
      case ValueLocation::Kind::kRegister:
        at[v] = memory + place.start;
        break;
    }
  }
  std::byte* wide[kMaxSpanInputs + 1];
  for (size_t k = 0; k <= kMaxSpanInputs; ++k) wide[k] = memory + wide_starts_[k];
  [[maybe_unused]] std::vector<PackedInput> inputs;
  // Used if a packed input is repeated: the adapted steps, and the uniform values.
  [[maybe_unused]] std::vector<SpanStep> steps;
  std::vector<bool> is_uniform;
  const auto repeats = [&] { return kPacks && !kIsCompact && !is_uniform.empty(); };
  if constexpr (kPacks) {
    for (const uint32_t v : packed_) {
      const tenon_view& view = launch.inputs[v];
      inputs.emplace_back(view, axes_of(view));
      if (kIsCompact || !inputs.back().is_repeated()) continue;
      is_uniform.resize(places_.size());
      is_uniform[v] = true;
    }
    if (repeats()) {
      steps = steps_;
      use_uniform(steps, is_uniform);
    }
  }
  while (true) {
    int64_t n = std::min(tile_, end - begin);
    if constexpr (kPacks) {
      for (size_t i = 0; repeats() && i < packed_.size(); ++i) {
        if (is_uniform[packed_[i]]) n = std::min(n, inputs[i].rest_of_repeats(begin));
      }
      for (size_t i = 0; i < packed_.size(); ++i) {
        const uint32_t v = packed_[i];
        const bool is_one = repeats() && is_uniform[v];
        at[v] = inputs[i].pack(begin, begin + (is_one ? 1 : n), memory + places_[v].start);
      }
    }
    if (repeats()) {
      for (const SpanStep& step : steps) {
        step.run(at, wide, is_uniform[step.value] ? 1 : static_cast<size_t>(n));
      }
    } else {
      for (const SpanStep& step : steps_) step.run(at, wide, static_cast<size_t>(n));
    }
    begin += n;
    if (begin == end) return;
    for (const uint32_t v : moving_) at[v] += n * places_[v].size;
  }
}

}  // namespace

Prepared prepare_loop(const tenon_sdk::LoopRequest& request) {
  if (request.n_values() > kMaxLoopValues) return refuse("supports loops of at most 96 values");
  if (request.n_inputs() > kMaxLoopInputs) return refuse("supports loops of at most 24 inputs");
  if (request.row_axes() != 0) return prepare_row_loop(request);
  return prepare_as<Loop>(request);
}

}  // namespace tenon_simd
