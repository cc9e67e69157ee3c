// Draws the error of a function over its inputs as an SVG figure.

#pragma once

#include <string>

#include "conformance/run/row.h"

namespace tenon_kit {

// Returns a figure with a signed logarithmic axis, a bar for the error at each point, and the
// bound. Points beyond the bound are also marked by their width and in the caption. Empty if there
// is nothing to draw.
std::string curve_figure(const Row& row);

}  // namespace tenon_kit
