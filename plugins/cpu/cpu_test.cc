// Compares the CPU plugin with the reference plugin, and with the C library in long double.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "plugins/cpu/cpu_testing.h"

namespace tenon_simd {
namespace {

using namespace tenon_sdk::testing;
using tenon_sdk::List;

// Returns the distance from the exact result in ulp.
template <class T>
double ulps(T got, long double exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
  const T nearest = static_cast<T>(exact);
  if (got == nearest) return 0;
  if (std::isinf(nearest) || std::isinf(got) || std::isnan(got)) return INFINITY;
  int exponent;
  std::frexp(nearest, &exponent);
  const long double unit = std::max(std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits),
                                    static_cast<long double>(std::numeric_limits<T>::denorm_min()));
  return static_cast<double>(std::fabs(got - exact) / unit);
}

struct Function {
  const char* name;
  uint32_t op;
  long double (*exact)(long double);
  double low, high;  // Half of the arguments are random numbers in this range.
  double bound_f32, bound_f64;
  // Allowed absolute errors where terms cancel, near the zeros of the function.
  double absolute_f32 = 0, absolute_f64 = 0;
};

long double exact_sigmoid(long double x) {
  const long double e = std::exp(-std::fabs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}
long double exact_softplus(long double x) {
  return std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x)));
}

// Returns digamma(x), accurate in long double also near the positive zero kRoot of the function:
// computes the result divided by the distance from kRoot, term by term.
long double exact_digamma(long double x) {
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  constexpr long double kRoot = 1.46163214496836234126265954232572133L;
  if (x < 0) {
    const long double offset = x - std::nearbyint(x);
    return offset == 0 ? NAN : exact_digamma(1 - x) - kPi / std::tan(kPi * offset);
  }
  const long double distance = x - kRoot;
  if (std::isinf(x)) return x;
  if (x == 0) return std::signbit(x) ? INFINITY : -INFINITY;
  constexpr int kSteps = 64;
  long double sum = 0;
  for (int k = 0; k < kSteps; ++k) sum += 1 / ((x + k) * (kRoot + k));
  // Adds the remaining terms of the sum: the value at `to` minus the value at `from` of the
  // asymptotic series log(x) - 1 / (2 x) - 1 / (12 x^2) + 1 / (120 x^4) - ...
  const long double from = kRoot + kSteps, to = x + kSteps;
  const auto tail = [](long double y) {
    const long double u = 1 / (y * y);
    return u * (1 / 12.0L - u * (1 / 120.0L - u * (1 / 252.0L - u * (1 / 240.0L - u / 132))));
  };
  return distance * (sum + 1 / (2 * from * to)) + std::log1p(distance / from) - tail(to) +
         tail(from);
}

long double exact_trigamma(long double x) {
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  if (x < 0) {
    const long double sine = std::isinf(x) ? 0 : std::sin(kPi * (x - std::nearbyint(x))) / kPi;
    return sine == 0 ? INFINITY : 1 / (sine * sine) - exact_trigamma(1 - x);
  }
  long double sum = 0;
  for (; x < 64; x += 1) sum += 1 / (x * x);
  const long double v = 1 / x, u = v * v;
  return sum + v + u / 2 +
         v * u * (1 / 6.0L - u * (1 / 30.0L - u * (1 / 42.0L - u * (1 / 30.0L - u * 5 / 66))));
}

#define FUNCTION(name, low, high, f32, f64)                                                 \
  {                                                                                         \
#name, TENON_OP_##name, [](long double x) { return std::name(x); }, low, high, f32, f64 \
  }

