// Devices with exactly one fault each: the plugin `fake` with an option that injects the fault, or
// a plugin in whose table one slot is replaced.

#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/device/drive.h"

namespace tenon_kit::device {

using Options = std::vector<std::pair<std::string, std::string>>;

// A sane plugin's table, in which faults replace individual slots.
struct FaultyPlugin {
  explicit FaultyPlugin(tenon_plugin_query sane_query);

  const tenon_plugin* sane = nullptr;
  tenon_plugin_calls inner = {};  // The slots of the sane plugin, which faults call.
  tenon_plugin plugin = {};
  tenon_plugin_calls calls = {};
  std::vector<tenon_kernel> kernels;

  // State of faults that occur only sometimes or only after several calls.
  std::atomic<int> n{0};
  std::atomic<int> inside{0};
  std::vector<std::string> kept;
  tenon_stream_p* stream = nullptr;
  tenon_event_p* event = nullptr;
  std::set<tenon_event_p*> events;
  std::vector<tenon_copy_region> copies;
  std::vector<const tenon_copy_region*> regions;
};

// The plugin with the active fault. A global, because plugin calls receive no context.
extern FaultyPlugin* broken;
tenon_error* query_broken(const tenon_host* host, const tenon_plugin** out_plugin);

struct DeviceFault {
  const char* check;  // The check that must find the fault.
  const char* what;
  Options options;  // Options of `fake`; if empty, the plugin is `ref`.
  void (*spoil)(FaultyPlugin&);
  tenon_plugin_query query = query_broken;
};

inline const Options kRef = {};
inline const Options kLate = {{"delay_us", "300"}};
inline const Options kReverse = {{"out_of_order", "1"}, {"delay_us", "300"}};

std::vector<DeviceFault> faults_of_level_0();
std::vector<DeviceFault> faults_of_level_1();

}  // namespace tenon_kit::device
