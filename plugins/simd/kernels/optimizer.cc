// sgd, momentum, adam and adamw: one pass over parameter, gradient and states.

#include <cmath>

#include "plugins/simd/kernels/dense_input.h"
#include "plugins/simd/kernels/through_float.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 64 * 1024;

// An output and an input that alias have the same elements at each index, so iterations are
// independent. With this many pointers, the compiler vectorises loops only with this pragma.
#if defined(__clang__)
#define TENON_CPU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TENON_CPU_INDEPENDENT _Pragma("GCC ivdep")
#endif

struct AdamRates {
  double beta1, beta2, epsilon;
  double weight_decay = 0;
};

// Computes a step of adam or adamw.
template <class T>
void adam(const Pool& pool, const tenon_launch& launch, const AdamRates& attrs) {
  const DenseInput<T> p(launch.inputs[0]), g(launch.inputs[1]), m(launch.inputs[2]),
      v(launch.inputs[3]);
  const double step = read_scalar(launch.inputs[4]), lr = read_scalar(launch.inputs[5]);
  // expm1 keeps the digits that 1 - beta^step would lose if beta^step is close to 1.
  const auto weight = [&](double beta) { return -std::expm1(std::log(beta) * step); };
  const T rate = static_cast<T>(lr / weight(attrs.beta1));
  const T scale = static_cast<T>(1 / weight(attrs.beta2));
  const T beta1 = static_cast<T>(attrs.beta1), rest1 = static_cast<T>(1 - attrs.beta1);
  const T beta2 = static_cast<T>(attrs.beta2), rest2 = static_cast<T>(1 - attrs.beta2);
  const T epsilon = static_cast<T>(attrs.epsilon);
  // The factor of the old parameter. It is 1 in adam, which has no decoupled weight decay.
  const T kept = static_cast<T>(1 - lr * attrs.weight_decay);
  T* const new_p = data<T>(launch.outputs[0]);
  T* const new_m = data<T>(launch.outputs[1]);
  T* const new_v = data<T>(launch.outputs[2]);
  pool.parallel_ranges(count(launch.outputs[0]), kGrain, [&](int64_t begin, int64_t end) {
    const T *from_p = p.data(), *from_g = g.data(), *from_m = m.data(), *from_v = v.data();
    TENON_CPU_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) {
      const T gradient = from_g[i];
      const T mean = beta1 * from_m[i] + rest1 * gradient;
      const T square = beta2 * from_v[i] + rest2 * (gradient * gradient);
      new_p[i] = kept * from_p[i] - rate * mean / (std::sqrt(square * scale) + epsilon);
      new_m[i] = mean;
      new_v[i] = square;
    }
  });
}

template <class T>
void momentum(const Pool& pool, const tenon_launch& launch, const tenon_momentum_attrs& attrs) {
  const DenseInput<T> p(launch.inputs[0]), g(launch.inputs[1]), v(launch.inputs[2]);
  const T lr = static_cast<T>(read_scalar(launch.inputs[3]));
  const T kept = static_cast<T>(attrs.momentum);
  T* const new_p = data<T>(launch.outputs[0]);
  T* const new_v = data<T>(launch.outputs[1]);
  pool.parallel_ranges(count(launch.outputs[0]), kGrain, [&](int64_t begin, int64_t end) {
    const T *from_p = p.data(), *from_g = g.data(), *from_v = v.data();
    TENON_CPU_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) {
      const T velocity = kept * from_v[i] + from_g[i];
      const T step = attrs.nesterov ? from_g[i] + kept * velocity : velocity;
      new_p[i] = from_p[i] - lr * step;
      new_v[i] = velocity;
    }
  });
}

template <class T>
void sgd(const Pool& pool, const tenon_launch& launch) {
  const DenseInput<T> p(launch.inputs[0]), g(launch.inputs[1]);
  const T lr = static_cast<T>(read_scalar(launch.inputs[2]));
  T* const new_p = data<T>(launch.outputs[0]);
  pool.parallel_ranges(count(launch.outputs[0]), kGrain, [&](int64_t begin, int64_t end) {
    const T *from_p = p.data(), *from_g = g.data();
    TENON_CPU_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) new_p[i] = from_p[i] - lr * from_g[i];
  });
}

// The operands of an optimizer whose first `n_inputs` inputs have the shape of the parameter. Every
// element is computed independently.
RowOperands elements_of(const Request& request, uint32_t n_inputs) {
  return {.n_axes = request.input(0).rank,
          .inputs = (1u << n_inputs) - 1,
          .outputs = (1u << request.n_outputs()) - 1};
}

// Permits outputs to alias inputs, unless an input is strided. An output element depends only on
// the inputs' elements at the same index.
Prepared permit_aliasing(const Request& request, Prepared prepared) {
  for (size_t i = 0; i < request.n_inputs(); ++i) {
    if (request.input(i).strides == TENON_STRIDES_STRIDED) return prepared;
  }
  prepared.traits |= TENON_KERNEL_MAY_ALIAS;
  return prepared;
}

// Prepares adam or adamw with these rates.
Prepared prepare_adam_kernel(const Request& request, const AdamRates& rates) {
  return permit_aliasing(request, through_float(request, elements_of(request, 4),
                                                [=, pool = &pool_of(request)]<class T>(
                                                    Type<T>, const tenon_launch& launch) {
                                                  adam<T>(*pool, launch, rates);
                                                }));
}

}  // namespace

Prepared prepare_adam(const Request& request) {
  const auto attrs =
      request.attrs<tenon_adam_attrs>({.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8});
  return prepare_adam_kernel(request, {attrs.beta1, attrs.beta2, attrs.epsilon});
}

Prepared prepare_adamw(const Request& request) {
  const auto attrs = request.attrs<tenon_adamw_attrs>(
      {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 0.01});
  return prepare_adam_kernel(request,
                             {attrs.beta1, attrs.beta2, attrs.epsilon, attrs.weight_decay});
}

Prepared prepare_momentum(const Request& request) {
  const auto attrs = request.attrs<tenon_momentum_attrs>({.momentum = 0.9});
  return permit_aliasing(request, through_float(request, elements_of(request, 3),
                                                [=, pool = &pool_of(request)]<class T>(
                                                    Type<T>, const tenon_launch& launch) {
                                                  momentum<T>(*pool, launch, attrs);
                                                }));
}

Prepared prepare_sgd(const Request& request) {
  return permit_aliasing(
      request, through_float(request, elements_of(request, 2),
                             [pool = &pool_of(request)]<class T>(
                                 Type<T>, const tenon_launch& launch) { sgd<T>(*pool, launch); }));
}

}  // namespace tenon_simd
