// shape: returns sizes, including symbolic ones, as a tensor. Traced code can compute with it.

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/base/immortal.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/op_ids.h"
#include "core/ops/definition/symbolic_sizes.h"
#include "core/trace/control/control_ops.h"
#include "core/trace/tracer.h"

namespace tenon {
namespace {

struct Attrs {
  Sizes sizes;
  TENON_ATTRS(sizes)
};

TensorTypes infer(const Attrs& attrs, TypeSpan) {
  return {TensorType(DType::kI64, Dims{static_cast<int64_t>(attrs.sizes.size())})};
}

Tensors run(Scope& scope, const Call& call) {
  Ints values;
  for (const Size size : static_cast<const Attrs*>(call.attrs.data)->sizes) values.push_back(size);
  const TensorType type(DType::kI64, Dims{static_cast<int64_t>(values.size())});
  return {from_host(scope, scope.device(), type, values.data())};
}

// ---- sizes computed by values

// Reads the elements of an i64 tensor that is not traced; waits for its value.
Sizes read_sizes(const Tensor& x) {
  if (x->rank() == 0) return {Size::number(read_integer(x))};
  Scope& scope = current_scope();
  require_value(*x);
  const Scope::Unrecorded unrecorded(scope);
  std::vector<int64_t> values(static_cast<size_t>(int64_t{x->shape()[0]}));
  to_host(scope, x, values.data(), values.size() * sizeof(int64_t));
  Sizes sizes;
  for (const int64_t value : values) sizes.push_back(Size::number(value));
  return sizes;
}

std::optional<Sizes> sizes_in(const Tracer& tracer, const TensorImpl& x);

// Returns the elements of output `output` of a view op. `in` are the elements of the op's input.
// Returns nullopt if the output has more than one axis or cannot be a view.
std::optional<Sizes> sizes_of_view(const Node& node, uint32_t output, const Sizes& in) {
  const TensorType &from = node.inputs[0].type(), &to = node.types[output];
  StridedLayout layout;
  if (to.rank() > 1 || !node.op->view(*node.op, node.attrs.view().data, output, to, from,
                                      {dense_strides(from.shape), 0}, layout)) {
    return std::nullopt;
  }
  Sizes sizes;
  const int64_t n = to.rank() > 0 ? int64_t{to.shape[0]} : 1;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = layout.offset + (to.rank() > 0 ? i * int64_t{layout.strides[0]} : 0);
    sizes.push_back(in[static_cast<size_t>(at)]);
  }
  return sizes;
}

// Returns from[i] for each index i; nullopt if an index is not a known number in range.
std::optional<Sizes> gather_sizes(const Sizes& from, const Sizes& indices) {
  Sizes sizes;
  for (const Size index : indices) {
    if (!index.known()) return std::nullopt;
    int64_t at = index;
    if (at < 0) at += static_cast<int64_t>(from.size());
    if (at < 0 || static_cast<size_t>(at) >= from.size()) return std::nullopt;
    sizes.push_back(from[static_cast<size_t>(at)]);
  }
  return sizes;
}

// Applies an elementwise op to two sizes; nullopt if the result is not a size formula.
std::optional<Size> combine_sizes(OpId op, Size a, Size b) {
  switch (op) {
    case OpId::k_add:
      return a + b;
    case OpId::k_sub:
      return a - b;
    case OpId::k_mul:
      return a * b;
    case OpId::k_minimum:
      return least(a, b);
    case OpId::k_maximum:
      return greatest(a, b);
    // Division of sizes rounds towards zero, which equals floor_div only for non-negative numbers.
    case OpId::k_floor_div:
    case OpId::k_mod:
      if (!b.known() || b.word() <= 0 || !(a >= 0)) return std::nullopt;
      return op == OpId::k_mod ? a % b : a / b;
    default:
      return std::nullopt;
  }
}

// Returns the elements of a value in the graph that `tracer` builds; nullopt unless all elements
// are formulas of sizes.
std::optional<Sizes> sizes_in(const Tracer& tracer, const Value& x) {
  const Node& node = *x.node;
  if (x.type().dtype != DType::kI64 || x.type().rank() > 1) return std::nullopt;
  if (node.kind == NodeKind::kConstant) return Sizes{node.constant->int_value};
  if (node.kind == NodeKind::kInput) {
    size_t capture = 0;
    for (const Node* input : tracer.graph().inputs()) {
      if (input == &node) break;
      capture += input->role == InputRole::kCapture;
    }
    if (node.role != InputRole::kCapture) return std::nullopt;
    return sizes_in(tracer, *tracer.captures()[capture]);
  }
  if (node.op == &control::shape()) return static_cast<const Attrs*>(node.attrs.view().data)->sizes;
  SmallVector<Sizes, 2> in;
  for (const Value& input : node.operands()) {
    const std::optional<Sizes> sizes = input ? sizes_in(tracer, input) : std::nullopt;
    if (!sizes) return std::nullopt;
    in.push_back(*sizes);
  }
  if (node.op->is_view) return sizes_of_view(node, x.index, in[0]);
  const auto id = static_cast<OpId>(node.op->id);
  if (id == OpId::k_concat || id == OpId::k_stack) {
    Sizes joined;
    for (const Sizes& part : in) {
      for (const Size size : part) joined.push_back(size);
    }
    return joined;
  }
  if (id == OpId::k_prod) {
    Size product = 1;
    for (const Size size : in[0]) product *= size;
    return x.type().rank() == 0 ? std::optional(Sizes{product}) : std::nullopt;
  }
  if (id == OpId::k_neg) {
    for (Size& size : in[0]) size = -size;
    return in[0];
  }
  const bool is_same = id == OpId::k_fill || id == OpId::k_cast || id == OpId::k_copy;
  if (is_same && in[0].size() == 1 && x.type().rank() == 0) return in[0];
  if (id == OpId::k_gather) return gather_sizes(in[0], in[1]);
  if (in.size() != 2 || in[0].empty() || in[1].empty()) return std::nullopt;
  Sizes sizes;
  for (size_t i = 0; i < std::max(in[0].size(), in[1].size()); ++i) {
    const Size a = in[0][in[0].size() == 1 ? 0 : i], b = in[1][in[1].size() == 1 ? 0 : i];
    const std::optional<Size> size = combine_sizes(id, a, b);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

std::optional<Sizes> sizes_in(const Tracer& tracer, const TensorImpl& x) {
  if (x.is_scalar_value()) return Sizes{x.int_value};
  if (x.storage->list) return std::nullopt;
  if (!x.storage->traced) {
    // A tensor from outside the trace has a known value, which never changes.
    return read_sizes(Tensor::share(const_cast<TensorImpl*>(&x)));
  }
  for (const Tracer* at = &tracer; at; at = at->outer_trace()) {
    if (const Value value = at->find_value(x)) return sizes_in(*at, value);
  }
  return std::nullopt;
}

}  // namespace

const OpDef& control::shape() {
  static const Immortal<OpDef> op = [] {
    OpDef made = ops::define<Attrs>({.name = "shape", .infer = infer});
    made.run = run;
    return made;
  }();
  return op;
}

Size size_in(Scope& scope, const Tensor& x, const char* name) {
  require(x->type.dtype == DType::kI64 && x->rank() == 0 && !x->type.lists,
          "{} must be i64[], but is {}", name, x->type);
  if (!scope.traced_cells()) return Size::number(read_integer(x));
  const std::optional<Sizes> sizes =
      sizes_in(static_cast<const Tracer&>(*scope.traced_cells()), *x);
  return sizes ? (*sizes)[0] : read_traced_size(scope, x);
}

Sizes sizes_in(Scope& scope, const Tensor& x, const char* name) {
  require(x->type.dtype == DType::kI64 && x->rank() == 1 && !x->type.lists,
          "{} must be i64 of one axis, but is {}", name, x->type);
  if (!scope.traced_cells()) return read_sizes(x);
  if (const auto sizes = sizes_in(static_cast<const Tracer&>(*scope.traced_cells()), *x)) {
    return *sizes;
  }
  Sizes sizes;
  const int64_t n = x->shape()[0];
  for (int64_t i = 0; i < n; ++i) {
    const Tensor element = slice(x, {.starts = {i}, .ends = {i + 1}, .axes = {0}});
    sizes.push_back(read_traced_size(scope, reshape(element, Dims{})));
  }
  return sizes;
}

// Returns a size as an i64 tensor of rank 0.
Tensor traced_integer(Size size) { return reshape(sizes_tensor({size}), Dims{}); }

Tensor shape_tensor(const Dims& shape) { return sizes_tensor(to_sizes(shape)); }

Tensor sizes_tensor(const Sizes& sizes) {
  return std::move(apply(current_scope(), control::shape(), any_attrs(Attrs{sizes}), {})[0]);
}

}  // namespace tenon
