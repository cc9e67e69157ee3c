#include "core/io/onnx/adapters.h"

#include <unordered_map>

#include "core/base/immortal.h"
#include "core/io/onnx/foreign.h"

namespace tenon::onnx {
namespace {

struct Entry {
  std::string_view domain, op;
  Adapter adapter;
};

constexpr Entry kOps[] = {
#define TENON_ONNX(op, function) {"", #op, adapters::function},
#define TENON_ONNX_PREVIEW(op, function) {"ai.onnx.preview", #op, adapters::function},
#define TENON_ONNX_TRAINING(op, function) {"ai.onnx.preview.training", #op, adapters::function},
#include "core/io/onnx/adapters.def"
#define TENON_ONNX_FOREIGN(domain, op, function) {domain, #op, adapters::function},
#include "core/io/onnx/foreign.def"
};

using Domains = std::unordered_map<std::string_view, std::unordered_map<std::string_view, Adapter>>;

}  // namespace

Adapter find_adapter(std::string_view domain, std::string_view op) {
  static const Immortal<Domains> made = [] {
    Domains all;
    for (const Entry& entry : kOps) all[entry.domain].emplace(entry.op, entry.adapter);
    return all;
  }();
  const Domains& domains = made;
  const auto table = domains.find(domain);
  if (table == domains.end()) return nullptr;
  const auto at = table->second.find(op);
  return at == table->second.end() ? nullptr : at->second;
}

}  // namespace tenon::onnx
