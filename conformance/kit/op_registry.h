// The registry of ops, read from the files in conformance/cases, which ./dev gen writes and the
// build embeds.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/kit/attr_values.h"

namespace tenon_kit {

struct AttrFacts {
  std::string name;
  std::string type;                 // One of: int, float, bool, dtype, enum, ints, string.
  AttrValue initial;                // The default value.
  std::vector<std::string> values;  // The names of an enum's values.
};

struct InputFacts {
  std::string name;
  bool optional = false;
  bool variadic = false;
};

struct OpFacts {
  uint32_t id = 0;
  std::string name;
  bool elementwise = false;
  bool view = false;
  bool composite = false;
  bool differentiable = false;
  bool sparse_output = false;
  std::string numeric;  // Numeric class, which determines the error bound (docs/numerics.md).
  // The rule that an index out of range violates; empty if the op takes no indices.
  std::string index_rule;
  std::vector<InputFacts> inputs;
  size_t n_outputs = 0;  // Number of outputs, without optional and variadic ones.
  bool variadic_outputs = false;
  std::vector<AttrFacts> attrs;
  std::string cases;  // A JSON list in the format of problem.h.

  // Returns the attribute with this name; NULL if the op does not have it.
  const AttrFacts* attr(std::string_view name) const;
  bool is_random()
      const;  // Whether the op takes the state of a generator, so that results are random.
};

const std::vector<OpFacts>& all_ops();
const OpFacts* find_op(std::string_view name);
const OpFacts* find_op(uint32_t id);
const OpFacts& op_named(std::string_view name);  // Throws if unknown.

}  // namespace tenon_kit
