// Makes a failing problem as small and as plain as it can be while it still fails.

#pragma once

#include <functional>
#include <span>

#include "conformance/kit/claims.h"
#include "conformance/kit/problem.h"

namespace tenon_kit {

// `fails` is asked of candidates, at most `budget` times, and must refuse those that make no sense.
// `simpler` are the claims of the same op whose dtypes may take the place of the problem's, the
// simplest first.
Problem shrink(const Problem& problem, std::span<const Claim> simpler,
               const std::function<bool(const Problem&)>& fails, int budget);

// Whether a claim's dtypes are simpler than another's: float32 before all, then bool and the
// integers, the smaller ones first, then the other floats.
bool is_simpler(const Claim& a, const Claim& b);

}  // namespace tenon_kit
