#include "core/io/onnx/known.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/node_call.h"
#include "core/trace/control.h"

namespace tenon::onnx {
namespace {

using Result = std::optional<Known>;

// A number, an integer if the divisor is 1.
struct Element {
  Size value = 0, divisor = 1;
};
using Maybe = std::optional<Element>;

bool is_number(const Element& x) { return x.value.known() && x.divisor.known(); }

Element at(const Known& known, size_t i) {
  return {known.values[i], known.divisors.empty() ? Size(1) : known.divisors[i]};
}

bool are_numbers(const Known& known) {
  for (size_t i = 0; i < known.size(); ++i) {
    if (!is_number(at(known, i))) return false;
  }
  return true;
}

// ---- arithmetic that gives up where numbers overflow

std::optional<Size> as_size(__int128 value) {
  constexpr __int128 kMost = __int128{1} << 60;
  const bool is_extreme = value == INT64_MAX || value == INT64_MIN;
  if (!is_extreme && (value > kMost || value < -kMost)) return std::nullopt;
  return Size(static_cast<int64_t>(value));
}

template <class Compute>
std::optional<Size> computed(Size a, Size b, const Compute& compute) {
  if (a.known() && b.known()) return as_size(compute(__int128{a.word()}, __int128{b.word()}));
  return compute(a, b);
}

std::optional<Size> times(Size a, Size b) {
  return computed(a, b, [](auto x, auto y) { return x * y; });
}

// Over one divisor.
template <class Combine>
Maybe joined(const Element& a, const Element& b, const Combine& combine) {
  if (identical(a.divisor, b.divisor)) {
    const auto value = computed(a.value, b.value, combine);
    return value ? Maybe({*value, a.divisor}) : std::nullopt;
  }
  const auto x = times(a.value, b.divisor), y = times(b.value, a.divisor);
  const auto divisor = times(a.divisor, b.divisor);
  if (!x || !y || !divisor) return std::nullopt;
  const auto value = computed(*x, *y, combine);
  return value ? Maybe({*value, *divisor}) : std::nullopt;
}

Maybe add(const Element& a, const Element& b) {
  return joined(a, b, [](auto x, auto y) { return x + y; });
}
Maybe sub(const Element& a, const Element& b) {
  return joined(a, b, [](auto x, auto y) { return x - y; });
}
Maybe mul(const Element& a, const Element& b) {
  const auto value = times(a.value, b.value), divisor = times(a.divisor, b.divisor);
  return value && divisor ? Maybe({*value, *divisor}) : std::nullopt;
}

// Integers toward zero.
Maybe div_integers(const Element& a, const Element& b) {
  if (b.value == 0) return std::nullopt;
  return Element{a.value / b.value, 1};
}
Maybe div_fractions(const Element& a, const Element& b) {
  if (!(b.value > 0)) return std::nullopt;
  return mul(a, {b.divisor, b.value});
}
Maybe mod_integers(const Element& a, const Element& b) {
  if (!(b.value > 0) || !(a.value >= 0)) return std::nullopt;
  return Element{a.value % b.value, 1};
}

// Which is less is asked of the sizes of the call that is traced, where nothing else tells.
template <class Ask>
std::optional<bool> asked(const Element& a, const Element& b, const Ask& ask) {
  const auto x = times(a.value, b.divisor), y = times(b.value, a.divisor);
  if (!x || !y) return std::nullopt;
  return bool(ask(*x, *y));
}
Maybe truth(std::optional<bool> value) {
  return value ? Maybe({Size(*value ? 1 : 0), 1}) : std::nullopt;
}
Maybe min(const Element& a, const Element& b) {
  if (identical(a.divisor, b.divisor)) return Element{least(a.value, b.value), a.divisor};
  const auto less = asked(a, b, [](Size x, Size y) { return x < y; });
  return less ? Maybe(*less ? a : b) : std::nullopt;
}
Maybe max(const Element& a, const Element& b) {
  if (identical(a.divisor, b.divisor)) return Element{greatest(a.value, b.value), a.divisor};
  const auto less = asked(a, b, [](Size x, Size y) { return x < y; });
  return less ? Maybe(*less ? b : a) : std::nullopt;
}

Maybe floor_of(const Element& a) {
  if (identical(a.divisor, Size(1))) return a;
  if (a.value >= 0) return Element{a.value / a.divisor, 1};
  return Element{-((a.divisor - 1 - a.value) / a.divisor), 1};
}
Maybe neg(const Element& a) { return sub({0, 1}, a); }
Maybe ceil_of(const Element& a) {
  const Maybe minus = neg(a), below = minus ? floor_of(*minus) : std::nullopt;
  return below ? neg(*below) : std::nullopt;
}
Maybe truncated(const Element& a) { return a.value >= 0 ? floor_of(a) : ceil_of(a); }

// ---- elements by place

size_t count_of(const Dims& shape) { return static_cast<size_t>(int64_t{count(shape)}); }

Known like(DType dtype, const Dims& shape) { return {dtype, shape, {}, {}}; }

// False where it cannot be kept: an integer that its dtype does not hold, or one too many.
bool push(Known& to, const Element& x) {
  if (to.values.size() >= static_cast<size_t>(kMostKnown)) return false;
  if (is_floating(to.dtype)) {
    to.values.push_back(x.value);
    to.divisors.push_back(x.divisor);
    return true;
  }
  if (!identical(x.divisor, Size(1))) return false;
  const bool has_sizes = to.dtype == DType::kI64 || to.dtype == DType::kI32;
  if (!has_sizes && !x.value.known()) return false;
  const bool is_narrow = to.dtype != DType::kI64 && x.value.known();
  const int64_t bound = to.dtype == DType::kI32 ? int64_t{1} << 31 : int64_t{1} << 7;
  if (is_narrow && (x.value.word() < -bound || x.value.word() >= bound)) return false;
  to.values.push_back(x.value);
  return true;
}

Dims strides_of(const Dims& shape) {
  Dims strides = shape;
  Size step = 1;
  for (size_t i = shape.rank(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

// Where element i of `shape` comes from in `from`, which is broadcast to it.
size_t broadcast_place(size_t i, const Dims& shape, const Dims& from) {
  const Dims strides = strides_of(from);
  size_t place = 0;
  for (size_t axis = shape.rank(); axis-- > 0;) {
    const auto size = static_cast<size_t>(int64_t{shape[axis]});
    const size_t along = i % size;
    i /= size;
    const size_t behind = shape.rank() - axis;
    if (behind > from.rank()) continue;
    const size_t own = from.rank() - behind;
    if (from[own] != 1) place += along * static_cast<size_t>(int64_t{strides[own]});
  }
  return place;
}

Result broadcast(const Known& x, const Dims& shape) {
  const Dims both = require_broadcast(TensorType(x.dtype, x.shape), TensorType(x.dtype, shape), "");
  if (count(both) > kMostKnown) return std::nullopt;
  Known result = like(x.dtype, both);
  for (size_t i = 0; i < count_of(both); ++i) {
    if (!push(result, at(x, broadcast_place(i, both, x.shape)))) return std::nullopt;
  }
  return result;
}

template <class F>
Result each(const Known& x, DType dtype, const F& f) {
  Known result = like(dtype, x.shape);
  for (size_t i = 0; i < x.size(); ++i) {
    const Maybe y = f(at(x, i));
    if (!y || !push(result, *y)) return std::nullopt;
  }
  return result;
}

template <class F>
Result each_pair(const Known& a, const Known& b, DType dtype, const F& f) {
  const Result x = broadcast(a, b.shape), y = broadcast(b, a.shape);
  if (!x || !y) return std::nullopt;
  Known result = like(dtype, x->shape);
  for (size_t i = 0; i < x->size(); ++i) {
    const Maybe z = f(at(*x, i), at(*y, i));
    if (!z || !push(result, *z)) return std::nullopt;
  }
  return result;
}

// Those with the given places, in a new shape.
Result picked(const Known& x, const Dims& shape, const std::vector<size_t>& places) {
  Known result = like(x.dtype, shape);
  for (const size_t place : places) {
    if (!push(result, at(x, place))) return std::nullopt;
  }
  return result;
}

Result reshaped(const Known& x, const Dims& shape) {
  if (!known(shape) || count_of(shape) != x.size()) return std::nullopt;
  Known result = x;
  result.shape = shape;
  return result;
}

// ---- the ops

using Rule = Result (*)(const NodeCall&);

Result identity(const NodeCall& n) { return n.known(0) ? Result(*n.known(0)) : std::nullopt; }

Result shape_of(const NodeCall& n) {
  const Dims shape = n.shape(0);
  const auto rank = static_cast<int64_t>(shape.rank());
  const auto place = [&](std::string_view name, int64_t otherwise) {
    return std::clamp<int64_t>(from_front(n.attr(name, otherwise), shape.rank()), 0, rank);
  };
  const int64_t begin = place("start", 0), end = place("end", rank);
  Known result = like(DType::kI64, {std::max<int64_t>(end - begin, 0)});
  for (int64_t i = begin; i < end; ++i) result.values.push_back(shape[static_cast<size_t>(i)]);
  return result;
}

Result size_of_all(const NodeCall& n) {
  Known result = like(DType::kI64, {});
  result.values.push_back(count(n.shape(0)));
  return result;
}

Result cast_to(const NodeCall& n) {
  n.ignore("saturate");
  const DType to = n.attr_dtype("to", DType::kNone);
  const Known* x = n.known(0);
  if (!x) return std::nullopt;
  if (to == DType::kBool) {
    return each(*x, to, [](const Element& e) { return truth(bool(e.value != 0)); });
  }
  if (is_floating(to)) return each(*x, to, [](const Element& e) { return Maybe(e); });
  return each(*x, to, truncated);
}

template <auto Integers, auto Fractions = Integers>
Result of_two(const NodeCall& n) {
  const Known *a = n.known(0), *b = n.known(1);
  if (!a || !b || n.n_inputs() != 2) return std::nullopt;
  return is_floating(a->dtype) ? each_pair(*a, *b, a->dtype, Fractions)
                               : each_pair(*a, *b, a->dtype, Integers);
}

Result mod(const NodeCall& n) {
  n.ignore("fmod");
  const Known *a = n.known(0), *b = n.known(1);
  if (!a || !b || is_floating(a->dtype)) return std::nullopt;
  return each_pair(*a, *b, a->dtype, mod_integers);
}

enum class Order { kEqual, kLess, kLessEqual };

template <Order kOrder, bool kSwapped = false>
Result compared(const NodeCall& n) {
  const Known *a = n.known(kSwapped ? 1 : 0), *b = n.known(kSwapped ? 0 : 1);
  if (!a || !b) return std::nullopt;
  return each_pair(*a, *b, DType::kBool, [](const Element& x, const Element& y) {
    return truth(asked(x, y, [](Size p, Size q) {
      if constexpr (kOrder == Order::kEqual) return p == q;
      if constexpr (kOrder == Order::kLess) return p < q;
      return p <= q;
    }));
  });
}

bool is_true(const Element& x) { return x.value != 0; }
Maybe both(const Element& a, const Element& b) { return truth(is_true(a) && is_true(b)); }
Maybe either(const Element& a, const Element& b) { return truth(is_true(a) || is_true(b)); }

template <auto F>
Result of_one(const NodeCall& n) {
  const Known* x = n.known(0);
  return x ? each(*x, x->dtype, F) : std::nullopt;
}
Maybe absolute(const Element& a) { return a.value >= 0 ? Maybe(a) : neg(a); }
Maybe negated(const Element& a) { return truth(!is_true(a)); }

Result where(const NodeCall& n) {
  const Known *c = n.known(0), *x = n.known(1), *y = n.known(2);
  if (!c || !x || !y) return std::nullopt;
  Result first = broadcast(*x, y->shape);
  first = first ? broadcast(*first, c->shape) : first;
  const Result second = first ? broadcast(*y, first->shape) : first;
  const Result choice = first ? broadcast(*c, first->shape) : first;
  if (!first || !second || !choice) return std::nullopt;
  Known result = like(first->dtype, first->shape);
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
  return picked(*x, shape, places);
}

// Ranges of vectors alone: shapes are vectors.
Result slice(const NodeCall& n) {
  const Known* x = n.known(0);
  if (!x || x->shape.rank() != 1) return std::nullopt;
  const bool has_inputs = n.version() >= 10;
  for (size_t i = 1; has_inputs && i < n.n_inputs(); ++i) {
    if (n.has(i) && (!n.known(i) || !are_numbers(*n.known(i)))) return std::nullopt;
  }
  const Ints starts = has_inputs ? n.ints(1) : n.attr_ints("starts");
  const Ints ends = has_inputs ? n.ints(2) : n.attr_ints("ends");
  const Ints axes = !has_inputs ? n.attr_ints("axes") : n.has(3) ? n.ints(3) : Ints();
  const Ints steps = has_inputs && n.has(4) ? n.ints(4) : Ints();
  if (starts.size() != 1 || ends.size() != 1) return std::nullopt;
  if (axes.size() == 1) require_axis(axes[0], 1, "");
  const auto size = static_cast<int64_t>(x->size());
  const int64_t step = steps.empty() ? 1 : steps[0];
  if (step == 0 || step == INT64_MIN) return std::nullopt;
  const auto bound = [&](int64_t value, int64_t low, int64_t high) {
    return std::clamp(value < 0 ? value + size : value, low, high);
  };
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const int64_t begin = bound(starts[0], std::max<int64_t>(low, 0), high);
  const int64_t end = bound(ends[0], low, high);
  std::vector<size_t> places;
  if (step > 0) {
    for (int64_t i = begin; i < end; i += std::min(step, size)) {
      places.push_back(static_cast<size_t>(i));
    }
  } else {
    for (int64_t i = begin; i > end && i >= 0; i += std::max(step, -size)) {
      places.push_back(static_cast<size_t>(i));
    }
  }
  return picked(*x, {static_cast<int64_t>(places.size())}, places);
}

// Of vectors alone, too.
Result concat(const NodeCall& n) {
  n.ignore("axis");
  const Known* first = n.n_inputs() ? n.known(0) : nullptr;
  if (!first) return std::nullopt;
  Known result = like(first->dtype, {});
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
  for (const int64_t axis : *axes) is_new[static_cast<size_t>(require_axis(axis, rank, ""))] = true;
  Dims shape;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) shape.push_back(is_new[i] ? Size(1) : x->shape[next++]);
  return reshaped(*x, shape);
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
  return reshaped(*x, shape);
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
  return reshaped(*x, shape);
}

Result range(const NodeCall& n) {
  const Known *start = n.known(0), *limit = n.known(1), *delta = n.known(2);
  if (!start || !limit || !delta || is_floating(start->dtype)) return std::nullopt;
  const Size begin = start->values[0], end = limit->values[0], step = delta->values[0];
  if (!begin.known() || !end.known() || !step.known() || step.word() == 0) return std::nullopt;
  Known result = like(start->dtype, {});
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
    if (!size.known() || size.word() < 0 || size.word() > kMostKnown) return std::nullopt;
    elements *= size.word();
    if (elements > kMostKnown) return std::nullopt;
    shape.push_back(size);
  }
  return picked(*value, shape, std::vector<size_t>(static_cast<size_t>(elements), 0));
}

Result constant(const NodeCall& n) {
  if (const TensorData* data = n.attr_tensor("value")) return known_elements(*data);
  if (!n.has_attr("value_int") && !n.has_attr("value_ints")) return std::nullopt;
  const bool is_one = n.has_attr("value_int");
  const Ints values = is_one ? Ints{n.attr("value_int", 0)} : n.attr_ints("value_ints");
  Known result = like(DType::kI64, is_one ? Dims{} : Dims{static_cast<int64_t>(values.size())});
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

// Of all elements.
template <auto F>
Result reduced(const NodeCall& n) {
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
  Known result = like(x->dtype, {});
  if (n.flag("keepdims", true) && x->shape.rank() == 1) result.shape = {1};
  return push(result, all) ? Result(result) : std::nullopt;
}

// The places of a vector that are not zero: how old exporters count.
Result nonzero(const NodeCall& n) {
  const Known* x = n.known(0);
  if (!x || x->shape.rank() != 1) return std::nullopt;
  Known result = like(DType::kI64, {});
  for (size_t i = 0; i < x->size(); ++i) {
    if (!x->values[i].known()) return std::nullopt;
    if (x->values[i].word() != 0) push(result, {Size(static_cast<int64_t>(i)), 1});
  }
  result.shape = {1, static_cast<int64_t>(result.size())};
  return result;
}

// Of what has at most one axis that is longer than 1.
Result transpose(const NodeCall& n) {
  const Known* x = n.known(0);
  if (!x) return std::nullopt;
  size_t long_axes = 0;
  for (const Size size : x->shape) long_axes += size == 1 ? 0 : 1;
  if (long_axes > 1) return std::nullopt;
  Ints perm = n.attr_ints("perm");
  for (size_t i = x->shape.rank(); perm.size() < x->shape.rank() && i-- > 0;) {
    perm.push_back(static_cast<int64_t>(i));
  }
  Dims shape;
  for (const int64_t axis : perm) {
    shape.push_back(x->shape[static_cast<size_t>(require_axis(axis, x->shape.rank(), ""))]);
  }
  return reshaped(*x, shape);
}

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> table = {
      {"Identity", identity},
      {"Shape", shape_of},
      {"Size", size_of_all},
      {"Cast", cast_to},
      {"Add", of_two<add>},
      {"Sub", of_two<sub>},
      {"Mul", of_two<mul>},
      {"Div", of_two<div_integers, div_fractions>},
      {"Mod", mod},
      {"Min", of_two<min>},
      {"Max", of_two<max>},
      {"Equal", compared<Order::kEqual>},
      {"Less", compared<Order::kLess>},
      {"LessOrEqual", compared<Order::kLessEqual>},
      {"Greater", compared<Order::kLess, true>},
      {"GreaterOrEqual", compared<Order::kLessEqual, true>},
      {"And", of_two<both>},
      {"Or", of_two<either>},
      {"Not", of_one<negated>},
      {"Neg", of_one<neg>},
      {"Abs", of_one<absolute>},
      {"Floor", of_one<floor_of>},
      {"Ceil", of_one<ceil_of>},
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
      {"ReduceSum", reduced<add>},
      {"ReduceProd", reduced<mul>},
      {"ReduceMin", reduced<min>},
      {"ReduceMax", reduced<max>},
      {"NonZero", nonzero},
  };
  return table;
}

template <class T>
void read_integers(const TensorData& data, Known& known, bool& fits) {
  const auto elements = data.elements();
  for (size_t i = 0; i < elements.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, elements.data() + i * sizeof(T), sizeof(T));
    const auto size = as_size(static_cast<__int128>(value));
    fits = fits && size && push(known, {*size, 1});
  }
}

template <class T>
void read_fractions(const TensorData& data, Known& known, bool& fits) {
  const auto elements = data.elements();
  for (size_t i = 0; fits && i < elements.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, elements.data() + i * sizeof(T), sizeof(T));
    const auto fraction = fraction_of(static_cast<double>(value));
    fits = fraction && push(known, {Size(fraction->numerator), Size(fraction->denominator)});
  }
}

}  // namespace

