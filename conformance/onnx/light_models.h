// The light models of ONNX: whole networks whose weights are computed by ConstantOfShape, so that
// their files are small. A model NAME.onnx lies beside its outputs, NAME_output_0.pb and so on.
// ONNX defines its inputs by a formula.

#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <tenon/tenon.hpp>
#include <vector>

namespace tenon::conformance {

// Whether `path` is a light model with its first output beside it.
bool is_light_model(const std::filesystem::path& path);

// Returns the inputs of a model that tenon_introspect_onnx_describe() described: element i of an
// input with n elements is i / n.
std::vector<Tensor> light_inputs(const nlohmann::json& described);

}  // namespace tenon::conformance
