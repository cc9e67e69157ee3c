// The device's only queue. It executes the batches of all streams in the order of submission, with
// barriers between batches. Batch numbers are therefore a timeline: when the device has completed a
// batch, it has completed all batches with lower numbers. An event is a batch number.
//
// The queue's thread retires batches in order, runs callbacks, and submits batches that streams
// have gathered for too long. While another thread waits for a batch number, that thread retires
// batches instead. Only one thread at a time waits in the driver: with two, NVIDIA's driver wakes
// both milliseconds late.

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

  // Creates the timeline semaphore, if the device has them, and starts the queue's thread.
  tenon_error* open();

  // Adds a stream, whose gathered batches the queue's thread submits.
  void add(Stream& stream);
  // Removes a stream after its last batch, `last_number`, has completed and its notices are
  // delivered.
  void remove(Stream& stream, uint64_t last_number) noexcept;

  // Called after a pipeline was created: makes all streams encode held dispatches whose pipelines
  // are ready. The caller must not have a stream locked.
  void encode_ready_dispatches();

  // Submits the batch and returns its number. A batch whose `result` reports a recording error is
  // queued but not submitted. Errors are reported when the batch is retired.
  uint64_t submit(Batch& batch) noexcept;

  // Whether the batch with this number has been retired.
  bool has_ended(uint64_t number) const { return ended_.load(std::memory_order_acquire) >= number; }
  // Blocks until the batch with this number has completed. The caller must not have a stream
  // locked.
  void wait(uint64_t number);
  // Waits until all submitted batches have completed, but at most for the time `timeout`. Returns
  // whether they have completed. Makes no driver calls.
  bool wait_for_all(std::chrono::nanoseconds timeout);
  // Calls `done` after the batch with this number has completed. The caller must not have a stream
  // locked.
  void notify(Stream& stream, uint64_t number, const tenon_done_callback& done);

  // Increments the number of pending host copies, which includes those of batches that are not
  // submitted yet.
  void add_host_copy() { ++n_host_copies_; }
  bool has_pending_host_copies() const { return n_host_copies_ > 0; }
  // Returns the number of the last batch in flight that has a host copy to this range; 0 if there
  // is none.
  uint64_t find_host_write(const void* begin, uint64_t size) const;

 private:
  struct Notice {
    uint64_t number;
    Stream* stream;
    tenon_done_callback done;
    std::unique_ptr<Notice> next;
  };

  using Lock = std::unique_lock<std::mutex>;

  // The main function of the queue's thread.
  void run();
  bool deliver_notice(Lock& lock);
  void retire_or_submit_batches(Lock& lock);
  // Waits at most for the time `timeout` for the first batch, and retires it if it has completed.
  // Returns whether it has completed. `has_waiter`: the calling thread waits for a batch; false for
  // the queue's thread.
  bool try_retire_first_batch(Lock& lock, std::chrono::nanoseconds timeout, bool has_waiter);
  bool poll(uint64_t number, VkFence fence, bool has_waiter) const;
  bool has_completed(uint64_t number, VkFence fence, uint64_t timeout_ns) const;
  // Retires the first batch: finishes it, returns it to its stream, and updates ended_.
  void retire_first_batch();
  void finish_batch(Batch& batch);
  // Makes all streams submit batches that have gathered work for longer than kGather.
  void submit_old_batches();
  // Submits the commands of the batch to the VkQueue.
  VkResult try_submit(Batch& batch);
  // Whether a notice of the stream is queued or being delivered.
  bool is_delivering_notice(const Stream& stream) const;

  const Driver& driver_;
  VkSemaphore timeline_ = VK_NULL_HANDLE;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Batch* first_ = nullptr;  // List of the batches in flight, in order.
  Batch* last_ = nullptr;
  uint64_t last_number_ = 0;
  std::unique_ptr<Notice> notices_;  // Sorted by batch number.
  Stream* delivering_ = nullptr;     // The stream whose notice is being delivered.
  bool is_closing_ = false;
  bool is_polled_ = false;  // Whether a thread is polling the first batch, to retire it.

  std::atomic<uint32_t> n_waiting_{0};  // Number of threads that wait for a batch.
  std::atomic<uint64_t> ended_{0};
  std::atomic<uint64_t> n_host_copies_{0};

  std::mutex streams_mutex_;
  std::vector<Stream*> streams_;
  std::thread thread_;
};

}  // namespace tenon_vulkan
