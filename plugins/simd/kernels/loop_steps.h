// Helpers of loop.cc and row_loop.cc: the span of one op, and memory for intermediate values.

#pragma once

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/elementwise.h"

namespace tenon_simd {

// Maximum numbers of values and inputs of a loop.
constexpr size_t kMaxLoopValues = 96;
constexpr size_t kMaxLoopInputs = 24;

// An elementwise instruction.
struct SpanStep {
  // Initialises the step from instruction `i`. Returns false, with the refusal, if the instruction
  // cannot be part of a loop.
  bool build(const tenon_sdk::LoopRequest& request, size_t i, Prepared& refusal) {
    Prepared made = request.prepare_instruction(i, true);
    if (!made.kernel) {
      refusal = std::move(made);
      return false;
    }
    const SpanKernel* const kernel = tenon_sdk::kernel_cast<SpanKernel>(made.kernel.get());
    if (kernel == nullptr) {
      refusal = refuse("cannot fuse one of the ops into a loop");
      return false;
    }
    const tenon_loop_instruction& given = request.instruction(i);
    span = kernel->span();
    params = kernel->params();
    cost = kernel->cost();
    value = static_cast<uint32_t>(request.n_inputs() + i);
    n_inputs = given.n_inputs;
    const auto half = [&](tenon_dtype dtype) {
      const bool converts = kernel->converts() && is_half(dtype);
      has_halves = has_halves || converts;
      return converts ? dtype : tenon_dtype{TENON_DTYPE_NONE};
    };
    for (size_t k = 0; k < n_inputs; ++k) {
      inputs[k] = given.inputs[k];
      sizes[k] = size_of(request.dtype(inputs[k]));
      halves[k] = half(request.dtype(inputs[k]));
    }
    sizes[kMaxSpanInputs] = size_of(given.dtype);
    halves[kMaxSpanInputs] = half(given.dtype);
    return true;
  }

  // Runs the instruction on `n` elements. `at`: addresses of all values. `wide`: float32 buffers
  // for operands of half types.
  void run(std::byte* const* at, std::byte* const* wide, size_t n) const {
    run(at, wide, 0, n, inputs, strides);
  }

  // Runs the instruction on `n` elements from element `first` on, with other inputs and strides.
  void run(std::byte* const* at, std::byte* const* wide, size_t first, size_t n,
           const uint32_t* inputs, const size_t* strides) const {
    const void* in[kMaxSpanInputs];
    for (size_t k = 0; k < n_inputs; ++k) in[k] = at[inputs[k]] + first * strides[k] * sizes[k];
    std::byte* const out = at[value] + first * sizes[kMaxSpanInputs];
    if (!has_halves) return span(in, strides, out, n, params);
    for (size_t k = 0; k < n_inputs; ++k) {
      if (halves[k] == TENON_DTYPE_NONE) continue;
      widen_half(halves[k], in[k], reinterpret_cast<float*>(wide[k]), strides[k] == 0 ? 1 : n);
      in[k] = wide[k];
    }
    const tenon_dtype narrow = halves[kMaxSpanInputs];
    if (narrow == TENON_DTYPE_NONE) return span(in, strides, out, n, params);
    auto* const to = reinterpret_cast<float*>(wide[kMaxSpanInputs]);
    span(in, strides, to, n, params);
    narrow_half(narrow, to, out, n);
  }

  Span span = nullptr;
  SpanParams params;
  Cost cost = Cost::kLight;
  uint32_t value = 0;  // Index of the result.
  uint32_t n_inputs = 0;
  uint32_t inputs[kMaxSpanInputs] = {};
  size_t strides[kMaxSpanInputs] = {1, 1, 1};  // 1, or 0 for uniform operands.
  size_t sizes[kMaxSpanInputs + 1] = {};       // Bytes of an element; the last one of the result.
  // The half type of each operand that is computed in float32, otherwise TENON_DTYPE_NONE. The last
  // element is for the result.
  tenon_dtype halves[kMaxSpanInputs + 1] = {};
  bool has_halves = false;
};

// Allocates registers for values. A register is an array of the tile's length. It is reused after
// the last use of its value.
class Registers {
 public:
  // Returns the index of a free register for elements of the dtype; adds a register if none is
  // free.
  uint32_t allocate(tenon_dtype dtype) {
    const size_t size = size_of(dtype);
    for (uint32_t i = 0; i < sizes_.size(); ++i) {
      if (is_free_[i] && sizes_[i] == size) {
        is_free_[i] = false;
        return i;
      }
    }
    sizes_.push_back(size);
    is_free_.push_back(false);
    return static_cast<uint32_t>(sizes_.size() - 1);
  }
  // Marks register `i` as free.
  void give_back(uint32_t i) { is_free_[i] = true; }

