// einsum: sums of products of any number of tensors. An equation specifies the axes.

#include "core/ops/linalg/einsum_plan.h"

namespace tenon::ops {
namespace {

struct Attrs {
  // For example "ij,jk->ik": one letter per axis; equal letters share an index.
  std::string equation;
  TENON_ATTRS(equation)
};

// Constraints.
//   C1  The operands are numeric and of one dtype.
//   C2  The equation consists of comma-separated terms of letters, optionally followed by "->" and
//       the letters of the result. Terms and the result may contain "..." once. Spaces are ignored.
//   C3  There is a term for each operand, and a letter for each of its axes that "..." does not
//       cover.
//   C4  A letter has the same size everywhere. Axes covered by "..." broadcast, aligned at the end.
//   C5  The result contains only letters of terms, each once, and "..." if that covers any axes.
//   C6 The result and each intermediate product have at most 16 axes, and their sizes do not
//       overflow.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  std::vector<Dims> shapes;
  for (size_t i = 0; i < in.size(); ++i) {
    require(is_numeric(in[i].dtype) && in[i].dtype == in[0].dtype,
            "C1: operands must be numeric and of one dtype, but operand {} is {}", i, in[i]);
    shapes.push_back(in[i].shape);
  }
  const EinsumPlan plan(attrs.equation, shapes);
  for (const EinsumPlan::Product& product : plan.products) {
    check_size(TensorType(in[0].dtype, plan.shape_of(product.result)));
  }
  const TensorType y(in[0].dtype, plan.shape_of(plan.output));
  check_size(y);
  return {y};
}

// A tensor with a label for each axis.
struct Labelled {
  Tensor value;
  Labels labels;

