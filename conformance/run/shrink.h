// Reduces a failing problem to a small and simple one that still fails.

#pragma once

#include <functional>
#include <span>

#include "conformance/kit/claims.h"
#include "conformance/kit/problem.h"

namespace tenon_kit {

// Returns the smallest failing problem found. `fails` is called for at most `budget` candidates,
// and must return false for invalid ones. `simpler` lists claims of the same op whose dtypes may
// replace the problem's, simplest first.
Problem shrink(const Problem& problem, std::span<const Claim> simpler,
               const std::function<bool(const Problem&)>& fails, int budget);

// Whether the dtypes of claim a are simpler than those of b. float32 is the simplest dtype. Bool
// and integers, ordered by size, follow, then the other floats.
bool is_simpler(const Claim& a, const Claim& b);

}  // namespace tenon_kit
