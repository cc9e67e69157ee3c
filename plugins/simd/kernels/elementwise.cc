// Runs spans (elementwise.h) on operands of any memory layout.

#include "plugins/simd/kernels/elementwise.h"

#include <array>

#include "plugins/sdk/view.h"
#include "plugins/simd/kernels/gather_tiles.h"
#include "plugins/simd/kernels/half_table.h"

namespace tenon_simd {
namespace {

// Minimum number of elements per thread, indexed by Cost. With fewer elements, waking a thread
// takes longer than it saves.
constexpr int64_t kGrain[] = {128 * 1024, 16 * 1024};

// Kernel for contiguous or uniform operands that are computed in their own dtype.
class Flat final : public SpanKernel {
 public:
  Flat(const Request& request, Span span, Cost cost, const SpanParams& params, bool converts)
      : SpanKernel(span, cost, params, converts),
        grain_(kGrain[static_cast<size_t>(cost)]),
        pool_(pool_of(request)),
        n_inputs_(request.n_inputs()),
        out_size_(size_of(request.output(0).dtype)) {
    for (size_t i = 0; i < n_inputs_; ++i) {
      step_[i] = request.input(i).strides == TENON_STRIDES_DENSE ? 1 : 0;
      size_[i] = step_[i] * size_of(request.input(i).dtype);
    }
  }

  tenon_error* launch(tenon_stream_p*, const tenon_launch& launch) const override {
    const void* in[kMaxSpanInputs];
    for (size_t i = 0; i < n_inputs_; ++i) in[i] = launch.inputs[i].data;
    const int64_t n = count(launch.outputs[0]);
    if (n <= grain_) [[likely]] {
      if (n != 0) span_(in, step_, launch.outputs[0].data, static_cast<size_t>(n), params_);
      return nullptr;
    }
    pool_.parallel_ranges(n, grain_, [&](int64_t begin, int64_t end) {
      const void* from[kMaxSpanInputs];
      for (size_t i = 0; i < n_inputs_; ++i) {
        from[i] = static_cast<const std::byte*>(in[i]) + begin * static_cast<int64_t>(size_[i]);
      }
      std::byte* to = data<std::byte>(launch.outputs[0]) + begin * static_cast<int64_t>(out_size_);
      span_(from, step_, to, static_cast<size_t>(end - begin), params_);
    });
    return nullptr;
  }

 private:
  int64_t grain_;
  const Pool& pool_;
  size_t n_inputs_;
  size_t out_size_;
  size_t step_[kMaxSpanInputs] = {};
  size_t size_[kMaxSpanInputs] = {};  // Bytes between elements; 0 if uniform.
};

// The axes of a launch after merging. Strides are in elements; the innermost axis is last.
struct Axes {
  int rank = 0;
  int64_t sizes[TENON_MAX_RANK + 1];
  int64_t strides[TENON_MAX_RANK + 1][kMaxSpanInputs];

  Axes(const tenon_launch& launch, size_t n_inputs) {
    const tenon_view& out = launch.outputs[0];
    for (size_t axis = 0; axis < out.rank; ++axis) {
      if (out.sizes[axis] == 1) continue;
      sizes[rank] = out.sizes[axis];
      for (size_t i = 0; i < n_inputs; ++i) {
        const tenon_view& in = launch.inputs[i];
        strides[rank][i] = in.strides_class == TENON_STRIDES_UNIFORM ? 0 : in.strides[axis];
      }
      if (rank > 0 && merges(n_inputs)) {
        sizes[rank - 1] *= sizes[rank];
        std::copy_n(strides[rank], n_inputs, strides[rank - 1]);
      } else {
        ++rank;
      }
    }
    if (rank == 0) {
      sizes[0] = 1;
      std::fill_n(strides[0], kMaxSpanInputs, 0);
      rank = 1;
    }
  }

