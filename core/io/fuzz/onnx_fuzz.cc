// A libFuzzer target for ONNX files: any bytes become a function and variables, or are rejected.

#include "core/io/fuzz/fuzz.h"
#include "core/io/onnx/model_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  return fuzz::reads_or_refuses(data, size, [](std::string bytes) {
    onnx::program_of_model(fuzz::scope(), {.bytes = std::move(bytes), .stem = "fuzz"});
  });
}
