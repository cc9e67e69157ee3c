// A libFuzzer target for the safetensors reader: arbitrary bytes are either read as tensors, or
// rejected with an error.

#include "core/io/fuzz/fuzz.h"
#include "core/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  return fuzz::call_reader(data, size, [](std::string bytes) {
    const Ref<Safetensors> file = Safetensors::open_memory(std::move(bytes));
    for (const StoredTensor& tensor : file->tensors()) {
      // Small enough to allocate: the reader has checked that the elements are inside the file.
      file->read(tensor);
    }
  });
}
