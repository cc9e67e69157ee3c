// Where ops take indices, and which of them are in their range: what generators keep to, and what
// the checks of indices go beyond.

#pragma once

#include "conformance/kit/problem.h"

namespace tenon_kit {

struct IndexRule {
  const char* op;
  size_t input;  // That holds the indices.
  // What the one at a place has to be below; negative where any will do.
  int64_t (*bound)(const Problem&, int64_t at);
  bool from_end = true;  // -1 means the same as the last one.
  // The least one that is no error; nullptr where none is too small.
  int64_t (*least)(int64_t bound) = [](int64_t n) { return -n; };
};

// nullptr for an op that takes none.
const IndexRule* index_rule_of(const OpFacts& op);

// Whether the op's input says where, and not what: it has indices, or places that are clamped.
bool is_index(const OpFacts& op, size_t input);

// Whether the op passes the value over, wherever it is among the indices.
bool is_ignored(const Problem& problem, Real value);

// Whether `value` may be the index at a place.
bool is_in_range(const Problem& problem, const IndexRule& rule, int64_t at, Real value);

}  // namespace tenon_kit
