// The adapters of ops outside the ONNX standard, which foreign.def lists. The build option
// TENON_ONNX_FOREIGN leaves out this folder. Code outside the folder uses find_foreign_adapter()
// only, and only in adapters.cc.

#pragma once

#include <span>

#include "core/io/onnx/adapters.h"

namespace tenon::onnx {

// Finds the adapter of an op; NULL if foreign.def does not list it.
Adapter find_foreign_adapter(std::string_view domain, std::string_view op);

namespace adapters {

#define TENON_ONNX_FOREIGN(domain, op, function) Tensors function(const NodeCall& n);
#include "core/io/onnx/foreign/foreign.def"

// Uploads the numbers of an attribute as a float32 vector, or as a float32 tensor with a shape.
Tensor upload_floats(std::span<const float> values);
Tensor upload_floats(std::span<const float> values, const Dims& shape);
// Returns column `i` of a matrix, as a matrix.
Tensor column(const Tensor& x, int64_t i);
Tensor join_columns(const Tensor& a, const Tensor& b);

}  // namespace adapters

}  // namespace tenon::onnx