std::optional<Fraction> fraction_of(double value) {
  if (value == 0) return Fraction{0, 1};
  if (value < 0) {
    const auto positive = fraction_of(-value);
    return positive ? std::optional(Fraction{-positive->numerator, positive->denominator})
                    : std::nullopt;
  }
  if (!(value < 0x1p31 && value > 0x1p-31)) return std::nullopt;
  Fraction before{0, 1}, now{1, 0};
  double rest = value;
  for (;;) {
    const auto whole = static_cast<int64_t>(std::floor(rest));
    const Fraction next = {whole * now.numerator + before.numerator,
                           whole * now.denominator + before.denominator};
    before = now;
    now = next;
    const double got = static_cast<double>(now.numerator) / static_cast<double>(now.denominator);
    if (static_cast<float>(got) == static_cast<float>(value)) return now;
    rest = 1 / (rest - static_cast<double>(whole));
  }
}

std::optional<Known> known_elements(const TensorData& data) {
  // Floating ones are scales and the like, which are few.
  constexpr int64_t kMostFractions = 16;
  const DType dtype = data.type.dtype;
  const int64_t most = is_floating(dtype) ? kMostFractions : kMostKnown;
  if (!data.unreadable.empty() || count(data.type.shape) > most) return std::nullopt;
  Known known = like(dtype, data.type.shape);
  bool fits = true;
  switch (dtype) {
    case DType::kI64:
      read_integers<int64_t>(data, known, fits);
      break;
    case DType::kI32:
      read_integers<int32_t>(data, known, fits);
      break;
    case DType::kBool:
      read_integers<uint8_t>(data, known, fits);
      break;
    case DType::kF32:
      read_fractions<float>(data, known, fits);
      break;
    case DType::kF64:
      read_fractions<double>(data, known, fits);
      break;
    default:
      return std::nullopt;
  }
  return fits ? Result(known) : std::nullopt;
}

