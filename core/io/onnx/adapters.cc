#include "core/io/onnx/adapters.h"

#include <unordered_map>

#include "core/base/immortal.h"

namespace tenon::onnx {
namespace {

struct Entry {
  std::string_view op;
  Adapter adapter;
};

constexpr Entry kOps[] = {
#define TENON_ONNX(op, function) {#op, adapters::function},
#define TENON_ONNX_TRAINING(op, function)
#include "core/io/onnx/adapters.def"
};

constexpr Entry kTrainingOps[] = {
#define TENON_ONNX(op, function)
#define TENON_ONNX_TRAINING(op, function) {#op, adapters::function},
#include "core/io/onnx/adapters.def"
};

using Table = std::unordered_map<std::string_view, Adapter>;

Table table_of(std::span<const Entry> entries) {
  Table table;
  for (const Entry& entry : entries) table.emplace(entry.op, entry.adapter);
  return table;
}

}  // namespace

Adapter find_adapter(std::string_view domain, std::string_view op) {
  static const Immortal<Table> ops = table_of(kOps), training = table_of(kTrainingOps);
  const Table* table = domain.empty()                         ? &ops.get()
                       : domain == "ai.onnx.preview.training" ? &training.get()
                                                              : nullptr;
  if (!table) return nullptr;
  const auto at = table->find(op);
  return at == table->end() ? nullptr : at->second;
}

}  // namespace tenon::onnx
