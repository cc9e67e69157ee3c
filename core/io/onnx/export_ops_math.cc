// Exports mathematical functions that ONNX lacks, by ONNX's own functions. Tenon's decompositions
// of them are not usable, because they need bit operations on floats, which ONNX does not have.

#include <limits>

#include "core/io/onnx/export_ops.h"

namespace tenon::onnx {
namespace {

// Adds a node with two inputs.
std::string binary(OpCall& c, const char* op, const std::string& a, const std::string& b) {
  return c.w.node(op, {a, b});
}
// Adds a constant with the dtype of the call's first input.
std::string constant(OpCall& c, double value) { return c.w.number(value, c.dtype()); }
// Adds a node that selects a where the condition is true, else b.
std::string select(OpCall& c, const std::string& condition, const std::string& a,
                   const std::string& b) {
  return c.w.node("Where", {condition, a, b});
}

constexpr double kLn2 = 0.693147180559945309417232121458, kLn10 = 2.302585092994045684017991454684;
constexpr double kPi = 3.141592653589793238462643383280;

bool export_rsqrt(OpCall& c) {
  c.out = {c.w.node("Reciprocal", {c.w.node("Sqrt", c.in)})};
  return true;
}

bool export_exp2(OpCall& c) {
  c.out = {binary(c, "Pow", constant(c, 2), c.in[0])};
  return true;
}

bool export_log2(OpCall& c) {
  c.out = {binary(c, "Div", c.w.node("Log", c.in), constant(c, kLn2))};
  return true;
}
bool export_log10(OpCall& c) {
  c.out = {binary(c, "Div", c.w.node("Log", c.in), constant(c, kLn10))};
  return true;
}

// expm1 near 0 is (e - 1) * x / log(e), where e is the rounded exp(x). The logarithm of e cancels
// the rounding error.
bool export_expm1(OpCall& c) {
  const std::string &x = c.in[0], one = constant(c, 1), e = c.w.node("Exp", {x});
  const std::string less = binary(c, "Sub", e, one);
  const std::string scaled = binary(c, "Mul", less, binary(c, "Div", x, c.w.node("Log", {e})));
  const std::string is_one = binary(c, "Equal", e, one);
  // For |x| > 1, e - 1 is accurate without correction.
  const std::string square_dominates_one = binary(c, "Greater", c.w.node("Abs", {x}), one);
  c.out = {select(c, square_dominates_one, less, select(c, is_one, x, scaled))};
  return true;
}

// Computes log(1 + x) as log(u) * x / (u - 1), where u is the rounded 1 + x. The quotient cancels
// the rounding error.
std::string log1p(OpCall& c, const std::string& x) {
  const std::string one = constant(c, 1), u = binary(c, "Add", x, one), log = c.w.node("Log", {u});
  const std::string scaled = binary(c, "Mul", log, binary(c, "Div", x, binary(c, "Sub", u, one)));
  const std::string is_one = binary(c, "Equal", u, one);
  const std::string square_dominates_one = binary(c, "Greater", c.w.node("Abs", {x}), one);
  return select(c, square_dominates_one, log, select(c, is_one, x, scaled));
}
bool export_log1p(OpCall& c) {
  c.out = {log1p(c, c.in[0])};
  return true;
}

// Adds nodes that test whether the sign bit of x is set. 1 / -0 is negative, which identifies -0.
// The sign of NaN is ignored.
std::string is_negative(OpCall& c, const std::string& x) {
  const std::string zero = constant(c, 0);
  const std::string negative_zero = binary(c, "And", binary(c, "Equal", x, zero),
                                           binary(c, "Less", c.w.node("Reciprocal", {x}), zero));
  return binary(c, "Or", binary(c, "Less", x, zero), negative_zero);
}
// Adds nodes that compute the magnitude of x with the sign of `of`.
std::string copy_sign(OpCall& c, const std::string& x, const std::string& of) {
  const std::string size = c.w.node("Abs", {x});
  return select(c, is_negative(c, of), c.w.node("Neg", {size}), size);
}
bool export_copysign(OpCall& c) {
  c.out = {copy_sign(c, c.in[0], c.in[1])};
  return true;
}
bool export_signbit(OpCall& c) {
  c.out = {is_negative(c, c.in[0])};
  return true;
}

// Computes atan2 in the first octant, from the ratio of the smaller to the larger magnitude, and
// reflects the angle into the actual octant.
bool export_atan2(OpCall& c) {
  const std::string &y = c.in[0], &x = c.in[1];
  const std::string a = c.w.node("Abs", {y}), b = c.w.node("Abs", {x});
  const std::string steep = binary(c, "Greater", a, b), zero = constant(c, 0);
  const std::string large = select(c, steep, a, b), small = select(c, steep, b, a);
  const std::string is_origin = binary(c, "Equal", large, zero);
  const std::string both_infinite = c.w.node("IsInf", {small});
  std::string ratio = binary(c, "Div", small, select(c, is_origin, constant(c, 1), large));
  ratio = select(c, both_infinite, constant(c, 1), ratio);
  const std::string octant = c.w.node("Atan", {ratio});
  const std::string quadrant =
      select(c, steep, binary(c, "Sub", constant(c, kPi / 2), octant), octant);
  const std::string half =
      select(c, is_negative(c, x), binary(c, "Sub", constant(c, kPi), quadrant), quadrant);
  // If either operand is NaN, the result is NaN.
  const std::string nan = binary(c, "Or", c.w.node("IsNaN", {y}), c.w.node("IsNaN", {x}));
  c.out = {select(c, nan, binary(c, "Add", y, x), copy_sign(c, half, y))};
  return true;
}

bool export_cbrt(OpCall& c) {
  const std::string root = binary(c, "Pow", c.w.node("Abs", c.in), constant(c, 1.0 / 3));
  c.out = {copy_sign(c, root, c.in[0])};
  return true;
}

// ---- integer powers by repeated squaring, which wrap around

bool export_pow_of_integers(OpCall& c) {
  if (is_narrow(c.dtype())) return export_widened(c, export_pow_of_integers);
  if (!is_integer(c.dtype())) return false;
  const auto n_bits = static_cast<int>(size_of(c.dtype()) * 8 - 1);
  const std::string zero = constant(c, 0), one = constant(c, 1), two = constant(c, 2);
  const std::string &a = c.in[0], &b = c.in[1];
  const auto is_odd = [&](const std::string& x) {
    return binary(c, "Equal", binary(c, "Mod", x, two), one);
  };
  const std::string negative = binary(c, "Less", b, zero);
  std::string left = select(c, negative, zero, b), square = a, product = one;
  for (int bit = 0; bit < n_bits; ++bit) {
    product = select(c, is_odd(left), binary(c, "Mul", product, square), product);
    left = binary(c, "Div", left, two);
    square = binary(c, "Mul", square, square);
  }
  // For a negative exponent the result is 1 / a^|b|, truncated: 0 unless a is 1 or -1.
  const std::string minus_one = constant(c, -1);
  const std::string of_minus_one = select(c, is_odd(b), minus_one, one);
  const std::string reciprocal =
      select(c, binary(c, "Equal", a, one), one,
             select(c, binary(c, "Equal", a, minus_one), of_minus_one, zero));
  c.out = {select(c, negative, reciprocal, product)};
  return true;
}

// ---- bits

// Adds nodes that compute 2^exponent as f64.
std::string power_of_two(OpCall& c, const std::string& exponent) {
  return c.w.node("Pow", {c.w.number(2, DType::kF64), exponent});
}

// Adds nodes that compute the bits of an f32 as i64. They use f64, in which every f32 is a normal
// number. A normal f32 is (1 + m / 2^23) * 2^e; a number below 2^-126 is m * 2^-149.
std::string bits_of(OpCall& c, const std::string& given) {
  const auto f64 = [&](double value) { return c.w.number(value, DType::kF64); };
  const std::string x = c.w.cast(c.w.node("Abs", {given}), DType::kF64);
  const std::string is_normal = binary(c, "GreaterOrEqual", x, f64(0x1p-126));
  const std::string is_finite = binary(c, "LessOrEqual", x, f64(0x1.fffffep127));
  const std::string safe = select(c, binary(c, "And", is_normal, is_finite), x, f64(1));
  std::string e = c.w.node("Floor", {binary(c, "Div", c.w.node("Log", {safe}), f64(kLn2))});
  // The rounded logarithm may make e too large or too small by 1 near a power of two. Corrects e by
  // comparing x with the powers of two.
  const auto moved = [&](double by, const std::string& condition) {
    e = select(c, condition, binary(c, "Add", e, f64(by)), e);
  };
  moved(-1, binary(c, "Less", safe, power_of_two(c, e)));
  moved(1, binary(c, "GreaterOrEqual", safe, power_of_two(c, binary(c, "Add", e, f64(1)))));
  const std::string fraction = binary(c, "Sub", binary(c, "Div", safe, power_of_two(c, e)), f64(1));
  const std::string normal =
      binary(c, "Add", binary(c, "Mul", binary(c, "Add", e, f64(127)), f64(0x1p23)),
             binary(c, "Mul", fraction, f64(0x1p23)));
  std::string bits = select(c, is_normal, normal, binary(c, "Mul", x, f64(0x1p149)));
  bits = select(c, c.w.node("IsInf", {x}), f64(0x7f800000), bits);
  bits = select(c, c.w.node("IsNaN", {x}), f64(0x7fc00000), bits);
  const std::string whole = c.w.cast(bits, DType::kI64);
  const std::string sign =
      select(c, is_negative(c, given), c.w.integer(int64_t{1} << 31), c.w.integer(0));
  return binary(c, "Add", whole, sign);
}

// Adds nodes that convert bits, as i64 from 0 to 2^32 - 1, to the f32 that they represent; the
// inverse of bits_of().
std::string value_of(OpCall& c, const std::string& bits) {
  const auto f64 = [&](double value) { return c.w.number(value, DType::kF64); };
  const auto part = [&](int64_t divisor, int64_t modulus) {
    const std::string moved = binary(c, "Div", bits, c.w.integer(divisor));
    return c.w.cast(binary(c, "Mod", moved, c.w.integer(modulus)), DType::kF64);
  };
  const std::string m = part(1, 1 << 23), e = part(1 << 23, 1 << 8),
                    sign = part(int64_t{1} << 31, 2);
  const std::string scale = power_of_two(c, binary(c, "Sub", e, f64(127)));
  const std::string normal =
      binary(c, "Mul", binary(c, "Add", binary(c, "Mul", m, f64(0x1p-23)), f64(1)), scale);
  std::string x =
      select(c, binary(c, "Equal", e, f64(0)), binary(c, "Mul", m, f64(0x1p-149)), normal);
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string end = select(c, binary(c, "Equal", m, f64(0)), f64(infinity),
                                 f64(std::numeric_limits<double>::quiet_NaN()));
  x = select(c, binary(c, "Equal", e, f64(255)), end, x);
  x = c.w.cast(x, DType::kF32);
  return select(c, binary(c, "Equal", sign, f64(1)), c.w.node("Neg", {x}), x);
}

// Reinterprets bits of integers of equal width, or of 32-bit integers and f32. Every NaN becomes
// the same NaN.
bool export_bitcast(OpCall& c) {
  const DType from = c.dtype(), to = c.out_type().dtype;
  if (size_of(from) != size_of(to)) return false;
  const std::string& x = c.in[0];
  if (from == to) {
    c.out = {x};
  } else if (is_integer(from) && is_integer(to)) {
    c.out = {c.w.cast(x, to)};
  } else if (from == DType::kF32 && is_integer(to)) {
    c.out = {c.w.cast(bits_of(c, x), to)};
  } else if (to == DType::kF32 && is_integer(from)) {
    const std::string bits = c.w.cast(c.w.cast(x, DType::kU32), DType::kI64);
    c.out = {value_of(c, bits)};
  } else {
    return false;
  }
  return true;
}

// Exports check_numerics as a function that returns its operand. Tenon restores the check when it
// reads the model; other runtimes do not check.
bool export_pass_through(OpCall& c) {
  c.out = {c.in[0]};
  return true;
}

}  // namespace

void add_math_exporters(ExportTable& all) {
  all["pow"].as_function = export_pow_of_integers;
  all["rsqrt"] = {.as_function = export_rsqrt};
  all["exp2"] = {.as_function = export_exp2};
  all["log2"] = {.as_function = export_log2};
  all["log10"] = {.as_function = export_log10};
  all["expm1"] = {.as_function = export_expm1};
  all["log1p"] = {.as_function = export_log1p};
  all["copysign"] = {.as_function = export_copysign};
  all["signbit"] = {.as_function = export_signbit};
  all["atan2"] = {.as_function = export_atan2};
  all["bitcast"] = {.as_function = export_bitcast};
  all["check_numerics"] = {.as_function = export_pass_through};
  all["cbrt"] = {.as_function = export_cbrt};
}

}  // namespace tenon::onnx