constexpr Function kFunctions[] = {
    FUNCTION(exp, -20, 20, 3, 4),
    FUNCTION(exp2, -20, 20, 3, 4),
    FUNCTION(expm1, -3, 3, 3, 4),
    FUNCTION(log, 0.1, 3, 3, 4),
    FUNCTION(log2, 0.1, 3, 3, 4),
    FUNCTION(log10, 0.1, 3, 3, 4),
    FUNCTION(log1p, -0.9, 3, 2, 4),
    FUNCTION(sin, -100, 100, 4, 4),
    FUNCTION(cos, -100, 100, 4, 4),
    FUNCTION(tan, -100, 100, 5, 5),
    FUNCTION(asin, -1, 1, 4, 4),
    FUNCTION(acos, -1, 1, 4, 4),
    FUNCTION(atan, -5, 5, 5, 5),
    FUNCTION(sinh, -5, 5, 4, 4),
    FUNCTION(cosh, -5, 5, 4, 4),
    FUNCTION(tanh, -5, 5, 5, 5),
    FUNCTION(asinh, -5, 5, 4, 4),
    FUNCTION(acosh, 1, 5, 4, 4),
    FUNCTION(atanh, -1, 1, 5, 5),
    FUNCTION(erf, -5, 5, 4, 4),
    FUNCTION(erfc, -5, 12, 6, 6),
    FUNCTION(cbrt, -5, 5, 2, 2),
    {"lgamma", TENON_OP_lgamma, [](long double x) { return std::lgamma(x); }, -6, 20, 8, 8, 1e-5,
     2e-14},
    {"digamma", TENON_OP_digamma, exact_digamma, -6, 20, 8, 8, 8e-6, 3e-14},
    {"trigamma", TENON_OP_trigamma, exact_trigamma, -6, 20, 8, 8},
    {"rsqrt", TENON_OP_rsqrt, [](long double x) { return 1 / std::sqrt(x); }, 0.1, 9, 2, 4},
    {"sigmoid", TENON_OP_sigmoid, exact_sigmoid, -90, 90, 6, 6},
    {"softplus", TENON_OP_softplus, exact_softplus, -20, 20, 6, 6},
};

class Transcendental : public ::testing::TestWithParam<Function> {};

// Expects errors of at most `bound` ulp for n inputs. The first inputs are special values. Of the
// others, half are in the function's range and half are random bits. For negative inputs, an
// absolute error of `absolute` is allowed, too.
template <class T>
void expect_within(const Function& function, double bound, double absolute, size_t n) {
  const T limits[] = {0,
                      -T{0},
                      std::numeric_limits<T>::infinity(),
                      -std::numeric_limits<T>::infinity(),
                      std::numeric_limits<T>::quiet_NaN(),
                      std::numeric_limits<T>::min(),
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::lowest(),
                      1,
                      -1,
                      T(0.5),
                      T(-0.5)};
  std::vector<T> x = random_elements<T>(n, function.low, function.high);
  for (size_t i = 0; i < n / 2; ++i) x[i] = random_bits<T>(i);
  std::copy(std::begin(limits), std::end(limits), x.begin());
  const Tensor in = tensor_of(x, {static_cast<int64_t>(n)});
  const Launched y = cpu().run(function.op, nullptr, {in}, {in});
  ASSERT_EQ(y.refusal, "");
  ASSERT_FALSE(y.overran);
  const std::vector<T> got = y[0].elements<T>();
  double worst = 0;
  T at = 0;
  for (size_t i = 0; i < n; ++i) {
    const long double exact = function.exact(x[i]);
    const double error = ulps(got[i], exact);
    if (std::fabs(got[i] - exact) <= absolute && x[i] < 0) continue;
    if (error > worst) {
      worst = error;
      at = x[i];
    }
    if (exact == 0) {
      ASSERT_EQ(std::signbit(got[i]), std::signbit(exact)) << "at " << x[i];
    }
  }
  EXPECT_LE(worst, bound) << "at " << at;
}

TEST_P(Transcendental, FunctionStaysWithinItsErrorBoundInFloat32) {
  expect_within<float>(GetParam(), GetParam().bound_f32, GetParam().absolute_f32, 1 << 18);
}
TEST_P(Transcendental, FunctionStaysWithinItsErrorBoundInFloat64) {
  expect_within<double>(GetParam(), GetParam().bound_f64, GetParam().absolute_f64, 1 << 16);
}
INSTANTIATE_TEST_SUITE_P(Cpu, Transcendental, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return info.param.name; });

