#include "core/io/onnx/foreign/foreign.h"

namespace tenon::onnx {
namespace {

constexpr AdapterOfOp kOps[] = {
#define TENON_ONNX_FOREIGN(domain, op, function) {domain, #op, adapters::function},
#include "core/io/onnx/foreign/foreign.def"
};

}  // namespace

Adapter find_foreign_adapter(std::string_view domain, std::string_view op) {
  for (const AdapterOfOp& entry : kOps) {
    if (entry.op == op && entry.domain == domain) return entry.adapter;
  }
  return nullptr;
}

}  // namespace tenon::onnx
