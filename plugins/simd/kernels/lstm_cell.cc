// lstm_cell: computes two matrix products into one buffer of gates, then processes the gates in one
// pass.

#include "plugins/simd/kernels/cell.h"
#include "plugins/simd/kernels/through_float.h"

namespace tenon_simd {
namespace {

template <class T>
void lstm_cell(const Pool& pool, const tenon_launch& launch) {
  static const RowFunction<T> sigmoid(TENON_OP_sigmoid), tanh(TENON_OP_tanh);
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
  for (int64_t i = 0; i < batch; ++i) {
    T* const row = gates + i * width;  // Gates: input, output, forget, cell.
    sigmoid(row, row, 3 * hidden);
    tanh(row + 3 * hidden, row + 3 * hidden, hidden);
    const T* const old_c = c.data() + i * hidden;
    T* const cell = wants_c ? data<T>(launch.outputs[1]) + i * hidden : row;
    T* const out = new_h + i * hidden;
    for (int64_t j = 0; j < hidden; ++j) {
      cell[j] = row[2 * hidden + j] * old_c[j] + row[j] * row[3 * hidden + j];
    }
    tanh(cell, out, hidden);
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

}  // namespace tenon_simd
