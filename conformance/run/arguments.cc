#include "conformance/run/arguments.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "files/atomic_file.h"

namespace tenon_kit {
namespace {

// Parses all of `text` as a number. Returns false if it is not a number.
template <class Number>
bool parse_whole_text(const std::string& text, Number (*parse)(const char*, char**),
                      Number& value) {
  char* end = nullptr;
  errno = 0;
  value = parse(text.c_str(), &end);
  return !text.empty() && *end == '\0' && errno == 0;
}

// Calls strtoul with base 10.
unsigned long parse_decimal(const char* text, char** end) { return std::strtoul(text, end, 10); }

}  // namespace

std::vector<size_t> shard_indices(const std::string& shard, size_t n) {
  unsigned long index = 1, count = 1;
  if (!shard.empty()) {
    const size_t slash = shard.find('/');
    const bool parsed = slash != std::string::npos && shard.find('-') == std::string::npos &&
                        parse_whole_text(shard.substr(0, slash), parse_decimal, index) &&
                        parse_whole_text(shard.substr(slash + 1), parse_decimal, count);
    if (!parsed || index < 1 || index > count) {
      throw std::runtime_error("--shard expects I/N with 1 <= I <= N, such as 2/4, not \"" + shard +
                               "\"");
    }
  }
  std::vector<size_t> own;
  for (size_t i = index - 1; i < n; i += count) own.push_back(i);
  return own;
}

Range parse_range(const std::string& text) {
  Range range = {};
  const size_t colon = text.find(':');
  if (colon == std::string::npos ||
      !parse_whole_text(text.substr(0, colon), std::strtod, range.low) ||
      !parse_whole_text(text.substr(colon + 1), std::strtod, range.high) ||
      !(range.low <= range.high)) {
    throw std::runtime_error("--range expects A:B with A <= B, such as -1:0x1p-3, not \"" + text +
                             "\"");
  }
  return range;
}

std::pair<std::string, std::string> parse_plugin_option(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw std::runtime_error("--option expects KEY=VALUE, not \"" + text + "\"");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

bool has_dtype_name(const std::string& dtypes, const std::string& name) {
  if (name.empty()) return true;
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = dtypes.find(name); at != std::string::npos; at = dtypes.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !is_part(dtypes[at - 1])) && (end == dtypes.size() || !is_part(dtypes[end]))) {
      return true;
    }
  }
  return false;
}

void check_profile(Profile profile, tenon_features features, const std::string& device) {
  if (profile == Profile::kStrict || (features & TENON_FEATURE_FAST_MATH) != 0) return;
  throw std::runtime_error("--profile relaxed is for devices that declare FAST_MATH, which " +
                           device + " does not; use --profile strict");
}

void check_writable(const std::string& path) {
  // Opens the file for writing without changing an existing file.
  const tenon_files::AtomicFile file(path);
  if (file.error() == 0) return;
  throw std::runtime_error("cannot write " + path + ": " + std::strerror(file.error()));
}

bool matches(const std::string& text, const std::string& pattern) {
  return pattern.empty() || text == pattern ||
         (pattern.back() == '*' && text.starts_with(pattern.substr(0, pattern.size() - 1)));
}

}  // namespace tenon_kit
