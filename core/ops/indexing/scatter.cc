// scatter_elements and scatter_nd: write or reduce updates into a tensor at computed indices.

#include "core/ops/indexing/indexing.h"

namespace tenon::ops {
namespace {

// read() gathers the elements that the indices address, and write() scatters updates to them. The
// type of `attrs` selects the addressing of scatter_elements or of scatter_nd.
Tensor read(const ScatterElementsAttrs& attrs, const Tensor& x, const Tensor& indices) {
  return gather_elements(x, indices, attrs.axis);
}
Tensor read(const ScatterNdAttrs&, const Tensor& x, const Tensor& indices) {
  return gather_nd(x, indices);
}
Tensor write(const ScatterElementsAttrs& attrs, const Tensor& x, const Tensor& indices,
             const Tensor& updates, ScatterReduction reduction) {
  return scatter_elements(x, indices, updates, {.axis = attrs.axis, .reduction = reduction});
}
Tensor write(const ScatterNdAttrs&, const Tensor& x, const Tensor& indices, const Tensor& updates,
             ScatterReduction reduction) {
  return scatter_nd(x, indices, updates, reduction);
}

// ---- derivatives

template <class Attrs>
class Derivative {
 public:
  Derivative(const Attrs& attrs, const VjpArgs& v) : attrs_(attrs), v_(v) {}

  Tensors result() const {
    switch (attrs_.reduction) {
      case ScatterReduction::kNone:
        return gradients([&] { return gradient_of_unwritten(); },
                         [&] { return gradient_of_last_updates(); });
      case ScatterReduction::kAdd:
        return gradients([&] { return g_; }, [&] { return at(g_); });
      case ScatterReduction::kMul:
        return gradients([&] { return g_ * product_of(updates()); },
                         [&] { return product_of_others(); });
      case ScatterReduction::kMin:
      case ScatterReduction::kMax:
        break;
    }
    // For min and max, the elements that equal the result share the cotangent equally.
    const Tensor &x = v_.input(0), &y = v_.output(0);
    const Tensor x_wins = equal(x, y), update_wins = equal(updates(), at(y));
    const Tensor winners = put(as_number(x_wins), as_number(update_wins), ScatterReduction::kAdd);
    const Tensor share = g_ / winners;
    return gradients([&] { return where(x_wins, share, number(0)); },
                     [&] { return where(update_wins, at(share), number(0)); });
  }

 private:
  const Tensor& updates() const { return v_.input(2); }
  Tensor at(const Tensor& x) const { return read(attrs_, x, v_.input(1)); }
  Tensor put(const Tensor& x, const Tensor& updates, ScatterReduction reduction) const {
    return write(attrs_, x, v_.input(1), updates, reduction);
  }
  Tensor as_number(const Tensor& mask) const { return cast(mask, v_.input_type(0).dtype); }

  template <class ForX, class ForUpdates>
  Tensors gradients(const ForX& for_x, const ForUpdates& for_updates) const {
    return {v_.needs(0) ? for_x() : Tensor(), Tensor(), v_.needs(2) ? for_updates() : Tensor()};
  }

  Tensor gradient_of_unwritten() const {
    return put(g_, zeros(v_.input_type(2)), ScatterReduction::kNone);
  }

  // For reduction NONE: returns the cotangents of the updates. If several updates write to one
  // element, only the last one has an effect. To find it, the numbers of the updates are scattered
  // to the same elements.
  Tensor gradient_of_last_updates() const {
    const Dims& shape = v_.input_type(2).shape;
    const Tensor ids = reshape(iota({count(shape)}, DType::kI64, 0), shape);
    const Tensor written =
        put(zeros(TensorType(DType::kI64, v_.input_type(0).shape)), ids, ScatterReduction::kNone);
    return where(equal(at(written), ids), at(g_), number(0));
  }

  Tensor product_of(const Tensor& updates) const {
    return put(ones(v_.input_type(0)), updates, ScatterReduction::kMul);
  }

