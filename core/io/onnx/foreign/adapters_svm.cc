// Support vector machines of ai.onnx.ml.

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/foreign/foreign.h"
#include "core/io/onnx/foreign/trees.h"
#include "core/trace/control/control.h"

namespace tenon::onnx::adapters {
namespace {

// The attributes that both ops have.
struct Machine {
  std::string kernel;
  double gamma = 0, coef0 = 0, degree = 0;
  std::vector<float> vectors, coefficients, rho;

  explicit Machine(const NodeCall& n)
      : kernel(n.attr_text("kernel_type", "LINEAR")),
        vectors(n.attr_floats("support_vectors")),
        coefficients(n.attr_floats("coefficients")),
        rho(n.attr_floats("rho")) {
    const std::vector<float> parameters = n.attr_floats("kernel_params");
    require(kernel == "LINEAR" || kernel == "POLY" || kernel == "RBF" || kernel == "SIGMOID",
            "attribute kernel_type must be \"LINEAR\", \"POLY\", \"RBF\" or \"SIGMOID\", but is "
            "\"{}\"",
            kernel);
    require(parameters.empty() || parameters.size() == 3,
            "attribute kernel_params must have three elements, but has {}", parameters.size());
    if (parameters.size() == 3) {
      gamma = parameters[0];
      coef0 = parameters[1];
      degree = parameters[2];
    }
  }

  // Returns the kernel of each row of x and each of `count` vectors, [N, count].
  Tensor apply(const Tensor& x, const std::vector<float>& of, int64_t count) const {
    const auto size = static_cast<int64_t>(of.size());
    require(count > 0 && size % count == 0 && x->shape()[1] == size / count,
            "{} numbers of {} vectors do not fit the features of X, {}", size, count, x->type);
    const Tensor v = upload_floats(of, {count, size / count});
    const Tensor products = matmul(x, v, {.transpose_b = true});
    if (kernel == "LINEAR") return products;
    if (kernel == "POLY") return pow(products * gamma + coef0, number(degree));
    if (kernel == "SIGMOID") return tanh(products * gamma + coef0);
    const Tensor differences = expand_dims(x, {1}) - expand_dims(v, {0});
    return exp(sum(square(differences), {.axes = {2}}) * -gamma);
  }
};

// Returns X as a float32 matrix.
Tensor rows_of(const NodeCall& n) {
  const Tensor x = to_dtype(n.in(0), DType::kF32);
  require(x->rank() == 2, "X must have two axes, but is {}", x->type);
  return x;
}

void require_floats(std::string_view name, const std::vector<float>& values, int64_t size) {
  require(static_cast<int64_t>(values.size()) == size,
          "attribute {} must have {} elements, but has {}", name, size, values.size());
}

}  // namespace

Tensors svm_regressor(const NodeCall& n) {
  const Machine machine(n);
  const int64_t count = n.attr("n_supports", 0);
  const std::string transform = n.attr_text("post_transform", "NONE");
  require_floats("rho", machine.rho, 1);
  const Tensor x = rows_of(n);
  Tensor y;
  if (count > 0) {
    require_floats("coefficients", machine.coefficients, count);
    y = matmul(machine.apply(x, machine.vectors, count),
               upload_floats(machine.coefficients, {count, 1}));
  } else {
    // A linear model: its coefficients are the only vector.
    y = machine.apply(x, machine.coefficients, 1);
  }
  y = y + double{machine.rho[0]};
  if (n.flag("one_class", false)) y = where(greater(y, number(0)), number(1), number(-1));
  return {transform_scores(to_dtype(y, DType::kF32), transform)};
}

namespace {

constexpr int64_t kMaxClasses = 256;

// The classifiers of each pair of classes, in the order (0, 1), (0, 2), ..., (1, 2), ....
struct Pairs {
  std::vector<std::pair<int64_t, int64_t>> classes;

  explicit Pairs(int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = i + 1; k < n; ++k) classes.emplace_back(i, k);
    }
  }
  size_t size() const { return classes.size(); }
};

