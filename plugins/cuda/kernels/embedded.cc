#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {

// Returns the source of a kernel: the shared files, then `lines`, then the file.
std::string embedded_source(std::string_view lines, std::string_view file) {
  std::string source;
  for (const char* const part : {"types.cuh", "scalar.cuh", "reduce.cuh"}) {
    source += device_file(part);
  }
  source += lines;
  source += device_file(file);
  return source;
}

}  // namespace tenon_cuda
