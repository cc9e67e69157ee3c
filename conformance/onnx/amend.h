// Models of ONNX's tests that leave something out with which their data were made.

#pragma once

#include <string>

namespace tenon::conformance {

// The model with a float attribute more at each node of its graph. Throws for what is no model.
std::string with_attribute(const std::string& model, const std::string& name, float value);

}  // namespace tenon::conformance
