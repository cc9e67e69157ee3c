#include "conformance/run/shrink.h"

#include <algorithm>
#include <iterator>

namespace tenon_kit {
namespace {

using Problems = std::vector<Problem>;

// Crops `x` to `shape`. Keeps the first elements of every axis, or the last ones if `last` is true.
Operand crop(const Operand& x, const Sizes& shape, bool last) {
  if (x.fill.kind == Fill::Kind::kWhole) {  // A generated fill serves any shape.
    Operand y = x;
    y.shape = shape;
    return y;
  }
  const Reals all = x.values();
  Operand y = x;
  y.shape = shape;
  y.fill = {.kind = Fill::Kind::kValues};
  Sizes at(shape.size(), 0);
  const int64_t n = count_of(shape);
  for (int64_t i = 0; i < n; ++i) {
    int64_t from = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const int64_t skipped = last ? x.shape[axis] - shape[axis] : 0;
      from = from * x.shape[axis] + skipped + at[axis];
    }
    y.fill.values.push_back(all[static_cast<size_t>(from)]);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
  return y;
}

// Crops all inputs from size `before` to `size` along the axis `from_back`, counted from the last
// axis. Keeps the last elements of the axis if `last` is true, else the first ones.
Problem with_size(const Problem& problem, size_t from_back, int64_t before, int64_t size,
                  bool last) {
  Problem smaller = problem;
  for (Operand& x : smaller.inputs) {
    if (x.absent || x.scalar || x.shape.size() <= from_back) continue;
    Sizes shape = x.shape;
    int64_t& own = shape[shape.size() - 1 - from_back];
    if (own != before) continue;
    own = size;
    x = crop(x, shape, last);
  }
  return smaller;
}

// Returns the problems in which one size is reduced, largest reductions first.
Problems smaller(const Problem& problem) {
  Problems candidates;
  size_t rank = 0;
  for (const Operand& x : problem.inputs) rank = std::max(rank, x.shape.size());
  for (size_t from_back = 0; from_back < rank; ++from_back) {
    std::vector<int64_t> sizes;
    for (const Operand& x : problem.inputs) {
      if (!x.absent && x.shape.size() > from_back) {
        sizes.push_back(x.shape[x.shape.size() - 1 - from_back]);
      }
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    for (const int64_t size : sizes) {
      for (const int64_t less : {int64_t{1}, size / 2, size - size / 2, size - 1}) {
        if (less < 1 || less >= size) continue;
        candidates.push_back(with_size(problem, from_back, size, less, false));
        candidates.push_back(with_size(problem, from_back, size, less, true));
      }
    }
  }
  return candidates;
}

// ---- removing inputs, axes and attributes

// Returns the problems without one of the optional or variadic inputs.
Problems fewer_inputs(const Problem& problem) {
  Problems candidates;
  const std::vector<InputFacts>& known = problem.op->inputs;
  for (size_t i = problem.inputs.size(); i-- > 0;) {
    const InputFacts& input = known[std::min(i, known.size() - 1)];
    if (input.optional && !problem.inputs[i].absent) {
      candidates.push_back(problem);
      std::vector<Operand>& inputs = candidates.back().inputs;
      inputs[i] = Operand();
      inputs[i].absent = true;
      while (!inputs.empty() && inputs.back().absent) inputs.pop_back();
    }
    if (input.variadic && problem.inputs.size() > known.size()) {
      candidates.push_back(problem);
      std::vector<Operand>& inputs = candidates.back().inputs;
      inputs.erase(inputs.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return candidates;
}

// Adjusts an attribute to the removal of axis `axis` of `rank`. Returns false if the attribute
// refers to that axis.
bool adjust_to_removed_axis(AttrValue& value, std::string_view name, int64_t axis, int64_t rank) {
  const auto is_it = [&](int64_t own) { return (own < 0 ? own + rank : own) == axis; };
  const auto moved = [&](int64_t own) {  // Axes may count from either end.
    if (own >= 0) return own > axis ? own - 1 : own;
    return own + rank < axis ? own + 1 : own;
  };
  if (const int64_t* whole = std::get_if<int64_t>(&value.variant())) {
    if (name != "axis") return true;
    if (is_it(*whole)) return false;
    value = moved(*whole);
  } else if (const Sizes* list = std::get_if<Sizes>(&value.variant())) {
    const bool of_axes = name == "axes" || name == "perm";
    const bool of_each = static_cast<int64_t>(list->size()) == rank;
    Sizes left;
    for (size_t i = 0; i < list->size(); ++i) {
      const int64_t own = (*list)[i];
      if (of_axes ? is_it(own) : of_each && static_cast<int64_t>(i) == axis) continue;
      left.push_back(of_axes ? moved(own) : own);
    }
    value = left;
  }
  return true;
}

// Whether x has size 1 at this axis, counted from the last axis.
bool has_axis_of_one(const Operand& x, size_t from_back) {
  return is_tensor(x) && x.shape.size() > from_back && x.shape[x.shape.size() - 1 - from_back] == 1;
}

// Adds candidates with an axis removed from some inputs: one with the same attributes, and one with
// attributes adjusted.
void add_without_axis(const Problem& problem, std::span<const size_t> inputs, size_t from_back,
                      Problems& candidates) {
  Problem candidate = problem;
  for (const size_t i : inputs) {
    Operand& x = candidate.inputs[i];
    x = with_values(x, x.values());
    x.shape.erase(x.shape.end() - 1 - static_cast<ptrdiff_t>(from_back));
    if (x.shape.empty()) x.layout = Layout::kDense;
  }
  candidates.push_back(candidate);
  const auto rank = static_cast<int64_t>(problem.inputs[inputs[0]].shape.size());
  AttrValues attrs;
  for (const auto& [name, value] : problem.attrs) {
    attrs[name] = value;
    if (!adjust_to_removed_axis(attrs[name], name, rank - 1 - static_cast<int64_t>(from_back),
                                rank))
      return;
  }
  if (attrs == problem.attrs) return;
  candidate.attrs = attrs;
  candidates.push_back(std::move(candidate));
}

// Returns the problems without an axis of size 1. The axis is counted from the last one, and is
// removed from all inputs that have size 1 there, or from a single input.
Problems fewer_axes(const Problem& problem) {
  Problems candidates;
  size_t rank = 0;
  for (const Operand& x : problem.inputs) rank = std::max(rank, x.shape.size());
  for (size_t from_back = rank; from_back-- > 0;) {
    std::vector<size_t> with;
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      if (has_axis_of_one(problem.inputs[i], from_back)) with.push_back(i);
    }
    if (with.empty()) continue;
    add_without_axis(problem, with, from_back, candidates);
    if (with.size() == 1) continue;
    for (const size_t i : with) add_without_axis(problem, {&i, 1}, from_back, candidates);
  }
  return candidates;
}

// Returns the problems in which one attribute has its default. Dtypes are kept, because they are
// part of the claim.
Problems default_attrs(const Problem& problem) {
  Problems candidates;
  for (const auto& [plain, initial] : problem.attrs) {
    const AttrFacts* facts = problem.op->attr(plain);
    if (!facts || facts->type == "dtype") continue;
    candidates.push_back(problem);
    candidates.back().attrs = {};
    for (const auto& [name, value] : problem.attrs) {
      if (name != plain) candidates.back().attrs[name] = value;
    }
  }
  return candidates;
}

// ---- simplifying layouts and values

// Returns the problems in which one input that is not dense becomes dense.
Problems denser(const Problem& problem) {
  Problems candidates;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const Operand& x = problem.inputs[i];
    if (!is_tensor(x) || x.layout == Layout::kDense) continue;
    candidates.push_back(problem);
    candidates.back().inputs[i] = explicit_operand(x);
  }
  return candidates;
}

// Returns the problems in which one value of one operand is simpler: 0, 1, or rounded to an
// integer.
Problems simpler_values(const Problem& problem) {
  Problems candidates;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const Operand& x = problem.inputs[i];
    if (!is_tensor(x) || count_of(x.shape) > 16) continue;
    const Reals values = x.values();
    for (size_t k = 0; k < values.size(); ++k) {
      for (const Real simple : {Real(0), Real(1), real_rint(values[k])}) {
        // The remaining replacements are not simpler than the value.
        if (simple == values[k] || real_is_nan(simple)) break;
        Problem candidate = problem;
        candidate.inputs[i] = with_values(x, values);
        candidate.inputs[i].fill.values[k] = simple;
        candidates.push_back(std::move(candidate));
      }
    }
  }
  return candidates;
}

// Converts the problem to the dtypes of a claim and rounds its values.
Problem in_dtypes(const Problem& problem, const Claim& claim) {
  Problem result = problem;
  for (size_t i = 0; i < result.inputs.size() && !claim.inputs.empty(); ++i) {
    Operand& x = result.inputs[i];
    const tenon_dtype dtype = claim.inputs[std::min(i, claim.inputs.size() - 1)];
    if (x.absent || x.dtype == dtype) continue;
    x = with_values(x, x.values());
    x.dtype = dtype;
    for (Real& value : x.fill.values) value = rounded(value, dtype);
  }
  for (const AttrFacts& attr : problem.op->attrs) {
    if (attr.type != "dtype" || claim.outputs.empty()) continue;
    result.attrs[attr.name] = name_of(claim.outputs[0]);
  }
  return result;
}

// Returns the position of a dtype in the order of simplicity, simplest first.
size_t order_of(tenon_dtype dtype) {
  constexpr tenon_dtype kOrder[] = {TENON_FLOAT32, TENON_BOOL,   TENON_INT8,    TENON_UINT8,
                                    TENON_INT16,   TENON_UINT16, TENON_INT32,   TENON_UINT32,
                                    TENON_INT64,   TENON_UINT64, TENON_FLOAT64, TENON_FLOAT16,
                                    TENON_BFLOAT16};
  const auto* const found = std::find(std::begin(kOrder), std::end(kOrder), dtype);
  return static_cast<size_t>(found - std::begin(kOrder));
}

// Returns order_of() of each dtype of a claim: inputs first, then outputs.
std::vector<size_t> orders_of(const Claim& claim) {
  std::vector<size_t> places;
  for (const tenon_dtype dtype : claim.inputs) places.push_back(order_of(dtype));
  for (const tenon_dtype dtype : claim.outputs) places.push_back(order_of(dtype));
  return places;
}

}  // namespace

bool is_simpler(const Claim& a, const Claim& b) { return orders_of(a) < orders_of(b); }

Problem shrink(const Problem& problem, std::span<const Claim> simpler,
               const std::function<bool(const Problem&)>& fails, int budget) {
  Problem best = problem;
  const auto improve = [&](Problems candidates) {
    for (Problem& candidate : candidates) {
      if (--budget < 0) return false;
      candidate.expected.clear();
      if (!fails(candidate)) continue;
      best = std::move(candidate);
      return true;
    }
    return false;
  };
  for (bool progress = true; progress && budget > 0;) {
    progress = false;
    for (Problems (*candidates)(const Problem&) :
         {smaller, fewer_inputs, fewer_axes, default_attrs, denser, simpler_values}) {
      while (improve(candidates(best))) progress = true;
    }
    Problems others;
    for (const Claim& claim : simpler) others.push_back(in_dtypes(best, claim));
    if (!improve(std::move(others))) continue;
    progress = true;
    simpler = {};  // Stops: the simplest claim that fails has been found.
  }
  return best;
}

}  // namespace tenon_kit
