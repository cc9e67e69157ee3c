// Judges whether a result is right. If not, reports where it is wrong and by how much.

#pragma once

#include <span>
#include <string>

#include "conformance/kit/bounds.h"
#include "conformance/kit/session.h"

namespace tenon_kit {

struct Verdict {
  bool passed = true;
  bool trusted = true;     // False if the oracle's values could not reveal a fault.
  std::string message;     // The first fault.
  double largest_ulp = 0;  // Maximum over finite elements.
  double used = 0;         // The largest ratio of an error to its tolerance.
};

// A point of an error curve: the largest error near the input x, and the error allowed there, in
// ulp.
struct CurvePoint {
  double x = 0;
  double ulp = 0;
  double allowed = 0;
};

// Valid results for each element: values that differ from the oracle's by at most the bound plus
// `slack`, and values between the oracle's value and `to`. `slack` and `to` may be empty.
struct Answer {
  std::span<const Real> oracle;
  std::span<const Real> slack = {};
  std::span<const Real> to = {};
};

// Compares the elements of `got`. Each must be valid according to one of the answers, of which
// there is at least one. Errors are reported relative to the first answer.
Verdict compare_answers(std::span<const Real> got, tenon_dtype dtype,
                        std::span<const Answer> answers, const Bound& bound);
Verdict compare(const Reals& got, tenon_dtype dtype, const Reals& oracle, const Bound& bound,
                const Reals& slack = {});

// Whether the oracle's values could reveal a fault: at most 30 % are zero, NaN, infinite, or an end
// of the dtype's range. False without values.
bool can_reveal_fault(std::span<const Real> oracle, tenon_dtype dtype);

// Like can_reveal_fault(), for ops whose results are mostly zero. At least 10 % of the results must
// be nonzero, and for each input with as many values, at least 10 % must differ from it.
bool can_reveal_fault_sparse(std::span<const Real> oracle, std::span<const Reals> inputs);

// Returns a message such as "the type is f32[2,3], not f32[3,2]"; empty if the types match.
std::string compare_types(const Result& got, tenon_dtype dtype, const Sizes& shape);

// The index of the first element in which two results of the same type differ, or the number of
// elements if none does. All NaNs are equal.
size_t first_difference(const Result& a, const Result& b);

// Describes where two results differ in bits; empty if they are equal. All NaNs are equal.
std::string compare_bits(const Result& a, const Result& b);

// Formats a type, such as "f32[2,3]".
std::string type_text(tenon_dtype dtype, const Sizes& shape);

}  // namespace tenon_kit