 private:
  bool merges(size_t n_inputs) const {
    for (size_t i = 0; i < n_inputs; ++i) {
      if (strides[rank - 1][i] != strides[rank][i] * sizes[rank]) return false;
    }
    return true;
  }
};

// Elements per tile: four tiles of the widest elements fit the first-level cache.
constexpr int64_t kTile = 512;

// Rows with fewer elements are computed several at a time.
constexpr int64_t kShortRow = 32;

// Returns an integer dtype for half types, so that Tiled does not convert their elements; returns
// other dtypes unchanged.
tenon_dtype replace_half_dtype(tenon_dtype dtype) { return is_half(dtype) ? TENON_UINT16 : dtype; }

// Kernel for operands with any strides and dtypes. Processes one tile at a time.
class Tiled final : public SpanKernel {
 public:
  Tiled(const Request& request, Span span, Cost cost, const SpanParams& params, bool converts)
      : SpanKernel(span, cost, params, converts),
        grain_(kGrain[static_cast<size_t>(cost)]),
        pool_(pool_of(request)),
        n_inputs_(request.n_inputs()),
        out_dtype_(converts ? request.output(0).dtype
                            : replace_half_dtype(request.output(0).dtype)) {
    for (size_t i = 0; i < n_inputs_; ++i) {
      const tenon_dtype dtype = request.input(i).dtype;
      dtype_[i] = converts ? dtype : replace_half_dtype(dtype);
    }
  }

  tenon_error* launch(tenon_stream_p*, const tenon_launch& launch) const override {
    const int64_t n = count(launch.outputs[0]);
    if (n == 0) return nullptr;
    const Axes axes(launch, n_inputs_);
    if (const int rows = axis_of_rows(axes); rows >= 0) {
      const int64_t row = axes.sizes[axes.rank - 1];
      const int64_t bands = (axes.sizes[rows] + kBlockRows - 1) / kBlockRows;
      const int64_t n_bands = n / row / axes.sizes[rows] * bands;
      pool_.parallel_tasks(n_bands, std::max<int64_t>(1, grain_ / (kBlockRows * row)),
                           [&](int64_t begin, int64_t end) {
                             for (int64_t band = begin; band < end; ++band) {
                               run_band(launch, axes, rows, band / bands, band % bands);
                             }
                           });
      return nullptr;
    }
    pool_.parallel_ranges(n, grain_,
                          [&](int64_t begin, int64_t end) { run(launch, axes, begin, end); });
    return nullptr;
  }

 private:
  struct Tiles {
    alignas(64) std::byte narrow[kTile * 8];
    alignas(64) std::byte in[kMaxSpanInputs][kTile * 8];
    alignas(64) float out[kTile];
  };

  struct Block {
    alignas(64) std::byte in[kMaxSpanInputs][kBlockRows * kBlockColumns * 8];
  };

  // Whether the elements of input `i` are contiguous along the axis `rows`, but not along the last.
  static bool is_transposed(const Axes& axes, int rows, size_t i) {
    const int64_t stride = axes.strides[axes.rank - 1][i];
    return stride != 0 && stride != 1 && axes.strides[rows][i] == 1;
  }

  // Returns the axis along which a transposed input is contiguous; -1 if there is no such input, or
  // it is too small for blocks.
  int axis_of_rows(const Axes& axes) const {
    if (axes.sizes[axes.rank - 1] < 8) return -1;
    for (int axis = axes.rank - 2; axis >= 0; --axis) {
      for (size_t i = 0; i < n_inputs_; ++i) {
        if (axes.sizes[axis] >= 8 && is_transposed(axes, axis, i)) return axis;
      }
    }
    return -1;
  }