  // For reduction MUL: returns the cotangents of the updates. The product of all other updates of
  // an element is the product of all its updates, divided by the update itself. Zeros are excluded
  // from the product and counted. If there is one zero, only that update has a nonzero derivative;
  // if there are more, none has.
  Tensor product_of_others() const {
    const Tensor is_zero = equal(updates(), number(0));
    const Tensor factors = where(is_zero, number(1), updates());
    const Tensor n_zeros = put(zeros(v_.input_type(0)), as_number(is_zero), ScatterReduction::kAdd);
    const Tensor blocked = greater(at(n_zeros), as_number(is_zero));
    const Tensor slope = at(g_ * v_.input(0) * product_of(factors)) / factors;
    return where(blocked, number(0), slope);
  }

  const Attrs& attrs_;
  const VjpArgs& v_;
  const Tensor& g_ = v_.cotangent(0);
};

template <class Attrs>
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  return Derivative<Attrs>(attrs, v).result();
}

// ---- scatter_elements

// Constraints of scatter_elements.
//   C1  indices are int32 or int64.
//   C2  -n <= index < n for each of them, where n is the size of x along axis.
//   C3  -rank(x) <= axis < rank(x).
//   C4  indices have the rank of x, and along the axes other than `axis` they are no longer than x.
//   C5  updates have x's dtype and the shape of indices.
//   C6  x is numeric if the reduction is not none.
void require_updates(const TensorType& x, const TensorType& updates, const Dims& shape,
                     ScatterReduction reduction) {
  require(updates.dtype == x.dtype && updates.shape == shape, "C5: updates must be {}, but are {}",
          TensorType(x.dtype, shape), updates);
  require(reduction == ScatterReduction::kNone || is_numeric(x.dtype),
          "C6: x must be numeric for this reduction, but is {}", x.dtype);
}

TensorTypes elements_infer(const ScatterElementsAttrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &indices = in[1];
  require_indices(indices);
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, x, "C3"));
  require(indices.rank() == x.rank(), "C4: indices {} and x {} differ in rank", indices, x);
  for (size_t i = 0; i < x.rank(); ++i) {
    require(i == axis || indices.shape[i] <= x.shape[i],
            "C4: axis {} of indices {} is longer than that of x {}", i, indices, x);
  }
  require_updates(x, in[2], indices.shape, attrs.reduction);
  return {TensorType(x.dtype, x.shape)};
}

// ---- scatter_nd

// Constraints of scatter_nd.
//   C1  indices are int32 or int64.
//   C2  -n <= index < n for each of them, where n is the size of the axis of x that it refers to.
//   C3  indices have at least one axis; the last one holds the coordinates.
//   C4  that axis has from 1 to rank(x) coordinates.
//   C5  updates have x's dtype and, for each row of indices, the shape of the slice that it
//       addresses.
//   C6  x is numeric if the reduction is not none.
TensorTypes nd_infer(const ScatterNdAttrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &indices = in[1];
  require_indices(indices);
  require(indices.rank() > 0, "C3: indices {} have no axis of coordinates", indices);
  const size_t last = indices.rank() - 1;
  const int64_t n = indices.shape[last];
  require(n >= 1 && n <= static_cast<int64_t>(x.rank()),
          "C4: {} coordinates per index, but allowed are 1 to the rank of x {}", n, x);
  Dims shape = indices.shape;
  shape.erase(last);
  for (size_t i = static_cast<size_t>(n); i < x.rank(); ++i) shape.push_back(x.shape[i]);
  require_updates(x, in[2], shape, attrs.reduction);
  return {TensorType(x.dtype, x.shape)};
}

// ---- cases

