// Sampling for the tests of the expansions: random and special inputs, and a record of the largest
// error.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/ops/expansions/expansion_cases.h"

namespace tenon::expansions::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kSanitizerSlowdown = 20;
#else
inline constexpr int kSanitizerSlowdown = 1;
#endif

// Returns the number of inputs to test in each run, which is lower for float64.
template <class T>
int sample_count() {
  if (const char* samples = std::getenv("TENON_EXPANSION_SAMPLES")) return std::atoi(samples);
  return (sizeof(T) == 4 ? 1000000 : 100000) / kSanitizerSlowdown;
}

// Draws inputs from two distributions: random bits, which cover all exponents and NaN, and
// uniformly distributed numbers in the ranges of the expansion.
template <class T>
class Inputs {
 public:
  Inputs(const std::vector<Range>& ranges) : ranges_(ranges) {}

  // Draws the next input.
  T next() {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const size_t kind = random_() % (ranges_.size() + 1);
    if (kind == ranges_.size()) return same_bits<T>(static_cast<Bits>(random_()));
    const double unit = static_cast<double>(random_() >> 11) * 0x1p-53;
    return static_cast<T>(ranges_[kind].low + unit * (ranges_[kind].high - ranges_[kind].low));
  }

 private:
  std::vector<Range> ranges_;
  std::mt19937_64 random_{20240229};
};

// Returns zero, small numbers, the smallest and largest finite magnitudes, integers from which on
// the format has no fraction bits, infinity and NaN, each with both signs.
template <class T>
std::vector<T> special_inputs() {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> magnitudes = {0,
                                     Limits::denorm_min(),
                                     Limits::min(),
                                     T(0.5),
                                     1,
                                     T(1.5),
                                     2,
                                     3,
                                     5,
                                     T(0x1p23),
                                     T(0x1p24) - 1,
                                     T(0x1p53),
                                     T(0x1p22) + T(0.5),
                                     Limits::max(),
                                     Limits::infinity(),
                                     Limits::quiet_NaN()};
  std::vector<T> inputs;
  for (const T x : magnitudes) {
    inputs.push_back(x);
    inputs.push_back(-x);
  }
  return inputs;
}

// Records the largest error so far and the inputs that caused it.
struct Worst {
  double error = -1;
  double x = 0, y = 0, got = 0;

  // Records this error and its inputs if it is the largest so far.
  void record(double error_here, double x_here, double y_here, double got_here) {
    if (error_here <= error) return;
    *this = {error_here, x_here, y_here, got_here};
  }
  // Describes the error and its inputs, for test output.
  std::string text() const {
    char line[160];
    std::snprintf(line, sizeof line, "%.2f ulp at (%.17g, %.17g), which gives %.17g", error, x, y,
                  got);
    return line;
  }
};

// The error of a result in ulp; 0 if it is within the absolute tolerance.
template <class T>
double error_of(const Expansion<T>& expansion, T got, Wide<T> oracle) {
  const Wide<T> difference = got > oracle ? got - oracle : oracle - got;
  return difference <= expansion.absolute ? 0 : ulp_error(got, oracle);
}

}  // namespace tenon::expansions::testing