  Labelled in_order(const Labels& order) const {
    if (order == labels) return *this;
    Ints perm;
    for (const char c : order) perm.push_back(static_cast<int64_t>(labels.find(c)));
    return {transpose(value, perm), order};
  }
};

// If two axes have the same label, replaces them by their diagonal. Both axes are flattened to one
// of n * n elements, in which the diagonal is every (n + 1)th element.
void take_diagonals(Labelled& x) {
  for (size_t i = 0; i < x.labels.size();) {
    const size_t k = x.labels.find(x.labels[i], i + 1);
    if (k == Labels::npos) {
      ++i;
      continue;
    }
    const Size n = x.value->shape()[i];
    Ints perm;
    Dims flat;
    Labels labels;
    for (size_t axis = 0; axis < x.labels.size(); ++axis) {
      if (axis == i || axis == k) continue;
      perm.push_back(static_cast<int64_t>(axis));
      flat.push_back(x.value->shape()[axis]);
      labels.push_back(x.labels[axis]);
    }
    perm.push_back(static_cast<int64_t>(i));
    perm.push_back(static_cast<int64_t>(k));
    flat.push_back(n * n);
    labels.push_back(x.labels[i]);
    x.value = slice(reshape(transpose(x.value, perm), flat),
                    {.starts = {0}, .ends = {n * n}, .axes = {-1}, .steps = {n + 1}});
    x.labels = labels;
    i = 0;
  }
}

// Sums over the axes that are not in `kept`. Axes of size 1 are removed by a reshape, because there
// is nothing to sum; these include axes that "..." broadcasts.
void sum_unkept_axes(Labelled& x, const Labels& kept) {
  Ints summed;
  Dims shape;
  Labels labels;
  for (size_t axis = 0; axis < x.labels.size(); ++axis) {
    const Size size = x.value->shape()[axis];
    if (contains(kept, x.labels[axis])) {
      shape.push_back(size);
      labels.push_back(x.labels[axis]);
    } else if (!identical(size, 1)) {
      summed.push_back(static_cast<int64_t>(axis));
    }
  }
  if (!summed.empty()) x.value = sum(x.value, {.axes = summed});
  x.value = reshape(x.value, shape);
  x.labels = labels;
}

// Multiplies two operands by a batched matmul. The batch axes are those that both operands and the
// result have.
Labelled multiply(const Labelled& a, const Labelled& b, const Labels& result,
                  const EinsumPlan& plan) {
  Labels batch, rows, columns, inner;
  for (const char c : a.labels) {
    const bool kept = contains(result, c), shared = contains(b.labels, c);
    (kept && shared ? batch : kept ? rows : inner).push_back(c);
  }
  for (const char c : b.labels) {
    if (!contains(a.labels, c)) columns.push_back(c);
  }
  const auto size = [&](const Labels& labels) { return count(plan.shape_of(labels)); };
  const Size n = size(batch), m = size(rows), k = size(inner), p = size(columns);
  const Tensor left = a.in_order(batch + rows + inner).value;
  const Labels order = batch + rows + columns;
  if (inner.empty()) {
    const Tensor right = b.in_order(batch + columns).value;
    const Tensor product = reshape(left, {n, m, 1}) * reshape(right, {n, 1, p});
    return {reshape(product, plan.shape_of(order)), order};
  }
  const Tensor right = b.in_order(batch + inner + columns).value;
  const Tensor product = batch.empty()
                             ? matmul(reshape(left, {m, k}), reshape(right, {k, p}))
                             : matmul(reshape(left, {n, m, k}), reshape(right, {n, k, p}));
  return {reshape(product, plan.shape_of(order)), order};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  std::vector<Dims> shapes;
  for (const Tensor& x : in) shapes.push_back(x->shape());
  const EinsumPlan plan(attrs.equation, shapes);

  std::vector<Labelled> terms;
  for (size_t i = 0; i < in.size(); ++i) {
    Labelled x{in[i], plan.terms[i]};
    take_diagonals(x);
    sum_unkept_axes(x, plan.kept[i]);
    terms.push_back(std::move(x));
  }
  for (const auto& [left, right, result] : plan.products) {
    Labelled product = multiply(terms[left], terms[right], result, plan);
    terms.erase(terms.begin() + static_cast<ptrdiff_t>(right));
    terms.erase(terms.begin() + static_cast<ptrdiff_t>(left));
    terms.push_back(std::move(product));
  }
  return {terms[0].in_order(plan.output).value};
}

Cases<Attrs> cases() {
  const CaseTensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), b = f32({3, 2}, {1, 0, 0, 1, 1, 1});
  const CaseTensor square = f32({2, 2}, {1, 2, 3, 4}), v = f32({1, -1});
  return {
      {.name = "example",
       .attrs = {.equation = "ij,jk->ik"},
       .inputs = {a, b},
       .expect = {f32({2, 2}, {4, 5, 10, 11})}},
      {.name = "result_is_implied",
       .attrs = {.equation = "ij,jk"},
       .inputs = {a, b},
       .expect = {f32({2, 2}, {4, 5, 10, 11})}},
      {.name = "implied_letters_are_sorted",
       .attrs = {.equation = "bA"},
       .inputs = {a},
       .expect = {f32({3, 2}, {1, 4, 2, 5, 3, 6})}},
      {.name = "transpose",
       .attrs = {.equation = "ij->ji"},
       .inputs = {a},
       .expect = {f32({3, 2}, {1, 4, 2, 5, 3, 6})}},
      {.name = "nothing_changes",
       .attrs = {.equation = " i j -> i j "},
       .inputs = {a},
       .expect = {a}},
      {.name = "sum_of_all",
       .attrs = {.equation = "ij->"},
       .inputs = {a},
       .expect = {f32({}, {21})}},
      {.name = "sum_of_columns",
       .attrs = {.equation = "ij->j"},
       .inputs = {a},
       .expect = {f32({5, 7, 9})}},
      {.name = "diagonal",
       .attrs = {.equation = "ii->i"},
       .inputs = {square},
       .expect = {f32({1, 4})}},
      {.name = "trace", .attrs = {.equation = "ii"}, .inputs = {square}, .expect = {f32({}, {5})}},
      {.name = "diagonal_of_three_axes",
       .attrs = {.equation = "iii->i"},
       .inputs = {f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
       .expect = {f32({1, 8})}},
      {.name = "two_diagonals",
       .attrs = {.equation = "ijij->ji"},
       .inputs = {f32({2, 1, 2, 1}, {1, 2, 3, 4})},
       .expect = {f32({1, 2}, {1, 4})}},
      {.name = "diagonal_of_an_operand",
       .attrs = {.equation = "ii,i->i"},
       .inputs = {square, v},
       .expect = {f32({1, -4})}},
      {.name = "outer_product",
       .attrs = {.equation = "i,j->ij"},
       .inputs = {f32({1, 2}), f32({3, 4})},
       .expect = {f32({2, 2}, {3, 4, 6, 8})}},
      {.name = "product_of_elements",
       .attrs = {.equation = "ij,ij->ij"},
       .inputs = {square, square},
       .expect = {f32({2, 2}, {1, 4, 9, 16})}},
      {.name = "inner_product",
       .attrs = {.equation = "ij,ij"},
       .inputs = {square, square},
       .expect = {f32({}, {30})}},
      {.name = "sums_of_either_operand_alone",
       .attrs = {.equation = "ij,kl->ik"},
       .inputs = {a, square},
       .expect = {f32({2, 2}, {18, 42, 45, 105})}},
      {.name = "batch",
       .attrs = {.equation = "bij,bj->bi"},
       .inputs = {f32({2, 1, 2}, {1, 2, 3, 4}), f32({2, 2}, {1, 1, 1, -1})},
       .expect = {f32({2, 1}, {3, -1})}},
      {.name = "batch_in_another_order",
       .attrs = {.equation = "ikb,bkj->jbi"},
       .inputs = {uniform({2, 3, 4}), uniform({4, 3, 5})}},
      {.name = "three_operands",
       .attrs = {.equation = "i,ij,j"},
       .inputs = {v, square, f32({2, 1})},
       .expect = {f32({}, {-6})}},
      {.name = "four_operands",
       .attrs = {.equation = "ab,bc,cd,ac->da"},
       .inputs = {uniform({2, 3}), uniform({3, 4}), uniform({4, 5}), uniform({2, 4})}},
      {.name = "scalar_operand",
       .attrs = {.equation = ",i->i"},
       .inputs = {f32({}, {3}), v},
       .expect = {f32({3, -3})}},
      {.name = "ellipsis",
       .attrs = {.equation = "...i->i..."},
       .inputs = {f32({1, 2, 2}, {1, 2, 3, 4})},
       .expect = {f32({2, 1, 2}, {1, 3, 2, 4})}},
      {.name = "ellipsis_is_implied_first",
       .attrs = {.equation = "i...,i"},
       .inputs = {square, v},
       .expect = {f32({-2, -2})}},
      {.name = "ellipsis_broadcasts",
       .attrs = {.equation = "...ij,...jk->...ik"},
       .inputs = {f32({2, 1, 1, 2}, {1, 2, 3, 4}), f32({2, 2, 1}, {1, 0, 0, 1})},
       .expect = {f32({2, 2, 1, 1}, {1, 2, 3, 4})}},
      {.name = "ellipsis_of_unequal_ranks",
       .attrs = {.equation = "...i,...i->..."},
       .inputs = {uniform({2, 1, 3, 4}), uniform({5, 1, 4})}},
      {.name = "ellipsis_of_nothing",
       .attrs = {.equation = "...i,i...->..."},
       .inputs = {v, f32({5, 2})},
       .expect = {f32({}, {3})}},
      {.name = "integers_wrap",
       .attrs = {.equation = "i,i"},
       .inputs = {i8({100, 100}), i8({1, 1})},
       .expect = {i8({}, {-56})}},
      {.name = "half",
       .attrs = {.equation = "i,i"},
       .inputs = {f16({2048, 1, 1}), f16({1, 1, 1})},
       .expect = {f16({}, {2050})}},
      {.name = "sum_of_nothing",
       .attrs = {.equation = "ij,j->i"},
       .inputs = {f32({2, 0}, {}), f32({0}, {})},
       .expect = {f32({0, 0})}},
      {.name = "empty_diagonal",
       .attrs = {.equation = "ii->i"},
       .inputs = {f32({0, 0}, {})},
       .expect = {f32({0}, {})}},
      {.name = "boolean", .attrs = {.equation = "i"}, .inputs = {boolean({1})}, .error = "C1"},
      {.name = "not_a_letter",
       .attrs = {.equation = "i1->i"},
       .inputs = {a},
       .error = "C2: equation \"i1->i\": expected a letter, a comma, \"...\" or the first \"->\" "
                "at 1: \"1->i\""},
      {.name = "two_points", .attrs = {.equation = "..i"}, .inputs = {a}, .error = "C2"},
      {.name = "two_ellipses", .attrs = {.equation = "...i..."}, .inputs = {a}, .error = "C2"},
      {.name = "two_results", .attrs = {.equation = "ij->i->j"}, .inputs = {a}, .error = "C2"},
      {.name = "comma_in_the_result",
       .attrs = {.equation = "ij->i,j"},
       .inputs = {a},
       .error = "C2"},
      {.name = "no_equation", .inputs = {a}, .error = "C3"},
      {.name = "more_terms_than_operands",
       .attrs = {.equation = "ij,jk"},
       .inputs = {a},
       .error = "C3: equation \"ij,jk\" has 2 terms for 1 operands"},
      {.name = "too_few_letters", .attrs = {.equation = "i->i"}, .inputs = {a}, .error = "C3"},
      {.name = "too_many_letters", .attrs = {.equation = "...ijk"}, .inputs = {a}, .error = "C3"},
      {.name = "sizes_differ",
       .attrs = {.equation = "ij,ij"},
       .inputs = {a, b},
       .error = "C4: equation \"ij,ij\": axis 0 of operand 1 has size 3, but its letter has size 2 "
                "on an earlier axis"},
      {.name = "letters_do_not_broadcast",
       .attrs = {.equation = "i,i"},
       .inputs = {v, f32({1})},
       .error = "C4"},
      {.name = "ellipses_do_not_broadcast",
       .attrs = {.equation = "...,..."},
       .inputs = {a, b},
       .error = "C4"},
      {.name = "unknown_letter_in_the_result",
       .attrs = {.equation = "ij->ik"},
       .inputs = {a},
       .error = "C5"},
      {.name = "letter_twice_in_the_result",
       .attrs = {.equation = "ij->ii"},
       .inputs = {a},
       .error = "C5"},
      {.name = "result_lacks_the_ellipsis",
       .attrs = {.equation = "...j->j"},
       .inputs = {a},
       .error = "C5"},
      {.name = "too_many_axes",
       .attrs = {.equation = "abcdefghi,jklmnopq"},
       .inputs = {uniform({1, 1, 1, 1, 1, 1, 1, 1, 1}), uniform({1, 1, 1, 1, 1, 1, 1, 1})},
       .error = "C6"},
  };
}

}  // namespace

OpDef einsum_def() {
  return define<Attrs>({
      .name = "einsum",
      .summary =
          "Sums of products of tensors along axes that an equation specifies (Einstein summation).",
      .formula = "y[i, k] = sum(x0[i, j] * x1[j, k] for j), for the equation \"ij,jk->ik\"",
      .details =
          "Each letter labels an axis. Axes that the result lacks are summed over. A letter that "
          "occurs twice in a term selects the diagonal of its axes. Without \"->\", the result has "
          "the axes that \"...\" covers and then the letters that occur once, in ASCII order "
          "(capitals first). Operands are multiplied in pairs, the cheapest pair first. A sum over "
          "no elements is 0. Integers wrap around.",
      .inputs = {{"x", "the operands", InputKind::kVariadic}},
      .outputs = {{"y", "the result, with the axes that the equation specifies"}},
      .attrs_doc = {{"equation",
                     "Comma-separated terms and the result, with a letter for each axis and "
                     "\"...\" for any others."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kAccumulation,
      .onnx = "Einsum",
  });
}

}  // namespace tenon::ops
