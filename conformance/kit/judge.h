// Whether a result is right, and if not, where and by how much.

#pragma once

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

// Compares elements. `slack` is allowed beside the bound, one number for each element, or empty.
Verdict compare(const Reals& got, tenon_dtype dtype, const Reals& oracle, const Bound& bound,
                const Reals& slack = {});

// Whether the oracle's values can show that something is wrong: not more than 30 % are zero,
// infinite or NaN.
bool is_telling(const Reals& oracle);

// "the type is f32[2,3], not f32[3,2]", or nothing.
std::string compare_types(const Result& got, tenon_dtype dtype, const Sizes& shape);

// Whether two results are the same to the bit, NaNs apart; else where they differ.
std::string compare_bits(const Result& a, const Result& b);

std::string type_text(tenon_dtype dtype, const Sizes& shape);

}  // namespace tenon_kit
