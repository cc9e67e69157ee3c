#include "conformance/kit/index_rules.h"

#include <algorithm>

namespace tenon_kit {
namespace {

constexpr int64_t kAny = -1;

// Returns the bound of an index along the op's `axis`: the size of that axis of input 0.
int64_t bound_along_axis(const Problem& p, int64_t) {
  return size_along(p.inputs[0].shape, p.attr("axis").whole());
}
// Returns the bound of a class index: the size of axis 1 of the scores.
int64_t bound_of_class(const Problem& p, int64_t) { return p.inputs[0].shape[1]; }

// Returns the bound of element `at` of an input of index tuples, whose first index is along axis
// `first`. Returns 0 (no index is valid) if the tuples have more indices than there are axes.
int64_t bound_in_tuple(const Problem& p, int64_t at, int64_t first) {
  const Sizes& shape = p.inputs[0].shape;
  const auto axis = static_cast<size_t>(first + at % p.inputs[1].shape.back());
  return axis < shape.size() ? shape[axis] : 0;
}

// Returns the bound of a position in a key-value cache; kAny if all positions are valid, because
// the cache is circular or the call has no updates.
int64_t bound_of_cache(const Problem& p, int64_t at) {
  const bool any = p.attr("mode").text() == "circular" || count_of(p.inputs[1].shape) == 0;
  return any ? kAny : bound_along_axis(p, at);
}

const IndexRule kIndexRules[] = {
    {"gather", 1, bound_along_axis},
    {"gather_elements", 1, bound_along_axis},
    {"gather_nd", 1,
     [](const Problem& p, int64_t at) {
       return bound_in_tuple(p, at, p.attr("batch_dims").whole());
     }},
    {"scatter_elements", 1, bound_along_axis},
    {"scatter_nd", 1, [](const Problem& p, int64_t at) { return bound_in_tuple(p, at, 0); }},
    {"embedding", 1, [](const Problem& p, int64_t) { return p.inputs[0].shape[0]; }},
    {"segment_reduce", 1, [](const Problem& p, int64_t) { return p.attr("num_segments").whole(); }},
    // If the attribute `length` is -1, the values determine the length.
    {"bincount", 0, [](const Problem& p, int64_t) { return p.attr("length").whole(); },
     /*from_end=*/false, [](int64_t) { return int64_t{0}; }},
    // No index counts from the end: the position of each row is clamped separately.
    {"kv_cache_update", 2, bound_of_cache, /*from_end=*/false},
    {"nll", 1, bound_of_class},
    {"sparse_softmax_cross_entropy", 1, bound_of_class},
    // The indices are sequence lengths: the size of the axis is valid, and no length is too small.
    {"reverse_sequence", 1,
     [](const Problem& p, int64_t) {
       return size_along(p.inputs[0].shape, p.attr("time_axis").whole()) + 1;
     },
     /*from_end=*/false, /*least=*/nullptr},
    {"rotary_embedding", 3, [](const Problem& p, int64_t) { return p.inputs[1].shape[0]; }},
};

}  // namespace

const IndexRule* index_rule_of(const OpFacts& op) {
  for (const IndexRule& rule : kIndexRules) {
    if (op.name == rule.op) return &rule;
  }
  return nullptr;
}

bool is_index(const OpFacts& op, size_t input) {
  const IndexRule* const rule = index_rule_of(op);
  if (rule && rule->input == input) return true;
  return !op.inputs.empty() && op.inputs[std::min(input, op.inputs.size() - 1)].name == "starts";
}

bool is_ignored(const Problem& problem, Real value) {
  return problem.op->attr("ignore_index") && value == problem.attr("ignore_index").whole();
}

bool is_in_range(const Problem& problem, const IndexRule& rule, int64_t at, Real value) {
  const int64_t bound = rule.bound(problem, at);
  if (bound < 0 || is_ignored(problem, value)) return true;
  return value < bound && (!rule.least || value >= rule.least(bound));
}

}  // namespace tenon_kit
