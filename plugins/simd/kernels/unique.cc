// unique: sorts the elements, so that equal elements are adjacent.

#include <numeric>

#include "plugins/simd/kernels/dense_input.h"
#include "plugins/simd/kernels/order.h"
#include "plugins/simd/kernels/transposed.h"

namespace tenon_simd {
namespace {

struct Outputs {
  explicit Outputs(const tenon_launch& launch)
      : indices(data<int64_t>(launch.outputs[1])),
        inverse(data<int64_t>(launch.outputs[2])),
        counts(data<int64_t>(launch.outputs[3])),
        count(data<int64_t>(launch.outputs[4])) {}

  int64_t* indices;
  int64_t* inverse;
  int64_t* counts;
  int64_t* count;
};

// Returns the beginnings of the runs of equal elements, followed by the end of the last run. Each
// NaN is a separate run.
template <class Word>
std::vector<int64_t> runs_of(const Ranking<Word>& ranking, int64_t n, bool is_float,
                             Word key_of_nan) {
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < n; ++i) {
    const Word key = ranking[i].key;
    if (i == 0 || key != ranking[i - 1].key || (is_float && key == key_of_nan)) {
      begins.push_back(i);
    }
  }
  begins.push_back(n);
  return begins;
}

// Returns the bits of `value` as an element of the dtype, converted to sort_dtype().
uint64_t bits_of(double value, tenon_dtype dtype) {
  const tenon_dtype wide = sort_dtype(dtype);
  return dispatch<tenon_sdk::Any>(dtype, [&]<class T>(Type<T>) {
    const T element = static_cast<T>(value);
    uint64_t bits = 0;
    if (wide != dtype) {
      convert_elements(dtype, &element, wide, &bits, 1);
    } else {
      std::memcpy(&bits, &element, std::min(sizeof bits, sizeof element));
    }
    return bits;
  });
}

// Computes all outputs of unique. `room`: number of elements that the outputs hold. `fill`: value
// of unused elements.
template <class T, class Word>
void unique(const Pool& pool, const tenon_launch& launch, const KeyRule& rule, bool sorted,
            int64_t room, T fill) {
  const DenseInput<T> x(launch.inputs[0]);
  const int64_t n = count(launch.inputs[0]);
  Ranking<Word> ranking(n);
  ranking.load(&pool, x.data(), 1, rule, false);
  ranking.sort(&pool);
  const bool is_float = rule.kind == KeyRule::Kind::kFloat;
  const std::vector<int64_t> begins =
      runs_of(ranking, n, is_float, static_cast<Word>(static_cast<T>(~T{0})));
  const auto n_found = static_cast<int64_t>(begins.size()) - 1;
  const auto first_index = [&](int64_t run) {
    return static_cast<int64_t>(ranking[begins[static_cast<size_t>(run)]].place);
  };

  // Numbers of the runs in the order of the result.
  std::vector<int64_t> runs(static_cast<size_t>(n_found));
  std::iota(runs.begin(), runs.end(), 0);
  if (!sorted) {
    std::sort(runs.begin(), runs.end(),
              [&](int64_t a, int64_t b) { return first_index(a) < first_index(b); });
  }

  T* const values = data<T>(launch.outputs[0]);
  const Outputs out(launch);
  for (int64_t i = 0; i < n_found; ++i) {
    const auto run = static_cast<size_t>(runs[static_cast<size_t>(i)]);
    const int64_t begin = begins[run], end = begins[run + 1];
    for (int64_t j = begin; j < end; ++j) out.inverse[ranking[j].place] = i;
    if (i >= room) continue;
    out.indices[i] = static_cast<int64_t>(ranking[begin].place);
    out.counts[i] = end - begin;
    values[i] = x[out.indices[i]];
  }
  for (int64_t i = n_found; i < room; ++i) {
    out.indices[i] = out.counts[i] = 0;
    values[i] = fill;
  }
  *out.count = n_found;
}

}  // namespace

Prepared prepare_unique(const Request& request) {
  const auto attrs = request.attrs<tenon_unique_attrs>();
  if (attrs.size < 0) return refuse_unsized();
  const tenon_dtype dtype = request.input(0).dtype;
  const auto run = [=, pool = &pool_of(request), rule = KeyRule(sort_dtype(dtype)),
                    fill = bits_of(attrs.fill, dtype)]<class T>(Type<T>,
                                                                const tenon_launch& launch) {
    using U = BitsOfSize<sizeof(T)>;
    with_word<U>(count(launch.inputs[0]), [&]<class Word>(Type<Word>) {
      unique<U, Word>(*pool, launch, rule, attrs.sorted, attrs.size, static_cast<U>(fill));
    });
  };
  if constexpr (kIsCompact) {
    return through_sort_dtype(dtype, run);
  } else {
    return dispatch_bits(dtype, [&]<class U>(Type<U>) {
      return kernel(kTraits, [=](const tenon_launch& launch) { run(Type<U>(), launch); });
    });
  }
}

}  // namespace tenon_simd
