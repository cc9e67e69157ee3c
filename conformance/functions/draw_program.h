// Draws random programs from elementwise ops, casts, selections, reductions, products, gathers and
// views. Results may be used several times or not at all, and calls may be repeated.

#pragma once

#include "conformance/checks/check.h"
#include "conformance/functions/program.h"

namespace tenon_kit::functions {

// Draws a program whose inputs have dtypes among `dtypes`. Each call is tried on the device first;
// calls without a kernel are left out. The program has no steps if no call works. It also calls
// some of `claims` with separate operands and uses the results.
Program draw_program(const Session& device, const std::vector<tenon_dtype>& dtypes, uint64_t seed,
                     std::span<const Claim> claims = {});

// Draws calls of ops that a device claims for loop programs. Each of `claims`, whose inputs have
// the same dtype, is called on values of one shape or broadcast to it, in all layouts.
Program draw_loop(const Session& device, std::span<const Claim* const> claims, uint64_t seed);

// Draws a program that alternates calls as in draw_loop() with a reduction along some axes. Later
// calls broadcast the reduction's result along its rows.
Program draw_rows(const Session& device, const Claim& reduction,
                  std::span<const Claim* const> claims, uint64_t seed);

// Draws a call of an op that a device claims as an anchor (ANCHOR), with separate operands,
// followed by calls for loop programs. The program has no steps if no call of the anchor is valid.
Program draw_epilogue(const Session& device, const Claim& anchor,
                      std::span<const Claim* const> claims, uint64_t seed);

}  // namespace tenon_kit::functions
