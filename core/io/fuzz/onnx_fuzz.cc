// A libFuzzer target for the ONNX reader: arbitrary bytes are either converted to a function and
// variables, or rejected with an error.

#include "core/io/fuzz/fuzz.h"
#include "core/io/onnx/model_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  return fuzz::call_reader(data, size, [](std::string bytes) {
    onnx::program_of_model(fuzz::scope(), {.bytes = std::move(bytes), .stem = "fuzz"});
  });
}
