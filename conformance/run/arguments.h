// What the program's arguments mean, where that takes more than a number or a word.

#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "conformance/kit/bounds.h"

namespace tenon_kit {

// "I/N", the I-th of N parts: which of `n` things are in it, in their order; all of them if the
// text is empty. Throws for what is no part.
std::vector<size_t> in_shard(const std::string& shard, size_t n);

// "A:B", two numbers, which may be infinite or in hexadecimal. Throws unless A <= B.
struct Range {
  double low, high;
};
Range range_of(const std::string& text);

// "KEY=VALUE" for a plugin. Throws for what has no key.
std::pair<std::string, std::string> plugin_option_of(const std::string& text);

// Whether a claim's dtypes, "f32,i64->bool", have one of this name; an empty one is always there.
bool names_dtype(const std::string& dtypes, const std::string& name);

// Throws if a device with these features is not to be judged so: relaxed is for those that say that
// they need it.
void check_profile(Profile profile, tenon_features features, const std::string& device);

// Throws if no file can be written there, which had better be known before a long run.
void check_writable(const std::string& path);

// Whether `text` is `pattern`, or begins with what comes before its "*"; an empty one takes all.
bool matches(const std::string& text, const std::string& pattern);

}  // namespace tenon_kit
