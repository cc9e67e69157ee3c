// lstm_cell: two products into one buffer of gates, and the cell in one pass over it.

#include "plugins/cpu/kernels/dense_input.h"
#include "plugins/cpu/kernels/multiply.h"
#include "plugins/cpu/kernels/through_float.h"

namespace tenon_cpu {
namespace {

template <class T>
Matrix<T> transposed(const tenon_view& view) {
  return {data<const T>(view), stride_of(view, 1), stride_of(view, 0)};
}

template <class T>
Matrix<T> matrix(const tenon_view& view) {
  return {data<const T>(view), stride_of(view, 0), view.sizes[1] == 1 ? 1 : stride_of(view, 1)};
}

template <class T>
void lstm_cell(const Pool& pool, const tenon_launch& launch) {
  static const Span sigmoid = find_span(TENON_OP_sigmoid, tenon_sdk::kDTypeOf<T>)->span;
  static const Span tanh = find_span(TENON_OP_tanh, tenon_sdk::kDTypeOf<T>)->span;
  const tenon_view &x = launch.inputs[0], &h = launch.inputs[1];
  const int64_t batch = x.sizes[0], features = x.sizes[1], hidden = h.sizes[1];
  const int64_t width = 4 * hidden;
  if (batch * hidden == 0) return;
  T* const gates = scratch_of<T>(kScratchC, batch * width);
  const bool has_bias = has_input(launch, 5);
  if (has_bias) {
    const DenseInput<T> bias(launch.inputs[5]);
    for (int64_t i = 0; i < batch; ++i) {
      for (int64_t j = 0; j < width; ++j) gates[i * width + j] = bias[j] + bias[width + j];
    }
  }
  multiply(pool, batch, width, features, matrix<T>(x), transposed<T>(launch.inputs[3]), gates,
           width, has_bias);
  multiply(pool, batch, width, hidden, matrix<T>(h), transposed<T>(launch.inputs[4]), gates, width,
           true);

  const DenseInput<T> c(launch.inputs[2]);
  T* const new_h = data<T>(launch.outputs[0]);
  const bool wants_c = launch.n_outputs > 1 && is_present(launch.outputs[1]);
  const auto apply = [](Span span, const T* from, T* to, int64_t n) {
    const void* in[] = {from};
    const size_t step[] = {1};
    span(in, step, to, static_cast<size_t>(n), {});
  };
  for (int64_t i = 0; i < batch; ++i) {
    T* const row = gates + i * width;  // Input, output, forget, cell.
    apply(sigmoid, row, row, 3 * hidden);
    apply(tanh, row + 3 * hidden, row + 3 * hidden, hidden);
    const T* const old_c = c.data() + i * hidden;
    T* const cell = wants_c ? data<T>(launch.outputs[1]) + i * hidden : row;
    T* const out = new_h + i * hidden;
    for (int64_t j = 0; j < hidden; ++j) {
      cell[j] = row[2 * hidden + j] * old_c[j] + row[j] * row[3 * hidden + j];
    }
    apply(tanh, cell, out, hidden);
    for (int64_t j = 0; j < hidden; ++j) out[j] *= row[hidden + j];
  }
}

}  // namespace

Prepared prepare_lstm_cell(const Request& request) {
  return through_float(request,
                       [pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                         lstm_cell<T>(*pool, launch);
                       });
}

}  // namespace tenon_cpu
