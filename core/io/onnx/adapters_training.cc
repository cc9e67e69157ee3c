// The optimizers of the domain ai.onnx.preview.training. Input 0 is the learning rate R, and input
// 1 the number of earlier updates T. Lists of equal length follow: the parameters, their gradients,
// and one or more lists of optimizer state.

#include <cmath>

#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {
namespace {

constexpr size_t kFirstList = 2;

// Splits the inputs after R and T into `n_lists` lists. `lists(l, i)` is element i of list l.
class Lists {
 public:
  Lists(const NodeCall& n, size_t n_lists) : n_(n) {
    require(n.n_inputs() > kFirstList && (n.n_inputs() - kFirstList) % n_lists == 0,
            "{} inputs cannot be split into R, T and {} lists of equal length", n.n_inputs(),
            n_lists);
    size_ = (n.n_inputs() - kFirstList) / n_lists;
  }
  size_t size() const { return size_; }
  const Tensor& operator()(size_t list, size_t i) const {
    return n_.in(kFirstList + list * size_ + i);
  }

 private:
  const NodeCall& n_;
  size_t size_ = 0;
};

enum List : size_t { kX, kG, kV, kH };

// Returns the gradient g plus that of an L2 penalty on x, norm_coefficient * x.
Tensor add_l2_gradient(const NodeCall& n, const Tensor& x, const Tensor& g) {
  return n.attr_float("norm_coefficient", 0) * x + g;
}

// Regroups results by list: the first results of all parameters, then the second ones, and so on.
Tensors regroup_by_list(const std::vector<Tensors>& results) {
  Tensors outputs;
  for (size_t list = 0; list < results[0].size(); ++list) {
    for (const Tensors& result : results) outputs.push_back(result[list]);
  }
  return outputs;
}

}  // namespace

Tensors adagrad(const NodeCall& n) {
  const Lists lists(n, 3);
  constexpr size_t kSquares = kV;  // Adagrad has one state: the sums of squares.
  const double decay = n.attr_float("decay_factor", 0), epsilon = n.attr_float("epsilon", 1e-6);
  const Tensor rate = n.in(0) / (1 + static_cast<double>(n.one_int(1)) * decay);
  std::vector<Tensors> results;
  for (size_t i = 0; i < lists.size(); ++i) {
    const Tensor& x = lists(kX, i);
    const Tensor g = add_l2_gradient(n, x, lists(kG, i));
    const Tensor h = lists(kSquares, i) + square(g);
    results.push_back({x - rate * g / (sqrt(h) + epsilon), h});
  }
  return regroup_by_list(results);
}

Tensors adam(const NodeCall& n) {
  const Lists lists(n, 4);
  const double alpha = n.attr_float("alpha", 0.9), beta = n.attr_float("beta", 0.999);
  const double epsilon = n.attr_float("epsilon", 1e-6);
  const double shrink = 1 - n.attr_float("norm_coefficient_post", 0);
  const auto t = static_cast<double>(n.one_int(1));
  const double correction = t > 0 ? std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t)) : 1;
  const Tensor rate = n.in(0) * correction;
  std::vector<Tensors> results;
  for (size_t i = 0; i < lists.size(); ++i) {
    const Tensor& x = lists(kX, i);
    const Tensor g = add_l2_gradient(n, x, lists(kG, i));
    const Tensor v = alpha * lists(kV, i) + (1 - alpha) * g;
    const Tensor h = beta * lists(kH, i) + (1 - beta) * square(g);
    results.push_back({shrink * (x - rate * v / (sqrt(h) + epsilon)), v, h});
  }
  return regroup_by_list(results);
}

Tensors momentum(const NodeCall& n) {
  const Lists lists(n, 3);
  const double alpha = n.attr_float("alpha", 0), beta = n.attr_float("beta", 0);
  const std::string mode = n.attr_text("mode", "");
  require(mode == "standard" || mode == "nesterov",
          "attribute mode must be \"standard\" or \"nesterov\", but is \"{}\"", mode);
  const double weight = n.one_int(1) > 0 ? beta : 1;
  std::vector<Tensors> results;
  for (size_t i = 0; i < lists.size(); ++i) {
    const Tensor& x = lists(kX, i);
    const Tensor g = add_l2_gradient(n, x, lists(kG, i));
    const Tensor v = alpha * lists(kV, i) + weight * g;
    const Tensor step = mode == "nesterov" ? g + alpha * v : v;
    results.push_back({x - n.in(0) * step, v});
  }
  return regroup_by_list(results);
}

}  // namespace tenon::onnx::adapters
