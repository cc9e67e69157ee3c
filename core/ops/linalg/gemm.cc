// gemm: alpha * a @ b + beta * c.

#include "core/ops/linalg/matmul.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double alpha = 1;      // Scales the product.
  double beta = 1;       // Scales c.
  bool trans_a = false;  // Whether to transpose a first.
  bool trans_b = false;  // Whether to transpose b first.
  TENON_ATTRS(alpha, beta, trans_a, trans_b)
};

MatmulAttrs matmul_attrs(const Attrs& attrs) {
  return {.transpose_a = attrs.trans_a, .transpose_b = attrs.trans_b};
}

// Returns factor * x. Skips the multiplication for a factor of 1, the usual one.
Tensor scaled(const Tensor& x, double factor) { return factor == 1 ? x : factor * x; }

// Constraints.
//   C1  a, b and c are floating point and of one dtype.
//   C2  a and b have two axes.
//   C3  The number of columns of a equals the number of rows of b, both after transposition.
//   C4  c can be broadcast to the product's shape.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &a = in[0], &b = in[1];
  require(is_floating(a.dtype) && a.dtype == b.dtype,
          "C1: a and b must be floating point and of one dtype, but are {} and {}", a, b);
  require(a.rank() == 2 && b.rank() == 2, "C2: a and b must have two axes, but are {} and {}", a,
          b);
  const Size inner_a = a.shape[attrs.trans_a ? 0 : 1];
  const Size inner_b = b.shape[attrs.trans_b ? 1 : 0];
  require(inner_a == inner_b, "C3: {} columns of a: {} do not match {} rows of b: {}", inner_a, a,
          inner_b, b);

  const TensorType y(a.dtype, {a.shape[attrs.trans_a ? 1 : 0], b.shape[attrs.trans_b ? 0 : 1]});
  if (in.has(2)) {
    const TensorType& c = in[2];
    require(c.dtype == y.dtype, "C1: c must be {} like a, but is {}", y.dtype, c);
    require(c.rank() <= 2 && require_broadcast(y, c, "C4") == y.shape,
            "C4: c: {} cannot be broadcast to {}", c, y);
  }
  return {y};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor y = scaled(matmul(in[0], in[1], matmul_attrs(attrs)), attrs.alpha);
  return {has(in, 2) ? y + scaled(in[2], attrs.beta) : y};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor& dy = v.cotangent(0);
  const MatmulAttrs ab = matmul_attrs(attrs);
  Tensors grads(v.n_inputs(), Tensor());
  if (v.needs(0)) {
    grads[0] = scaled(matmul_da(dy, v.input(1), v.input_type(0), ab), attrs.alpha);
  }
  if (v.needs(1)) {
    grads[1] = scaled(matmul_db(v.input(0), dy, v.input_type(1), ab), attrs.alpha);
  }
  if (v.n_inputs() > 2 && v.needs(2)) grads[2] = scaled(sum_to(dy, v.input_type(2)), attrs.beta);
  return grads;
}

Cases<Attrs> cases() {
  const CaseTensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), b = f32({3, 2}, {1, 0, 0, 1, 1, 1});
  return {
      {.name = "example",
       .inputs = {a, b, f32({10, 20})},
       .expect = {f32({2, 2}, {14, 25, 20, 31})}},
      {.name = "without_c", .inputs = {a, b}, .expect = {f32({2, 2}, {4, 5, 10, 11})}},
      {.name = "alpha",
       .attrs = {.alpha = 0.5},
       .inputs = {a, b, f32({10, 20})},
       .expect = {f32({2, 2}, {12, 22.5, 15, 25.5})}},
      {.name = "beta",
       .attrs = {.beta = 2},
       .inputs = {a, b, f32({10, 20})},
       .expect = {f32({2, 2}, {24, 45, 30, 51})}},
      {.name = "trans_a",
       .attrs = {.trans_a = true},
       .inputs = {f32({3, 2}, {1, 4, 2, 5, 3, 6}), b, f32({}, {1})},
       .expect = {f32({2, 2}, {5, 6, 11, 12})}},
      {.name = "trans_b",
       .attrs = {.trans_b = true},
       .inputs = {a, f32({2, 3}, {1, 0, 1, 0, 1, 1}), f32({2, 1}, {1, 2})},
       .expect = {f32({2, 2}, {5, 6, 12, 13})}},
      {.name = "all",
       .attrs = {.alpha = 0.5, .beta = -2, .trans_a = true, .trans_b = true},
       .inputs = {uniform({4, 3}), uniform({5, 4}), uniform({3, 5})}},
      {.name = "no_rows", .inputs = {uniform({0, 3}), uniform({3, 2}), uniform({2})}},
      {.name = "integers", .inputs = {i32({1, 1}, {1}), i32({1, 1}, {1})}, .error = "C1"},
      {.name = "batches", .inputs = {uniform({1, 2, 3}), uniform({3, 2})}, .error = "C2"},
      {.name = "inner_sizes_differ", .inputs = {uniform({2, 3}), uniform({2, 3})}, .error = "C3"},
      {.name = "c_is_larger",
       .inputs = {uniform({1, 3}), uniform({3, 2}), uniform({4, 2})},
       .error = "C4"},
      {.name = "c_does_not_broadcast",
       .inputs = {uniform({2, 3}), uniform({3, 2}), uniform({3})},
       .error = "C4"},
  };
}

}  // namespace

OpDef gemm_def() {
  return define<Attrs>({
      .name = "gemm",
      .summary = "A scaled matrix product plus a scaled tensor.",
      .formula = "y = alpha * a @ b + beta * c",
      .inputs = {{"a", "a matrix"},
                 {"b", "a matrix"},
                 {"c", "the tensor to add, broadcast to the shape of the product",
                  InputKind::kOptional}},
      .outputs = {{"y", "the result"}},
      .attrs_doc = {{"alpha", "Scales the product."},
                    {"beta", "Scales c."},
                    {"trans_a", "Whether a is transposed first."},
                    {"trans_b", "Whether b is transposed first."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_inputs = 0b011,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kAccumulation,
      .onnx = "Gemm",
  });
}

}  // namespace tenon::ops