TEST(Cpu, PowAndAtan2FollowTheCLibrary) {
  const std::vector<float> a = with_specials(random_elements<float>(1 << 18, -20, 20));
  const std::vector<float> b = with_specials(random_elements<float>(1 << 18, -9, 9), 7);
  const Tensor x = tensor_of(a, {static_cast<int64_t>(a.size())});
  const Tensor y = tensor_of(b, {static_cast<int64_t>(b.size())});
  const auto power = cpu().run(TENON_OP_pow, nullptr, {x, y}, {x})[0].elements<float>();
  const auto angle = cpu().run(TENON_OP_atan2, nullptr, {x, y}, {x})[0].elements<float>();
  for (size_t i = 0; i < a.size(); ++i) {
    const long double l = a[i], r = b[i];
    ASSERT_LE(ulps(power[i], std::pow(l, r)), 1) << a[i] << " to the " << b[i];
    ASSERT_LE(ulps(angle[i], std::atan2(l, r)), 6) << a[i] << ", " << b[i];
  }
}

TEST(Cpu, PowInFloat64FollowsTheCLibrary) {
  const std::vector<double> a = with_specials(random_elements<double>(1 << 17, -20, 20));
  std::vector<double> b = with_specials(random_elements<double>(1 << 17, -200, 200), 7);
  for (size_t i = 0; i < b.size(); i += 2) b[i] = std::round(b[i]);
  const List sizes{static_cast<int64_t>(a.size())};
  const Tensor x = tensor_of(a, sizes), y = tensor_of(b, sizes);
  const auto power = cpu().run(TENON_OP_pow, nullptr, {x, y}, {x})[0].elements<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    const long double exact = std::pow(static_cast<long double>(a[i]), b[i]);
    ASSERT_LE(ulps(power[i], exact), 2) << a[i] << " to the " << b[i];
  }
}

// Tensors with 65,536 elements use a table of the function's results.
TEST(Cpu, TablesOfHalfTypesHaveTheBitsOfTheFunction) {
  std::vector<uint16_t> all(1 << 16);
  std::iota(all.begin(), all.end(), uint16_t{0});
  const std::vector<uint16_t> low(all.begin(), all.begin() + (1 << 15));
  const std::vector<uint16_t> high(all.begin() + (1 << 15), all.end());
  for (const tenon_dtype dtype : {TENON_FLOAT16, TENON_BFLOAT16}) {
    for (const Function& function : kFunctions) {
      const auto results = [&](const std::vector<uint16_t>& bits) {
        Tensor x = tensor_of(bits, {static_cast<int64_t>(bits.size())});
        x.dtype = dtype;
        return cpu().run(function.op, nullptr, {x}, {x})[0].elements<uint16_t>();
      };
      std::vector<uint16_t> halves = results(low);
      const std::vector<uint16_t> second = results(high);
      halves.insert(halves.end(), second.begin(), second.end());
      EXPECT_EQ(results(all), halves) << function.name << " of " << dtype;
    }
  }
}

// ---- against ref -----------------------------------------------------------------------------

constexpr uint32_t kExactUnary[] = {TENON_OP_neg,   TENON_OP_abs,   TENON_OP_sign,
                                    TENON_OP_floor, TENON_OP_ceil,  TENON_OP_round,
                                    TENON_OP_trunc, TENON_OP_sqrt,  TENON_OP_reciprocal,
                                    TENON_OP_isnan, TENON_OP_isinf, TENON_OP_bitwise_not};
constexpr uint32_t kExactBinary[] = {
    TENON_OP_add,           TENON_OP_sub,         TENON_OP_mul,        TENON_OP_div,
    TENON_OP_floor_div,     TENON_OP_mod,         TENON_OP_fmod,       TENON_OP_maximum,
    TENON_OP_minimum,       TENON_OP_copysign,    TENON_OP_nextafter,  TENON_OP_equal,
    TENON_OP_not_equal,     TENON_OP_less,        TENON_OP_less_equal, TENON_OP_greater,
    TENON_OP_greater_equal, TENON_OP_bitwise_and, TENON_OP_bitwise_or, TENON_OP_bitwise_xor,
    TENON_OP_shift_left,    TENON_OP_logical_and, TENON_OP_logical_or, TENON_OP_shift_right};
