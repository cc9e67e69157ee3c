#include "core/ops/optimizers/optimizer.h"

#include <cmath>

namespace tenon {

// Checks constraints C1 to C3 of every optimizer. `names` names the inputs after the parameter that
// must have its type, and input `lr_index` is the learning rate.
void require_optimizer_inputs(TypeSpan in, std::initializer_list<const char*> names,
                              size_t lr_index) {
  const TensorType& p = in[0];
  require(is_floating(p.dtype), "C1: p must be floating point, but is {}", p.dtype);
  size_t i = 1;
  for (const char* name : names) {
    require(in[i].dtype == p.dtype && in[i].shape == p.shape,
            "C2: {} must have the type of p: {}, but is {}", name, p, in[i]);
    ++i;
  }
  require(is_floating(in[lr_index].dtype) && in[lr_index].rank() == 0,
          "C3: lr must be floating point and 0-d, but is {}", in[lr_index]);
}

// Requires 0 <= value < 1, for decay rates.
void require_decay(double value, const char* name, std::string_view label) {
  require(value >= 0 && value < 1, "{}: {} must be in [0, 1), but is {}", label, name, value);
}

// Requires epsilon, `value`, not to be negative.
void require_epsilon(double value, std::string_view label) {
  require(value >= 0, "{}: epsilon must not be negative, but is {}", label, value);
}

// Checks constraints C4 to C6 of adam, adamw and lamb on `step`, the betas and epsilon.
void require_moments(const TensorType& step, double beta1, double beta2, double epsilon) {
  require(is_numeric(step.dtype) && step.rank() == 0, "C4: step must be a 0-d number, but is {}",
          step);
  require_decay(beta1, "beta1", "C5");
  require_decay(beta2, "beta2", "C5");
  require_epsilon(epsilon, "C6");
}

// Returns 1 - beta^step, which corrects the bias of a moving average that starts at zero. expm1
// stays accurate if beta^step is close to 1.
static Tensor bias_correction(double beta, const Tensor& step) {
  return -expm1(std::log(beta) * step);
}

// Updates the moving averages m and v with the gradient g of one step.
Moments next_moments(const Tensor& g, const Tensor& m, const Tensor& v, const Tensor& step,
                     double beta1, double beta2, double epsilon) {
  Moments next;
  next.m = beta1 * m + (1 - beta1) * g;
  next.v = beta2 * v + (1 - beta2) * (g * g);
  next.weight = bias_correction(beta1, step);
  next.size = sqrt(next.v / bias_correction(beta2, step)) + epsilon;
  return next;
}

// Casts the first n inputs to the compute dtype.
Tensors widen_inputs(TensorSpan in, size_t n) {
  const DType wide = wide_dtype(in[0]->type.dtype);
  Tensors result;
  for (size_t i = 0; i < n; ++i) result.push_back(to_dtype(in[i], wide));
  return result;
}

// Casts the results to the dtype of the parameter.
Tensors narrow_results(Tensors results, DType dtype) {
  for (Tensor& result : results) result = to_dtype(result, dtype);
  return results;
}

}  // namespace tenon
