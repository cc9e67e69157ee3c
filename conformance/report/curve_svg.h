// The errors of a function over its inputs, drawn.

#pragma once

#include <string>

#include "conformance/run/row.h"

namespace tenon_kit {

// A figure: a bar for each point, as high as the error, over a signed logarithmic axis, and the
// bound. What is beyond the bound is told by its width and in the caption too. Empty if there is
// nothing to draw.
std::string curve_figure(const Row& row);

}  // namespace tenon_kit
