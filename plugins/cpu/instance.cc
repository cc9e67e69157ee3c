// Describes the device.

#include <sys/sysinfo.h>

#include <fstream>
#include <thread>

#include "plugins/simd/kernels.h"
#include "plugins/simd/vectors/dispatch.h"

namespace tenon_simd {
namespace {

// A field of /proc/cpuinfo, or `otherwise`.
std::string processor(const char* field, const char* otherwise) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind(field, 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return otherwise;
}

#if defined(__aarch64__)
constexpr const char* kArchitecture = "arm64";
#else
constexpr const char* kArchitecture = "x86-64";
#endif

}  // namespace

Instance::Instance(const tenon_host* host, const tenon_instance_options& options)
    : tenon_sdk::Instance(host, options), pool(options.threads) {}

tenon_device_properties Instance::describe() const {
  // Never destroyed: an application's static objects may open devices in their destructors.
  static const std::string& name = *new std::string(processor("model name", kArchitecture));
  static const std::string& vendor = *new std::string(processor("vendor_id", kArchitecture));
  struct sysinfo system {};
  sysinfo(&system);
  return {.kind = TENON_DEVICE_CPU,
          .description = {name.data(), name.size()},
          .vendor = {vendor.data(), vendor.size()},
          .driver = TENON_STR(""),
          .features = tenon_sdk::kHostDeviceFeatures | TENON_FEATURE_IEEE_DIV |
                      TENON_FEATURE_IEEE_FMA | TENON_FEATURE_FLOAT64,
          .memory_bytes = uint64_t{system.totalram} * system.mem_unit,
          .compute_units = pool.threads(),
          .vector_bits = vector_bits()};
}

}  // namespace tenon_simd
