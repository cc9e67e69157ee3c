/* conv of float32, and its derivative with respect to the filter. The derivative with respect to
 * the input is another conv, which the host composes.
 *
 * Both are matrix products of an unfolded input (im2col): a matrix with one element for each
 * output position and each tap of the window. The workspace holds it for one group of channels
 * of one image. */

#include "rows.h"
#include "window.h"

/* Unfolds `channels` channels, beginning at `x`, for all positions of an output of the given sizes.
 * Padding and gaps become zeros. */
static void unfold(const plain_window* window, const int64_t* taps, const float* x,
                   const plain_planes* planes, int64_t channels, const int64_t* places,
                   int64_t tap_step, int64_t place_step, float* to) {
  const int64_t* sizes = planes->sizes;
  const int64_t n_rows = channels * taps[0] * taps[1] * taps[2];
  for (int64_t tap = 0; tap < n_rows; ++tap) {
    const int64_t k2 = tap % taps[2], k1 = tap / taps[2] % taps[1];
    const int64_t k0 = tap / taps[2] / taps[1] % taps[0];
    const float* channel = x + tap / (taps[0] * taps[1] * taps[2]) * planes->area;
    float* out = to + tap * tap_step;
    for (int64_t p0 = 0; p0 < places[0]; ++p0) {
      const int64_t i = plain_window_input_index(window, 0, p0, k0, sizes[0]);
      for (int64_t p1 = 0; p1 < places[1]; ++p1) {
        const int64_t j = plain_window_input_index(window, 1, p1, k1, sizes[1]);
        const float* row = i < 0 || j < 0 ? NULL : channel + (i * sizes[1] + j) * sizes[2];
        for (int64_t p2 = 0; p2 < places[2]; ++p2, out += place_step) {
          const int64_t k = plain_window_input_index(window, 2, p2, k2, sizes[2]);
          *out = row && k >= 0 ? row[k] : 0;
        }
      }
    }
  }
}

/* Returns the size in bytes of the unfolded input for this filter and output. */
static uint64_t unfolded_size(const tenon_view* filter, const tenon_view* places) {
  const plain_planes w = plain_planes_of(filter), y = plain_planes_of(places);
  return (uint64_t)(w.channels * w.area * y.area) * sizeof(float);
}

/* ---- conv --------------------------------------------------------------------------------------
 */

static uint64_t conv_workspace(const tenon_launch* launch) {
  return unfolded_size(&launch->inputs[1], &launch->outputs[0]);
}

/* Computes for each group the product of the filter (one row per output channel) and the unfolded
 * input. */
static void run_conv(const tenon_kernel_p* self, const tenon_launch* launch) {
  const plain_planes x = plain_planes_of(&launch->inputs[0]);
  const plain_planes w = plain_planes_of(&launch->inputs[1]);
  const plain_planes y = plain_planes_of(&launch->outputs[0]);
  const float *px = launch->inputs[0].data, *pw = launch->inputs[1].data;
  const tenon_view* bias =
      launch->n_inputs > 2 && plain_is_present(&launch->inputs[2]) ? &launch->inputs[2] : NULL;
  const int64_t channels = y.channels / self->groups, taps = w.channels * w.area;
  float *py = launch->outputs[0].data, *unfolded = launch->workspace.data;
  for (int64_t n = 0; n < y.batch; ++n) {
    for (int64_t group = 0; group < self->groups; ++group, py += channels * y.area) {
      for (int64_t i = 0; i < channels * y.area; ++i) {
        const int64_t out = group * channels + i / y.area;
        py[i] = bias ? ((const float*)bias->data)[plain_strides(bias) ? out : 0] : 0;
      }
      unfold(&self->window, w.sizes, px + (n * x.channels + group * w.channels) * x.area, &x,
             w.channels, y.sizes, y.area, 1, unfolded);
      plain_multiply_add(pw + group * channels * taps, unfolded, py, channels, taps, y.area);
    }
  }
}

/* ---- its derivative with respect to the filter -------------------------------------------------
 */

static uint64_t filter_workspace(const tenon_launch* launch) {
  return unfolded_size(&launch->outputs[0], &launch->inputs[1]);
}

/* Computes for each group, summed over images, the product of dy (one row per output channel) and
 * the unfolded input (one column per tap). */
static void run_conv_backward_filter(const tenon_kernel_p* self, const tenon_launch* launch) {
  const plain_planes x = plain_planes_of(&launch->inputs[0]);
  const plain_planes dy = plain_planes_of(&launch->inputs[1]);
  const plain_planes dw = plain_planes_of(&launch->outputs[0]);
  const float *px = launch->inputs[0].data, *pdy = launch->inputs[1].data;
  const int64_t channels = dy.channels / self->groups, taps = dw.channels * dw.area;
  float *pdw = launch->outputs[0].data, *unfolded = launch->workspace.data;
  memset(pdw, 0, (size_t)plain_count(&launch->outputs[0]) * sizeof *pdw);
  for (int64_t n = 0; n < dy.batch; ++n) {
    for (int64_t group = 0; group < self->groups; ++group, pdy += channels * dy.area) {
      unfold(&self->window, dw.sizes, px + (n * x.channels + group * dw.channels) * x.area, &x,
             dw.channels, dy.sizes, 1, taps, unfolded);
      plain_multiply_add(pdy, unfolded, pdw + group * channels * taps, channels, dy.area, taps);
    }
  }
}

/* ---- preparing ---------------------------------------------------------------------------------
 */

/* Defines the prepare function of conv or of its derivative. */
#define PREPARE_CONV(name, attrs_type, defaults, run_function, workspace_function)               \
  PLAIN_PREPARE(name) {                                                                          \
    attrs_type attrs = defaults;                                                                 \
    const size_t rank = request->inputs[0].rank;                                                 \
    tenon_kernel_p made = {                                                                      \
        .run = run_function, .workspace = workspace_function, .window = kPlainWindow};           \
    if (request->inputs[0].strides == TENON_STRIDES_UNIFORM ||                                   \
        request->inputs[1].strides == TENON_STRIDES_UNIFORM) {                                   \
      *out_reason = tenon_str("does not support uniform operands (one element broadcast)");      \
      return NULL;                                                                               \
    }                                                                                            \
    plain_read_attrs(request, &attrs, sizeof attrs);                                             \
    plain_window_read_list(made.window.steps, attrs.strides, attrs.n_strides, rank);             \
    plain_window_read_list(made.window.pads, attrs.pads, attrs.n_pads / 2, rank);                \
    plain_window_read_list(made.window.dilations, attrs.dilations, attrs.n_dilations, rank);     \
    plain_window_read_list(made.window.gaps, attrs.lhs_dilation, attrs.n_lhs_dilation, rank);    \
    made.groups = attrs.group;                                                                   \
    return plain_make_kernel(device, &made, TENON_KERNEL_WORKSPACE | TENON_KERNEL_DETERMINISTIC, \
                             out_kernel, out_traits);                                            \
  }

PREPARE_CONV(plain_prepare_conv, tenon_conv_attrs, TENON_CONV_ATTRS_DEFAULT, run_conv,
             conv_workspace)
PREPARE_CONV(plain_prepare_conv_backward_filter, tenon_conv_backward_filter_attrs,
             TENON_CONV_BACKWARD_FILTER_ATTRS_DEFAULT, run_conv_backward_filter, filter_workspace)
