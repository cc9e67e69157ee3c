// A problem: one call of an op whose inputs can be reproduced from a line of text. Cases of the
// registry, generated calls and shrunk calls are all problems.

#pragma once

#include <optional>
#include <string>

#include "conformance/kit/dtypes.h"
#include "conformance/kit/json_fwd.h"
#include "conformance/kit/op_registry.h"

namespace tenon_kit {

using Sizes = std::vector<int64_t>;

// Returns the number of elements of a shape, the product of its sizes.
int64_t count_of(const Sizes& shape);

// The size along an axis; a negative axis counts from the end.
int64_t size_along(const Sizes& shape, int64_t axis);

// Generates the values of an operand. All kinds but the first depend on the seed and the dtype.
struct Fill {
  enum class Kind { kValues, kUniform, kWhole, kSpecial, kBits, kMagnitudes };
  Kind kind = Kind::kValues;
  Reals values;  // The values of an operand of kind kValues, row-major.
  // kUniform draws from [low, high), integers for integer dtypes. kWhole draws integers for every
  // dtype, in a way that is quick for large tensors (whole.h).
  double low = -1;
  double high = 1;
  uint64_t seed = 0;
};

// The memory layout of an operand. Only kRepeated affects the values: it repeats the first element
// of an axis with stride zero.
enum class Layout { kDense, kTransposed, kStepped, kReversed, kOffset, kRepeated };
inline constexpr Layout kLayouts[] = {Layout::kDense,    Layout::kTransposed, Layout::kStepped,
                                      Layout::kReversed, Layout::kOffset,     Layout::kRepeated};
const char* name_of(Layout layout);

struct Operand {
  bool absent = false;
  bool scalar = false;  // An inline scalar, with its value in `fill`.
  tenon_dtype dtype = TENON_FLOAT32;
  Sizes shape;
  Fill fill;
  Layout layout = Layout::kDense;

  // Returns the values, row-major. The values of a tensor are rounded to the dtype.
  Reals values() const;
};

inline bool is_tensor(const Operand& x) { return !x.absent && !x.scalar; }

// Returns an operand that lists its values, in row-major order, instead of generating them.
Operand explicit_operand(tenon_dtype dtype, Sizes shape, Reals values);
// Returns the operand in a dense layout, with its values listed instead of generated.
Operand explicit_operand(const Operand& x);
// Returns the operand with its values replaced by `values`, of which there are as many.
Operand with_values(Operand x, Reals values);
// Changes the operand's shape. Listed values repeat from the beginning if the shape is larger.
void resize_operand(Operand& x, const Sizes& shape);

struct Problem {
  // Defined in problem.cc rather than inline, because checks and generators create and destroy
  // problems in many places.
  Problem();
  Problem(const Problem&);
  Problem(Problem&&) noexcept;
  Problem& operator=(const Problem&);
  Problem& operator=(Problem&&) noexcept;
  ~Problem();

  const OpFacts* op = nullptr;
  AttrValues attrs;
  std::vector<Operand> inputs;
  std::string name;        // Name of a case of the registry; else empty.
  bool was_whole = false;  // Whether a case of integers was converted to a floating-point dtype.

  // Expected outputs, if the case lists them.
  std::vector<Operand> expected;
  std::string error;  // If not empty, the call must fail with a message that contains this text.
  double rtol = -1;
  double atol = -1;
  bool check_gradient = true;

  // The value of an attribute, or its default. Throws if the op does not have the attribute.
  const AttrValue& attr(std::string_view name) const;
};

// The unmodified cases of an op. Parsed once.
const std::vector<Problem>& registry_cases(const OpFacts& op);

// Converts an operand to and from JSON, in the format of cases and problem lines. If the JSON has
// no seed, values are drawn with a seed made from `place`, which describes the operand's position.
Json to_json(const Operand& x);
Operand operand_from_json(const Json& json, const std::string& place);

// Converts to and from one line of text, such as {"op": "add", "inputs": [...]}. Throws if the text
// is invalid.
std::string to_line(const Problem& problem);
Problem from_line(const std::string& line);

}  // namespace tenon_kit
