#include "core/io/onnx/adapters.h"

#include <unordered_map>

#include "core/base/immortal.h"

#if TENON_WITH_FOREIGN_ONNX
#include "core/io/onnx/foreign/foreign.h"
#endif

namespace tenon::onnx {
namespace {

constexpr AdapterOfOp kOps[] = {
#define TENON_ONNX(op, function) {"", #op, adapters::function},
#define TENON_ONNX_PREVIEW(op, function) {"ai.onnx.preview", #op, adapters::function},
#define TENON_ONNX_TRAINING(op, function) {"ai.onnx.preview.training", #op, adapters::function},
#include "core/io/onnx/adapters.def"
};

using Domains = std::unordered_map<std::string_view, std::unordered_map<std::string_view, Adapter>>;

}  // namespace

Adapter find_adapter(std::string_view domain, std::string_view op) {
  static const Immortal<Domains> made = [] {
    Domains all;
    for (const AdapterOfOp& entry : kOps) all[entry.domain].emplace(entry.op, entry.adapter);
    return all;
  }();
  const Domains& domains = made;
  if (const auto table = domains.find(domain); table != domains.end()) {
    const auto at = table->second.find(op);
    if (at != table->second.end()) return at->second;
  }
#if TENON_WITH_FOREIGN_ONNX
  return find_foreign_adapter(domain, op);
#else
  return nullptr;
#endif
}

bool is_foreign_domain(std::string_view domain) {
  return domain == "com.microsoft" || domain == "ai.onnx.ml";
}

bool has_foreign_adapters() { return TENON_WITH_FOREIGN_ONNX != 0; }

}  // namespace tenon::onnx
