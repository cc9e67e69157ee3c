// libFuzzer's target for safetensors: any bytes are read, or refused with an error that says why.

#include <cstdlib>
#include <vector>

#include "core/base/error.h"
#include "core/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  try {
    const Ref<Safetensors> file =
        Safetensors::open_memory(std::string(reinterpret_cast<const char*>(data), size));
    for (const StoredTensor& tensor : file->tensors()) {
      std::vector<char> elements(tensor.size);  // Which lie in the file, so it is no longer than that.
      file->read(tensor, elements.data());
    }
  } catch (const Error& error) {
    if (error.code() == Code::kInternal) std::abort();
  }
  return 0;
}
