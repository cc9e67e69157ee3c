// Parses the program's structured command-line arguments.

#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "conformance/kit/bounds.h"

namespace tenon_kit {

// Parses "I/N", the I-th of N shards, and returns the indices below `n` in that shard, in order. An
// empty text selects all. Throws if the text is invalid.
std::vector<size_t> shard_indices(const std::string& shard, size_t n);

// Parses "A:B", two numbers, which may be infinite or hexadecimal. Throws unless A <= B.
struct Range {
  double low, high;
};
Range parse_range(const std::string& text);

// Parses "KEY=VALUE" for a plugin. Throws if there is no key.
std::pair<std::string, std::string> parse_plugin_option(const std::string& text);

// Whether a claim's dtypes, such as "f32,i64->bool", contain this name. True for an empty name.
bool has_dtype_name(const std::string& dtypes, const std::string& name);

// Throws if the profile is relaxed and the device does not declare FAST_MATH.
void check_profile(Profile profile, tenon_features features, const std::string& device);

// Throws if the file cannot be written, so that a long run does not fail at its end.
void check_writable(const std::string& path);

// Whether `text` equals `pattern`, or starts with the part before a final "*". An empty pattern
// matches all.
bool matches(const std::string& text, const std::string& pattern);

}  // namespace tenon_kit
