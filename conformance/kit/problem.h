// A problem: one call of an op with inputs that anyone can make again from a line of text. Cases of
// the registry, generated ones and what shrinking leaves of them are all problems.

#pragma once

#include <optional>
#include <string>

#include "conformance/kit/dtypes.h"
#include "conformance/kit/json_fwd.h"
#include "conformance/kit/op_registry.h"

namespace tenon_kit {

using Sizes = std::vector<int64_t>;

int64_t count_of(const Sizes& shape);

// Along an axis, which counts from the end if it is negative.
int64_t size_along(const Sizes& shape, int64_t axis);

// Where the values of an operand come from. All but the first depend on the seed and the dtype.
struct Fill {
  enum class Kind { kValues, kUniform, kSpecial, kBits, kMagnitudes };
  Kind kind = Kind::kValues;
  Reals values;     // kValues, row-major.
  double low = -1;  // kUniform: from [low, high); of integers whole ones.
  double high = 1;
  uint64_t seed = 0;
};

// How an operand lies in memory. Its values are the same in each; a zero stride repeats what the
// first place of an axis holds.
enum class Layout { kDense, kTransposed, kStepped, kReversed, kOffset, kRepeated };
inline constexpr Layout kLayouts[] = {Layout::kDense,    Layout::kTransposed, Layout::kStepped,
                                      Layout::kReversed, Layout::kOffset,     Layout::kRepeated};
const char* name_of(Layout layout);

struct Operand {
  bool absent = false;
  bool scalar = false;  // An inline number; `fill` holds its value.
  tenon_dtype dtype = TENON_FLOAT32;
  Sizes shape;
  Fill fill;
  Layout layout = Layout::kDense;

  // The values, row-major, rounded to the dtype.
  Reals values() const;
};

inline bool is_tensor(const Operand& x) { return !x.absent && !x.scalar; }

// Of these values, row-major.
Operand listed(tenon_dtype dtype, Sizes shape, Reals values);
// The same values, but written out and without gaps.
Operand listed(const Operand& x);
// The operand with other values, as many as it has.
Operand with_values(Operand x, Reals values);
// Gives the operand another shape. Values that are listed go on from the beginning where there are
// more places.
void repeat_to(Operand& x, const Sizes& shape);

struct Problem {
  // Not inline: what checks and generators do with problems is to make and to end them.
  Problem();
  Problem(const Problem&);
  Problem(Problem&&) noexcept;
  Problem& operator=(const Problem&);
  Problem& operator=(Problem&&) noexcept;
  ~Problem();

  const OpFacts* op = nullptr;
  AttrValues attrs;
  std::vector<Operand> inputs;
  std::string name;        // Of a case of the registry; else empty.
  bool was_whole = false;  // A case of integers that is tried in a floating dtype.

  // What must come out, if the problem says it itself.
  std::vector<Operand> expected;
  std::string error;  // A text that the message holds: the call must fail.
  double rtol = -1;
  double atol = -1;
  bool check_gradient = true;

  // Given or by default; throws for a name that the op does not have.
  const AttrValue& attr(std::string_view name) const;
};

// The cases of an op, as they stand; read once.
const std::vector<Problem>& registry_cases(const OpFacts& op);

// An operand as cases and lines have it. What is drawn without a seed is drawn by its place.
Json to_json(const Operand& x);
Operand operand_from_json(const Json& json, const std::string& place);

// {"op": "add", "inputs": [...]}, in one line, and back. Throws for what it does not understand.
std::string to_line(const Problem& problem);
Problem from_line(const std::string& line);

}  // namespace tenon_kit
