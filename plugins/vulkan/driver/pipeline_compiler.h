// A pool of threads that create pipelines in the background. A driver takes milliseconds for each
// pipeline, and can create several at once. Threads start with the first request.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "plugins/vulkan/driver/pipeline.h"

namespace tenon_vulkan {

class PipelineCompiler {
 public:
  PipelineCompiler(const Driver& driver, const VkPipelineCache& cache)
      : driver_(driver), cache_(cache) {}
  PipelineCompiler(const PipelineCompiler&) = delete;
  PipelineCompiler& operator=(const PipelineCompiler&) = delete;
  ~PipelineCompiler() { stop(); }

  // Sets a callback that a pool thread runs after each pipeline is created. Call it before the
  // first queue_creation().
  void set_created_callback(std::function<void()> call) { created_callback_ = std::move(call); }

  // Queues the pipeline for creation by the pool. The pool skips pipelines that have been released.
  // If memory for the queue is exhausted, require() creates the pipeline later.
  void queue_creation(const std::shared_ptr<const Pipeline>& pipeline) noexcept;
  // Blocks until the pipeline is created. Creates it on this thread if no other thread has begun
  // to. If an earlier attempt failed, tries again.
  tenon_error* require(const Pipeline& pipeline);

  // Waits until the threads have created the pipelines that they have begun, and ends the threads.
  // Later pipelines are created by require().
  void stop() noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  // The main function of a pool thread.
  void run() noexcept;
  bool create_next_pipeline(Lock& lock) noexcept;
  // Makes a pool thread run the callback of set_created_callback().
  void notify_streams();
  tenon_error* make(const Pipeline& pipeline, Lock& lock);
  tenon_error* create_pipeline(const Pipeline& pipeline, VkPipeline& made) const;

  const Driver& driver_;
  const VkPipelineCache& cache_;
  std::function<void()> created_callback_;
  std::mutex mutex_;
  std::condition_variable called_, made_;
  std::deque<std::weak_ptr<const Pipeline>> wanted_;
  std::vector<std::thread> threads_;
  size_t n_idle_ = 0;
  bool has_news_ = false;  // Whether pipelines were created since the last callback.
  bool is_stopping_ = false;
};

}  // namespace tenon_vulkan