  // Returns the sum of the element sizes of all registers.
  size_t bytes_per_element() const { return start_of(sizes_.size()); }
  // Returns the offset of a register in bytes per element: the actual offset is this number times
  // the length of the arrays.
  size_t start_of(size_t i) const {
    size_t start = 0;
    for (size_t before = 0; before < i; ++before) start += sizes_[before];
    return start;
  }

 private:
  std::vector<size_t> sizes_;  // Element sizes of the registers in bytes.
  std::vector<bool> is_free_;
};

// float32 registers for operands of half types.
struct WideRegisters {
  // Allocates the registers that the step needs.
  void add(const SpanStep& step, Registers& registers) {
    for (size_t k = 0; k <= kMaxSpanInputs; ++k) {
      if (step.halves[k] != TENON_DTYPE_NONE) add(k, registers);
    }
  }
  // Allocates the register for operand `k`, unless it exists.
  void add(size_t k, Registers& registers) {
    if (is_there[k]) return;
    is_there[k] = true;
    number[k] = registers.allocate(TENON_FLOAT32);
  }

  bool is_there[kMaxSpanInputs + 1] = {};
  uint32_t number[kMaxSpanInputs + 1] = {};
};

// A strided input of a loop. If its rows are columns in memory, several rows are packed at a time,
// because the elements of a column share cache lines.
class PackedInput {
 public:
  PackedInput(const tenon_view& view, const LoopAxes& axes)
      : data_(view.data),
        dtype_(view.dtype),
        axes_(axes),
        is_transposed_(has_transposed_rows(axes)) {}

  // Whether each element is repeated so often that a loop need not store the repetitions.
  bool is_repeated() const { return axes_.inner_stride() == 0 && axes_.inner_size() >= kRepeats; }
  // Returns for how many elements from `begin` on the element is the same. Requires is_repeated().
  int64_t rest_of_repeats(int64_t begin) const {
    return axes_.inner_size() - begin % axes_.inner_size();
  }

  // Returns elements [begin, end) in contiguous memory: in `tile`, or in memory that is valid until
  // the next call.
  std::byte* pack(int64_t begin, int64_t end, std::byte* tile) {
    if (!is_transposed_) {
      pack_to(begin, end, tile);
      return tile;
    }
    const auto size = static_cast<int64_t>(size_of(dtype_));
    if (begin < first_ || end > last_) {
      const int64_t columns = axes_.inner_size();
      const int64_t rows = std::clamp<int64_t>(kMemory / (columns * size), 8, 32);
      first_ = begin;
      last_ = std::clamp((begin / columns + rows) * columns, end, axes_.count());
      memory_.resize(static_cast<size_t>((last_ - first_) * size));
      pack_to(first_, last_, memory_.data());
    }
    return memory_.data() + (begin - first_) * size;
  }

 private:
  static constexpr int64_t kMemory = 64 * 1024;
  static constexpr int64_t kRepeats = 128;

  void pack_to(int64_t begin, int64_t end, std::byte* to) const {
    dispatch_bits(dtype_, [&]<class T>(Type<T>) {
      tenon_simd::pack(static_cast<const T*>(data_), axes_, begin, end, reinterpret_cast<T*>(to));
      return 0;
    });
  }

  const void* data_;
  tenon_dtype dtype_;
  LoopAxes axes_;
  bool is_transposed_;
  int64_t first_ = 0, last_ = 0;  // The elements in memory_.
  std::vector<std::byte> memory_;
};

// Copies contiguous elements to elements [begin, end) of a view with these axes.
template <class T>
void unpack(const T* from, const LoopAxes& axes, int64_t begin, int64_t end, T* to) {
  const int64_t stride = axes.inner_stride();
  axes.runs(begin, end, [&](int64_t offset, int64_t n) {
    if (stride == 1) {
      std::memcpy(to + offset, from, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) to[offset + i * stride] = from[i];
    }
    from += n;
  });
}

// Prepares a loop of type L with its traits, or returns the refusal.
template <class L>
Prepared prepare_as(const tenon_sdk::LoopRequest& request) {
  auto loop = std::make_unique<L>(request);
  Prepared refusal;
  if (!loop->build(request, refusal)) return refusal;
  const uint32_t alias = loop->may_alias(true)    ? TENON_KERNEL_MAY_ALIAS
                         : loop->may_alias(false) ? TENON_KERNEL_FIRST_MAY_ALIAS
                                                  : 0;
  return {.kernel = std::move(loop), .traits = kTraits | alias};
}

}  // namespace tenon_simd
