// Static arguments of functions: what of them tells calls apart.

#pragma once

#include <tenon/function.h>

#include <vector>

#include "core/trace/function.h"

namespace tenon::capi {

// Arguments as a call gives them, with defaults for those that it leaves out.
class StaticArguments {
 public:
  StaticArguments(const tenon_static* given, size_t n, const std::vector<tenon_static>& defaults);

  // Lives as long as this does.
  Statics view() const { return {key_, text_, &all_}; }

 private:
  std::vector<tenon_static> all_;
  std::string key_, text_;
};

// Arguments that outlive the call that gave them: default values.
class KeptStatics {
 public:
  KeptStatics(const tenon_static* given, size_t n);
  KeptStatics(const KeptStatics&) = delete;
  const std::vector<tenon_static>& all() const { return all_; }

 private:
  std::vector<tenon_static> copy(const tenon_static* items, size_t n);
  tenon_string copy(tenon_string text);

  std::vector<tenon_static> all_;
  std::vector<std::unique_ptr<std::vector<tenon_static>>> items_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

}  // namespace tenon::capi
