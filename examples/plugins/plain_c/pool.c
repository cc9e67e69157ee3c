/* max_pool of float32, one channel at a time. */

#include <math.h>

#include "rows.h"
#include "window.h"

typedef struct best {
  float value;
  int64_t at; /* Index of `value` in the channel; -1 if no element was read yet. */
} best;

/* Returns the maximum in a window: the first NaN or, if there is none, the first of the largest
 * elements. Padding is never the maximum, and every window contains an element. */
static best best_of(const plain_window* window, const plain_planes* planes, const float* x,
                    const int64_t* place) {
  const int64_t *taps = window->taps, *sizes = planes->sizes;
  best found = {0, -1};
  for (int64_t k0 = 0; k0 < taps[0]; ++k0) {
    const int64_t i = plain_window_input_index(window, 0, place[0], k0, sizes[0]);
    for (int64_t k1 = 0; i >= 0 && k1 < taps[1]; ++k1) {
      const int64_t j = plain_window_input_index(window, 1, place[1], k1, sizes[1]);
      for (int64_t k2 = 0; j >= 0 && k2 < taps[2]; ++k2) {
        const int64_t k = plain_window_input_index(window, 2, place[2], k2, sizes[2]);
        if (k < 0) continue;
        const int64_t at = (i * sizes[1] + j) * sizes[2] + k;
        if (found.at >= 0 && (isnan(found.value) || x[at] <= found.value)) continue;
        found.value = x[at];
        found.at = at;
      }
    }
  }
  return found;
}

/* Computes the maxima and, as the second output, the index of each maximum in x over all axes. */
static void run(const tenon_kernel_p* self, const tenon_launch* launch) {
  const plain_planes x = plain_planes_of(&launch->inputs[0]);
  const plain_planes y = plain_planes_of(&launch->outputs[0]);
  const float* px = launch->inputs[0].data;
  float* py = launch->outputs[0].data;
  const bool wants_indices = launch->n_outputs > 1 && plain_is_present(&launch->outputs[1]);
  int64_t* indices = wants_indices ? launch->outputs[1].data : NULL;
  for (int64_t channel = 0; channel < y.batch * y.channels; ++channel) {
    const int64_t first = channel * x.area;
    int64_t at[kSpatial];
    for (at[0] = 0; at[0] < y.sizes[0]; ++at[0]) {
      for (at[1] = 0; at[1] < y.sizes[1]; ++at[1]) {
        for (at[2] = 0; at[2] < y.sizes[2]; ++at[2]) {
          const best found = best_of(&self->window, &x, px + first, at);
          *py++ = found.value;
          if (indices) *indices++ = first + found.at;
        }
      }
    }
  }
}

PLAIN_PREPARE(plain_prepare_max_pool) {
  tenon_max_pool_attrs attrs = TENON_MAX_POOL_ATTRS_DEFAULT;
  const size_t rank = request->inputs[0].rank;
  tenon_kernel_p made = {.run = run, .window = kPlainWindow};
  plain_read_attrs(request, &attrs, sizeof attrs);
  if (request->inputs[0].strides == TENON_STRIDES_UNIFORM) {
    *out_reason = tenon_str("does not support a uniform input (one element broadcast)");
    return NULL;
  }
  plain_window_read_list(made.window.taps, attrs.kernel_shape, attrs.n_kernel_shape, rank);
  plain_window_read_list(made.window.steps, attrs.strides, attrs.n_strides, rank);
  plain_window_read_list(made.window.pads, attrs.pads, attrs.n_pads / 2, rank);
  plain_window_read_list(made.window.dilations, attrs.dilations, attrs.n_dilations, rank);
  return plain_make_kernel(device, &made, TENON_KERNEL_DETERMINISTIC, out_kernel, out_traits);
}
