// A CUDA stream with marks. A mark is a position in the stream, with an event, at which the host
// has work: copies out of pinned memory, or a callback. A thread that waits for a mark performs its
// work. The stream's own thread waits for marks with callbacks.
//
// Only one thread at a time may enqueue work; other threads may wait for marks meanwhile.

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

class Recording;

class Stream final : public Encoder {
 public:
  explicit Stream(Device& device);
  ~Stream() override;

  // Creates the stream and starts its thread. Called once, before any other function.
  tenon_error* open();
  Device& device() const { return device_; }

  tenon_error* launch(const Kernel& kernel, const tenon_launch& launch);
  tenon_error* replay(Recording& recording, const tenon_replay& replay);
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
  tenon_error* multiply(const LibraryProduct& product, const LibraryCall& call) override;

 private:
  // A copy from host memory to host memory. The host performs it once the device has completed
  // all earlier work of the stream.
  struct HostCopy {
    const std::byte* from;
    std::byte* to;
    uint64_t size;
  };
  struct Mark {
    uint64_t number = 0;
    EventRef event;  // NULL if recording the event failed: the mark is then reached at once.
    std::vector<HostCopy> copies;
    uint64_t staging_end = 0;
    std::optional<tenon_done_callback> done;
  };

  tenon_error* upload(const std::byte* from, CUdeviceptr to, uint64_t size);
  tenon_error* download(CUdeviceptr from, std::byte* to, uint64_t size);
  // Copies between two ranges of host memory, after earlier work of the stream.
  tenon_error* copy_on_host(const std::byte* from, std::byte* to, uint64_t size);
  // Returns space in pinned memory; waits for earlier copies if necessary.
  tenon_error* reserve_staging(uint64_t size, std::byte*& staged);
  // Waits for copies in flight to this host memory. Called before the memory is read or written.
  tenon_error* wait_for_host_copies(const std::byte* begin, uint64_t size);
  // Fills a region that begins at `data` with the pattern of `region`.
  tenon_error* fill_pattern(CUdeviceptr data, const tenon_fill_region& region);

  // Adds a mark at the current end of the stream; `done` is called when the stream reaches it.
  tenon_error* add_mark(std::optional<tenon_done_callback> done, uint64_t& number);
  // Waits until the device has reached the mark with this number, and performs the work of all
  // marks up to it.
  tenon_error* wait_for_mark(uint64_t number);
  // Performs the host's work of all marks up to this number, which the device must have reached.
  void process_marks_up_to(uint64_t number);
  // Performs the host's work of one mark: copies, then the callback.
  void process_mark(Mark& mark);
  // Runs on the thread of the stream: waits for each mark that has a callback.
  void run_thread();
  // Stores a failure for a later report, or releases it if an earlier failure is not yet reported.
  void add_failure(tenon_error* error);
  // Returns the first failure that is not yet reported, and marks it as reported.
  tenon_error* take_failure();

  Device& device_;
  const Driver& driver_;
  CUstream stream_ = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  Mark next_;  // Collects the work of the next mark.
  std::deque<Mark> marks_;
  Staging staging_;
  tenon_error* failure_ = nullptr;  // The first failure that is not yet reported.
  bool is_closing_ = false;

  // Locked by the thread that performs the work of marks, so that the order is preserved.
  std::mutex passing_;
  std::thread thread_;

  std::mutex times_mutex_;
  uint64_t last_time_ = 0;
  std::map<uint64_t, CUevent> times_;

  // State of the current launch.
  const std::string* launching_ = nullptr;
  uint32_t n_dispatched_ = 0;
};

// Returns the object of a handle of the plugin ABI.
inline Stream& from_c(tenon_stream_p* stream) { return *reinterpret_cast<Stream*>(stream); }

}  // namespace tenon_cuda