  // Computes kBlockRows indices of the axis `rows`, and all of the last axis. `outer` is the
  // row-major index of the other axes.
  void run_band(const tenon_launch& launch, const Axes& axes, int rows, int64_t outer,
                int64_t band) const {
    const int last = axes.rank - 1;
    const int64_t row = axes.sizes[last], first = band * kBlockRows;
    const int64_t n_rows = std::min(kBlockRows, axes.sizes[rows] - first);
    int64_t offset[kMaxSpanInputs] = {};
    int64_t out = 0, out_stride = row, out_step = 0;
    for (int axis = last - 1; axis >= 0; --axis) {
      int64_t at = first;
      if (axis == rows) {
        out_step = out_stride;
      } else {
        at = outer % axes.sizes[axis];
        outer /= axes.sizes[axis];
      }
      out += at * out_stride;
      out_stride *= axes.sizes[axis];
      for (size_t i = 0; i < n_inputs_; ++i) offset[i] += at * axes.strides[axis][i];
    }

    Tiles tiles;
    Block block;
    for (int64_t column = 0; column < row; column += kBlockColumns) {
      const int64_t n = std::min(kBlockColumns, row - column);
      for (size_t i = 0; i < n_inputs_; ++i) {
        if (!is_transposed(axes, rows, i)) continue;
        const int64_t stride = axes.strides[last][i];
        const size_t size = size_of(dtype_[i]);
        gather_block(size,
                     data<const std::byte>(launch.inputs[i]) +
                         (offset[i] + column * stride) * static_cast<int64_t>(size),
                     stride, block.in[i], n_rows, n);
      }
      for (int64_t j = 0; j < n_rows; ++j) {
        const void* in[kMaxSpanInputs];
        size_t step[kMaxSpanInputs];
        for (size_t i = 0; i < n_inputs_; ++i) {
          const int64_t stride = axes.strides[last][i];
          step[i] = stride == 0 ? 0 : 1;
          if (is_transposed(axes, rows, i)) {
            in[i] = bring(block.in[i], dtype_[i], j * kBlockColumns, 1, n, nullptr, tiles.in[i]);
          } else {
            in[i] = bring(launch.inputs[i].data, dtype_[i],
                          offset[i] + j * axes.strides[rows][i] + column * stride, stride, n,
                          tiles.narrow, tiles.in[i]);
          }
        }
        compute(launch, in, step, out + j * out_step + column, n, tiles);
      }
    }
  }

  // Runs the span on `n` elements, and stores them at element offset `at` of the output.
  void compute(const tenon_launch& launch, const void* const* in, const size_t* step, int64_t at,
               int64_t n, Tiles& tiles) const {
    std::byte* to =
        data<std::byte>(launch.outputs[0]) + at * static_cast<int64_t>(size_of(out_dtype_));
    if (is_half(out_dtype_)) {
      span_(in, step, tiles.out, static_cast<size_t>(n), params_);
      narrow_half(out_dtype_, tiles.out, to, static_cast<size_t>(n));
    } else {
      span_(in, step, to, static_cast<size_t>(n), params_);
    }
  }

  // Computes elements [begin, end) of the output in row-major order.
  void run(const tenon_launch& launch, const Axes& axes, int64_t begin, int64_t end) const {
    Tiles tiles;
    const int last = axes.rank - 1;
    const int64_t row = axes.sizes[last];
    int64_t at[TENON_MAX_RANK + 1];
    int64_t offset[kMaxSpanInputs] = {};
    int64_t rest = begin;
    for (int axis = last; axis >= 0; --axis) {
      at[axis] = rest % axes.sizes[axis];
      rest /= axes.sizes[axis];
      if (axis == last) continue;
      for (size_t i = 0; i < n_inputs_; ++i) offset[i] += at[axis] * axes.strides[axis][i];
    }
    const bool has_short_rows = row < kShortRow && axes.rank > 1;
    bool tiled = is_half(out_dtype_) || has_short_rows;
    for (size_t i = 0; i < n_inputs_; ++i) {
      const int64_t stride = axes.strides[last][i];
      tiled = tiled || (stride != 0 && stride != 1) || is_half(dtype_[i]);
    }

    while (true) {
      if (has_short_rows && at[last] == 0) {
        // Spans of a whole tile: calling the span for each row would take longer than its work.
        const int64_t above = axes.sizes[last - 1];
        const int64_t n_rows = std::min({above - at[last - 1], (end - begin) / row, kTile / row});
        if (n_rows > 1) {
          run_short_rows(launch, axes, offset, n_rows, begin, tiles);
          begin += n_rows * row;
          if (begin == end) return;
          at[last - 1] += n_rows;
          for (size_t i = 0; i < n_inputs_; ++i) offset[i] += n_rows * axes.strides[last - 1][i];
          carry(axes, last - 1, at, offset);
          continue;
        }
      }
      int64_t n = std::min(row - at[last], end - begin);
      if (tiled) n = std::min(n, kTile);
      const void* in[kMaxSpanInputs];
      size_t step[kMaxSpanInputs];
      for (size_t i = 0; i < n_inputs_; ++i) {
        const int64_t stride = axes.strides[last][i];
        step[i] = stride == 0 ? 0 : 1;
        in[i] = bring(launch.inputs[i].data, dtype_[i], offset[i] + at[last] * stride, stride, n,
                      tiles.narrow, tiles.in[i]);
      }
      compute(launch, in, step, begin, n, tiles);
      begin += n;
      if (begin == end) return;
      at[last] += n;
      if (at[last] < row) continue;
      at[last] = 0;
      if (last == 0) continue;
      ++at[last - 1];
      for (size_t i = 0; i < n_inputs_; ++i) offset[i] += axes.strides[last - 1][i];
      carry(axes, last - 1, at, offset);
    }
  }

