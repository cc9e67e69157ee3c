#include "plugins/vulkan/spirv/expansion.h"

#include "plugins/sdk/expansions.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan::spirv {
namespace {

// Single and Double define the types and operations for float32 and float64: the float type, and
// the integer type of the same width.

struct Single {
  using Float = F32;
  using Int = U32;
  static U32 int_of(Code& code, uint64_t bits) { return code.u32(static_cast<uint32_t>(bits)); }
  static F32 constant(Code& code, uint64_t bits) { return float_of(int_of(code, bits)); }
  static U32 as_int(F32 x) { return bits_of(x); }
  static F32 as_float(U32 x) { return float_of(x); }
  static U32 shift_left(U32 a, U32 b) { return a << b; }
  static U32 shift_right(U32 a, U32 b, bool is_signed) {
    return is_signed ? signed_shift_right(a, b) : a >> b;
  }
  static Bool less(U32 a, U32 b) { return signed_less(a, b); }
  static U32 to_int(F32 x) { return x.code->emit<U32>(spv::Op::OpConvertFToS, {x.id}); }
  static F32 to_float(U32 x) { return x.code->emit<F32>(spv::Op::OpConvertSToF, {x.id}); }
  static F32 without_sign(F32 x) { return float_of(bits_of(x) & 0x7fffffffu); }
  static F32 negative(F32 x) { return float_of(bits_of(x) ^ 0x80000000u); }
};

struct Double {
  using Float = F64;
  using Int = Wide;
  static Wide int_of(Code& code, uint64_t bits) { return wide(code, bits); }
  static F64 constant(Code& code, uint64_t bits) { return as_float(wide(code, bits)); }
  static Wide as_int(F64 x) {
    const auto [low, high] = x.code->words_of(x);
    return {low, high};
  }
  static F64 as_float(Wide x) { return x.low.code->as_f64(x.low, x.high); }
  static Wide shift_left(Wide a, Wide b) { return a << b.low; }
  static Wide shift_right(Wide a, Wide b, bool is_signed) {
    return spirv::shift_right(a, b.low, is_signed);
  }
  static Bool less(Wide a, Wide b) { return signed_less(a, b); }
  // Splits the number into an upper and a lower word; both conversions are exact.
  static Wide to_int(F64 x) {
    Code& code = *x.code;
    const F64 high = code.glsl<F64>(GLSLstd450Floor, {(x * code.f64(0x1p-32)).id});
    const F64 low = x - high * code.f64(0x1p32);
    return {code.emit<U32>(spv::Op::OpConvertFToU, {low.id}),
            code.emit<U32>(spv::Op::OpConvertFToS, {high.id})};
  }
  static F64 to_float(Wide x) { return float64_of(x, true); }
  static F64 without_sign(F64 x) {
    const Wide bits = as_int(x);
    return as_float({bits.low, bits.high & 0x7fffffffu});
  }
  static F64 negative(F64 x) {
    const Wide bits = as_int(x);
    return as_float({bits.low, bits.high ^ 0x80000000u});
  }
};

template <class Width>
class Builder {
 public:
  using Float = typename Width::Float;
  using Int = typename Width::Int;
  // An operand. The opcode determines which of the three members is valid.
  struct Value {
    Float number = {};
    Int bits = {};
    Bool truth = {};
  };

  explicit Builder(Code& code) : code_(code) {}

  static Value of(Float x) { return {.number = x}; }
  static Value of(Int x) { return {.bits = x}; }
  static Value of(Bool x) { return {.truth = x}; }

  Value constant(uint64_t bits) { return of(Width::constant(code_, bits)); }
  Value int_constant(uint64_t bits) { return of(Width::int_of(code_, bits)); }

