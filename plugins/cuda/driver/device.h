// A device: its primary context (which is shared with other libraries in the process), memory,
// compiled kernels, events and clock.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/cuda/driver/compiler.h"
#include "plugins/cuda/driver/cublaslt.h"
#include "plugins/cuda/driver/instance.h"
#include "plugins/cuda/driver/memory.h"

namespace tenon_cuda {

// A reference to an event of the driver. When the last reference is released, the event returns to
// the device's pool.
using EventRef = std::shared_ptr<CUevent_st>;

class Device {
 public:
  static tenon_error* open(Instance& instance, CUdevice number, std::unique_ptr<Device>& made);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  const Driver& driver() const { return driver_; }
  const tenon_sdk::Host& host() const { return driver_.host(); }
  CUcontext context() const { return context_; }
  Memory& memory() { return *memory_; }
  Compiler& compiler() { return *compiler_; }
  LibraryProducts& library_products() { return *library_products_; }
  uint32_t multiprocessors() const { return multiprocessors_; }
  tenon_device_properties describe(tenon_features features) const;

  // Enables direct copies from the memory of another device, if the hardware supports them.
  // Otherwise the driver copies through the host's memory. The device's context must be current.
  tenon_error* request_access_to(const Memory& peer);

  // Returns an event without timing. The device's context must be current.
  tenon_error* make_event(EventRef& event);

  // Returns the time of an event with timing in `ns`, in nanoseconds since the device was opened.
  tenon_error* read_clock(CUevent event, uint64_t& ns);

 private:
  Device(Instance& instance, CUdevice number)
      : number_(number), driver_(instance.driver(), instance.host()) {}
  // Retains the device's primary context, reads its properties and creates the compiler.
  tenon_error* enter_primary_context(Instance& instance);
  // Records the first base event and waits for it.
  tenon_error* start_clock();
  // Replaces the base event of the clock by one that is recorded now.
  tenon_error* replace_base_event();

  const CUdevice number_;
  const Driver driver_;
  CUcontext context_ = nullptr;
  std::string name_, version_;
  tenon_device_properties properties_ = {};
  uint32_t multiprocessors_ = 1;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<LibraryProducts> library_products_;

  std::mutex peers_mutex_;
  std::vector<CUdevice> peers_;  // The devices for which access was requested.

  std::mutex events_mutex_;
  std::vector<CUevent> events_;  // Events that are not in use.
  size_t n_events_ = 0;          // Number of events created.

  // The driver measures the time between two events as a float in milliseconds. To keep it precise,
  // the base event is replaced from time to time.
  std::mutex clock_mutex_;
  CUevent clock_from_ = nullptr;
  // Time of the base event in milliseconds since the device was opened, plus 1, so that no time is
  // 0: a time of 0 stands for a missing time.
  double clock_ms_ = 1;
};

// Returns the object of a handle of the plugin ABI.
inline Device& from_c(tenon_device_p* device) { return *reinterpret_cast<Device*>(device); }

}  // namespace tenon_cuda