Cases<ScatterElementsAttrs> elements_cases() {
  using enum ScatterReduction;
  const CaseTensor x = f32({1, 2, 3, 4});
  const CaseTensor twice = i64({1, 3, 1});
  const CaseTensor updates = f32({10, 20, 30});
  return {
      {.name = "example",
       .inputs = {x, i64({3, 0}), f32({10, 20})},
       .expect = {f32({20, 2, 3, 10})}},
      {.name = "set_keeps_the_last",
       .inputs = {x, twice, updates},
       .expect = {f32({1, 30, 3, 20})}},
      {.name = "add",
       .attrs = {.reduction = kAdd},
       .inputs = {x, twice, updates},
       .expect = {f32({1, 42, 3, 24})}},
      {.name = "mul",
       .attrs = {.reduction = kMul},
       .inputs = {x, twice, updates},
       .expect = {f32({1, 600, 3, 80})}},
      {.name = "min",
       .attrs = {.reduction = kMin},
       .inputs = {x, twice, f32({-1, 20, -2})},
       .expect = {f32({1, -2, 3, 4})}},
      {.name = "max",
       .attrs = {.reduction = kMax},
       .inputs = {x, twice, f32({9, -20, 8})},
       .expect = {f32({1, 9, 3, 4})}},
      {.name = "last_axis",
       .attrs = {.axis = -1},
       .inputs = {i32({2, 2}, {1, 2, 3, 4}), i32({2, 1}, {1, 0}), i32({2, 1}, {8, 9})},
       .expect = {i32({2, 2}, {1, 8, 9, 4})}},
      {.name = "first_axis",
       .inputs = {f32({2, 2}, {1, 2, 3, 4}), i64({1, 2}, {1, 0}), f32({1, 2}, {8, 9})},
       .expect = {f32({2, 2}, {1, 9, 8, 4})}},
      {.name = "negative_counts_from_the_end",
       .inputs = {x, i64({-1}), f32({9})},
       .expect = {f32({1, 2, 3, 9})}},
      {.name = "bool",
       .inputs = {boolean({0, 0}), i64({1}), boolean({1})},
       .expect = {boolean({0, 1})}},
      {.name = "no_indices", .inputs = {x, i64({0}, {}), f32({0}, {})}, .expect = {x}},
      {.name = "indices_are_floating", .inputs = {x, f32({0}), f32({1})}, .error = "C1"},
      {.name = "index_out_of_range", .inputs = {x, i64({4}), f32({1})}, .error = "C2"},
      {.name = "axis_out_of_range",
       .attrs = {.axis = 1},
       .inputs = {x, i64({0}), f32({1})},
       .error = "C3"},
      {.name = "ranks_differ", .inputs = {x, i64({1, 1}, {0}), f32({1, 1}, {1})}, .error = "C4"},
      {.name = "updates_differ_in_shape", .inputs = {x, i64({0}), f32({1, 2})}, .error = "C5"},
      {.name = "updates_differ_in_dtype", .inputs = {x, i64({0}), i32({1})}, .error = "C5"},
      {.name = "bool_is_not_reduced",
       .attrs = {.reduction = kAdd},
       .inputs = {boolean({0}), i64({0}), boolean({1})},
       .error = "C6"},
  };
}

