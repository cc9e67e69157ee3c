// Rules that compute known elements of results, for the ops with which exporters compute shapes.

#include <algorithm>
#include <unordered_map>

#include "core/base/immortal.h"
#include "core/io/onnx/known_element.h"
#include "core/io/onnx/node_call.h"

namespace tenon::onnx {
namespace {

using Result = std::optional<Known>;

// ---- elementwise ops and indexing

// Applies f to each element.
template <class F>
Result each(const Known& x, DType dtype, const F& f) {
  Known result = empty_known(dtype, x.shape);
  for (size_t i = 0; i < x.size(); ++i) {
    const Maybe y = f(at(x, i));
    if (!y || !push(result, *y)) return std::nullopt;
  }
  return result;
}

// Applies f to each pair of elements, with broadcasting.
template <class F>
Result map_pairs(const Known& a, const Known& b, DType dtype, const F& f) {
  const Result x = broadcast(a, b.shape), y = broadcast(b, a.shape);
  if (!x || !y) return std::nullopt;
  Known result = empty_known(dtype, x->shape);
  for (size_t i = 0; i < x->size(); ++i) {
    const Maybe z = f(at(*x, i), at(*y, i));
    if (!z || !push(result, *z)) return std::nullopt;
  }
  return result;
}

// Returns the elements of x at the given flat indices, with a new shape.
Result select_elements(const Known& x, const Dims& shape, const std::vector<size_t>& places) {
  Known result = empty_known(x.dtype, shape);
  for (const size_t place : places) {
    if (!push(result, at(x, place))) return std::nullopt;
  }
  return result;
}

// Returns the same elements in another shape.
Result with_shape(const Known& x, const Dims& shape) {
  if (!known(shape) || count_of(shape) != x.size()) return std::nullopt;
  Known result = x;
  result.shape = shape;
  return result;
}

// ---- rules for ops

using Rule = Result (*)(const NodeCall&);

Result identity(const NodeCall& n) { return n.known(0) ? Result(*n.known(0)) : std::nullopt; }

Result shape_of(const NodeCall& n) {
  const Dims shape = n.shape(0);
  const auto rank = static_cast<int64_t>(shape.rank());
  const auto place = [&](std::string_view name, int64_t otherwise) {
    return std::clamp<int64_t>(from_front(n.attr(name, otherwise), shape.rank()), 0, rank);
  };
  const int64_t begin = place("start", 0), end = place("end", rank);
  Known result = empty_known(DType::kI64, {std::max<int64_t>(end - begin, 0)});
  for (int64_t i = begin; i < end; ++i) result.values.push_back(shape[static_cast<size_t>(i)]);
  return result;
}

Result element_count(const NodeCall& n) {
  Known result = empty_known(DType::kI64, {});
  result.values.push_back(count(n.shape(0)));
  return result;
}

Result cast_to(const NodeCall& n) {
  n.ignore("saturate");
  n.ignore("round_mode");
  const DType to = n.attr_dtype("to", DType::kNone);
  const Known* x = n.known(0);
  if (!x) return std::nullopt;
  if (to == DType::kBool) {
    return each(*x, to, [](const Element& e) { return bool_element(bool(e.value != 0)); });
  }
  if (is_storage(to)) return std::nullopt;
  if (is_floating(to)) return each(*x, to, [](const Element& e) { return Maybe(e); });
  return each(*x, to, truncate_element);
}

// Applies an op with two inputs.
template <auto Integers, auto Fractions = Integers>
Result apply_binary(const NodeCall& n) {
  const Known *a = n.known(0), *b = n.known(1);
  if (!a || !b || n.n_inputs() != 2) return std::nullopt;
  return is_floating(a->dtype) ? map_pairs(*a, *b, a->dtype, Fractions)
                               : map_pairs(*a, *b, a->dtype, Integers);
}

Result mod(const NodeCall& n) {
  n.ignore("fmod");
  const Known *a = n.known(0), *b = n.known(1);
  if (!a || !b || is_floating(a->dtype)) return std::nullopt;
  return map_pairs(*a, *b, a->dtype, mod_integers);
}

enum class Order { kEqual, kLess, kLessEqual };

// Compares two inputs elementwise. `kSwapped`: exchanges them first.
template <Order kOrder, bool kSwapped = false>
Result compare(const NodeCall& n) {
  const Known *a = n.known(kSwapped ? 1 : 0), *b = n.known(kSwapped ? 0 : 1);
  if (!a || !b) return std::nullopt;
  return map_pairs(*a, *b, DType::kBool, [](const Element& x, const Element& y) {
    return bool_element(compare_elements(x, y, [](Size p, Size q) {
      if constexpr (kOrder == Order::kEqual) return p == q;
      if constexpr (kOrder == Order::kLess) return p < q;
      return p <= q;
    }));
  });
}

bool is_true(const Element& x) { return x.value != 0; }
Maybe and_elements(const Element& a, const Element& b) {
  return bool_element(is_true(a) && is_true(b));
}
Maybe or_elements(const Element& a, const Element& b) {
  return bool_element(is_true(a) || is_true(b));
}

// Applies an op with one input.
template <auto F>
Result apply_unary(const NodeCall& n) {
  const Known* x = n.known(0);
  return x ? each(*x, x->dtype, F) : std::nullopt;
}
Maybe absolute(const Element& a) { return a.value >= 0 ? Maybe(a) : neg(a); }
Maybe not_element(const Element& a) { return bool_element(!is_true(a)); }

Result where(const NodeCall& n) {
  const Known *c = n.known(0), *x = n.known(1), *y = n.known(2);
  if (!c || !x || !y) return std::nullopt;
  Result first = broadcast(*x, y->shape);
  first = first ? broadcast(*first, c->shape) : first;
  const Result second = first ? broadcast(*y, first->shape) : first;
  const Result choice = first ? broadcast(*c, first->shape) : first;
  if (!first || !second || !choice) return std::nullopt;
  Known result = empty_known(first->dtype, first->shape);
  for (size_t i = 0; i < first->size(); ++i) {
    if (!push(result, at(is_true(at(*choice, i)) ? *first : *second, i))) return std::nullopt;
  }
  return result;
}

Result gather(const NodeCall& n) {
  const Known *x = n.known(0), *indices = n.known(1);
  if (!x || !indices) return std::nullopt;
  const auto axis = static_cast<size_t>(require_axis(n.attr("axis", 0), x->shape.rank(), ""));
  const size_t size = count_of(Dims{x->shape[axis]});
  const auto inner = static_cast<size_t>(int64_t{strides_of(x->shape)[axis]});
  const size_t outer = size && inner ? x->size() / (size * inner) : 0;
  Dims shape;
  for (size_t i = 0; i < axis; ++i) shape.push_back(x->shape[i]);
  for (const Size each : indices->shape) shape.push_back(each);
  for (size_t i = axis + 1; i < x->shape.rank(); ++i) shape.push_back(x->shape[i]);
  std::vector<size_t> places;
  for (size_t o = 0; o < outer; ++o) {
    for (const Size index : indices->values) {
      if (!index.known()) return std::nullopt;
      const int64_t from =
          index.word() < 0 ? index.word() + static_cast<int64_t>(size) : index.word();
      if (from < 0 || from >= static_cast<int64_t>(size)) return std::nullopt;
      for (size_t i = 0; i < inner; ++i) {
        places.push_back((o * size + static_cast<size_t>(from)) * inner + i);
      }
    }
  }
  return select_elements(*x, shape, places);
}

// Returns the elements of x at the given indices along each axis.
Result select_along_axes(const Known& x, const std::vector<std::vector<size_t>>& places) {
  const Dims strides = strides_of(x.shape);
  Dims shape;
  std::vector<size_t> all = {0};
  for (size_t axis = 0; axis < places.size(); ++axis) {
    shape.push_back(static_cast<int64_t>(places[axis].size()));
    const auto stride = static_cast<size_t>(int64_t{strides[axis]});
    std::vector<size_t> further;
    for (const size_t before : all) {
      for (const size_t place : places[axis]) further.push_back(before + place * stride);
    }
    all = std::move(further);
  }
  return select_elements(x, shape, all);
}

// Returns the indices start, start + step, ... before `stop`, clamped to the axis as in Slice.
std::vector<size_t> range_indices(int64_t start, int64_t stop, int64_t step, int64_t size) {
  const auto bound = [&](int64_t value, int64_t low, int64_t high) {
    return std::clamp(value < 0 ? value + size : value, low, high);
  };
  std::vector<size_t> places;
  if (step > 0) {
    const int64_t end = bound(stop, 0, size);
    for (int64_t i = bound(start, 0, size); i < end; i += std::min(step, size)) {
      places.push_back(static_cast<size_t>(i));
    }
  } else {
    const int64_t end = bound(stop, -1, size - 1);
    for (int64_t i = bound(start, -1, size - 1); i > end; i += std::max(step, -size)) {
      places.push_back(static_cast<size_t>(i));
    }
  }
  return places;
}

Result slice(const NodeCall& n) {
  const Known* x = n.known(0);
  if (!x) return std::nullopt;
  const bool has_inputs = n.version() >= 10;
  for (size_t i = 1; has_inputs && i < n.n_inputs(); ++i) {
    if (n.has(i) && (!n.known(i) || !are_numbers(*n.known(i)))) return std::nullopt;
  }
  const Ints starts = has_inputs ? n.ints(1) : n.attr_ints("starts");
  const Ints ends = has_inputs ? n.ints(2) : n.attr_ints("ends");
  const Ints axes = !has_inputs ? n.attr_ints("axes") : n.has(3) ? n.ints(3) : Ints();
  const Ints steps = has_inputs && n.has(4) ? n.ints(4) : Ints();
  const size_t n_axes = starts.size(), rank = x->shape.rank();
  const bool fit = ends.size() == n_axes && (axes.empty() || axes.size() == n_axes) &&
                   (steps.empty() || steps.size() == n_axes) && n_axes <= rank;
  if (!fit) return std::nullopt;
  std::vector<std::vector<size_t>> places;
  for (const Size size : x->shape) places.push_back(range_indices(0, size, 1, size));
  for (size_t i = 0; i < n_axes; ++i) {
    const int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
    const auto from_first = static_cast<size_t>(require_axis(axis, rank, ""));
    const int64_t step = steps.empty() ? 1 : steps[i];
    if (step == 0) return std::nullopt;
    places[from_first] = range_indices(starts[i], ends[i], step, x->shape[from_first]);
  }
  return select_along_axes(*x, places);
}

// Concatenates vectors. Shapes are vectors, so other ranks are not supported.
Result concat(const NodeCall& n) {
  n.ignore("axis");
  const Known* first = n.n_inputs() ? n.known(0) : nullptr;
  if (!first) return std::nullopt;
  Known result = empty_known(first->dtype, {});
  for (size_t i = 0; i < n.n_inputs(); ++i) {
    const Known* x = n.known(i);
    if (!x || x->shape.rank() != 1 || x->dtype != first->dtype) return std::nullopt;
    for (size_t j = 0; j < x->size(); ++j) {
      if (!push(result, at(*x, j))) return std::nullopt;
    }
  }
  result.shape = {static_cast<int64_t>(result.size())};
  return result;
}

// Returns the axes of Squeeze or Unsqueeze, if they are known.
std::optional<Ints> axes_of(const NodeCall& n) {
  if (n.version() >= 13 && n.has(1) && !n.known(1)) return std::nullopt;
  return n.ints_since(13, "axes", 1).value_or(Ints());
}

Result unsqueeze(const NodeCall& n) {
  const Known* x = n.known(0);
  const auto axes = axes_of(n);
  if (!x || !axes) return std::nullopt;
  const size_t rank = x->shape.rank() + axes->size();
  std::vector<bool> is_new(rank, false);
  for (const int64_t axis : *axes) {
    const auto at = static_cast<size_t>(require_axis(axis, rank, ""));
    if (is_new[at]) return std::nullopt;  // The op itself reports the error.
    is_new[at] = true;
  }
  Dims shape;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) shape.push_back(is_new[i] ? Size(1) : x->shape[next++]);
  return with_shape(*x, shape);
}

Result squeeze(const NodeCall& n) {
  const Known* x = n.known(0);
  const auto axes = axes_of(n);
  if (!x || !axes) return std::nullopt;
  const uint32_t mask = axes->empty() ? 0 : require_axes(*axes, TensorType(x->dtype, x->shape), "");
  Dims shape;
  for (size_t i = 0; i < x->shape.rank(); ++i) {
    const bool goes = axes->empty() ? bool(x->shape[i] == 1) : (mask >> i & 1) != 0;
    if (!goes) shape.push_back(x->shape[i]);
  }
  return with_shape(*x, shape);
}

Result reshape(const NodeCall& n) {
  n.ignore("allowzero");
  const Known *x = n.known(0), *to = n.known(1);
  if (!x || !to) return std::nullopt;
  Dims shape;
  size_t rest = x->shape.rank() + 1;
  Size others = 1;
  for (size_t i = 0; i < to->size(); ++i) {
    const Size size = to->values[i];
    if (!size.known() || size.word() == 0) return std::nullopt;
    if (size.word() == -1) rest = i;
    shape.push_back(size);
    if (size.word() > 0) others *= size;
  }
  if (rest < shape.rank()) shape[rest] = static_cast<int64_t>(x->size()) / others;
  return with_shape(*x, shape);
}

Result range(const NodeCall& n) {
  const Known *start = n.known(0), *limit = n.known(1), *delta = n.known(2);
  if (!start || !limit || !delta || is_floating(start->dtype)) return std::nullopt;
  const Size begin = start->values[0], end = limit->values[0], step = delta->values[0];
  if (!begin.known() || !end.known() || !step.known() || step.word() == 0) return std::nullopt;
  Known result = empty_known(start->dtype, {});
  for (__int128 i = begin.word(); step.word() > 0 ? i < end.word() : i > end.word();
       i += step.word()) {
    if (!push(result, {Size(static_cast<int64_t>(i)), 1})) return std::nullopt;
  }
  result.shape = {static_cast<int64_t>(result.size())};
  return result;
}

Result constant_of_shape(const NodeCall& n) {
  const TensorData* data = n.attr_tensor("value");
  const Known* sizes = n.known(0);
  const Result value = data ? known_elements(*data) : Known{DType::kF32, {1}, {0}, {1}};
  if (!sizes || !value || value->size() != 1) return std::nullopt;
  Dims shape;
  int64_t elements = 1;
  for (const Size size : sizes->values) {
    if (!size.known() || size.word() < 0 || size.word() > kMaxKnown) return std::nullopt;
    elements *= size.word();
    if (elements > kMaxKnown) return std::nullopt;
    shape.push_back(size);
  }
  return select_elements(*value, shape, std::vector<size_t>(static_cast<size_t>(elements), 0));
}

Result constant(const NodeCall& n) {
  if (const TensorData* data = n.attr_tensor("value")) return known_elements(*data);
  if (!n.has_attr("value_int") && !n.has_attr("value_ints")) return std::nullopt;
  const bool is_one = n.has_attr("value_int");
  const Ints values = is_one ? Ints{n.attr("value_int", 0)} : n.attr_ints("value_ints");
  Known result =
      empty_known(DType::kI64, is_one ? Dims{} : Dims{static_cast<int64_t>(values.size())});
  for (const int64_t value : values) {
    if (!as_size(value) || !push(result, {*as_size(value), 1})) return std::nullopt;
  }
  return result;
}

Result expand(const NodeCall& n) {
  const Known *x = n.known(0), *to = n.known(1);
  if (!x || !to) return std::nullopt;
  for (const Size size : to->values) {
    if (!size.known()) return std::nullopt;
  }
  return broadcast(*x, to_dims(to->values));
}

// Reduces all elements of a scalar or vector with F.
template <auto F>
Result reduce_all(const NodeCall& n) {
  const Known* x = n.known(0);
  if (!x || x->shape.rank() > 1 || x->size() == 0) return std::nullopt;
  if (n.has(1) && (!n.known(1) || n.known(1)->size() == 0)) return std::nullopt;
  n.ignore("axes");
  if (n.flag("noop_with_empty_axes", false) && !n.has(1)) return std::nullopt;
  Element all = at(*x, 0);
  for (size_t i = 1; i < x->size(); ++i) {
    const Maybe next = F(all, at(*x, i));
    if (!next) return std::nullopt;
    all = *next;
  }
  Known result = empty_known(x->dtype, {});
  if (n.flag("keepdims", true) && x->shape.rank() == 1) result.shape = {1};
  return push(result, all) ? Result(result) : std::nullopt;
}

// Returns the indices of nonzero elements of a vector. Old exporters use NonZero to create ranges.
Result nonzero(const NodeCall& n) {
  const Known* x = n.known(0);
  if (!x || x->shape.rank() != 1) return std::nullopt;
  Known result = empty_known(DType::kI64, {});
  for (size_t i = 0; i < x->size(); ++i) {
    if (!x->values[i].known()) return std::nullopt;
    if (x->values[i].word() != 0) push(result, {Size(static_cast<int64_t>(i)), 1});
  }
  result.shape = {1, static_cast<int64_t>(result.size())};
  return result;
}

Result transpose(const NodeCall& n) {
  const Known* x = n.known(0);
  if (!x) return std::nullopt;
  const size_t rank = x->shape.rank();
  Ints perm = n.attr_ints("perm");
  if (perm.empty()) {
    for (size_t i = rank; i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  }
  if (perm.size() != rank) return std::nullopt;
  const Dims strides = strides_of(x->shape);
  Dims shape;
  std::vector<size_t> all = {0};
  std::vector<bool> is_done(rank, false);
  for (const int64_t from : perm) {
    const auto axis = static_cast<size_t>(require_axis(from, rank, ""));
    if (is_done[axis]) return std::nullopt;
    is_done[axis] = true;
    shape.push_back(x->shape[axis]);
    const auto size = static_cast<size_t>(int64_t{x->shape[axis]});
    const auto stride = static_cast<size_t>(int64_t{strides[axis]});
    std::vector<size_t> further;
    for (const size_t before : all) {
      for (size_t i = 0; i < size; ++i) further.push_back(before + i * stride);
    }
    all = std::move(further);
  }
  return select_elements(*x, shape, all);
}

// Returns the rules, keyed by the name of the ONNX op.
const std::unordered_map<std::string_view, Rule>& rules() {
  static const Immortal<std::unordered_map<std::string_view, Rule>> table =
      std::unordered_map<std::string_view, Rule>{
          {"Identity", identity},
          {"Shape", shape_of},
          {"Size", element_count},
          {"Cast", cast_to},
          {"Add", apply_binary<add>},
          {"Sub", apply_binary<sub>},
          {"Mul", apply_binary<mul>},
          {"Div", apply_binary<div_integers, div_fractions>},
          {"Mod", mod},
          {"Min", apply_binary<min>},
          {"Max", apply_binary<max>},
          {"Equal", compare<Order::kEqual>},
          {"Less", compare<Order::kLess>},
          {"LessOrEqual", compare<Order::kLessEqual>},
          {"Greater", compare<Order::kLess, true>},
          {"GreaterOrEqual", compare<Order::kLessEqual, true>},
          {"And", apply_binary<and_elements>},
          {"Or", apply_binary<or_elements>},
          {"Not", apply_unary<not_element>},
          {"Neg", apply_unary<neg>},
          {"Abs", apply_unary<absolute>},
          {"Floor", apply_unary<floor_of>},
          {"Ceil", apply_unary<ceil_of>},
          {"Where", where},
          {"Gather", gather},
          {"Slice", slice},
          {"Concat", concat},
          {"Unsqueeze", unsqueeze},
          {"Squeeze", squeeze},
          {"Reshape", reshape},
          {"Transpose", transpose},
          {"Range", range},
          {"ConstantOfShape", constant_of_shape},
          {"Constant", constant},
          {"Expand", expand},
          {"ReduceSum", reduce_all<add>},
          {"ReduceProd", reduce_all<mul>},
          {"ReduceMin", reduce_all<min>},
          {"ReduceMax", reduce_all<max>},
          {"NonZero", nonzero},
      };
  return table;
}

}  // namespace

std::optional<Known> known_result(const NodeCall& n) {
  const auto rule = rules().find(n.node().op);
  if (!n.node().domain.empty() || rule == rules().end()) return std::nullopt;
  Result result;
  try {
    result = rule->second(n);
  } catch (const Error& error) {
    if (error.is_transient()) throw;
    return std::nullopt;  // The op itself reports the error.
  }
  if (result) n.require_all_attrs_read();
  return result;
}

}  // namespace tenon::onnx
