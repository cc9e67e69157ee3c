// Static arguments of functions, and the cache key that they form.

#pragma once

#include <tenon/function.h>

#include <memory>
#include <string>
#include <vector>

namespace tenon {

// The non-tensor arguments of a call. Calls with equal keys share traces.
struct Statics {
  std::string key;
  std::string text;                                // The arguments as text, for messages.
  const std::vector<tenon_static>* all = nullptr;  // The arguments for the body.
};

// The arguments of a call, completed with defaults. Throws INVALID_ARGUMENT for malformed values.
class StaticArguments {
 public:
  StaticArguments(const tenon_static* given, size_t n, const std::vector<tenon_static>& defaults);

  // The view is valid as long as this object.
  Statics view() const { return {key_, text_, &all_}; }

 private:
  std::vector<tenon_static> all_;
  std::string key_, text_;
};

// A copy of static arguments that owns its data. Handles are copied, but their objects are not
// retained.
class OwnedStatics {
 public:
  OwnedStatics() = default;
  OwnedStatics(const tenon_static* given, size_t n);
  OwnedStatics(const OwnedStatics&) = delete;

  const std::vector<tenon_static>& all() const { return all_; }
  const std::string& key() const { return key_; }
  const std::string& text() const { return text_; }

 private:
  std::vector<tenon_static> copy(const tenon_static* items, size_t n);
  tenon_string copy(tenon_string text);

  std::vector<tenon_static> all_;
  std::string key_, text_;
  std::vector<std::unique_ptr<std::vector<tenon_static>>> items_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

}  // namespace tenon
