// The adapters of ops outside the ONNX standard, which foreign.def lists. The build option
// TENON_ONNX_FOREIGN leaves out this folder. Code outside the folder uses find_foreign_adapter()
// only, and only in adapters.cc.

#pragma once

#include "core/io/onnx/adapters.h"

namespace tenon::onnx {

// Finds the adapter of an op; NULL if foreign.def does not list it.
Adapter find_foreign_adapter(std::string_view domain, std::string_view op);

namespace adapters {

#define TENON_ONNX_FOREIGN(domain, op, function) Tensors function(const NodeCall& n);
#include "core/io/onnx/foreign/foreign.def"
}  // namespace adapters

}  // namespace tenon::onnx