constexpr tenon_dtype kDTypes[] = {TENON_BOOL,   TENON_INT8,    TENON_INT16,    TENON_INT32,
                                   TENON_INT64,  TENON_UINT8,   TENON_UINT16,   TENON_UINT32,
                                   TENON_UINT64, TENON_FLOAT16, TENON_BFLOAT16, TENON_FLOAT32,
                                   TENON_FLOAT64};

bool gives_bool(uint32_t op) {
  return (op >= TENON_OP_equal && op <= TENON_OP_greater_equal) || op == TENON_OP_isnan ||
         op == TENON_OP_isinf;
}

TEST(Cpu, ExactOpsEqualRefInEveryDType) {
  for (const tenon_dtype dtype : kDTypes) {
    const Tensor a = specials_first(dtype, 1031, 1), b = specials_first(dtype, 1031, 2);
    const auto compare = [&](uint32_t op, const std::vector<Tensor>& inputs) {
      if (!offers(cpu(), op, dtype) || !offers(ref(), op, dtype)) return;
      const Tensor out = gives_bool(op) ? zeros_of(TENON_BOOL, a.sizes) : a;
      const Launched want = ref().run(op, nullptr, inputs, {out});
      const Launched got = cpu().run(op, nullptr, inputs, {out});
      ASSERT_EQ(got.refusal, "") << op << " of " << dtype;
      EXPECT_FALSE(got.overran) << op << " of " << dtype;
      EXPECT_TRUE(same_values(got[0], want[0])) << op << " of " << dtype;
    };
    for (const uint32_t op : kExactUnary) compare(op, {a});
    for (const uint32_t op : kExactBinary) compare(op, {a, b});
    compare(TENON_OP_where, {specials_first(TENON_BOOL, 1031, 4), a, b});
    compare(TENON_OP_clip, {a, b, specials_first(dtype, 1031, 3)});
    if (dtype != TENON_BOOL) {
      compare(TENON_OP_fma, {a, b, specials_first(dtype, 1031, 3)});
    }
  }
}

TEST(Cpu, CastsEqualRefBetweenAllDTypes) {
  for (const tenon_dtype from : kDTypes) {
    for (const tenon_dtype to : kDTypes) {
      const Tensor x = specials_first(from, 517, 3), y = zeros_of(to, x.sizes);
      const tenon_cast_attrs attrs{sizeof attrs, to};
      const Launched want = ref().run(TENON_OP_cast, &attrs, {x}, {y});
      const Launched got = cpu().run(TENON_OP_cast, &attrs, {x}, {y});
      EXPECT_TRUE(same_values(got[0], want[0])) << from << " to " << to;
    }
  }
}

struct ReduceCase {
  List sizes, axes;
};
const ReduceCase kReduceCases[] = {{{7}, {}},
                                   {{5000}, {0}},
                                   {{300, 70}, {0}},
                                   {{70, 300}, {1}},
                                   {{9, 5, 33}, {0, 2}},
                                   {{9, 5, 33}, {1}},
                                   {{4, 3, 2}, {0, 1, 2}},
                                   {{9000, 3}, {0}},
                                   {{2, 9000}, {1}},
                                   {{6, 1, 5}, {1}},
                                   {{3, 0, 2}, {1}}};

