// Softmax cross entropies. Computes the losses and log_softmax of the logits in one pass over rows.

#include "plugins/simd/kernels/dense_input.h"
#include "plugins/simd/kernels/multiply.h"
#include "plugins/simd/kernels/softmax.h"
#include "plugins/simd/kernels/through_float.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 8 * 1024;
constexpr int64_t kTile = 1024;  // Maximum number of elements of several rows.

// Runs a cross entropy. `loss_of(row, log_probs)` returns the loss of one example.
template <class T, class Loss>
void cross_entropy(const Pool& pool, const tenon_launch& launch, int32_t reduction,
                   const Loss& loss_of) {
  static const SoftmaxRow<T> row;
  const tenon_view& logits = launch.inputs[0];
  const int64_t n = logits.sizes[0], classes = logits.sizes[1];
  const DenseInput<T> x(logits);
  const bool wants_log_probs = launch.n_outputs > 1 && is_present(launch.outputs[1]);
  T* const log_probs = wants_log_probs ? data<T>(launch.outputs[1]) : nullptr;
  std::vector<T> losses(static_cast<size_t>(n));
  // Short rows are computed together, because each call of a span takes as long as many elements.
  const int64_t tile =
      std::clamp<int64_t>(kTile / std::max<int64_t>(1, classes), 1, SoftmaxRow<T>::kMaxRows);
  pool.parallel_tasks(n, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, classes)),
                      [&](int64_t begin, int64_t end) {
                        T* const scratch = scratch_of<T>(kScratchC, 2 * tile * classes);
                        for (int64_t i = begin; i < end; i += tile) {
                          const int64_t rows = std::min(tile, end - i);
                          T* const y =
                              wants_log_probs ? log_probs + i * classes : scratch + tile * classes;
                          row.log_softmax(x.data() + i * classes, y, rows, classes, scratch);
                          for (int64_t j = 0; j < rows; ++j) {
                            losses[static_cast<size_t>(i + j)] = loss_of(i + j, y + j * classes);
                          }
                        }
                      });
  T* const out = data<T>(launch.outputs[0]);
  if (reduction == TENON_REDUCTION_NONE) {
    std::copy(losses.begin(), losses.end(), out);
    return;
  }
  const Reducer& sum = *find_reducer(TENON_OP_sum, tenon_sdk::kDTypeOf<T>);
  const T total = n == 0 ? T{0} : reduce_run(sum, losses.data(), n);
  *out = reduction == TENON_REDUCTION_MEAN ? total / static_cast<T>(n) : total;
}

}  // namespace

// A label outside the classes is reported as a value error, and its loss is 0.
Prepared prepare_sparse_softmax_cross_entropy(const Request& request) {
  const int32_t reduction =
      request.attrs<tenon_sparse_softmax_cross_entropy_attrs>({.reduction = TENON_REDUCTION_MEAN})
          .reduction;
  return through_float(
      request, [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
        const tenon_view& labels = launch.inputs[1];
        const tenon_sdk::IndexReader label(labels);
        const int64_t stride = stride_of(labels, 0), classes = launch.inputs[0].sizes[1];
        cross_entropy<T>(*pool, launch, reduction, [&](int64_t i, const T* log_probs) {
          const int64_t at = tenon_sdk::wrap(label[i * stride], classes);
          if (at >= 0) return -log_probs[at];
          tenon_sdk::report_value_error(launch, label[i * stride], classes);
          return T{0};
        });
      });
}

Prepared prepare_softmax_cross_entropy(const Request& request) {
  const int32_t reduction =
      request.attrs<tenon_softmax_cross_entropy_attrs>({.reduction = TENON_REDUCTION_MEAN})
          .reduction;
  return through_float(
      request, [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
        const DenseInput<T> labels(launch.inputs[1]);
        const int64_t classes = launch.inputs[0].sizes[1];
        const Reducer& sum = *find_reducer(TENON_OP_sum, tenon_sdk::kDTypeOf<T>);
        cross_entropy<T>(*pool, launch, reduction, [&](int64_t i, const T* log_probs) {
          const T* const label = labels.data() + i * classes;
          T terms[kReduceBlock];
          const auto block = [&](int64_t begin) {
            const int64_t n = std::min(kReduceBlock, classes - begin);
            // A class with target 0 adds 0, even if its log probability is minus infinity.
            for (int64_t j = 0; j < n; ++j) {
              const T weight = label[begin + j];
              terms[j] = weight == 0 ? T{0} : weight * log_probs[begin + j];
            }
            T total;
            sum.block(terms, static_cast<size_t>(n), &total);
            return total;
          };
          if (classes <= kReduceBlock) return -block(0);
          BlockTree<T> tree(sum);
          for (int64_t begin = 0; begin < classes; begin += kReduceBlock) tree.add(block(begin));
          return -tree.result();
        });
      });
}

}  // namespace tenon_simd
