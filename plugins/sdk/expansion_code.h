// Expansions as data. An expansion computes a transcendental function of one or two numbers by a
// list of instructions without branches. A plugin that generates code emits the instructions in its
// target language with run_expansion(). find_expansion() in expansions.h returns the expansion of
// an op.
//
// A value is a float, an int or a bool. Floats are either float or double, and ints have the same
// width as the floats. The opcode determines whether an int is signed, where that matters. Emitted
// code must obey these rules:
//
//   - Each operation on floats rounds once, to nearest, ties to even. Division and square root may
//     have errors of up to 2.5 ulp. Nothing is contracted, reassociated, or simplified as if there
//     were no infinities, NaN or negative zero. Subnormals are preserved, unless the device
//     declares TENON_FEATURE_FLUSH_TO_ZERO.
//   - Ints wrap around. Shift counts are below the width.
//   - Both sides of a `where` are computed. The one not selected may be anything, including NaN.
//   - The operand of to_int may be any float. If it is not an integer in range, the result is
//     unspecified and unused, but the instruction must not trap.
//   - Half types are widened to float, and the result is rounded to them once, at the end.

#pragma once

#include <tenon/plugin.h>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

namespace tenon_sdk {

// The opcodes, by number of operands. `round` rounds to the nearest integer, ties to even.
// `where(c, a, b)` returns a if c is true, and b otherwise, with unchanged bits. int_shift_right is
// arithmetic and uint_shift_right is logical. int_less and to_float treat ints as signed. as_int
// and as_float reinterpret the bits, while to_int and to_float convert the value. If an operand of
// a comparison is NaN, only not_equal is true.
// clang-format off
#define TENON_EXPANSION_OPCODES(UNARY, BINARY, TERNARY)                                           \
  BINARY(add) BINARY(sub) BINARY(mul) BINARY(div)           /* floats -> float */                 \
  UNARY(neg) UNARY(abs) UNARY(sqrt) UNARY(round)            /* float -> float */                  \
  BINARY(equal) BINARY(not_equal) BINARY(less)              /* floats -> bool */                  \
  BINARY(less_equal) BINARY(greater) BINARY(greater_equal)  /* floats -> bool */                  \
  TERNARY(where)                                            /* bool, floats -> float */           \
  BINARY(int_add) BINARY(int_sub) BINARY(int_mul)           /* ints -> int */                     \
  BINARY(int_and) BINARY(int_or) BINARY(int_xor)                                                  \
  BINARY(int_shift_left) BINARY(int_shift_right)                                                  \
  BINARY(uint_shift_right)                                                                        \
  BINARY(int_not_equal) BINARY(int_less)                    /* ints -> bool */                    \
  TERNARY(int_where)                                        /* bool, ints -> int */               \
  BINARY(logical_and) BINARY(logical_or) UNARY(logical_not) /* bools -> bool */                   \
  UNARY(as_int) UNARY(to_int)                               /* float -> int (bits; value) */      \
  UNARY(as_float) UNARY(to_float)                           /* int -> float (bits; value) */
// clang-format on

enum class ExpansionOpcode : uint8_t {
#define TENON_ROW(name) k_##name,
  TENON_EXPANSION_OPCODES(TENON_ROW, TENON_ROW, TENON_ROW)
#undef TENON_ROW
};

// One instruction. `a`, `b` and `c` are the indices of its operands among the values; operands that
// the opcode does not have are 0.
struct ExpansionInstruction {
  ExpansionOpcode opcode;
  uint16_t a = 0, b = 0, c = 0;
};

// An expansion. Values have consecutive indices in the order of these lists: inputs, constants, int
// constants, results of the instructions. The last value is the result of the expansion.
struct Expansion {
  uint32_t op;  // TENON_OP_<name>.
  // true: floats are double and ints have 64 bits. false: floats are float and ints have 32 bits.
  bool is_double;
  uint16_t n_inputs;
  std::span<const uint64_t> constants;      // Bits of floats; those of 32 bits in the lower half.
  std::span<const uint64_t> int_constants;  // Bits of ints; those of 32 bits in the lower half.
  std::span<const ExpansionInstruction> instructions;
};

// Emits an expansion by calling a builder for each constant and instruction. The builder has a type
// `Value` and the functions
//
//   Value constant(uint64_t bits);       a float, given by its bits
//   Value int_constant(uint64_t bits);
//
// It also has a function for each opcode, with the opcode's name and operands, such as add(a, b)
// and where(c, a, b). run_expansion() returns the value of the expansion's result.
template <class Builder>
typename Builder::Value run_expansion(const Expansion& expansion, Builder& builder,
                                      std::initializer_list<typename Builder::Value> inputs) {
  std::vector<typename Builder::Value> v(inputs);
  for (const uint64_t bits : expansion.constants) v.push_back(builder.constant(bits));
  for (const uint64_t bits : expansion.int_constants) v.push_back(builder.int_constant(bits));
  for (const ExpansionInstruction& i : expansion.instructions) {
    switch (i.opcode) {
#define TENON_UNARY(name)              \
  case ExpansionOpcode::k_##name:      \
    v.push_back(builder.name(v[i.a])); \
    break;
#define TENON_BINARY(name)                     \
  case ExpansionOpcode::k_##name:              \
    v.push_back(builder.name(v[i.a], v[i.b])); \
    break;
#define TENON_TERNARY(name)                            \
  case ExpansionOpcode::k_##name:                      \
    v.push_back(builder.name(v[i.a], v[i.b], v[i.c])); \
    break;
      TENON_EXPANSION_OPCODES(TENON_UNARY, TENON_BINARY, TENON_TERNARY)
#undef TENON_UNARY
#undef TENON_BINARY
#undef TENON_TERNARY
    }
  }
  return v.back();
}

}  // namespace tenon_sdk
