// What ops do to single elements: the instructions of loops, and what reductions, scans and
// scatters are made of.

#pragma once

#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan::spirv {

// What an elementwise op gives, in the dtype `result`.
Element scalar_op(uint32_t op, std::span<const Element> inputs, tenon_dtype result);

// How often at most its code for one element of that dtype goes through a loop: 0, some tens of
// times or, for remainders of floats, as often as their exponents differ.
uint32_t iterations_of(uint32_t op, tenon_dtype dtype);

// ---- the families that it is made of

Element arithmetic(uint32_t op, const Element& a, const Element& b);
Element bitwise(uint32_t op, const Element& a, const Element& b);
Bool compare(uint32_t op, const Element& a, const Element& b);
Element unary(uint32_t op, const Element& x);
Element next_after(const Element& a, const Element& b);
Element fma(const Element& a, const Element& b, const Element& c);
Element clip(const Element& x, const Element& low, const Element& high);
Element cast(const Element& x, tenon_dtype to);
Element select(Bool condition, const Element& a, const Element& b);

// NaN wins.
Element maximum(const Element& a, const Element& b);
Element minimum(const Element& a, const Element& b);
Bool is_nan(const Element& x);

// Exact: what a truncated quotient leaves, and the largest integer that is not above one.
F32 fmod(F32 a, F32 b);
F64 fmod(F64 a, F64 b);
F32 floor_divide(F32 a, F32 b);
F64 floor_divide(F64 a, F64 b);

// The nearest float of a number without sign, or of a bit more than that. `to_odd`: not the
// nearest, but the one whose last bit is 1 where it is inexact.
F32 float_of_wide(Wide x, Bool is_above, bool to_odd);

// The nearest one.
F64 float64_of(Wide x, bool is_signed);

// A small whole number in any dtype.
Element constant(Code& code, tenon_dtype dtype, int value);

}  // namespace tenon_vulkan::spirv