  // Moves on to the next index of outer axes, while the index along `axis` is at its end.
  void carry(const Axes& axes, int axis, int64_t* at, int64_t* offset) const {
    for (; axis > 0 && at[axis] == axes.sizes[axis]; --axis) {
      at[axis] = 0;
      ++at[axis - 1];
      for (size_t i = 0; i < n_inputs_; ++i) {
        offset[i] += axes.strides[axis - 1][i] - axes.strides[axis][i] * axes.sizes[axis];
      }
    }
  }

  // Computes `n_rows` rows of the last axis, which begin at element `begin` of the output, as one
  // span. `offset` is that of the first row of each input.
  void run_short_rows(const tenon_launch& launch, const Axes& axes, const int64_t* offset,
                      int64_t n_rows, int64_t begin, Tiles& tiles) const {
    const int last = axes.rank - 1;
    const int64_t row = axes.sizes[last], n = n_rows * row;
    const void* in[kMaxSpanInputs];
    size_t step[kMaxSpanInputs];
    for (size_t i = 0; i < n_inputs_; ++i) {
      const tenon_dtype dtype = dtype_[i];
      const size_t size = size_of(dtype);
      const std::byte* from =
          data<const std::byte>(launch.inputs[i]) + offset[i] * static_cast<int64_t>(size);
      const int64_t outer = axes.strides[last - 1][i], inner = axes.strides[last][i];
      step[i] = 1;
      if (outer == 0 && inner == 0) {
        step[i] = 0;
        in[i] = bring(from, dtype, 0, 0, 1, tiles.narrow, tiles.in[i]);
        continue;
      }
      void* to = is_half(dtype) ? tiles.narrow : tiles.in[i];
      gather_rows(size, from, outer, inner, to, n_rows, row);
      in[i] = bring(to, dtype, 0, 1, n, tiles.narrow, tiles.in[i]);
    }
    compute(launch, in, step, begin, n, tiles);
  }

  // Returns `n` elements of the operand as contiguous elements in the dtype of the computation, or
  // one element if the stride is 0.
  static const void* bring(const void* data, tenon_dtype dtype, int64_t offset, int64_t stride,
                           int64_t n, void* narrow, void* tile) {
    const size_t size = size_of(dtype);
    const void* from = static_cast<const std::byte*>(data) + offset * static_cast<int64_t>(size);
    if (stride == 0) n = 1;
    if (stride != 0 && stride != 1) {
      void* to = is_half(dtype) ? narrow : tile;
      gather(size, from, stride, to, n);
      from = to;
    }
    if (!is_half(dtype)) return from;
    widen_half(dtype, from, static_cast<float*>(tile), static_cast<size_t>(n));
    return tile;
  }

