// The device's one queue. What all streams submit has one order here, with barriers between, so the
// number of a batch says it all: when the device has come to a number, it has done everything up to
// it. An event is such a number.
//
// A thread follows the device: it ends batches in their order, calls back, and submits what streams
// have gathered for too long. Who waits for a number does the first in its place. Never do two wait
// in the driver at once, where on an NVIDIA GPU who waited woke milliseconds late.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "plugins/vulkan/driver/batch.h"

namespace tenon_vulkan {

class Queue {
 public:
  explicit Queue(const Driver& driver) : driver_(driver) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue();

  tenon_error* open();

  void add(Stream& stream);
  // Waits until nothing of the stream is under way.
  void remove(Stream& stream, uint64_t last_number) noexcept;

  // Streams go on with what they held until a pipeline was made: one was. Not while a stream is
  // locked.
  void encode_made();

  // Hands the batch over, unless `batch.result` says that it was not even recorded, and gives it
  // its number. If that fails, the batch fails when its turn comes.
  uint64_t submit(Batch& batch) noexcept;

  bool has_ended(uint64_t number) const { return ended_.load(std::memory_order_acquire) >= number; }
  // Not while a stream is locked.
  void wait(uint64_t number);
  // For all that was submitted, at most so long: whether it has ended. The driver is not asked.
  bool wait_for_all(std::chrono::nanoseconds most);
  // Not while a stream is locked: calls `done` behind the batch with this number.
  void notify(Stream& stream, uint64_t number, const tenon_done_callback& done);

  // Copies to the host that batches hold, also those that are not submitted yet.
  void add_host_copy() { ++n_host_copies_; }
  bool has_host_copies() const { return n_host_copies_ > 0; }
  // The last batch under way that writes there; 0: none.
  uint64_t find_host_write(const void* begin, uint64_t size) const;

 private:
  struct Notice {
    uint64_t number;
    Stream* stream;
    tenon_done_callback done;
    std::unique_ptr<Notice> next;
  };

  using Lock = std::unique_lock<std::mutex>;

  void run();
  bool answer_notice(Lock& lock);
  void follow(Lock& lock);
  // Whether the device has finished the first batch, which is ended then; waits for it so long.
  bool ask(Lock& lock, std::chrono::nanoseconds most, bool is_for_waiting);
  bool poll(uint64_t number, VkFence fence, bool is_for_waiting) const;
  bool has_come_to(uint64_t number, VkFence fence, uint64_t timeout_ns) const;
  void end_first_batch();
  void end(Batch& batch);
  void submit_old_batches();
  VkResult try_submit(Batch& batch);
  bool is_called_back(const Stream& stream) const;

  const Driver& driver_;
  VkSemaphore timeline_ = VK_NULL_HANDLE;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Batch* first_ = nullptr;  // Under way, by number.
  Batch* last_ = nullptr;
  uint64_t last_number_ = 0;
  std::unique_ptr<Notice> notices_;  // By number.
  Stream* answered_ = nullptr;       // Whose notice is being answered.
  bool is_closing_ = false;
  bool is_asked_ = false;  // About the first batch; who asks ends it.

  std::atomic<uint32_t> n_waiting_{0};  // For numbers.
  std::atomic<uint64_t> ended_{0};
  std::atomic<uint64_t> n_host_copies_{0};

  std::mutex streams_mutex_;
  std::vector<Stream*> streams_;
  std::thread thread_;
};

}  // namespace tenon_vulkan
