// Defines which inputs of ops are indices, and which index values are in range. Generators respect
// these rules; the checks of indices violate them.

#pragma once

#include "conformance/kit/problem.h"

namespace tenon_kit {

struct IndexRule {
  const char* op;
  size_t input;  // The input that holds indices.
  // Returns the exclusive upper bound of element `at` of the index input; negative if there is
  // none.
  int64_t (*bound)(const Problem&, int64_t at);
  bool from_end = true;  // Whether negative indices count from the end.
  // Returns the smallest valid index for a bound; nullptr if no index is too small.
  int64_t (*least)(int64_t bound) = [](int64_t n) { return -n; };
};

// The index rule of an op; nullptr if the op takes no indices.
const IndexRule* index_rule_of(const OpFacts& op);

// Whether the input holds positions rather than data: indices, or start positions, which the op
// clamps.
bool is_index(const OpFacts& op, size_t input);

// Whether the op ignores this index value.
bool is_ignored(const Problem& problem, Real value);

// Whether `value` is a valid index at element `at`.
bool is_in_range(const Problem& problem, const IndexRule& rule, int64_t at, Real value);

}  // namespace tenon_kit