  int64_t grain_;
  const Pool& pool_;
  size_t n_inputs_;
  tenon_dtype dtype_[kMaxSpanInputs] = {};
  tenon_dtype out_dtype_;
};

// Makes a kernel that runs a span for any layout. `converts`: whether half types are converted.
Prepared make_span_kernel(const Request& request, Span span, Cost cost, const SpanParams& params,
                          bool converts) {
  const tenon_operand& out = request.output(0);
  bool flat = !(converts && is_half(out.dtype));
  bool same_size = true;
  for (size_t i = 0; i < request.n_inputs(); ++i) {
    const tenon_operand& in = request.input(i);
    flat = flat && in.strides != TENON_STRIDES_STRIDED && !(converts && is_half(in.dtype));
    same_size = same_size && size_of(in.dtype) == size_of(out.dtype);
  }
  Prepared prepared{.traits = same_size ? kElementwise : kTraits};
  if (flat) {
    prepared.kernel = std::make_unique<Flat>(request, span, cost, params, converts);
  } else {
    prepared.kernel = std::make_unique<Tiled>(request, span, cost, params, converts);
  }
  return prepared;
}

}  // namespace

const SpanEntry* find_span(uint32_t op, tenon_dtype dtype) {
  for (const SpanTable& table :
       {arithmetic_spans(), exponentials_spans(), logarithms_spans(), hyperbolic_spans(),
        trigonometry_spans(), power_spans(), special_function_spans()}) {
    for (size_t i = 0; i < table.n; ++i) {
      const SpanEntry& entry = table.entries[i];
      if (entry.op == op && entry.dtype == dtype) return &entry;
    }
  }
  return nullptr;
}

Prepared make_elementwise(const Request& request, Span span, Cost cost, const SpanParams& params) {
  return make_span_kernel(request, span, cost, params, true);
}

Prepared make_without_conversion(const Request& request, Span span, Cost cost,
                                 const SpanParams& params) {
  return make_span_kernel(request, span, cost, params, false);
}

namespace {

// Prepares an op whose spans are in a table. Half types have a span of their own, or are converted
// for that of float32.
Prepared prepare_from_table(const Request& request, const SpanParams& params) {
  const tenon_dtype dtype = request.input(request.n_inputs() - 1).dtype;
  const SpanEntry* entry = find_span(request.op(), dtype);
  const bool converts = entry == nullptr;
  if (converts) entry = find_span(request.op(), compute_dtype(dtype));
  if (entry == nullptr) return refuse("does not support this op for this dtype");
  return make_span_kernel(request, entry->span, entry->cost, params, converts);
}

// Rounds an attribute to the dtype of the inputs. This includes half types, although they are
// computed in float32.
double round_to_dtype(double value, tenon_dtype dtype) {
  return tenon_sdk::dispatch<tenon_sdk::Floats>(
      dtype, [&]<class T>(Type<T>) { return static_cast<double>(T(value)); });
}

// Prepares an op with these parameters, rounded to the dtype of the input.
Prepared prepare_with(const Request& request, double alpha, double beta = 0) {
  const tenon_dtype dtype = request.input(0).dtype;
  return prepare_from_table(
      request, {.alpha = round_to_dtype(alpha, dtype), .beta = round_to_dtype(beta, dtype)});
}

}  // namespace

// Prepares ops without attributes whose spans are in a table.
Prepared prepare_elementwise(const Request& request) {
#if !defined(__EMSCRIPTEN__)  // Compact builds have no tables of results.
  if (request.n_inputs() == 1 && is_half(request.input(0).dtype)) {
    const SpanEntry* entry = find_span(request.op(), TENON_FLOAT32);
    if (entry != nullptr && entry->cost == Cost::kHeavy) return make_tabled(request, *entry);
  }
#endif
  return prepare_from_table(request, {});
}

Prepared prepare_leaky_relu(const Request& request) {
  return prepare_with(request, request.attrs<tenon_leaky_relu_attrs>({.alpha = 0.01}).alpha);
}

Prepared prepare_elu(const Request& request) {
  return prepare_with(request, request.attrs<tenon_elu_attrs>({.alpha = 1}).alpha);
}

Prepared prepare_shrink(const Request& request) {
  const auto attrs = request.attrs<tenon_shrink_attrs>({.lambd = 0.5});
  return prepare_with(request, attrs.lambd, attrs.bias);
}

Prepared prepare_addcmul(const Request& request) {
  return prepare_with(request, request.attrs<tenon_addcmul_attrs>({.value = 1}).value);
}

Prepared prepare_gelu(const Request& request) {
  if (!request.attrs<tenon_gelu_attrs>().approximate) return prepare_elementwise(request);
  return make_elementwise(request, gelu_tanh_span(compute_dtype(request.input(0).dtype)),
                          Cost::kHeavy);
}

}  // namespace tenon_simd
