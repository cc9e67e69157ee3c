// Describes the device.

#include <emscripten/heap.h>

#include "plugins/simd/kernels.h"
#include "plugins/simd/vectors/dispatch.h"
#include "plugins/wasm/features.h"

namespace tenon_simd {

Instance::Instance(const tenon_host* host, const tenon_instance_options& options)
    : tenon_sdk::Instance(host, options), pool(options.threads) {}

tenon_device_properties Instance::describe() const {
  return {.kind = TENON_DEVICE_CPU,
          .description = TENON_STR("WebAssembly with SIMD"),
          .vendor = TENON_STR("Tenon"),
          .driver = TENON_STR(""),
          .features = kWasmFeatures,
          .memory_bytes = emscripten_get_heap_max(),
          .compute_units = pool.threads(),
          .vector_bits = vector_bits()};
}

}  // namespace tenon_simd
