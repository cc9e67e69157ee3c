// Repairs models of ONNX tests that omit an attribute with which the test data were made.

#pragma once

#include <string>

namespace tenon::conformance {

// Returns the model with a float attribute added to each node of its graph. Throws if the model is
// invalid.
std::string with_attribute(const std::string& model, const std::string& name, float value);

}  // namespace tenon::conformance