// Returns the decision value of each pair, [N, pairs]. Row r of the coefficients holds those of
// each vector against the r-th of the other classes.
Tensor decide_pairs(const Machine& machine, const Pairs& pairs, const Ints& counts,
                    const Tensor& x) {
  const auto n = static_cast<int64_t>(counts.size());
  Ints starts;
  int64_t total = 0;
  for (const int64_t count : counts) {
    require(count >= 0 && count < (int64_t{1} << 31),
            "elements of vectors_per_class must be in [0, 2^31), but one is {}", count);
    starts.push_back(total);
    total += count;
  }
  require_floats("coefficients", machine.coefficients, (n - 1) * total);
  require_floats("rho", machine.rho, static_cast<int64_t>(pairs.size()));
  std::vector<float> weights(static_cast<size_t>(total) * pairs.size(), 0);
  for (size_t p = 0; p < pairs.size(); ++p) {
    const auto [i, k] = pairs.classes[p];
    const auto copy = [&](int64_t of, int64_t row) {
      for (int64_t v = starts[static_cast<size_t>(of)], end = v + counts[static_cast<size_t>(of)];
           v < end; ++v) {
        weights[static_cast<size_t>(v) * pairs.size() + p] =
            machine.coefficients[static_cast<size_t>(row * total + v)];
      }
    };
    copy(i, k - 1);
    copy(k, i);
  }
  const auto n_pairs = static_cast<int64_t>(pairs.size());
  return matmul(machine.apply(x, machine.vectors, total),
                upload_floats(weights, {total, n_pairs})) +
         upload_floats(machine.rho, {n_pairs});
}

// Returns the number of pairs that each class wins, [N, classes].
Tensor count_votes(const Pairs& pairs, const Tensor& decisions, int64_t n) {
  std::vector<float> to_first(pairs.size() * static_cast<size_t>(n), 0), to_second = to_first;
  for (size_t p = 0; p < pairs.size(); ++p) {
    const size_t row = p * static_cast<size_t>(n);
    to_first[row + static_cast<size_t>(pairs.classes[p].first)] = 1;
    to_second[row + static_cast<size_t>(pairs.classes[p].second)] = 1;
  }
  const Dims shape = {static_cast<int64_t>(pairs.size()), n};
  const Tensor wins = cast(greater(decisions, number(0)), DType::kF32);
  return matmul(wins, upload_floats(to_first, shape)) +
         matmul(1.0 - wins, upload_floats(to_second, shape));
}

// Couples the probabilities of pairs, by the iteration of Wu, Lin and Weng (2004), method 2, which
// libsvm and onnxruntime run for at most 100 rounds. `r[i][k]` is the probability [N, 1] of class i
// against class k.
Tensor couple(const std::vector<Tensors>& r, int64_t n) {
  const auto size = static_cast<size_t>(n);
  std::vector<Tensors> q(size, Tensors(size, Tensor()));
  for (size_t i = 0; i < size; ++i) {
    for (size_t k = 0; k < size; ++k) {
      if (i != k) q[i][k] = neg(r[k][i] * r[i][k]);
      if (i != k) q[i][i] = q[i][i] ? q[i][i] + square(r[k][i]) : square(r[k][i]);
    }
  }
  const auto join = [](const Tensors& parts) { return concat(parts, 1); };
  Tensors rows;  // Row i of Q, [N, 1, classes].
  for (const Tensors& row : q) rows.push_back(expand_dims(join(row), {1}));
  const Tensor matrix = concat(rows, 1);
  Tensors diagonals;
  for (size_t i = 0; i < size; ++i) diagonals.push_back(q[i][i]);
  const Tensor diagonal = join(diagonals);
  const double tolerance = 0.005 / static_cast<double>(n);
  const Along row_sum = {.axes = {1}, .keepdims = true};
  const auto products = [&](const Tensor& p) {
    return squeeze(matmul(matrix, expand_dims(p, {2})), {2});
  };
  const auto is_open = [&](const Tensor& p, const Tensor& qp) {
    return greater_equal(max(abs(qp - sum(p * qp, row_sum)), row_sum), number(tolerance));
  };
  const Block go = [&](TensorSpan in) {
    const Tensor any = greater(max(cast(in[2], DType::kI32)), integer(0));
    return Tensors{logical_and(less(in[0], integer(100)), any)};
  };
  const Block step = [&](TensorSpan in) {
    Tensor p = in[1], qp = products(p), pqp = sum(p * qp, row_sum);
    for (int64_t i = 0; i < n; ++i) {
      const Tensor pivot = column(diagonal, i);
      const Tensor change = (pqp - column(qp, i)) / pivot, scale = 1.0 + change;
      std::vector<float> one(size, 0);
      one[static_cast<size_t>(i)] = 1;
      const Tensor unit = upload_floats(one, {n});
      pqp = (pqp + change * (change * pivot + column(qp, i) * 2.0)) / (scale * scale);
      const Tensor q_row =
          squeeze(slice(matrix, {.starts = {i}, .ends = {i + 1}, .axes = {1}}), {1});
      qp = (qp + change * q_row) / scale;
      p = (p + change * unit) / scale;
    }
    const Tensor next = where(in[2], p, in[1]);
    return Tensors{in[0] + integer(1), next, is_open(next, products(next))};
  };
  const Dims shape = r[0][1]->shape();
  const Tensor first = fill(number(1.0 / static_cast<double>(n)), {shape[0], n}, DType::kF32);
  const Tensor carried[] = {fill(integer(0), Dims{}, DType::kI64), first,
                            is_open(first, products(first))};
  return while_loop(current_scope(), go, step, carried)[1];
}

