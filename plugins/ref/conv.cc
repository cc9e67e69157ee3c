// conv and its derivative with respect to the filter.

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/ref/window.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {

using tenon_sdk::data;
using tenon_sdk::dispatch;
using tenon_sdk::Floats;

Prepared prepare_conv(const Request& request) {
  const auto attrs = request.attrs<tenon_conv_attrs>({.group = 1});
  const Window window(attrs, request.input(0).rank);
  const int64_t group = attrs.group;
  return dispatch<Floats>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [window, group](const tenon_launch& launch) {
      const Planes x(launch.inputs[0]), w(launch.inputs[1]), y(launch.outputs[0]);
      const T* px = data<const T>(launch.inputs[0]);
      const T* pw = data<const T>(launch.inputs[1]);
      T* py = data<T>(launch.outputs[0]);
      const bool has_bias = launch.n_inputs > 2 && tenon_sdk::is_present(launch.inputs[2]);
      const int64_t out_of_group = y.channels / group;  // Output channels per group.

      for (int64_t n = 0; n < y.batch; ++n) {
        for (int64_t out = 0; out < y.channels; ++out) {
          // The first input channel of the group of output channel `out`.
          const int64_t first = out / out_of_group * w.channels;
          for_each_position(y.sizes, [&](const Spatial& p) {
            Wide<T> sum = 0;
            for (int64_t c = 0; c < w.channels; ++c) {
              for_each_position(w.sizes, [&](const Spatial& k) {
                Spatial found;
                if (!window.find(p, k, x.sizes, found)) return;
                sum += widen<Wide<T>>(px[x.offset(n, first + c, found)]) *
                       widen<Wide<T>>(pw[w.offset(out, c, k)]);
              });
            }
            if (has_bias) {
              const tenon_view& bias = launch.inputs[2];
              sum += widen<Wide<T>>(data<const T>(bias)[out * bias.strides[0]]);
            }
            py[y.offset(n, out, p)] = narrow<T>(sum);
          });
        }
      }
    });
  });
}

// dw[out, c, k] is the sum, over batch and output positions, of dy times the element of x under
// filter tap k.
Prepared prepare_conv_backward_filter(const Request& request) {
  const auto attrs = request.attrs<tenon_conv_backward_filter_attrs>({.group = 1});
  const Window window(attrs, request.input(0).rank);
  const int64_t group = attrs.group;
  return dispatch<Floats>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [window, group](const tenon_launch& launch) {
      const Planes x(launch.inputs[0]), dy(launch.inputs[1]), dw(launch.outputs[0]);
      const T* px = data<const T>(launch.inputs[0]);
      const T* pdy = data<const T>(launch.inputs[1]);
      T* pdw = data<T>(launch.outputs[0]);
      const int64_t out_of_group = dy.channels / group;

      for (int64_t out = 0; out < dy.channels; ++out) {
        const int64_t first = out / out_of_group * dw.channels;
        for (int64_t c = 0; c < dw.channels; ++c) {
          for_each_position(dw.sizes, [&](const Spatial& k) {
            Wide<T> sum = 0;
            for (int64_t n = 0; n < dy.batch; ++n) {
              for_each_position(dy.sizes, [&](const Spatial& p) {
                Spatial found;
                if (!window.find(p, k, x.sizes, found)) return;
                sum += widen<Wide<T>>(px[x.offset(n, first + c, found)]) *
                       widen<Wide<T>>(pdy[dy.offset(n, out, p)]);
              });
            }
            pdw[dw.offset(out, c, k)] = narrow<T>(sum);
          });
        }
      }
    });
  });
}

}  // namespace tenon_ref
