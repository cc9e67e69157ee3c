// Draws random programs: elementwise work, casts, selections, reductions, products, gathers and
// views. Results may be used several times or not at all, and calls may be repeated.

#pragma once

#include "conformance/checks/check.h"
#include "conformance/functions/program.h"

namespace tenon_kit::functions {

// Draws a program whose inputs have some of `dtypes`. Each call is tried on the device, and calls
// without a kernel are left out. Without steps if no call works. Also calls some of `claims` with
// operands of their own, and uses the results.
Program draw_program(const Session& device, const std::vector<tenon_dtype>& dtypes, uint64_t seed,
                     std::span<const Claim> claims = {});

// Draws calls that a device lists for loops. Each of `claims`, whose inputs have one dtype, is
// called on values of one shape or broadcast to it, in all layouts.
Program draw_loop(const Session& device, std::span<const Claim* const> claims, uint64_t seed);

// Alternates such calls with a reduction along some axes of that shape. Later calls read its result
// for each row.
Program draw_rows(const Session& device, const Claim& reduction,
                  std::span<const Claim* const> claims, uint64_t seed);

// Draws a call that a device lists as an anchor (ANCHOR), with its own operands, followed by calls
// for loops. Has no steps if none is valid.
Program draw_epilogue(const Session& device, const Claim& anchor,
                      std::span<const Claim* const> claims, uint64_t seed);

}  // namespace tenon_kit::functions