  Value add(const Value& a, const Value& b) { return of(a.number + b.number); }
  Value sub(const Value& a, const Value& b) { return of(a.number - b.number); }
  Value mul(const Value& a, const Value& b) { return of(a.number * b.number); }
  Value div(const Value& a, const Value& b) { return of(a.number / b.number); }
  Value neg(const Value& a) { return of(Width::negative(a.number)); }
  Value abs(const Value& a) { return of(Width::without_sign(a.number)); }
  Value sqrt(const Value& a) { return of(glsl(GLSLstd450Sqrt, a.number)); }
  Value round(const Value& a) { return of(glsl(GLSLstd450RoundEven, a.number)); }
  Value equal(const Value& a, const Value& b) { return of(a.number == b.number); }
  Value not_equal(const Value& a, const Value& b) { return of(a.number != b.number); }
  Value less(const Value& a, const Value& b) { return of(a.number < b.number); }
  Value less_equal(const Value& a, const Value& b) { return of(a.number <= b.number); }
  Value greater(const Value& a, const Value& b) { return of(a.number > b.number); }
  Value greater_equal(const Value& a, const Value& b) { return of(a.number >= b.number); }
  Value where(const Value& c, const Value& a, const Value& b) {
    return of(select(c.truth, a.number, b.number));
  }

  Value int_add(const Value& a, const Value& b) { return of(a.bits + b.bits); }
  Value int_sub(const Value& a, const Value& b) { return of(a.bits - b.bits); }
  Value int_mul(const Value& a, const Value& b) { return of(a.bits * b.bits); }
  Value int_and(const Value& a, const Value& b) { return of(a.bits & b.bits); }
  Value int_or(const Value& a, const Value& b) { return of(a.bits | b.bits); }
  Value int_xor(const Value& a, const Value& b) { return of(a.bits ^ b.bits); }
  Value int_shift_left(const Value& a, const Value& b) {
    return of(Width::shift_left(a.bits, b.bits));
  }
  Value int_shift_right(const Value& a, const Value& b) {
    return of(Width::shift_right(a.bits, b.bits, true));
  }
  Value uint_shift_right(const Value& a, const Value& b) {
    return of(Width::shift_right(a.bits, b.bits, false));
  }
  Value int_not_equal(const Value& a, const Value& b) { return of(a.bits != b.bits); }
  Value int_less(const Value& a, const Value& b) { return of(Width::less(a.bits, b.bits)); }
  Value int_where(const Value& c, const Value& a, const Value& b) {
    return of(select(c.truth, a.bits, b.bits));
  }

  Value logical_and(const Value& a, const Value& b) { return of(a.truth & b.truth); }
  Value logical_or(const Value& a, const Value& b) { return of(a.truth | b.truth); }
  Value logical_not(const Value& a) { return of(!a.truth); }

  Value as_int(const Value& a) { return of(Width::as_int(a.number)); }
  Value to_int(const Value& a) { return of(Width::to_int(a.number)); }
  Value as_float(const Value& a) { return of(Width::as_float(a.bits)); }
  Value to_float(const Value& a) { return of(Width::to_float(a.bits)); }

 private:
  Float glsl(GLSLstd450 function, Float x) { return code_.glsl<Float>(function, {x.id}); }

  Code& code_;
};

// Emits the expansion of an op in float32 or float64. number(x) returns the float of an input.
template <class Width, class Number>
typename Width::Float run(uint32_t op, std::span<const Element> inputs, const Number& number) {
  using Build = Builder<Width>;
  const tenon_sdk::Expansion& expansion =
      *tenon_sdk::find_expansion(op, std::is_same_v<Width, Double>);
  Build build(inputs[0].code());
  if (inputs.size() == 1) {
    return run_expansion(expansion, build, {Build::of(number(inputs[0]))}).number;
  }
  return run_expansion(expansion, build,
                       {Build::of(number(inputs[0])), Build::of(number(inputs[1]))})
      .number;
}

}  // namespace

bool has_expansion(uint32_t op) { return tenon_sdk::find_expansion(op, false) != nullptr; }

// If the device may flush subnormals, flushes subnormal inputs first, because otherwise only some
// of the instructions might.
Element emit_expansion(uint32_t op, std::span<const Element> inputs) {
  const tenon_dtype dtype = inputs[0].dtype();
  if (dtype == TENON_FLOAT64) {
    return Element(run<Double>(op, inputs, [](const Element& x) { return x.f64(); }));
  }
  return {dtype, round_to_dtype(dtype, run<Single>(op, inputs, [](const Element& x) {
                                  return flush_subnormals(x.f32());
                                }))};
}

}  // namespace tenon_vulkan::spirv
