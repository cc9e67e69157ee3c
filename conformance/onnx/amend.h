// Repairs models of ONNX tests that omit an attribute with which their data were made.

#pragma once

#include <string>

namespace tenon::conformance {

// Adds a float attribute to each node of the model's graph. Throws if the model is invalid.
std::string with_attribute(const std::string& model, const std::string& name, float value);

}  // namespace tenon::conformance