std::vector<Known> known_results(const NodeCall& n) {
  const auto rule = rules().find(n.node().op);
  if (!n.node().domain.empty() || rule == rules().end()) return {};
  Result result;
  try {
    result = rule->second(n);
  } catch (const Error&) {
    return {};  // What is wrong, the op itself tells best.
  }
  if (!result) return {};
  n.require_all_known();
  return {std::move(*result)};
}

Tensor tensor_of(const Known& known) {
  Scope& scope = current_scope();
  if (!are_numbers(known)) {
    const Tensor x = cast(sizes_tensor(known.values), known.dtype);
    const bool are_whole = known.divisors.empty();
    return reshape(are_whole ? x : x / cast(sizes_tensor(known.divisors), known.dtype),
                   known.shape);
  }
  const auto host = [&](DType dtype, const void* data) {
    return from_host(scope, scope.device(), TensorType(dtype, known.shape), data);
  };
  if (is_floating(known.dtype)) {
    std::vector<double> values;
    for (size_t i = 0; i < known.size(); ++i) {
      values.push_back(static_cast<double>(known.values[i].word()) /
                       static_cast<double>(known.divisors[i].word()));
    }
    if (known.dtype == DType::kF64) return host(DType::kF64, values.data());
    const std::vector<float> floats(values.begin(), values.end());
    const Tensor x = host(DType::kF32, floats.data());
    return known.dtype == DType::kF32 ? x : cast(x, known.dtype);
  }
  const auto* values = reinterpret_cast<const int64_t*>(known.values.data());
  if (known.dtype == DType::kI64) return host(DType::kI64, values);
  if (known.dtype == DType::kBool) {
    const std::vector<uint8_t> bools(values, values + known.size());
    return host(DType::kBool, bools.data());
  }
  const std::vector<int32_t> narrow(values, values + known.size());
  const Tensor x = host(DType::kI32, narrow.data());
  return known.dtype == DType::kI32 ? x : cast(x, known.dtype);
}

}  // namespace tenon::onnx
