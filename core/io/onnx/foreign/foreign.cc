#include "core/io/onnx/foreign/foreign.h"

namespace tenon::onnx {
namespace {

struct Entry {
  std::string_view domain, op;
  Adapter adapter;
};

constexpr Entry kOps[] = {
#define TENON_ONNX_FOREIGN(domain, op, function) {domain, #op, adapters::function},
#include "core/io/onnx/foreign/foreign.def"
};

}  // namespace

Adapter find_foreign_adapter(std::string_view domain, std::string_view op) {
  for (const Entry& entry : kOps) {
    if (entry.op == op && entry.domain == domain) return entry.adapter;
  }
  return nullptr;
}

}  // namespace tenon::onnx