// Returns the probabilities of the classes, [N, classes], of decision values.
Tensor probabilities(const Pairs& pairs, const Tensor& decisions, int64_t n,
                     const std::vector<float>& prob_a, const std::vector<float>& prob_b) {
  constexpr double kMin = 1e-7;
  const auto n_pairs = static_cast<int64_t>(pairs.size());
  const Tensor scaled =
      decisions * upload_floats(prob_a, {n_pairs}) + upload_floats(prob_b, {n_pairs});
  const Tensor of_first = clip(sigmoid(neg(scaled)), number(kMin), number(1 - kMin));
  const auto size = static_cast<size_t>(n);
  std::vector<Tensors> r(size, Tensors(size, Tensor()));
  for (size_t p = 0; p < pairs.size(); ++p) {
    const auto i = static_cast<size_t>(pairs.classes[p].first),
               k = static_cast<size_t>(pairs.classes[p].second);
    r[i][k] = column(of_first, static_cast<int64_t>(p));
    r[k][i] = 1.0 - r[i][k];
  }
  return couple(r, n);
}

// A classifier without support vectors: row i of the coefficients is the vector of class i.
Tensors linear_machine(const NodeCall& n, const Machine& machine, const Ints& classes) {
  require_floats("rho", machine.rho, 1);
  const Tensor scores =
      machine.apply(rows_of(n), machine.coefficients, static_cast<int64_t>(classes.size())) +
      double{machine.rho[0]};
  const Tensor best = call_named1("argmax", {{"axis", int64_t{1}}}, {scores});
  return {gather(host_ints(classes), best, 0),
          transform_scores(scores, n.attr_text("post_transform", "NONE"))};
}

}  // namespace

// Returns the labels, by the votes of the pairs, and either the probabilities of the classes or,
// without prob_a, the decision values.
Tensors svm_classifier(const NodeCall& n) {
  require_code(n.attr_texts("classlabels_strings").empty(), Code::kUnimplemented,
               "labels that are strings are not supported");
  const Machine machine(n);
  const Ints classes = n.attr_ints("classlabels_ints"), counts = n.attr_ints("vectors_per_class");
  const auto n_classes = static_cast<int64_t>(classes.size());
  if (counts.empty()) return linear_machine(n, machine, classes);
  require(n_classes >= 2 && n_classes <= kMaxClasses && counts.size() == classes.size(),
          "there must be 2 to {} classes, each with a number of vectors, but there are {} classes "
          "and {} numbers",
          kMaxClasses, n_classes, counts.size());
  const std::vector<float> prob_a = n.attr_floats("prob_a"), prob_b = n.attr_floats("prob_b");
  const std::string transform = n.attr_text("post_transform", "NONE");
  const Pairs pairs(n_classes);
  const Tensor decisions = decide_pairs(machine, pairs, counts, rows_of(n));
  Tensor scores;
  if (prob_a.empty()) {
    scores = n_classes == 2 ? join_columns(neg(decisions), decisions) : decisions;
  } else {
    require_floats("prob_a", prob_a, static_cast<int64_t>(pairs.size()));
    require_floats("prob_b", prob_b, static_cast<int64_t>(pairs.size()));
    scores = probabilities(pairs, decisions, n_classes, prob_a, prob_b);
  }
  const Tensor best =
      call_named1("argmax", {{"axis", int64_t{1}}}, {count_votes(pairs, decisions, n_classes)});
  return {gather(host_ints(classes), best, 0), transform_scores(scores, transform)};
}

}  // namespace tenon::onnx::adapters
