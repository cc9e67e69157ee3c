// A stream of the driver, and the host's work at points of the stream: copies out of pinned memory,
// and callbacks. Each such point is a mark, an event of the stream. A thread that waits for a mark
// does the work of that mark; for callbacks, the stream's thread does.
//
// One thread at a time enqueues; other threads may wait meanwhile.

#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "plugins/cuda/driver/device.h"
#include "plugins/cuda/driver/staging.h"
#include "plugins/cuda/encoder.h"

namespace tenon_cuda {

class Stream final : public Encoder {
 public:
  explicit Stream(Device& device);
  ~Stream() override;

  tenon_error* open();
  Device& device() const { return device_; }

  tenon_error* launch(const Kernel& kernel, const tenon_launch& launch);
  tenon_error* copy(const tenon_copy_region& region);
  tenon_error* fill(const tenon_fill_region& region);

  tenon_error* record_event(EventRef& event);
  tenon_error* wait_event(const EventRef& event);
  tenon_error* notify(const tenon_done_callback& done);
  tenon_error* wait();
  tenon_error* mark_time(uint64_t& mark);
  tenon_error* read_time(uint64_t mark, uint64_t& ns);

  // Called by a kernel from within `launch`.
  tenon_error* dispatch(const Dispatch& dispatch) override;
  tenon_error* copy(uint64_t from, uint64_t to, uint64_t size) override;
  tenon_error* multiply(const LibraryProduct& product, const LibraryCall& call) override;

 private:
  // A copy on the host, from pinned memory, or from any memory after all earlier work has
  // completed.
  struct HostCopy {
    const std::byte* from;
    std::byte* to;
    uint64_t size;
  };
  struct Mark {
    uint64_t number = 0;
    EventRef event;  // NULL if the stream failed to record the event; its work is then dropped.
    std::vector<HostCopy> copies;
    uint64_t staging_end = 0;
    std::optional<tenon_done_callback> done;
  };

  tenon_error* upload(const std::byte* from, CUdeviceptr to, uint64_t size);
  tenon_error* download(CUdeviceptr from, std::byte* to, uint64_t size);
  tenon_error* copy_on_host(const std::byte* from, std::byte* to, uint64_t size);
  // Returns space in pinned memory; waits for earlier copies if necessary.
  tenon_error* stage(uint64_t size, std::byte*& staged);
  // Waits for copies in flight to this host memory, before it is read or written.
  tenon_error* settle(const std::byte* begin, uint64_t size);
  tenon_error* fill_pattern(CUdeviceptr data, const tenon_fill_region& region);

  // Adds a mark at the current end of the stream; `done` is called when the stream reaches it.
  tenon_error* mark(std::optional<tenon_done_callback> done, uint64_t& number);
  tenon_error* wait_for(uint64_t number);
  // Does the host's work of the marks up to this number, which the stream has reached.
  void pass(uint64_t number);
  void finish(Mark& mark);
  void run();
  void add_failure(tenon_error* error);
  tenon_error* take_failure();

  Device& device_;
  const Driver& driver_;
  CUstream stream_ = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  Mark next_;  // The work of the next mark.
  std::deque<Mark> marks_;
  Staging staging_;
  tenon_error* failure_ = nullptr;  // The first failure that is not yet reported.
  bool is_closing_ = false;

  std::mutex passing_;  // Locked while the work of marks is done, so that it is done in order.
  std::thread thread_;

  std::mutex times_mutex_;
  uint64_t last_time_ = 0;
  std::map<uint64_t, CUevent> times_;

  // Of the current launch.
  const std::string* launching_ = nullptr;
  uint32_t n_dispatched_ = 0;
};

inline Stream& from_c(tenon_stream_p* stream) { return *reinterpret_cast<Stream*>(stream); }

}  // namespace tenon_cuda
