#include "conformance/run/arguments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace tenon_kit {
namespace {

using Places = std::vector<size_t>;

TEST(Arguments, ShardsContainEachIndexOnce) {
  EXPECT_EQ(shard_indices("", 3), (Places{0, 1, 2}));
  EXPECT_EQ(shard_indices("1/2", 5), (Places{0, 2, 4}));
  EXPECT_EQ(shard_indices("2/2", 5), (Places{1, 3}));
  EXPECT_EQ(shard_indices("7/7", 5), Places());
}

TEST(Arguments, RefuseInvalidShards) {
  for (const char* text : {"0/2", "3/2", "1", "/", "1/", "a/b", "1/2x", "-1/2", "1/0"}) {
    EXPECT_THROW(shard_indices(text, 5), std::runtime_error) << text;
  }
}

TEST(Arguments, AcceptOnlyRangesWithOrderedEnds) {
  EXPECT_EQ(parse_range("-1:0x1p-3").low, -1);
  EXPECT_EQ(parse_range("-1:0x1p-3").high, 0.125);
  EXPECT_EQ(parse_range("0:inf").high, INFINITY);
  for (const char* text : {"", "1", "2:1", "a:b", "1:", ":1", "1:2:3", "nan:1"}) {
    EXPECT_THROW(parse_range(text), std::runtime_error) << text;
  }
}

TEST(Arguments, AcceptOnlyPluginOptionsWithAKey) {
  using Option = std::pair<std::string, std::string>;
  EXPECT_EQ(parse_plugin_option("validate=1"), Option("validate", "1"));
  EXPECT_EQ(parse_plugin_option("cache="), Option("cache", ""));
  EXPECT_EQ(parse_plugin_option("device=a=b"), Option("device", "a=b"));
  for (const char* text : {"", "validate", "=1"}) {
    EXPECT_THROW(parse_plugin_option(text), std::runtime_error) << text;
  }
}

TEST(Arguments, MatchWholeDtypeNames) {
  EXPECT_TRUE(has_dtype_name("f16", "f16"));
  EXPECT_FALSE(has_dtype_name("bf16", "f16"));
  EXPECT_TRUE(has_dtype_name("f32,i64->bool", "i64"));
  EXPECT_TRUE(has_dtype_name("f32,i64->bool", "bool"));
  EXPECT_FALSE(has_dtype_name("u16->i32", "i16"));
  EXPECT_TRUE(has_dtype_name("u16->i32", ""));
}

TEST(Arguments, MatchNamesByPrefix) {
  EXPECT_TRUE(matches("log_softmax", "log*"));
  EXPECT_FALSE(matches("log_softmax", "log"));
  EXPECT_TRUE(matches("log", ""));
}

TEST(Arguments, AllowRelaxedOnlyWithFastMath) {
  EXPECT_NO_THROW(check_profile(Profile::kStrict, 0, "device:0"));
  EXPECT_NO_THROW(check_profile(Profile::kStrict, TENON_FEATURE_FAST_MATH, "device:0"));
  EXPECT_NO_THROW(check_profile(Profile::kRelaxed, TENON_FEATURE_FAST_MATH, "device:0"));
  EXPECT_THROW(check_profile(Profile::kRelaxed, TENON_FEATURE_IEEE_DIV, "device:0"),
               std::runtime_error);
}

}  // namespace
}  // namespace tenon_kit
