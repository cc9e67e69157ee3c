// Helpers for tests of ONNX models that are read as functions.

#pragma once

#include <string>
#include <vector>

#include "core/io/onnx/model_program.h"
#include "core/testing/functions.h"
#include "core/testing/onnx_file.h"

namespace tenon::testing {

class ModelProgram : public FunctionTest {
 protected:
  // Reads the bytes of an ONNX model as a program.
  Ref<SavedProgram> read(const std::string& bytes) {
    return onnx::program_of_model(scope(), {.bytes = bytes, .stem = "file"});
  }
  // Returns the only function of an ONNX model.
  Ref<Function> function(const std::string& bytes) { return read(bytes)->functions()[0].function; }

  // Writes a ValueInfoProto with a shape. Each size is a number, a name, or "?" if it is unknown.
  static WireWriter value(const std::string& name, const std::vector<std::string>& sizes,
                          uint64_t element = kOnnxFloat) {
    WireWriter shape;
    for (const std::string& size : sizes) {
      const bool is_number = !size.empty() && size[0] >= '0' && size[0] <= '9';
      shape.message(1, is_number     ? WireWriter().number(1, std::stoull(size))
                       : size == "?" ? WireWriter()
                                     : WireWriter().text(2, size));
    }
    const WireWriter tensor = WireWriter().number(1, element).message(2, shape);
    return WireWriter().text(1, name).message(2, WireWriter().message(1, tensor));
  }
  // Returns the line of the first call in the text of a function's first trace.
  std::string first_call_text(const Ref<Function>& f) {
    const std::string all = text(f);
    const size_t begin = all.find("  ") + 2;
    return all.substr(begin, all.find('\n', begin) - begin);
  }
};

}  // namespace tenon::testing