Cases<ScatterNdAttrs> nd_cases() {
  using enum ScatterReduction;
  const CaseTensor x = f32({2, 2}, {1, 2, 3, 4});
  const CaseTensor twice = i64({2, 1}, {1, 1});
  const CaseTensor rows = f32({2, 2}, {10, 20, 30, 40});
  return {
      {.name = "example",
       .inputs = {x, i64({1, 2}, {1, 0}), f32({9})},
       .expect = {f32({2, 2}, {1, 2, 9, 4})}},
      {.name = "slices",
       .inputs = {x, i64({1, 1}, {0}), f32({1, 2}, {8, 9})},
       .expect = {f32({2, 2}, {8, 9, 3, 4})}},
      {.name = "set_keeps_the_last",
       .inputs = {x, twice, rows},
       .expect = {f32({2, 2}, {1, 2, 30, 40})}},
      {.name = "add",
       .attrs = {.reduction = kAdd},
       .inputs = {x, twice, rows},
       .expect = {f32({2, 2}, {1, 2, 43, 64})}},
      {.name = "mul",
       .attrs = {.reduction = kMul},
       .inputs = {x, twice, rows},
       .expect = {f32({2, 2}, {1, 2, 900, 3200})}},
      {.name = "min",
       .attrs = {.reduction = kMin},
       .inputs = {x, twice, f32({2, 2}, {10, -20, 2, -30})},
       .expect = {f32({2, 2}, {1, 2, 2, -30})}},
      {.name = "max",
       .attrs = {.reduction = kMax},
       .inputs = {x, twice, f32({2, 2}, {10, -20, 2, 30})},
       .expect = {f32({2, 2}, {1, 2, 10, 30})}},
      {.name = "one_place",
       .inputs = {x, i32({0, 1}), f32({}, {9})},
       .expect = {f32({2, 2}, {1, 9, 3, 4})}},
      {.name = "negative_counts_from_the_end",
       .inputs = {f32({1, 2}), i64({1, 1}, {-1}), f32({9})},
       .expect = {f32({1, 9})}},
      {.name = "no_indices", .inputs = {x, i64({0, 1}, {}), f32({0, 2}, {})}, .expect = {x}},
      {.name = "indices_are_floating", .inputs = {x, f32({1, 2}, {0, 0}), f32({1})}, .error = "C1"},
      {.name = "index_out_of_range", .inputs = {x, i64({1, 2}, {0, 2}), f32({1})}, .error = "C2"},
      {.name = "too_many_coordinates", .inputs = {x, i64({0, 0, 0}), f32({}, {1})}, .error = "C4"},
      {.name = "indices_of_rank_0", .inputs = {x, i64({}, {0}), f32({1, 2})}, .error = "C3"},
      {.name = "updates_differ_in_shape",
       .inputs = {x, i64({1, 1}, {0}), f32({1, 2})},
       .error = "C5"},
      {.name = "bool_is_not_reduced",
       .attrs = {.reduction = kMax},
       .inputs = {boolean({0}), i64({1, 1}, {0}), boolean({1})},
       .error = "C6"},
  };
}

// Defines a scatter op after setting the fields that both ops share.
template <class Attrs>
OpDef define_scatter(Definition<Attrs> d) {
  d.details =
      "If several updates address the same element, reduction none keeps the last one, and the "
      "other reductions combine all of them with the element of x. Negative indices count from the "
      "end. An update with an index out of range is dropped and is an error. Floating-point sums, "
      "which accumulate in float32 for the half types, may be added in any order; all other "
      "reductions have the same bits on every device. The second derivative of mul ignores updates "
      "that are 0.";
  d.inputs = {{"x", "the tensor to update"},
              {"indices", "the indices of the elements to update"},
              {"updates", "the values to write or to reduce"}};
  d.outputs = {{"y", "the updated tensor"}};
  d.vjp = vjp<Attrs>;
  d.saves = Saves::kInputsAndOutputs;
  d.numeric = Numeric::kAccumulation;
  d.index_rule = "C2";
  return define(d);
}

}  // namespace

OpDef scatter_elements_def() {
  return define_scatter<ScatterElementsAttrs>({
      .name = "scatter_elements",
      .summary = "A tensor with elements updated at given indices along an axis.",
      .formula = "y = x, then y[i, indices[i, j]] = reduce(..., updates[i, j]), for axis 1",
      .attrs_doc = {{"axis",
                     "The axis that the indices refer to; a negative one counts from the end."},
                    {"reduction",
                     "How updates are combined with the elements of x: none (replace them), add, "
                     "mul, min or max."}},
      .infer = elements_infer,
      .cases = elements_cases,
      .onnx = "ScatterElements",
  });
}

OpDef scatter_nd_def() {
  return define_scatter<ScatterNdAttrs>({
      .name = "scatter_nd",
      .summary = "A tensor with slices updated at given rows of coordinates.",
      .formula = "y = x, then y[indices[i, 0], indices[i, 1], ...] = reduce(..., updates[i])",
      .attrs_doc = {{"reduction",
                     "How updates are combined with the elements of x: none (replace them), add, "
                     "mul, min or max."}},
      .infer = nd_infer,
      .cases = nd_cases,
      .onnx = "ScatterND",
  });
}

}  // namespace tenon::ops
