// Programs that are drawn: elementwise work, casts, choices, reductions, products, gathers, views,
// with results that are used more than once, or not at all, and calls that are made twice.

#pragma once

#include "conformance/checks/check.h"
#include "conformance/functions/program.h"

namespace tenon_kit::functions {

// What can run on the device is found out by running it: a call that it has no kernel for is not
// drawn. `dtypes`: of which inputs are. A program without steps means that nothing can.
// Of `claims` some are called, too, with operands of their own, and what they give is used.
Program draw_program(const Session& device, const std::vector<tenon_dtype>& dtypes, uint64_t seed,
                     std::span<const Claim> claims = {});

// Of calls that a device lists for loops: each of `claims`, which take inputs of one dtype, is made
// of what has one shape, or is broadcast to it, in all layouts.
Program draw_loop(const Session& device, std::span<const Claim* const> claims, uint64_t seed);

// Of such calls and a reduction along some axes of that shape, again and again: what it gives for
// each row is read by calls that come behind it.
Program draw_rows(const Session& device, const Claim& reduction,
                  std::span<const Claim* const> claims, uint64_t seed);

// Of a call that a device lists as a head, with operands of its own, and of such calls behind it.
// Without steps, if none could be made.
Program draw_behind(const Session& device, const Claim& head, std::span<const Claim* const> claims,
                    uint64_t seed);

}  // namespace tenon_kit::functions
