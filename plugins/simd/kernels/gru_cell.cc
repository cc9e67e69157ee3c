// gru_cell: computes the products of the input and of the state with their weight matrices into
// buffers of gates, then processes the gates in one pass.

#include "plugins/simd/kernels/cell.h"
#include "plugins/simd/kernels/through_float.h"

namespace tenon_simd {
namespace {

// Returns the biases of the update, reset and hidden gates: the sums of input and recurrent bias.
// If `linear_before_reset`, the reset gate scales the recurrent bias of the hidden gate, which is
// then a fourth bias instead of a term of the third.
template <class T>
std::vector<T> gate_biases(const tenon_launch& launch, int64_t hidden, bool linear_before_reset) {
  std::vector<T> added(static_cast<size_t>(4 * hidden), T{0});
  if (!has_input(launch, 4)) return added;
  const DenseInput<T> bias(launch.inputs[4]);
  for (int64_t j = 0; j < 3 * hidden; ++j) {
    const bool is_scaled = linear_before_reset && j >= 2 * hidden;
    const T beside_h = bias[3 * hidden + j];
    added[static_cast<size_t>(j)] = is_scaled ? bias[j] : bias[j] + beside_h;
    if (is_scaled) added[static_cast<size_t>(hidden + j)] = beside_h;
  }
  return added;
}

template <class T>
void gru_cell(const Pool& pool, const tenon_launch& launch, bool linear_before_reset) {
  static const RowFunction<T> sigmoid(TENON_OP_sigmoid), tanh(TENON_OP_tanh);
  const tenon_view &x = launch.inputs[0], &h = launch.inputs[1];
  const int64_t batch = x.sizes[0], features = x.sizes[1], hidden = h.sizes[1];
  const int64_t width = 3 * hidden;  // Gates: update, reset, hidden.
  if (batch * hidden == 0) return;
  T* const from_x = scratch_of<T>(kScratchC, 2 * batch * width);
  T* const from_h = from_x + batch * width;
  const Matrix<T> r = transposed<T>(launch.inputs[3]);
  multiply(pool, batch, width, features, matrix<T>(x), transposed<T>(launch.inputs[2]), from_x,
           width, false);
  multiply(pool, batch, linear_before_reset ? width : 2 * hidden, hidden, matrix<T>(h), r, from_h,
           width, false);

  const std::vector<T> biases = gate_biases<T>(launch, hidden, linear_before_reset);
  const T *const bias = biases.data(), *const scaled_bias = bias + width;
  const DenseInput<T> old(h);
  T* const out = data<T>(launch.outputs[0]);
  for (int64_t i = 0; i < batch; ++i) {
    T* const row = from_x + i * width;
    const T* const other = from_h + i * width;
    for (int64_t j = 0; j < 2 * hidden; ++j) row[j] += other[j] + bias[j];
    sigmoid(row, row, 2 * hidden);
    const T* const reset = row + hidden;
    T *const now = row + 2 * hidden, *const to = out + i * hidden;
    for (int64_t j = 0; j < hidden; ++j) {
      now[j] += bias[2 * hidden + j];
      if (linear_before_reset) {
        now[j] += reset[j] * (other[2 * hidden + j] + scaled_bias[j]);
      } else {
        to[j] = reset[j] * old[i * hidden + j];
      }
    }
  }
  if (!linear_before_reset) {  // The output holds the state scaled by the reset gate.
    const Matrix<T> r_hidden{r.data + 2 * hidden * r.column, r.row, r.column};
    multiply(pool, batch, hidden, hidden, Matrix<T>{out, hidden, 1}, r_hidden, from_x + 2 * hidden,
             width, true);
  }
  for (int64_t i = 0; i < batch; ++i) {
    const T* const update = from_x + i * width;
    T* const now = from_x + i * width + 2 * hidden;
    tanh(now, now, hidden);
    for (int64_t j = 0; j < hidden; ++j) {
      out[i * hidden + j] = (1 - update[j]) * now[j] + update[j] * old[i * hidden + j];
    }
  }
}

}  // namespace

Prepared prepare_gru_cell(const Request& request) {
  const bool linear_before_reset = request.attrs<tenon_gru_cell_attrs>().linear_before_reset;
  return through_float(request,
                       [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                         gru_cell<T>(*pool, launch, linear_before_reset);
                       });
}

}  // namespace tenon_simd
