// A libFuzzer target for safetensors: any bytes are tensors, or are rejected.

#include <vector>

#include "core/io/fuzz/fuzz.h"
#include "core/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  return fuzz::reads_or_refuses(data, size, [](std::string bytes) {
    const Ref<Safetensors> file = Safetensors::open_memory(std::move(bytes));
    for (const StoredTensor& tensor : file->tensors()) {
      // At most the file's size, since they are inside it.
      std::vector<char> elements(tensor.size);
      file->read(tensor, elements.data());
    }
  });
}
