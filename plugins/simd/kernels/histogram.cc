// bincount and histogram: count elements by value. The counts of bincount may be weighted by int64;
// other weights take the decomposition of the op.

#include <cmath>
#include <limits>

#include "plugins/simd/kernels/dense_input.h"

namespace tenon_simd {
namespace {

// Adds the weight of each element to the count of its value, or 1 if `weights` is NULL. Elements
// are read as unsigned, so negative numbers are at least `n_values`, the number of nonnegative
// values of the dtype. Reports an element out of range like the decomposition: a negative one as an
// index that counts from the end, minus the length.
template <class U>
void count_values(const tenon_launch& launch, uint64_t n_values) {
  const tenon_view& out = launch.outputs[0];
  const int64_t length = out.sizes[0];
  const uint64_t bound = std::min(static_cast<uint64_t>(length), n_values);
  uint64_t* const counts = data<uint64_t>(out);
  std::fill_n(counts, length, 0);
  const auto count_element = [&](U value, uint64_t weight) {
    if (value < bound) [[likely]] {
      counts[value] += weight;
    } else if (value < n_values) {
      tenon_sdk::report_value_error(launch, static_cast<int64_t>(value), length);
    } else {
      const auto negative = static_cast<int64_t>(static_cast<std::make_signed_t<U>>(value));
      tenon_sdk::report_value_error(launch, negative - length, length);
    }
  };
  const tenon_view& in = launch.inputs[0];
  const U* const x = data<const U>(in);
  const LoopAxes axes = axes_of(in);
  const int64_t stride = axes.inner_stride();
  if (has_input(launch, 1)) {
    const DenseInput<uint64_t> weights(launch.inputs[1]);
    const uint64_t* weight = weights.data();
    axes.runs(0, count(in), [&](int64_t offset, int64_t n) {
      for (int64_t i = 0; i < n; ++i) count_element(x[offset + i * stride], *weight++);
    });
    return;
  }
  axes.runs(0, count(in), [&](int64_t offset, int64_t n) {
    for (int64_t i = 0; i < n; ++i) count_element(x[offset + i * stride], 1);
  });
}

// Bins of equal width. Each bin includes its lower edge, and the last one its upper edge, too.
template <class T>
class Bins {
 public:
  // Requires that high - low is positive and finite.
  Bins(T low, T high, int64_t n) : low_(low), high_(high), n_(n) {
    const T n_bins = static_cast<T>(static_cast<double>(n));
    const T width = (high - low) / n_bins;
    edges_.resize(static_cast<size_t>(n) + 1);
    for (int64_t i = 0; i < n; ++i) {
      edges_[static_cast<size_t>(i)] = low + static_cast<T>(i) * width;
    }
    edges_.back() = std::numeric_limits<T>::infinity();
    scale_ = n_bins / (high - low);
    is_guessable_ = n <= kMaxGuessed && std::isfinite(scale_);
  }

  // Counts `n` elements. counts[i] is the number of those in bin i; the element after the counts of
  // all bins counts the elements outside.
  void count(const T* x, int64_t n, int64_t stride, int64_t* counts) const {
    constexpr int64_t kChunk = 256;
    T values[kChunk];
    int32_t guesses[kChunk] = {};
    for (int64_t first = 0; first < n; first += kChunk) {
      const int64_t size = std::min(kChunk, n - first);
      for (int64_t i = 0; i < size; ++i) values[i] = x[(first + i) * stride];
      if (is_guessable_) guess(values, size, guesses);
      for (int64_t i = 0; i < size; ++i) {
        const bool is_inside = values[i] >= low_ && values[i] <= high_;
        ++counts[is_inside ? bin_of(values[i], guesses[i]) : n_];
      }
    }
  }

 private:
  static constexpr int64_t kMaxGuessed = 1 << 20;

  // Computes the bins of elements, which may be off because of rounding.
  void guess(const T* values, int64_t n, int32_t* guesses) const {
    const T last = static_cast<T>(n_ - 1), low = low_, scale = scale_;
    for (int64_t i = 0; i < n; ++i) {
      T bin = (values[i] - low) * scale;
      bin = bin > 0 ? bin : 0;  // NaN becomes 0.
      bin = bin < last ? bin : last;
      guesses[i] = static_cast<int32_t>(bin);
    }
  }

  // Returns the number of the last lower edge that is at most `value`.
  int64_t bin_of(T value, int32_t guess) const {
    const T* const edges = edges_.data();
    int64_t bin = guess;
    bin += value >= edges[bin + 1] ? 1 : 0;
    bin -= value < edges[bin] ? 1 : 0;
    if (bin >= 0 && edges[bin] <= value && value < edges[bin + 1]) [[likely]]
      return bin;
    return std::upper_bound(edges, edges + n_, value) - edges - 1;
  }

  T low_, high_, scale_;
  int64_t n_;
  bool is_guessable_;
  std::vector<T> edges_;  // The lower edges, followed by infinity.
};

template <class T>
void count_in_bins(const tenon_launch& launch, int64_t n_bins) {
  const tenon_view& in = launch.inputs[0];
  int64_t* const y = data<int64_t>(launch.outputs[0]);
  const T low = *data<const T>(launch.inputs[1]), high = *data<const T>(launch.inputs[2]);
  std::vector<int64_t> counts(static_cast<size_t>(n_bins) + 1);
  if (high - low > 0 && std::isfinite(high - low)) {
    const Bins<T> bins(low, high, n_bins);
    const LoopAxes axes = axes_of(in);
    axes.runs(0, tenon_sdk::count(in), [&](int64_t offset, int64_t n) {
      bins.count(data<const T>(in) + offset, n, axes.inner_stride(), counts.data());
    });
  }
  std::copy_n(counts.data(), n_bins, y);
}

}  // namespace

Prepared prepare_bincount(const Request& request) {
  if (request.attrs<tenon_bincount_attrs>({.length = -1}).length < 0) return refuse_unsized();
  const tenon_dtype dtype = request.input(0).dtype;
  const bool is_signed = TENON_DTYPE_CODE(dtype) == TENON_CODE_INT;
  return dispatch_bits(dtype, [&]<class U>(Type<U>) {
    // The decomposition converts to int64, in which uint64 from 2^63 on is negative.
    const bool has_negative = is_signed || sizeof(U) == 8;
    const uint64_t n_values = uint64_t{1} << (8 * sizeof(U) - (has_negative ? 1 : 0));
    return kernel(kTraits, [=](const tenon_launch& launch) { count_values<U>(launch, n_values); });
  });
}

Prepared prepare_histogram(const Request& request) {
  const int64_t n_bins = request.attrs<tenon_histogram_attrs>({.bins = 10}).bins;
  return dispatch<tenon_sdk::WideFloats>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [=](const tenon_launch& launch) { count_in_bins<T>(launch, n_bins); });
  });
}

}  // namespace tenon_simd
