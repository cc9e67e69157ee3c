// Threads that make pipelines while whoever wants them goes on: a driver takes milliseconds for
// each, and several at once. There are none before the first is wanted.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "plugins/vulkan/driver/pipeline.h"

namespace tenon_vulkan {

class PipelineMakers {
 public:
  PipelineMakers(const Driver& driver, const VkPipelineCache& cache)
      : driver_(driver), cache_(cache) {}
  PipelineMakers(const PipelineMakers&) = delete;
  PipelineMakers& operator=(const PipelineMakers&) = delete;
  ~PipelineMakers() { stop(); }

  // What a thread calls behind each that was made. Said before the first is wanted.
  void call_behind_each(std::function<void()> call) { behind_each_ = std::move(call); }

  // A thread makes it some time, if somebody has it then. If there is no room for that, whoever
  // needs it does.
  void want(const std::shared_ptr<const Pipeline>& pipeline) noexcept;
  // Until it is made, which this does itself if nobody has begun. One that the driver did not make
  // is tried again.
  tenon_error* require(const Pipeline& pipeline);

  // The threads finish what they have begun, and end. What is wanted then is for who requires it.
  void stop() noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  void run() noexcept;
  bool make_next(Lock& lock) noexcept;
  void tell_streams();
  tenon_error* make(const Pipeline& pipeline, Lock& lock);
  tenon_error* ask_driver(const Pipeline& pipeline, VkPipeline& made) const;

  const Driver& driver_;
  const VkPipelineCache& cache_;
  std::function<void()> behind_each_;
  std::mutex mutex_;
  std::condition_variable called_, made_;
  std::deque<std::weak_ptr<const Pipeline>> wanted_;
  std::vector<std::thread> threads_;
  size_t n_idle_ = 0;
  bool has_news_ = false;  // Some were made since a thread called.
  bool is_stopping_ = false;
};

}  // namespace tenon_vulkan
