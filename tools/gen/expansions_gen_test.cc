// Evaluates the generated expansions and the formulas from which they were recorded. The results
// must be equal bit by bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/ops/expansions/expansion_sampling.h"
#include "plugins/sdk/expansions.h"

namespace tenon {
namespace {

using expansions::same_bits;
using expansions::testing::Inputs;
using expansions::testing::special_inputs;
using tenon_sdk::Expansion;
using tenon_sdk::ExpansionInstruction;
using tenon_sdk::ExpansionOpcode;
using tenon_sdk::find_expansion;

enum class Type { kFloat, kInt, kBool };

// A builder whose values are numbers. Counts operands whose type differs from the opcode's.
template <class T>
class Calculator {
 public:
  using Signed = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Unsigned = std::make_unsigned_t<Signed>;
  struct Value {
    Type type;
    Unsigned bits;
  };

  int n_mistyped = 0;

  Value constant(uint64_t bits) { return {Type::kFloat, static_cast<Unsigned>(bits)}; }
  Value int_constant(uint64_t bits) { return {Type::kInt, static_cast<Unsigned>(bits)}; }

  Value add(Value a, Value b) { return made(number(a) + number(b)); }
  Value sub(Value a, Value b) { return made(number(a) - number(b)); }
  Value mul(Value a, Value b) { return made(number(a) * number(b)); }
  Value div(Value a, Value b) { return made(number(a) / number(b)); }
  Value neg(Value a) { return made(-number(a)); }
  Value abs(Value a) { return made(std::fabs(number(a))); }
  Value sqrt(Value a) { return made(std::sqrt(number(a))); }
  Value round(Value a) { return made(std::nearbyint(number(a))); }
  Value equal(Value a, Value b) { return made(number(a) == number(b)); }
  Value not_equal(Value a, Value b) { return made(number(a) != number(b)); }
  Value less(Value a, Value b) { return made(number(a) < number(b)); }
  Value less_equal(Value a, Value b) { return made(number(a) <= number(b)); }
  Value greater(Value a, Value b) { return made(number(a) > number(b)); }
  Value greater_equal(Value a, Value b) { return made(number(a) >= number(b)); }
  Value where(Value c, Value a, Value b) { return made(truth(c) ? number(a) : number(b)); }

  Value int_add(Value a, Value b) { return made(whole(a) + whole(b)); }
  Value int_sub(Value a, Value b) { return made(whole(a) - whole(b)); }
  Value int_mul(Value a, Value b) { return made(whole(a) * whole(b)); }
  Value int_and(Value a, Value b) { return made(whole(a) & whole(b)); }
  Value int_or(Value a, Value b) { return made(whole(a) | whole(b)); }
  Value int_xor(Value a, Value b) { return made(whole(a) ^ whole(b)); }
  Value int_shift_left(Value a, Value n) { return made(whole(a) << count(n)); }
  Value int_shift_right(Value a, Value n) { return made(Unsigned(with_sign(a) >> count(n))); }
  Value uint_shift_right(Value a, Value n) { return made(whole(a) >> count(n)); }
  Value int_not_equal(Value a, Value b) { return made(whole(a) != whole(b)); }
  Value int_less(Value a, Value b) { return made(with_sign(a) < with_sign(b)); }
  Value int_where(Value c, Value a, Value b) { return made(truth(c) ? whole(a) : whole(b)); }

  Value logical_and(Value a, Value b) { return made(truth(a) && truth(b)); }
  Value logical_or(Value a, Value b) { return made(truth(a) || truth(b)); }
  Value logical_not(Value a) { return made(!truth(a)); }

  Value as_int(Value a) { return made(bits_of(a, Type::kFloat)); }
  Value as_float(Value a) { return made(same_bits<T>(whole(a))); }
  Value to_float(Value a) { return made(static_cast<T>(with_sign(a))); }
  // For numbers out of range, the result differs from that of ScalarValue on purpose. The test
  // fails if either result affects the output.
  Value to_int(Value a) {
    constexpr Signed kMin = std::numeric_limits<Signed>::min();
    constexpr T kLimit = -static_cast<T>(kMin);
    const T x = number(a);
    return made(Unsigned(x > -kLimit && x < kLimit ? static_cast<Signed>(x) : kMin));
  }

