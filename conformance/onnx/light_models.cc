#include "conformance/onnx/light_models.h"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>
#include <string>

namespace tenon::conformance {
namespace {

namespace fs = std::filesystem;

// Parses the type of an input, such as "f32[1,3,224,224]".
Shape shape_of(const std::string& type) {
  if (!type.starts_with("f32[")) {
    throw std::runtime_error(fmt::format("an input is {}, not f32", type));
  }
  std::istringstream sizes(type.substr(4, type.size() - 5));
  Shape shape;
  for (std::string size; std::getline(sizes, size, ',');) shape.push_back(std::stoll(size));
  return shape;
}

}  // namespace

bool is_light_model(const fs::path& path) {
  const fs::path output = path.parent_path() / (path.stem().string() + "_output_0.pb");
  return path.extension() == ".onnx" && fs::exists(output);
}

std::vector<Tensor> light_inputs(const nlohmann::json& described) {
  std::vector<Tensor> inputs;
  for (const auto& value : described["inputs"]) {
    const Shape shape = shape_of(value["type"].get<std::string>());
    int64_t n = 1;
    for (const int64_t size : shape) n *= size;
    std::vector<float> elements;
    for (int64_t i = 0; i < n; ++i) {
      elements.push_back(static_cast<float>(static_cast<double>(i) / static_cast<double>(n)));
    }
    tenon_tensor* x = nullptr;
    check(tenon_tensor_from_data(current_scope(), TENON_FLOAT32, shape.data(), shape.size(),
                                 elements.data(), elements.size() * sizeof(float), &x));
    inputs.push_back(Tensor::adopt(x));
  }
  return inputs;
}

}  // namespace tenon::conformance
