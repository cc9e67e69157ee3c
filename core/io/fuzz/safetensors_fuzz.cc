// libFuzzer's target for safetensors: any bytes are tensors, or are refused.

#include <vector>

#include "core/io/fuzz/fuzz.h"
#include "core/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  return fuzz::reads_or_refuses(data, size, [](std::string bytes) {
    const Ref<Safetensors> file = Safetensors::open_memory(std::move(bytes));
    for (const StoredTensor& tensor : file->tensors()) {
      std::vector<char> elements(tensor.size);  // They lie in the file, so it is as long.
      file->read(tensor, elements.data());
    }
  });
}