  static Value made(T x) { return {Type::kFloat, same_bits<Unsigned>(x)}; }
  static Value made(Unsigned x) { return {Type::kInt, x}; }
  static Value made(bool x) { return {Type::kBool, x}; }

 private:
  Unsigned bits_of(Value a, Type type) {
    n_mistyped += a.type != type;
    return a.bits;
  }
  T number(Value a) { return same_bits<T>(bits_of(a, Type::kFloat)); }
  Unsigned whole(Value a) { return bits_of(a, Type::kInt); }
  Signed with_sign(Value a) { return static_cast<Signed>(whole(a)); }
  bool truth(Value a) { return bits_of(a, Type::kBool) != 0; }
  int count(Value n) {
    EXPECT_LT(whole(n), 8 * sizeof(T));
    return static_cast<int>(whole(n));
  }
};

// Evaluates the formula of an op. Unary ops ignore y.
template <class T>
struct Formula {
  using V = expansions::ScalarValue<T>;
  const char* name;
  uint32_t op;
  V (*of)(const V& x, const V& y);
};

template <class T>
std::vector<Formula<T>> formulas() {
  using V = expansions::ScalarValue<T>;
#define TENON_UNARY(name)                                                            \
  {                                                                                  \
#name, TENON_OP_##name, [](const V& x, const V&) { return expansions::name(x); } \
  }
#define TENON_BINARY(name)                                                                \
  {                                                                                       \
#name, TENON_OP_##name, [](const V& x, const V& y) { return expansions::name(x, y); } \
  }
  return {TENON_UNARY(rsqrt),
          TENON_UNARY(exp),
          TENON_UNARY(exp2),
          TENON_UNARY(expm1),
          TENON_UNARY(log),
          TENON_UNARY(log2),
          TENON_UNARY(log10),
          TENON_UNARY(log1p),
          TENON_UNARY(sin),
          TENON_UNARY(cos),
          TENON_UNARY(tan),
          TENON_UNARY(asin),
          TENON_UNARY(acos),
          TENON_UNARY(atan),
          TENON_UNARY(sinh),
          TENON_UNARY(cosh),
          TENON_UNARY(tanh),
          TENON_UNARY(asinh),
          TENON_UNARY(acosh),
          TENON_UNARY(atanh),
          TENON_UNARY(erf),
          TENON_UNARY(erfc),
          TENON_UNARY(cbrt),
          TENON_UNARY(lgamma),
          TENON_UNARY(digamma),
          TENON_UNARY(trigamma),
          TENON_UNARY(sigmoid),
          TENON_UNARY(softplus),
          TENON_UNARY(silu),
          TENON_BINARY(pow),
          TENON_BINARY(atan2),
          {"log_sigmoid", TENON_OP_log_sigmoid,
           [](const V& x, const V&) { return -expansions::softplus(-x); }},
          {"mish", TENON_OP_mish,
           [](const V& x, const V&) { return x * expansions::tanh(expansions::softplus(x)); }}};
#undef TENON_UNARY
#undef TENON_BINARY
}

template <class T>
T calculated(const Expansion& expansion, T x, T y) {
  Calculator<T> calculator;
  const auto a = calculator.made(x), b = calculator.made(y);
  const auto result = expansion.n_inputs == 2 ? run_expansion(expansion, calculator, {a, b})
                                              : run_expansion(expansion, calculator, {a});
  EXPECT_EQ(calculator.n_mistyped, 0);
  EXPECT_EQ(result.type, Type::kFloat);
  return same_bits<T>(result.bits);
}

template <class T>
bool is_same(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

// Returns pairs of inputs: special values, random bits, and numbers from the ranges in which
// functions are not almost linear.
template <class T>
std::vector<std::pair<T, T>> pairs_of_inputs() {
  std::vector<std::pair<T, T>> pairs;
  for (const T x : special_inputs<T>()) {
    for (const T y : special_inputs<T>()) pairs.emplace_back(x, y);
  }
  Inputs<T> inputs({{-1, 1}, {-30, 30}, {-1000, 1000}});
  for (int i = 0; i < 20000; ++i) {
    const T x = inputs.next();
    pairs.emplace_back(x, inputs.next());
  }
  return pairs;
}

template <class T>
class ExpansionsAsData : public ::testing::Test {};

using Formats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ExpansionsAsData, Formats);

TYPED_TEST(ExpansionsAsData, EqualTheirFormulasBitForBit) {
  using T = TypeParam;
  const auto pairs = pairs_of_inputs<T>();
  for (const Formula<T>& formula : formulas<T>()) {
    SCOPED_TRACE(formula.name);
    const Expansion* expansion = find_expansion(formula.op, sizeof(T) == 8);
    ASSERT_NE(expansion, nullptr);
    int n_differing = 0;
    for (const auto& [x, y] : pairs) {
      const T got = calculated(*expansion, x, y), want = formula.of(x, y).value();
      if (is_same(got, want) || ++n_differing > 3) continue;
      ADD_FAILURE() << "at (" << x << ", " << y << "): got " << got << ", want " << want;
    }
    EXPECT_EQ(n_differing, 0);
  }
}

// If a formula were missing, the test above would skip its expansion.
TYPED_TEST(ExpansionsAsData, EveryExpansionHasAFormula) {
  const auto known = formulas<TypeParam>();
  for (const Expansion& expansion : tenon_sdk::expansion_data::kAll) {
    const bool has_formula = std::any_of(known.begin(), known.end(), [&](const auto& formula) {
      return formula.op == expansion.op;
    });
    EXPECT_TRUE(has_formula) << "op " << expansion.op;
  }
}

int n_operands(ExpansionOpcode opcode) {
  switch (opcode) {
#define TENON_UNARY(name)         \
  case ExpansionOpcode::k_##name: \
    return 1;
#define TENON_BINARY(name)        \
  case ExpansionOpcode::k_##name: \
    return 2;
#define TENON_TERNARY(name)       \
  case ExpansionOpcode::k_##name: \
    return 3;
    TENON_EXPANSION_OPCODES(TENON_UNARY, TENON_BINARY, TENON_TERNARY)
#undef TENON_UNARY
#undef TENON_BINARY
#undef TENON_TERNARY
  }
  return 0;
}

TEST(ExpansionLists, EachValueIsUsedAndOnlyByLaterInstructions) {
  for (const Expansion& e : tenon_sdk::expansion_data::kAll) {
    SCOPED_TRACE(::testing::Message() << "op " << e.op);
    size_t value = e.n_inputs + e.constants.size() + e.int_constants.size();
    std::set<size_t> read;
    for (const ExpansionInstruction& i : e.instructions) {
      const uint16_t operands[] = {i.a, i.b, i.c};
      for (int k = 0; k < 3; ++k) {
        if (k < n_operands(i.opcode)) {
          EXPECT_LT(operands[k], value);
          read.insert(operands[k]);
        } else {
          EXPECT_EQ(operands[k], 0);
        }
      }
      ++value;
    }
    EXPECT_EQ(read.size(), value - 1) << "all but the result";
  }
}

TEST(ExpansionLists, ContainNoDuplicateInstructions) {
  for (const Expansion& e : tenon_sdk::expansion_data::kAll) {
    std::set<std::tuple<ExpansionOpcode, uint16_t, uint16_t, uint16_t>> seen;
    for (const auto& [opcode, a, b, c] : e.instructions) seen.insert({opcode, a, b, c});
    EXPECT_EQ(seen.size(), e.instructions.size()) << "op " << e.op;
  }
}

TEST(ExpansionLists, OpsWithoutAnExpansionHaveNoList) {
  EXPECT_EQ(find_expansion(TENON_OP_add, false), nullptr);
}

}  // namespace
}  // namespace tenon
