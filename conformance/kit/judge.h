// Whether a result is right, and if not, where and by how much.

#pragma once

#include <span>
#include <string>

#include "conformance/kit/bounds.h"
#include "conformance/kit/session.h"

namespace tenon_kit {

struct Verdict {
  bool passed = true;
  bool trusted = true;  // False: the oracle is too plain to tell a right result from a wrong one.
  std::string message;  // The first fault.
  double largest_ulp = 0;  // Over the elements that are finite.
  double used = 0;         // The largest error as a part of what was allowed there.
};

// The largest error around an input, and what is allowed there, both in ulp.
struct CurvePoint {
  double x = 0;
  double ulp = 0;
  double allowed = 0;
};

// What an element may be: the oracle's value, within the bound and what `slack` allows beside it;
// or anything from the oracle's value to that of `to`. Both may be empty.
struct Answer {
  std::span<const Real> oracle;
  std::span<const Real> slack = {};
  std::span<const Real> to = {};
};

// Compares elements, of which each must be what one of the answers says. There is one at least; a
// fault is told by the first.
Verdict compare_answers(std::span<const Real> got, tenon_dtype dtype,
                        std::span<const Answer> answers, const Bound& bound);
Verdict compare(const Reals& got, tenon_dtype dtype, const Reals& oracle, const Bound& bound,
                const Reals& slack = {});

// Whether the oracle's values can show that something is wrong: not more than 30 % are zero, NaN,
// infinite, or an end of the dtype's range. No values show nothing.
bool is_telling(std::span<const Real> oracle, tenon_dtype dtype);

// The same where zeros are the op's nature: 10 % are none, and 10 % differ from each input that has
// as many values.
bool is_telling_sparse(std::span<const Real> oracle, std::span<const Reals> inputs);

// "the type is f32[2,3], not f32[3,2]", or nothing.
std::string compare_types(const Result& got, tenon_dtype dtype, const Sizes& shape);

// The first element in which two results of one type differ, NaNs apart; their number if they are
// the same to the bit.
size_t first_difference(const Result& a, const Result& b);

// Whether two results are the same to the bit, NaNs apart; else where they differ.
std::string compare_bits(const Result& a, const Result& b);

std::string type_text(tenon_dtype dtype, const Sizes& shape);

}  // namespace tenon_kit
