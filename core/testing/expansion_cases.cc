// Instantiates the expansions for every policy, in one file for all tests of expansions.

#include "core/ops/expansions/expansion_cases.h"

namespace tenon::expansions::testing {
namespace {

// Returns the expansion `formula` of one argument. `oracle` computes the same function more
// precisely. `bound` is the maximum error in ulp; `absolute` is an absolute error that is also
// permitted.
template <class T, class Formula, class Oracle>
Expansion<T> unary_expansion(const char* name, double bound, std::vector<Range> ranges,
                             Formula formula, Oracle oracle, double absolute = 0) {
  const auto first = [](auto f) { return [f](auto x, auto) { return f(x); }; };
  return {name,           bound,          absolute,       std::move(ranges), false,
          first(formula), first(formula), first(formula), first(oracle)};
}

// Returns an expansion as unary_expansion() does, but of two arguments.
template <class T, class Formula, class Oracle>
Expansion<T> binary_expansion(const char* name, double bound, std::vector<Range> ranges,
                              Formula formula, Oracle oracle) {
  return {name, bound, 0, std::move(ranges), true, formula, formula, formula, oracle};
}

// Returns an expansion that is tested at the absolute values of the test inputs.
template <class T, class Formula, class Oracle>
Expansion<T> expansion_of_magnitude(const char* name, double bound, std::vector<Range> ranges,
                                    Formula formula, Oracle oracle) {
  return unary_expansion<T>(
      name, bound, std::move(ranges), [formula](auto x) { return formula(abs(x)); },
      [oracle](auto x) { return oracle(wide::fabs(x)); });
}

}  // namespace

// The error bounds are those of the strict profile, in ulp. The variables `two` and `three` are 2
// and 3 ulp in float32; both are 4 ulp in float64.
template <class T>
std::vector<Expansion<T>> all_expansions() {
  const bool narrow = sizeof(T) == 4;
  const double three = narrow ? 3 : 4, two = narrow ? 2 : 4;
  const double most = narrow ? 90 : 711, least = narrow ? -105 : -747;
#define TENON_UNARY(name, bound, ...)                                          \
  unary_expansion<T>(                                                          \
      #name, bound, {__VA_ARGS__}, [](auto x) { return expansions::name(x); }, \
      [](auto x) { return wide::name(x); })
  return {
      TENON_UNARY(exp, three, {least, most}, {-1, 1}),
      TENON_UNARY(exp2, three, {narrow ? -151 : -1077., narrow ? 129 : 1025.}, {-1, 1}),
      TENON_UNARY(expm1, three, {-38, most}, {-2, 2}),
      TENON_UNARY(log, three, {0, 3}, {0.9, 1.1}),
      TENON_UNARY(log2, three, {0, 3}, {0.9, 1.1}),
      TENON_UNARY(log10, three, {0, 3}, {0.9, 1.1}),
      TENON_UNARY(log1p, two, {-1, 3}, {-0.1, 0.1}),
      TENON_UNARY(sin, 4, {-7, 7}, {-1e6, 1e6}),
      TENON_UNARY(cos, 4, {-7, 7}, {-1e6, 1e6}),
      TENON_UNARY(tan, 5, {-7, 7}, {-1e6, 1e6}),
      TENON_UNARY(asin, 4, {-1, 1}, {0.4, 0.6}),
      TENON_UNARY(acos, 4, {-1, 1}, {0.4, 0.6}),
      TENON_UNARY(atan, 5, {-2, 2}, {-30, 30}),
      TENON_UNARY(sinh, 4, {least, most}, {-2, 2}),
      TENON_UNARY(cosh, 4, {least, most}, {-2, 2}),
      TENON_UNARY(tanh, 5, {-20, 20}, {-1, 1}),
      TENON_UNARY(asinh, 4, {-3, 3}, {-100, 100}),
      TENON_UNARY(acosh, 4, {1, 3}, {1, 100}),
      TENON_UNARY(atanh, 5, {-1, 1}, {0.4, 0.6}),
      TENON_UNARY(erf, 4, {-6, 6}, {-2, 2}),
      TENON_UNARY(erfc, 6, {narrow ? -4 : -6., narrow ? 10.5 : 27.5}, {-2, 2}),
      TENON_UNARY(cbrt, 2, {-3, 3}, {0, 1000}),
      TENON_UNARY(sigmoid, 6, {least, -least}, {-10, 10}),
      TENON_UNARY(softplus, 6, {least, -least}, {-10, 10}),
      unary_expansion<T>(
          "rsqrt", two, {{0, 4}, {0, 1000}}, [](auto x) { return expansions::rsqrt(x); },
          [](auto x) { return 1 / wide::sqrt(x); }),
      unary_expansion<T>(
          "silu", 8, {{-20, 20}, {-2, 2}}, [](auto x) { return expansions::silu(x); },
          [](auto x) { return x * wide::sigmoid(x); }, std::numeric_limits<T>::min()),
      unary_expansion<T>(
          "gelu", 8, {{-8, 8}, {-2, 2}}, [](auto x) { return expansions::gelu(x); },
          [](auto x) { return wide::gelu(x); }, narrow ? 1e-6 : 2e-15),
      expansion_of_magnitude<T>(
          "lgamma", 8, {{0, 10}, {0.5, 2.5}}, [](auto x) { return expansions::lgamma(x); },
          [](auto x) { return wide::lgamma(x); }),
      expansion_of_magnitude<T>(
          "digamma", 8, {{0, 10}, {1.4, 1.5}}, [](auto x) { return expansions::digamma(x); },
          [](auto x) { return wide::digamma(x); }),
      TENON_UNARY(trigamma, 8, {-20, 20}, {0, 5}),
      unary_expansion<T>(
          "lgamma_below_zero", 8, {{-30, 0}, {-4, 0}}, [](auto x) { return expansions::lgamma(x); },
          [](auto x) { return wide::lgamma(x); }, narrow ? 1e-5 : 2e-14),
      unary_expansion<T>(
          "digamma_below_zero", 8, {{-30, 0}, {-4, 0}},
          [](auto x) { return expansions::digamma(x); }, [](auto x) { return wide::digamma(x); },
          narrow ? 8e-6 : 3e-14),
      binary_expansion<T>(
          "pow", 16, {{0, 3}, {-100, 100}, {0.99, 1.01}},
          [](auto x, auto y) { return expansions::pow(x, y); },
          [](auto x, auto y) { return wide::pow(x, y); }),
      binary_expansion<T>(
          "atan2", 6, {{-2, 2}, {-100, 100}},
          [](auto y, auto x) { return expansions::atan2(y, x); },
          [](auto y, auto x) { return wide::atan2(y, x); }),
  };
#undef TENON_UNARY
}

template std::vector<Expansion<float>> all_expansions();
template std::vector<Expansion<double>> all_expansions();

}  // namespace tenon::expansions::testing
