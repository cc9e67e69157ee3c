// Makes a failing problem as small as it can be while it still fails.

#pragma once

#include <functional>

#include "conformance/kit/problem.h"

namespace tenon_kit {

// `fails` is asked of candidates, at most `budget` times.
Problem shrink(const Problem& problem, const std::function<bool(const Problem&)>& fails,
               int budget);

}  // namespace tenon_kit
