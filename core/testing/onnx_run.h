// A scope in which tests run ONNX models.

#pragma once

#include "core/io/onnx/run.h"
#include "core/testing/onnx_file.h"
#include "core/testing/test.h"

namespace tenon::testing {

class OnnxRun : public CoreTest {
 protected:
  // Runs a model. Returns its first output, or an empty tensor if it has none.
  Tensor run(const std::string& bytes, std::initializer_list<Tensor> inputs) {
    const onnx::Model model = onnx::parse_model(bytes);
    const Tensors outputs = onnx::run_onnx(model, {inputs.begin(), inputs.size()});
    return outputs.empty() ? Tensor() : outputs[0];
  }

  // Runs a model that consists of one node. Returns its output y.
  Tensor run_node(const WireWriter& node, std::initializer_list<Tensor> inputs,
                  uint64_t version = 17, std::vector<WireWriter> initializers = {}) {
    std::vector<WireWriter> values;
    const char* const names[] = {"x", "x1", "x2", "x3"};
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_float = is_floating(inputs.begin()[i]->type.dtype);
      values.push_back(value_info(names[i], is_float ? kOnnxFloat : kOnnxInt64));
    }
    return run(model(graph({.nodes = {node},
                            .initializers = std::move(initializers),
                            .inputs = std::move(values),
                            .outputs = {value_info("y")}}),
                     version),
               inputs);
  }
};

}  // namespace tenon::testing
