// argmax and argmin.

#include <limits>

#include "plugins/simd/kernels/along_axis.h"
#include "plugins/simd/kernels/reduce.h"
#include "plugins/simd/kernels/wide_launch.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace tenon_simd {
namespace {

// Whether a bit of a vector of 32 bytes is set.
template <class V>
bool any_set(const V& mask) {
#if defined(__AVX__)
  return _mm256_testz_si256(reinterpret_cast<__m256i>(mask), reinterpret_cast<__m256i>(mask)) == 0;
#else
  uint64_t words[4];
  static_assert(sizeof words == sizeof mask);
  std::memcpy(words, &mask, sizeof words);
  return (words[0] | words[1] | words[2] | words[3]) != 0;
#endif
}

// Returns the first of the largest or smallest elements of x, which has at least one element. If an
// element is NaN, returns the first NaN. Compares whole vectors in a first pass, which finds the
// chunk that contains the result.
template <bool kMax, class T>
int64_t first_extreme(const T* x, int64_t n) {
  typedef T V __attribute__((vector_size(32)));
  constexpr auto kLanes = static_cast<int64_t>(sizeof(V) / sizeof(T));
  constexpr int64_t kChunk = 1024;
  constexpr int64_t kVectors = 4;  // Vectors compared at once, because each comparison takes time.
  const auto precedes = [](T a, T b) { return kMax ? a > b : a < b; };
  T best = x[0];
  int64_t at = 0;
  for (int64_t chunk = 0; chunk < n; chunk += kChunk) {
    const int64_t end = std::min(n, chunk + kChunk);
    T extreme = x[chunk];
    bool has_nan = false;
    int64_t i = chunk;
    if (end - chunk >= kVectors * kLanes) {
      V found[kVectors], v;
      std::memcpy(&v, x + i, sizeof v);
      std::fill_n(found, kVectors, v);
      auto nan = v != v;
      for (; i + kVectors * kLanes <= end; i += kVectors * kLanes) {
#pragma GCC unroll 8
        for (int64_t j = 0; j < kVectors; ++j) {
          std::memcpy(&v, x + i + j * kLanes, sizeof v);
          found[j] = kMax ? (found[j] < v ? v : found[j]) : (v < found[j] ? v : found[j]);
          if constexpr (!std::is_integral_v<T>) nan |= v != v;
        }
      }
      for (int64_t j = 1; j < kVectors; ++j) {
        found[0] = kMax ? (found[0] < found[j] ? found[j] : found[0])
                        : (found[j] < found[0] ? found[j] : found[0]);
      }
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        extreme = precedes(found[0][lane], extreme) ? found[0][lane] : extreme;
      }
      has_nan = any_set(nan);
    }
    for (; i < end; ++i) {
      extreme = precedes(x[i], extreme) ? x[i] : extreme;
      has_nan |= x[i] != x[i];
    }
    if (has_nan) {
      return std::find_if(x + chunk, x + end, [](T value) { return value != value; }) - x;
    }
    if (chunk != 0 && !precedes(extreme, best)) continue;
    best = extreme;
    at = chunk;
  }
  // Skips the vectors without an equal element.
  for (; at + kVectors * kLanes <= n; at += kVectors * kLanes) {
    const V equal = V{} + best;
    auto matches = equal != equal;
#pragma GCC unroll 8
    for (int64_t j = 0; j < kVectors; ++j) {
      V v;
      std::memcpy(&v, x + at + j * kLanes, sizeof v);
      matches |= v == equal;
    }
    if (any_set(matches)) break;
  }
  return std::find(x + at, x + n, best) - x;
}

template <class T, class Wide>
class ArgReduce final : public RowKernel {
 public:
  ArgReduce(const Pool& pool, size_t axis, bool is_max)
      : pool_(pool), axis_(axis), is_max_(is_max) {}

  tenon_error* launch(tenon_stream_p*, const tenon_launch& launch) const override {
    const tenon_view& in = launch.inputs[0];
    if (count(in) == 0) return nullptr;
    const T* const x = data<const T>(in);
    int64_t* const y = data<int64_t>(launch.outputs[0]);
    for_each_strip(
        pool_, in, axis_, [&](int64_t first, int64_t from, int64_t step, int64_t n_lines) {
          strip(x + from, step, n_lines, in.sizes[axis_], stride_of(in, axis_), y + first);
        });
    return nullptr;
  }

  void reduce(const void* x, int64_t n_rows, int64_t n, void* out, float*) const override {
    for (int64_t first = 0; n > 0 && first < n_rows; first += kTogether) {
      strip(static_cast<const T*>(x) + first * n, n, std::min(kTogether, n_rows - first), n, 1,
            static_cast<int64_t*>(out) + first);
    }
  }
  bool widens() const override { return false; }

