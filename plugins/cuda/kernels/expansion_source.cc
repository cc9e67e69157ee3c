#include "plugins/cuda/kernels/expansion_source.h"

#include <cstdio>

#include "plugins/cuda/kernels/device_code.h"
#include "plugins/sdk/expansions.h"

namespace tenon_cuda {
namespace {

// Generates a line of source for each instruction of an expansion. A value is a literal or the name
// of a variable.
class Writer {
 public:
  using Value = std::string;

  explicit Writer(bool is_double) : is_double_(is_double) {}
  const std::string& lines() const { return lines_; }

  Value constant(uint64_t bits) { return "float_bits(" + int_constant(bits) + ")"; }
  Value int_constant(uint64_t bits) {
    char text[32];
    std::snprintf(text, sizeof text, is_double_ ? "0x%llxull" : "0x%llxu",
                  static_cast<unsigned long long>(is_double_ ? bits : bits & 0xffffffffu));
    return text;
  }

  Value add(const Value& a, const Value& b) { return number(a + " + " + b); }
  Value sub(const Value& a, const Value& b) { return number(a + " - " + b); }
  Value mul(const Value& a, const Value& b) { return number(a + " * " + b); }
  Value div(const Value& a, const Value& b) { return number(a + " / " + b); }
  Value neg(const Value& a) { return number("-" + a); }
  Value abs(const Value& a) { return number("(Number)fabs(" + a + ")"); }
  Value sqrt(const Value& a) { return number("sqrt_of(" + a + ")"); }
  Value round(const Value& a) { return number("rint_of(" + a + ")"); }
  Value equal(const Value& a, const Value& b) { return truth(a + " == " + b); }
  Value not_equal(const Value& a, const Value& b) { return truth(a + " != " + b); }
  Value less(const Value& a, const Value& b) { return truth(a + " < " + b); }
  Value less_equal(const Value& a, const Value& b) { return truth(a + " <= " + b); }
  Value greater(const Value& a, const Value& b) { return truth(a + " > " + b); }
  Value greater_equal(const Value& a, const Value& b) { return truth(a + " >= " + b); }
  Value where(const Value& c, const Value& a, const Value& b) {
    return number(c + " ? " + a + " : " + b);
  }

  Value int_add(const Value& a, const Value& b) { return bits(a + " + " + b); }
  Value int_sub(const Value& a, const Value& b) { return bits(a + " - " + b); }
  Value int_mul(const Value& a, const Value& b) { return bits(a + " * " + b); }
  Value int_and(const Value& a, const Value& b) { return bits(a + " & " + b); }
  Value int_or(const Value& a, const Value& b) { return bits(a + " | " + b); }
  Value int_xor(const Value& a, const Value& b) { return bits(a + " ^ " + b); }
  Value int_shift_left(const Value& a, const Value& b) { return bits(a + " << " + b); }
  Value int_shift_right(const Value& a, const Value& b) {
    return bits("(Bits)((Signed)" + a + " >> " + b + ")");
  }
  Value uint_shift_right(const Value& a, const Value& b) { return bits(a + " >> " + b); }
  Value int_not_equal(const Value& a, const Value& b) { return truth(a + " != " + b); }
  Value int_less(const Value& a, const Value& b) {
    return truth("(Signed)" + a + " < (Signed)" + b);
  }
  Value int_where(const Value& c, const Value& a, const Value& b) {
    return bits(c + " ? " + a + " : " + b);
  }

  Value logical_and(const Value& a, const Value& b) { return truth(a + " && " + b); }
  Value logical_or(const Value& a, const Value& b) { return truth(a + " || " + b); }
  Value logical_not(const Value& a) { return truth("!" + a); }

  Value as_int(const Value& a) { return bits("bits_of(" + a + ")"); }
  Value to_int(const Value& a) { return bits("to_bits(" + a + ")"); }
  Value as_float(const Value& a) { return number("float_bits(" + a + ")"); }
  Value to_float(const Value& a) { return number("(Number)(Signed)" + a); }

 private:
  Value number(const std::string& text) { return line("Number", text); }
  Value bits(const std::string& text) { return line("Bits", text); }
  Value truth(const std::string& text) { return line("bool", text); }
  Value line(const char* type, const std::string& text) {
    const std::string name = "t" + std::to_string(n_++);
    lines_ += "  const " + std::string(type) + " " + name + " = " + text + ";\n";
    return name;
  }

  const bool is_double_;
  std::string lines_;
  size_t n_ = 0;
};

}  // namespace

// Whether kernels compute the op by its expansion for floating-point dtypes.
bool has_expansion(uint32_t op) { return tenon_sdk::find_expansion(op, false) != nullptr; }

std::string expansion_source(uint32_t op, const std::string& name, tenon_dtype dtype) {
  const bool is_double = dtype == TENON_FLOAT64;
  const tenon_sdk::Expansion& expansion = *tenon_sdk::find_expansion(op, is_double);
  Writer writer(is_double);
  const std::string type = type_name(dtype);
  std::string head = "DEVICE " + type + " op_" + name + "(" + type + " a";
  std::string result;
  if (expansion.n_inputs == 1) {
    result = run_expansion(expansion, writer, {"x"});
  } else {
    head += ", " + type + " b";
    result = run_expansion(expansion, writer, {"x", "y"});
  }
  std::string text = head + ") {\n";
  text += is_double ? "  typedef double Number; typedef u64 Bits; typedef i64 Signed;\n"
                    : "  typedef float Number; typedef u32 Bits; typedef i32 Signed;\n";
  text += "  const Number x = widen(a);\n";
  if (expansion.n_inputs == 2) text += "  const Number y = widen(b);\n";
  text += writer.lines() + "  return narrow<" + type + ">(" + result + ");\n}\n";
  return text;
}

}  // namespace tenon_cuda
