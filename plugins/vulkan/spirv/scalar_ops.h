// Ops on single elements: the instructions of loops, also used by reductions, scans and scatters.

#pragma once

#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan::spirv {

// Returns the result of an elementwise op in the dtype `result`.
Element scalar_op(uint32_t op, std::span<const Element> inputs, tenon_dtype result);

// Returns the maximum number of loop iterations of the op's code for one element of this dtype. For
// most ops it is 0; for remainders of floats it is the maximum difference of two exponents.
uint32_t iterations_of(uint32_t op, tenon_dtype dtype);

// ---- op families

// Return the result of an op of a family: binary arithmetic, bitwise and logical ops and shifts,
// comparisons, unary ops, and single ops.
Element arithmetic(uint32_t op, const Element& a, const Element& b);
Element bitwise(uint32_t op, const Element& a, const Element& b);
Bool compare(uint32_t op, const Element& a, const Element& b);
Element unary(uint32_t op, const Element& x);
Element next_after(const Element& a, const Element& b);
Element fma(const Element& a, const Element& b, const Element& c);
Element clip(const Element& x, const Element& low, const Element& high);
Element cast(const Element& x, tenon_dtype to);
Element select(Bool condition, const Element& a, const Element& b);

// Return the greater or the smaller element, or NaN if one of them is NaN.
Element maximum(const Element& a, const Element& b);
Element minimum(const Element& a, const Element& b);
Bool is_nan(const Element& x);

// Exact functions: fmod() returns the remainder of the truncated quotient, floor_divide() the floor
// of the quotient.
F32 fmod(F32 a, F32 b);
F64 fmod(F64 a, F64 b);
F32 floor_divide(F32 a, F32 b);
F64 floor_divide(F64 a, F64 b);

// Returns the float nearest to an unsigned integer or, if `is_above`, nearest to a slightly larger
// number. With `to_odd`, rounds to odd: the last bit is 1 if the result is inexact.
F32 float_of_wide(Wide x, Bool is_above, bool to_odd);

// Returns the double nearest to an integer.
F64 float64_of(Wide x, bool is_signed);

// Returns a small integer as an element of any dtype.
Element constant(Code& code, tenon_dtype dtype, int value);

}  // namespace tenon_vulkan::spirv