 private:
  // Finds the extreme element of each of `n_lines` lines, and stores its index in `y`. Lines begin
  // `step` elements apart. Each line has `n` elements, which are `stride` elements apart.
  void strip(const T* x, int64_t step, int64_t n_lines, int64_t n, int64_t stride,
             int64_t* y) const {
    if constexpr (std::is_same_v<T, Wide>) {
      if (stride == 1 && n > 1) {
        for (int64_t j = 0; j < n_lines; ++j) {
          y[j] = is_max_ ? first_extreme<true>(x + j * step, n)
                         : first_extreme<false>(x + j * step, n);
        }
        return;
      }
    }
    // Indices of the size of the elements are selected in the same vectors.
    using Narrow = std::conditional_t<sizeof(Wide) == 8 || kIsCompact, int64_t, int32_t>;
    if (n <= std::numeric_limits<int32_t>::max()) {
      adjacent<Narrow>(x, step, n_lines, n, stride, y);
    } else {
      adjacent<int64_t>(x, step, n_lines, n, stride, y);
    }
  }

  // Finds the extreme elements of all lines at once.
  template <class Index>
  void adjacent(const T* x, int64_t step, int64_t n_lines, int64_t n, int64_t stride,
                int64_t* y) const {
    Wide best[kTogether];
    Index at[kTogether];
    for (int64_t j = 0; j < n_lines; ++j) {
      best[j] = static_cast<Wide>(x[j * step]);
      at[j] = 0;
    }
    const auto compare = [&](int64_t lane_step, bool is_max) {
      for (int64_t i = 1; i < n; ++i) {
        for (int64_t j = 0; j < n_lines; ++j) {
          const Wide candidate = static_cast<Wide>(x[i * stride + j * lane_step]);
          const bool is_better = beats(candidate, best[j], is_max);
          best[j] = is_better ? candidate : best[j];
          at[j] = is_better ? static_cast<Index>(i) : at[j];
        }
      }
    };
    if (kIsCompact || step != 1) {
      compare(step, is_max_);
    } else if (is_max_) {
      compare(1, true);
    } else {
      compare(1, false);
    }
    std::copy_n(at, n_lines, y);
  }

  const Pool& pool_;
  size_t axis_;
  bool is_max_;
};

// Runs ArgReduce<Wide> on a narrower dtype.
template <class Wide>
class WideArgReduce final : public RowKernel {
 public:
  WideArgReduce(const Pool& pool, size_t axis, bool is_max, tenon_dtype dtype)
      : inner_(pool, axis, is_max), dtype_(dtype) {}

  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const override {
    return inner_.launch(stream, WideLaunch(launch, dtype_, tenon_sdk::kDTypeOf<Wide>).launch());
  }

  void reduce(const void* x, int64_t n_rows, int64_t n, void* out, float*) const override {
    std::vector<Wide> row(static_cast<size_t>(n));
    const char* from = static_cast<const char*>(x);
    for (int64_t i = 0; i < n_rows; ++i, from += static_cast<size_t>(n) * size_of(dtype_)) {
      convert_elements(dtype_, from, tenon_sdk::kDTypeOf<Wide>, row.data(), n);
      inner_.reduce(row.data(), 1, n, static_cast<int64_t*>(out) + i, nullptr);
    }
  }
  bool widens() const override { return false; }

 private:
  ArgReduce<Wide, Wide> inner_;
  tenon_dtype dtype_;
};

}  // namespace

// Prepares argmax and argmin.
Prepared prepare_arg_reduce(const Request& request) {
  const bool is_max = request.op() == TENON_OP_argmax;
  const size_t axis =
      tenon_sdk::from_front(request.attrs<tenon_argmax_attrs>().axis, request.input(0).rank);
  const tenon_dtype dtype = request.input(0).dtype;
  const Pool& pool = pool_of(request);
  if constexpr (kIsCompact) {
    const tenon_dtype wide = wide_dtype<float, double, int64_t, uint64_t>(dtype);
    return dispatch<WideNumbers>(wide, [&]<class T>(Type<T>) -> Prepared {
      if (wide == dtype) {
        return {.kernel = std::make_unique<ArgReduce<T, T>>(pool, axis, is_max), .traits = kTraits};
      }
      return {.kernel = std::make_unique<WideArgReduce<T>>(pool, axis, is_max, dtype),
              .traits = kTraits};
    });
  } else {
    return dispatch<tenon_sdk::Numbers>(dtype, [&]<class T>(Type<T>) -> Prepared {
      return {.kernel = std::make_unique<ArgReduce<T, WideOf<T>>>(pool, axis, is_max),
              .traits = kTraits};
    });
  }
}

}  // namespace tenon_simd