TEST(Cpu, ReductionsAgreeWithRef) {
  for (const tenon_dtype dtype : kDTypes) {
    for (const uint32_t op : {TENON_OP_sum, TENON_OP_prod, TENON_OP_max, TENON_OP_min}) {
      if (!offers(ref(), op, dtype)) continue;
      for (const ReduceCase& c : kReduceCases) {
        const bool extreme = op == TENON_OP_max || op == TENON_OP_min;
        const double spread = op == TENON_OP_prod ? 1.001 : 3;
        const Tensor x = random_tensor(dtype, c.sizes, op == TENON_OP_prod ? 0.999 : -3, spread);
        if (extreme && x.bytes.empty()) continue;
        List out_sizes;
        for (size_t i = 0; i < c.sizes.size(); ++i) {
          const bool reduced = c.axes.empty() || std::find(c.axes.begin(), c.axes.end(),
                                                           static_cast<int64_t>(i)) != c.axes.end();
          if (!reduced) out_sizes.push_back(c.sizes[i]);
        }
        const tenon_sum_attrs attrs{sizeof attrs, c.axes.data(), c.axes.size(), false};
        const Tensor y = zeros_of(dtype, out_sizes);
        const Launched want = ref().run(op, &attrs, {x}, {y});
        const Launched got = cpu().run(op, &attrs, {x}, {y});
        const double bound = tenon_sdk::size_of(dtype) == 2 ? 1e-2 : 2e-4;
        EXPECT_TRUE(extreme ? same_values(got[0], want[0]) : close(got[0], want[0], bound))
            << op << " of " << dtype << " with " << c.sizes.size() << " axes";
      }
    }
  }
}

TEST(Cpu, ProductsAgreeWithRef) {
  const int64_t sides[] = {1, 2, 3, 7, 16, 31, 33, 65, 130, 300};
  for (const tenon_dtype dtype : kDTypes) {
    if (!offers(ref(), TENON_OP_matmul, dtype)) continue;
    for (size_t i = 0; i < std::size(sides); ++i) {
      const int64_t m = sides[i], n = sides[(i + 3) % 10], k = sides[(i * 7 + 5) % 10];
      for (const int transposes : {0, 1, 2, 3}) {
        const bool ta = (transposes & 1) != 0, tb = (transposes & 2) != 0;
        const Tensor a = random_tensor(dtype, ta ? List{2, k, m} : List{2, m, k}, -1, 1);
        const Tensor b = random_tensor(dtype, tb ? List{2, n, k} : List{2, k, n}, -1, 1);
        const tenon_matmul_attrs attrs{sizeof attrs, ta, tb};
        const Tensor c = zeros_of(dtype, {2, m, n});
        const Launched want = ref().run(TENON_OP_matmul, &attrs, {a, b}, {c});
        const Launched got = cpu().run(TENON_OP_matmul, &attrs, {a, b}, {c});
        EXPECT_FALSE(got.overran);
        EXPECT_TRUE(close(got[0], want[0], tenon_sdk::size_of(dtype) == 2 ? 2e-2 : 1e-5))
            << m << "x" << n << "x" << k << " of " << dtype << ", transposes " << transposes;
      }
    }
  }
}

TEST(Cpu, Int8ProductsEqualRef) {
  const int64_t sides[] = {1, 2, 3, 5, 31, 33, 64, 130};
  const auto compare = [](const std::vector<Tensor>& inputs, const List& out) {
    const Tensor y = zeros_of(TENON_INT32, out);
    const Launched want = ref().run(TENON_OP_int8_matmul, nullptr, inputs, {y});
    const Launched got = cpu().run(TENON_OP_int8_matmul, nullptr, inputs, {y});
    EXPECT_EQ(got.refusal, "");
    EXPECT_FALSE(got.overran);
    EXPECT_TRUE(same_values(got[0], want[0])) << out[1] << "x" << out[2];
  };
  for (const tenon_dtype a_dtype : {TENON_INT8, TENON_UINT8}) {
    for (const tenon_dtype b_dtype : {TENON_INT8, TENON_UINT8}) {
      for (size_t i = 0; i < std::size(sides); ++i) {
        const int64_t m = sides[i], n = sides[(i + 3) % 8], k = sides[(i * 5 + 2) % 8];
        const Tensor a = specials_first(a_dtype, 2 * m * k + 64, 1).as({2, m, k}, {m * k, k, 1});
        const Tensor b = specials_first(b_dtype, n * k + 64, 2).as({2, k, n}, {0, 1, k});
        const Tensor rows = specials_first(a_dtype, m + 64, 3).as({2, m, 1}, {0, 1, 1});
        const Tensor columns = specials_first(b_dtype, 2 * n + 64, 4).as({2, 1, n}, {n, 1, 1});
        const Tensor b_rows = b.as({2, k, n}, {0, n, 1});
        for (const Tensor& right : {b, b_rows}) {
          compare({a, right}, {2, m, n});
          compare({a, right, rows, columns}, {2, m, n});
        }
      }
    }
  }
}

