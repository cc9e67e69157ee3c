// Shared by the tests of the oracle: one loaded plugin, calls of ops, and comparison with literals.

#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "plugins/sdk/testing.h"

namespace tenon_ref_testing {

using namespace tenon_sdk::testing;
using tenon_sdk::List;

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

inline const Plugin& ref() {
  static const Plugin plugin(TENON_PLUGIN_FILE);
  return plugin;
}

inline Launched run(uint32_t op, const std::vector<Tensor>& inputs,
                    const std::vector<Tensor>& outputs, const void* attrs = nullptr) {
  Launched launched = ref().run(op, attrs, inputs, outputs);
  EXPECT_EQ(launched.refusal, "");
  EXPECT_FALSE(launched.overran);
  return launched;
}

// Runs an op with one output and returns the output.
inline Tensor call(uint32_t op, const std::vector<Tensor>& inputs, const Tensor& output,
                   const void* attrs = nullptr) {
  return run(op, inputs, {output}, attrs)[0];
}

// Formats numbers for comparison: equal texts for NaN and NaN, different texts for -0 and 0.
inline std::string text(const Numbers& numbers) {
  std::string result;
  for (const double number : numbers) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.17g ", number);
    result += std::isnan(number) ? "nan " : buffer;
  }
  return result;
}
#define EXPECT_NUMBERS(tensor, ...) EXPECT_EQ(text((tensor).numbers()), text(Numbers{__VA_ARGS__}))

template <class Attrs>
Attrs make_attrs() {
  Attrs attrs = {};
  attrs.struct_size = sizeof attrs;
  return attrs;
}

// Sets a list attribute to the elements of a vector, which must outlive the call.
#define SET_LIST(attrs, field, list)   \
  do {                                 \
    (attrs).field = (list).data();     \
    (attrs).n_##field = (list).size(); \
  } while (false)

}  // namespace tenon_ref_testing
