// Tests the error of every expansion at a million inputs in float32, and at a hundred thousand in
// float64, because binary128 is slow. The environment variable TENON_EXPANSION_SAMPLES overrides
// both numbers. Each input is tested with the processor's division and square root, and with
// variants that have the largest error that a device may have.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "core/ops/expansions/expansion_sampling.h"

namespace tenon::expansions::testing {
namespace {

template <class T>
class Checker {
 public:
  explicit Checker(const Expansion<T>& expansion) : e_(expansion) {}

  void check(T x, T y) {
    const Wide<T> oracle = e_.oracle(x, y);
    const T plain = e_.plain(x, y).value(), worst = e_.worst(x, y).value();
    plain_.record(error_of(e_, plain, oracle), x, y, plain);
    worst_.record(error_of(e_, worst, oracle), x, y, worst);
  }

  void expect_within_bound() const {
    std::printf("%s %s: %.2f ulp, with the worst division and square root %.2f; bound %g\n",
                e_.name.c_str(), sizeof(T) == 4 ? "float32" : "float64", plain_.error, worst_.error,
                e_.bound);
    EXPECT_LE(plain_.error, e_.bound) << plain_.text();
    EXPECT_LE(worst_.error, e_.bound) << "worst division: " << worst_.text();
  }

 private:
  const Expansion<T>& e_;
  Worst plain_, worst_;
};

template <class T>
void check_samples(const Expansion<T>& expansion) {
  Inputs<T> inputs(expansion.ranges);
  Checker<T> checker(expansion);
  for (int i = sample_count<T>(); i > 0; --i) {
    const T x = inputs.next();
    checker.check(x, expansion.is_binary ? inputs.next() : T(0));
  }
  checker.expect_within_bound();
}

// Tests the numbers next to each threshold at which an expansion changes its formula or its result
// overflows or underflows.
template <class T>
void check_neighbours(const Expansion<T>& expansion) {
  using Limits = std::numeric_limits<T>;
  // clang-format off
  std::vector<double> places = {
      0, 0x1p-54, 0x1p-25, 0.25, 0.5, 0.625, 0.70710678118654752, 0.78539816339744831, 1,
      1.4142135623730951, 1.4616321449683624, 1.5707963267948966, 2, 3, 3.1415926535897931, 4, 5, 6,
      10, 10.05, 10.5, 16.5, 18, 26.5, 27.2, 28, 38,
      64, 87.336544750553, 88, 88.72283905206835, 89.41598629223294, 103.97208, 127, 128, 149, 150,
      709.78271289338397, 710.47586007394386, 745.13321910194122, 1023, 1024, 1074, 1075, 0x1p24,
      0x1p30, 0x1p31, 0x1p32, 0x1p53, 0x1p60, 0x1p65};
  // clang-format on
  places.push_back(Limits::denorm_min());
  places.push_back(Limits::min());
  places.push_back(Limits::max());
  places.push_back(Limits::infinity());
  places.push_back(Limits::quiet_NaN());

  std::vector<T> inputs;
  for (const double exact : places) {
    const T place = static_cast<T>(exact);
    for (const T x : {std::nextafter(place, -Limits::infinity()), place,
                      std::nextafter(place, Limits::infinity())}) {
      inputs.push_back(x);
      inputs.push_back(-x);
    }
  }
  Checker<T> checker(expansion);
  for (const T x : inputs) {
    for (const T y : inputs) {
      checker.check(x, y);
      if (!expansion.is_binary) break;
    }
  }
  checker.expect_within_bound();
}

bool is_of_gamma(const std::string& name) { return name.find("gamma") != std::string::npos; }

bool is_periodic(const std::string& name) {
  return name == "sin" || name == "cos" || name == "tan";
}

// Tests arguments near multiples of pi/2: the numbers nearest to random multiples, and the number
// of each format that is nearest to any multiple.
template <class T>
void check_near_multiples(const Expansion<T>& expansion) {
  const wide::Quad half_pi = wide::atan(wide::Quad(1)) * 2;
  std::mt19937_64 random(7);
  Checker<T> checker(expansion);
  for (int i = sample_count<T>() / 10; i > 0; --i) {
    const int bits = static_cast<int>(random() % std::numeric_limits<T>::digits);
    const uint64_t multiple = (uint64_t{1} << bits) | (random() & ((uint64_t{1} << bits) - 1));
    const T x = static_cast<T>(static_cast<double>(half_pi * static_cast<wide::Quad>(multiple)));
    checker.check(x, 0);
    checker.check(-x, 0);
  }
  const T nearest =
      sizeof(T) == 4 ? std::ldexp(T(16367173), 72) : std::ldexp(T(6381956970095103), 797);
  for (const T x : {nearest, nearest / 2, nearest * 2, -nearest}) checker.check(x, 0);
  checker.expect_within_bound();
}

std::string name_of(const ::testing::TestParamInfo<size_t>& info) {
  return all_expansions<float>()[info.param].name;
}

class Expansions : public ::testing::TestWithParam<size_t> {};

TEST_P(Expansions, ErrorsStayWithinTheirBoundsInFloat32) {
  check_samples(all_expansions<float>()[GetParam()]);
}

TEST_P(Expansions, ErrorsStayWithinTheirBoundsInFloat64) {
  check_samples(all_expansions<double>()[GetParam()]);
}

TEST_P(Expansions, ErrorsStayWithinTheirBoundsNextToThresholds) {
  check_neighbours(all_expansions<float>()[GetParam()]);
  check_neighbours(all_expansions<double>()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(All, Expansions,
                         ::testing::Range<size_t>(0, all_expansions<float>().size()), name_of);

TEST(Expansions, ErrorsStayWithinTheirBoundsNearMultiplesOfHalfPi) {
  for (const auto& expansion : all_expansions<float>()) {
    if (is_periodic(expansion.name)) check_near_multiples(expansion);
  }
  for (const auto& expansion : all_expansions<double>()) {
    if (is_periodic(expansion.name)) check_near_multiples(expansion);
  }
}

template <class T>
int instructions(const Expansion<T>& expansion) {
  CountingPolicy::instruction_count() = 0;
  expansion.counting(T(0.75), T(0.75));
  return CountingPolicy::instruction_count();
}

TEST(Expansions, StayWithinTheirInstructionLimits) {
  const auto narrow = all_expansions<float>();
  const auto wide = all_expansions<double>();
  for (size_t i = 0; i < narrow.size(); ++i) {
    const std::string& name = narrow[i].name;
    const bool is_long = is_periodic(name) || is_of_gamma(name);
    const int limit = is_long ? 260 : name == "pow" ? 180 : 125;
    const int in_float32 = instructions(narrow[i]), in_float64 = instructions(wide[i]);
    std::printf("%-9s %3d %3d\n", name.c_str(), in_float32, in_float64);
    EXPECT_LE(in_float32, limit) << name;
    EXPECT_LE(in_float64, limit) << name;
  }
}

}  // namespace
}  // namespace tenon::expansions::testing
