#include "conformance/run/shrink.h"

#include <algorithm>

namespace tenon_kit {
namespace {

// As many elements of `x` as `shape` says, the first ones of every axis, or the last ones.
Operand cropped(const Operand& x, const Sizes& shape, bool last) {
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

// All inputs whose axis, counted from the back, has the size `before`, cut down to `size`.
Problem with_size(const Problem& problem, size_t from_back, int64_t before, int64_t size,
                  bool last) {
  Problem smaller = problem;
  smaller.expected.clear();
  for (Operand& x : smaller.inputs) {
    if (x.absent || x.scalar || x.shape.size() <= from_back) continue;
    Sizes shape = x.shape;
    int64_t& own = shape[shape.size() - 1 - from_back];
    if (own != before) continue;
    own = size;
    x = cropped(x, shape, last);
  }
  return smaller;
}

// Simpler values for one place of one operand.
std::vector<Problem> simpler_values(const Problem& problem) {
  std::vector<Problem> candidates;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const Operand& x = problem.inputs[i];
    if (x.absent || x.scalar || count_of(x.shape) > 16) continue;
    const Reals values = x.values();
    for (size_t k = 0; k < values.size(); ++k) {
      for (const Real simple : {Real(0), Real(1), real_rint(values[k])}) {
        if (simple == values[k] || real_is_nan(simple)) continue;
        Problem candidate = problem;
        candidate.inputs[i].fill = {.kind = Fill::Kind::kValues, .values = values};
        candidate.inputs[i].fill.values[k] = simple;
        candidate.expected.clear();
        candidates.push_back(std::move(candidate));
      }
    }
  }
  return candidates;
}

// Every way to make it a little smaller, the boldest first.
std::vector<Problem> smaller(const Problem& problem) {
  std::vector<Problem> candidates;
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
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    if (problem.inputs[i].layout == Layout::kDense) continue;
    candidates.push_back(problem);
    candidates.back().inputs[i].fill = {.kind = Fill::Kind::kValues,
                                        .values = problem.inputs[i].values()};
    candidates.back().inputs[i].layout = Layout::kDense;
  }
  return candidates;
}

}  // namespace

Problem shrink(const Problem& problem, const std::function<bool(const Problem&)>& fails,
               int budget) {
  Problem best = problem;
  for (std::vector<Problem> (*candidates)(const Problem&) : {smaller, simpler_values}) {
    bool progress = true;
    while (progress && budget > 0) {
      progress = false;
      for (const Problem& candidate : candidates(best)) {
        if (--budget < 0) break;
        if (!fails(candidate)) continue;
        best = candidate;
        progress = true;
        break;
      }
    }
  }
  return best;
}

}  // namespace tenon_kit
