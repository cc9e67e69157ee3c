// attention: processes one block of queries at a time, so that the scores of the block stay in the
// cache. The scores of all queries are never stored at once.

#include <cmath>
#include <limits>

#include "plugins/simd/kernels/cell.h"
#include "plugins/simd/kernels/softmax.h"
#include "plugins/simd/kernels/through_float.h"

namespace tenon_simd {
namespace {

constexpr int64_t kMaxQueries = 96;        // Maximum per block; a multiple of the tile height.
constexpr int64_t kMaxScores = 64 * 1024;  // Maximum per block; they fit into the L2 cache.

// Returns the number of queries in a block. It depends only on the shape.
int64_t queries_of_block(int64_t keys) {
  return std::clamp<int64_t>(kMaxScores / keys / 12 * 12, 12, kMaxQueries);
}

// Adds a row of a mask (bools or numbers) to `n` scores. Returns false if the row masks all keys.
template <class T, class Element>
bool add_row(const Element* mask, int64_t step, T* scores, int64_t n) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  int shown = 0;
  const auto add = [&](Element element, int64_t j) {
    T added = static_cast<T>(element);
    if constexpr (std::is_same_v<Element, uint8_t>) added = element != 0 ? T{0} : kNone;
    shown |= added == kNone ? 0 : 1;
    scores[j] += added;
  };
  if (step == 1) {  // This loop is separate because the compiler can vectorise it.
    for (int64_t j = 0; j < n; ++j) add(mask[j], j);
  } else {
    for (int64_t j = 0; j < n; ++j) add(mask[j * step], j);
  }
  return shown != 0;
}

// A mask with axes batch, heads, queries and keys; axes of size 1 are broadcast.
class Mask {
 public:
  explicit Mask(const tenon_view& view) : view_(view) {
    const size_t missing = 4 - view.rank;
    for (size_t i = 0; i < view.rank; ++i) {
      if (view.sizes[i] != 1) strides_[missing + i] = stride_of(view, i);
    }
  }

  template <class T>
  bool add(int64_t batch, int64_t head, int64_t query, T* scores, int64_t n) const {
    const int64_t at = batch * strides_[0] + head * strides_[1] + query * strides_[2];
    return view_.dtype == TENON_BOOL
               ? add_row(data<const uint8_t>(view_) + at, strides_[3], scores, n)
               : add_row(data<const T>(view_) + at, strides_[3], scores, n);
  }

 private:
  const tenon_view& view_;
  int64_t strides_[4] = {};
};

template <class T>
class Attention {
 public:
  Attention(const tenon_launch& launch, const tenon_attention_attrs& attrs)
      : launch_(launch),
        q_(launch.inputs[0]),
        k_(launch.inputs[1]),
        v_(launch.inputs[2]),
        heads_(q_.sizes[1]),
        queries_(q_.sizes[2]),
        keys_(k_.sizes[2]),
        size_(q_.sizes[3]),
        v_size_(v_.sizes[3]),
        is_causal_(attrs.is_causal),
        scale_(static_cast<T>(attrs.scale > 0 ? attrs.scale
                                              : 1 / std::sqrt(static_cast<double>(size_)))),
        softcap_(static_cast<T>(attrs.softcap)) {}

  void run(const Pool& pool) const {
    const tenon_view& y = launch_.outputs[0];
    if (count(y) == 0) return;
    if (keys_ == 0) {
      std::fill_n(data<T>(y), count(y), T{0});
      return;
    }
    const int64_t rows = queries_of_block(keys_), blocks = (queries_ + rows - 1) / rows;
    const int64_t grain = std::max<int64_t>(1, kMaxScores / (std::min(rows, queries_) * keys_));
    pool.parallel_tasks(q_.sizes[0] * heads_ * blocks, grain, [&](int64_t task, int64_t last) {
      for (; task < last; ++task) {
        const int64_t first = task % blocks * rows;
        block(task / blocks / heads_, task / blocks % heads_, first,
              std::min(first + rows, queries_));
      }
    });
  }

 private:
  void block(int64_t batch, int64_t head, int64_t begin, int64_t end) const {
    const int64_t m = end - begin, n = is_causal_ ? std::min(end, keys_) : keys_;
    T* const scores = scratch_of<T>(kScratchC, m * (n + size_));
    T* const scaled = scores + m * n;
    const T* const q = at(q_, batch, head);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t d = 0; d < size_; ++d) {
        scaled[i * size_ + d] = q[(begin + i) * stride_of(q_, 2) + d * stride_of(q_, 3)] * scale_;
      }
    }
    const int64_t kv_head = head / (heads_ / k_.sizes[1]);
    const Matrix<T> k{at(k_, batch, kv_head), stride_of(k_, 3), n == 1 ? 1 : stride_of(k_, 2)};
    product(m, n, size_, {scaled, size_, 1}, k, scores);

    bool hidden[kMaxQueries];
    for (int64_t i = 0; i < m; ++i) {
      hidden[i] = !weigh(batch, head, begin + i, scores + i * n, n);
    }
    T* const y =
        data<T>(launch_.outputs[0]) + ((batch * heads_ + head) * queries_ + begin) * v_size_;
    const Matrix<T> v{at(v_, batch, kv_head), stride_of(v_, 2),
                      v_size_ == 1 ? 1 : stride_of(v_, 3)};
    product(m, v_size_, n, {scores, n, 1}, v, y);
    for (int64_t i = 0; i < m; ++i) {
      if (hidden[i]) std::fill_n(y + i * v_size_, v_size_, T{0});
    }
  }

  // Converts a query's scores to weights. Returns false if all keys are masked.
  bool weigh(int64_t batch, int64_t head, int64_t query, T* scores, int64_t n) const {
    static const SoftmaxRow<T> softmax;
    static const RowFunction<T> tanh(TENON_OP_tanh);
    if (softcap_ > 0) {
      for (int64_t j = 0; j < n; ++j) scores[j] /= softcap_;
      tanh(scores, scores, n);
      for (int64_t j = 0; j < n; ++j) scores[j] *= softcap_;
    }
    const int64_t met = is_causal_ ? std::min(query + 1, n) : n;
    std::fill(scores + met, scores + n, T{0});
    if (has_input(launch_, 3) && !Mask(launch_.inputs[3]).add(batch, head, query, scores, met)) {
      std::fill_n(scores, met, T{0});
      return false;
    }
    softmax.softmax(scores, scores, met);
    return true;
  }

  static const T* at(const tenon_view& view, int64_t batch, int64_t head) {
    return data<const T>(view) + batch * stride_of(view, 0) + head * stride_of(view, 1);
  }

  static void product(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b,
                      T* c) {
    if (k == 0) {
      std::fill_n(c, m * n, T{0});
    } else {
      multiply_part(int64_t{0}, m, int64_t{0}, n, k, a, b, c, n, false);
    }
  }

  const tenon_launch& launch_;
  const tenon_view &q_, &k_, &v_;
  int64_t heads_, queries_, keys_, size_, v_size_;
  bool is_causal_;
  T scale_, softcap_;
};

}  // namespace

Prepared prepare_attention(const Request& request) {
  const auto attrs = request.attrs<tenon_attention_attrs>();
  return through_float(request,
                       [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                         Attention<T>(launch, attrs).run(*pool);
                       });
}

}  // namespace tenon_simd
