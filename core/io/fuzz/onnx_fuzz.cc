// libFuzzer's target for files of ONNX: any bytes are read, or refused with an error that says why.

#include <cstdlib>

#include "core/base/error.h"
#include "core/io/onnx/describe.h"
#include "core/io/onnx/run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  try {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    const onnx::Model model = onnx::parse_model(bytes);
    onnx::describe(model);
    onnx::unknown_ops(model);
  } catch (const Error& error) {
    if (error.code() == Code::kInternal) std::abort();
  }
  return 0;
}
