#include "plugins/vulkan/driver/pipeline_compiler.h"

#include <algorithm>
#include <utility>

#include "plugins/vulkan/driver/at_exit.h"

namespace tenon_vulkan {
namespace {

// Maximum number of pool threads: one less than the number of processors, because a thread that
// waits for a pipeline also creates pipelines.
size_t max_threads() {
  constexpr unsigned kMaxThreads = 8;
  return std::clamp(std::thread::hardware_concurrency(), 2u, kMaxThreads + 1) - 1;
}

}  // namespace

void PipelineCompiler::queue_creation(const std::shared_ptr<const Pipeline>& pipeline) noexcept
    try {
  const Lock lock(mutex_);
  if (is_stopping_) return;
  wanted_.push_back(pipeline);
  if (wanted_.size() > n_idle_ && threads_.size() < max_threads()) {
    threads_.emplace_back([this] { run(); });
  }
  called_.notify_one();
} catch (const std::exception&) {
}

void PipelineCompiler::run() noexcept {
  Lock lock(mutex_);
  while (true) {
    ++n_idle_;
    called_.wait(lock, [&] { return is_stopping_ || has_news_ || !wanted_.empty(); });
    --n_idle_;
    if (is_stopping_) return;
    if (!has_news_ && !create_next_pipeline(lock)) continue;
    has_news_ = false;
    lock.unlock();
    if (created_callback_) created_callback_();
    lock.lock();
  }
}

// Creates the first requested pipeline that no thread has begun to create. Returns false if there
// is none.
bool PipelineCompiler::create_next_pipeline(Lock& lock) noexcept {
  while (!wanted_.empty()) {
    const std::shared_ptr<const Pipeline> pipeline = wanted_.front().lock();
    wanted_.pop_front();
    if (pipeline == nullptr || pipeline->stage_ != Pipeline::Stage::kWanted) continue;
    try {
      driver_.host().release(make(*pipeline, lock));
    } catch (const std::exception&) {
      // Ignores the error, because require() retries and reports it to its caller.
    }
    return true;
  }
  return false;
}

// While another thread creates the pipeline, this thread creates other queued pipelines. The
// streams with held dispatches are notified by a pool thread, because the caller of require() has
// locked a stream.
tenon_error* PipelineCompiler::require(const Pipeline& pipeline) {
  if (pipeline.is_made()) return nullptr;
  if (driver_.is_lost()) return driver_.lost_error();
  Lock lock(mutex_);
  while (pipeline.stage_ == Pipeline::Stage::kBegun) {
    if (create_next_pipeline(lock)) {
      notify_streams();
    } else {
      made_.wait(lock);
    }
  }
  if (pipeline.is_made()) return nullptr;
  tenon_error* const error = make(pipeline, lock);
  notify_streams();
  return error;
}

void PipelineCompiler::notify_streams() {
  has_news_ = true;
  called_.notify_one();
}

// Creates the pipeline. Releases the lock during the driver call and locks it again before
// returning.
tenon_error* PipelineCompiler::make(const Pipeline& pipeline, Lock& lock) {
  const auto enter = [&](Pipeline::Stage stage) {
    pipeline.stage_ = stage;
    made_.notify_all();
  };
  enter(Pipeline::Stage::kBegun);
  lock.unlock();
  try {
    tenon_error* const error = create_pipeline(pipeline, pipeline.handle_);
    lock.lock();
    enter(error == nullptr ? Pipeline::Stage::kMade : Pipeline::Stage::kWanted);
    return error;
  } catch (...) {
    lock.lock();
    enter(Pipeline::Stage::kWanted);
    throw;
  }
}

void PipelineCompiler::stop() noexcept {
  std::vector<std::thread> ending;
  {
    const Lock lock(mutex_);
    is_stopping_ = true;
    wanted_.clear();
    called_.notify_all();
    ending = std::move(threads_);
  }
  for (std::thread& thread : ending) thread.join();
}

tenon_error* PipelineCompiler::create_pipeline(const Pipeline& pipeline, VkPipeline& made) const {
  const DeviceFunctions& vk = driver_.vk();
  const VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                         .pNext = nullptr,
                                         .flags = 0,
                                         .codeSize = pipeline.spirv().size_bytes(),
                                         .pCode = pipeline.spirv().data()};
  VkShaderModule module = VK_NULL_HANDLE;
  VkResult result = vk.CreateShaderModule(driver_.device(), &code, nullptr, &module);
  if (result != VK_SUCCESS) return driver_.error(result, "the driver rejected a shader");
  const VkPipelineShaderStageCreateInfo stage = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
      .pNext = nullptr,
      .flags = 0,
      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
      .module = module,
      .pName = "main",
      .pSpecializationInfo = nullptr};
  const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                            .pNext = nullptr,
                                            .flags = 0,
                                            .stage = stage,
                                            .layout = pipeline.layout().pipeline,
                                            .basePipelineHandle = VK_NULL_HANDLE,
                                            .basePipelineIndex = -1};
  result = vk.CreateComputePipelines(driver_.device(), cache_, 1, &info, nullptr, &made);
  vk.DestroyShaderModule(driver_.device(), module, nullptr);
  if (result == VK_SUCCESS) {
    AtExit::register_handler(AtExit::Moment::kMade);
    return nullptr;
  }
  made = VK_NULL_HANDLE;
  return driver_.error(result, "the driver cannot compile a shader");
}

}  // namespace tenon_vulkan