TEST(Cpu, GatherReturnsZeroForAnIndexOutOfRangeAndReportsTheIndex) {
  const Tensor x = f32({3, 2}, {1, 2, 3, 4, 5, 6}), i = i64({3}, {2, 7, -3});
  const Launched y = cpu().run(TENON_OP_gather, nullptr, {x, i}, {f32({3, 2}, {})});
  EXPECT_EQ(y[0].numbers(), (Numbers{5, 6, 0, 0, 1, 2}));
  EXPECT_EQ(y.record.state, 1u);
  EXPECT_EQ(y.record.site, 7u);
  EXPECT_EQ(y.record.index, 7);
  EXPECT_EQ(y.record.bound, 3);
}

TEST(Cpu, LargeDynamicSlicesEqualRef) {
  const List sizes = {3, 200, 150};  // The sizes are large enough for several tasks.
  const tenon_dynamic_slice_attrs attrs{sizeof attrs, sizes.data(), sizes.size()};
  const Tensor start = i64({3}, {1, -170, 90});
  for (const tenon_dtype dtype : {TENON_BOOL, TENON_FLOAT16, TENON_INT32, TENON_FLOAT64}) {
    const Tensor dense = random_tensor(dtype, {4, 300, 230}, -3, 3);
    const Tensor turned =
        random_tensor(dtype, {4, 230, 300}, -3, 3).as({4, 300, 230}, {69000, 1, 300});
    const Tensor part = random_tensor(dtype, sizes, -3, 3, 2);
    for (const Tensor& x : {dense, turned}) {
      const auto compare = [&](uint32_t op, const void* given, const std::vector<Tensor>& inputs,
                               const List& shape) {
        const Tensor out = zeros_of(dtype, shape);
        const Launched want = ref().run(op, given, inputs, {out});
        const Launched got = cpu().run(op, given, inputs, {out});
        EXPECT_FALSE(got.overran);
        EXPECT_TRUE(same_values(got[0], want[0])) << op << " of " << dtype;
      };
      compare(TENON_OP_dynamic_slice, &attrs, {x, start}, sizes);
      compare(TENON_OP_dynamic_update_slice, nullptr, {x, part, start}, {4, 300, 230});
    }
  }
}

TEST(Cpu, RemaindersNearMultiplesEqualRef) {
  constexpr int64_t n = 6000;
  const std::vector<double> b = random_elements<double>(n, -1000, 1000, 2);
  std::vector<double> a = random_elements<double>(n, -1e9, 1e9, 1);
  for (size_t i = 0; i < a.size(); i += 2) {  // Multiples, and the numbers before and after them.
    a[i] = std::round(a[i] / b[i]) * b[i];
    if (i % 4 == 0) a[i] = std::nextafter(a[i], i % 8 == 0 ? HUGE_VAL : -HUGE_VAL);
  }
  const Tensor x = tensor_of(a, {n}), y = tensor_of(b, {n});
  for (const uint32_t op : {TENON_OP_mod, TENON_OP_fmod}) {
    const Launched want = ref().run(op, nullptr, {x, y}, {x});
    EXPECT_TRUE(same_values(cpu().run(op, nullptr, {x, y}, {x})[0], want[0])) << op;
  }
}

}  // namespace
}  // namespace tenon_simd
