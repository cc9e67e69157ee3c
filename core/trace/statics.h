// Static arguments of functions: what of them tells calls apart.

#pragma once

#include <tenon/function.h>

#include <memory>
#include <string>
#include <vector>

namespace tenon {

// What a function is given beside tensors. Calls are alike if `key` is the same.
struct Statics {
  std::string key;
  std::string text;                                // For people.
  const std::vector<tenon_static>* all = nullptr;  // For the function's body.
};

// Arguments as a call gives them, with defaults for those that it leaves out. Throws
// INVALID_ARGUMENT for values that are malformed.
class StaticArguments {
 public:
  StaticArguments(const tenon_static* given, size_t n, const std::vector<tenon_static>& defaults);

  // Lives as long as this does.
  Statics view() const { return {key_, text_, &all_}; }

 private:
  std::vector<tenon_static> all_;
  std::string key_, text_;
};

// Arguments that outlive whoever gave them; handles are kept as what they are, and not alive.
class KeptStatics {
 public:
  KeptStatics() = default;
  KeptStatics(const tenon_static* given, size_t n);
  KeptStatics(const KeptStatics&) = delete;

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
