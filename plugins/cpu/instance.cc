// Creates instances of the plugin and describes the device.

#include <sys/sysinfo.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "plugins/cpu/create.h"
#include "plugins/cpu/openblas.h"
#include "plugins/simd/kernels.h"
#include "plugins/simd/vectors/dispatch.h"

namespace tenon_simd {
namespace {

// Returns a field of /proc/cpuinfo, or `otherwise` if there is none.
std::string read_cpuinfo(const char* field, const char* otherwise) {
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

// An instance whose device description names the loaded OpenBLAS. The host requests the first
// description when it opens the device. This description does not load OpenBLAS, which takes some
// milliseconds. Later descriptions, which programs request, load it.
class CpuInstance final : public Instance {
 public:
  using Instance::Instance;

  tenon_device_properties describe() const override {
    tenon_device_properties properties = Instance::describe();
    if (find_blas != nullptr && is_described_.exchange(true)) {
      const std::string_view openblas = describe_openblas();
      properties.driver = {openblas.data(), openblas.size()};
    }
    return properties;
  }

 private:
  mutable std::atomic<bool> is_described_{false};
};

}  // namespace

Instance::Instance(const tenon_host* host, const tenon_instance_options& options)
    : tenon_sdk::Instance(host, options), pool(options.threads) {}

tenon_device_properties Instance::describe() const {
  // Never destroyed: an application's static objects may open devices in their destructors.
  static const std::string& name = *new std::string(read_cpuinfo("model name", kArchitecture));
  static const std::string& vendor = *new std::string(read_cpuinfo("vendor_id", kArchitecture));
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

tenon_error* create_instance(const tenon_host* host, const tenon_instance_options* options,
                             tenon_instance_p** out_instance) {
  *out_instance = nullptr;
  tenon_instance_options others = {};
  std::memcpy(&others, options, std::min<size_t>(options->struct_size, sizeof others));
  bool uses_openblas = true;
  for (; others.n_options > 0; --others.n_options) {
    if (tenon_sdk::text(*others.option_keys) != "openblas") break;
    const std::string_view value = tenon_sdk::text(*others.option_values);
    if (value != "auto" && value != "off") {
      return tenon_sdk::Host(host).error(
          TENON_INVALID_ARGUMENT,
          "option 'openblas' must be 'auto' or 'off', but is '" + std::string(value) + "'");
    }
    uses_openblas = value == "auto";
    ++others.option_keys;
    ++others.option_values;
  }
  if (tenon_error* error =
          tenon_sdk::host_device::create<CpuInstance>(host, &others, out_instance)) {
    return error;
  }
  auto& made = static_cast<Instance&>(tenon_sdk::from_c(*out_instance));
  if (uses_openblas) made.find_blas = find_openblas;
  return nullptr;
}

}  // namespace tenon_simd
