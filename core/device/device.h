// An open device of a plugin: its calls, memory and kernels.

#pragma once

#include <tenon/plugin.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "core/base/ref.h"
#include "core/device/allocator.h"
#include "core/device/kernel_table.h"
#include "core/device/loop_table.h"
#include "core/device/work_queue.h"

namespace tenon {

// A context owns its devices, but core/device must not depend on core/dispatch. It needs only these
// functions, which core/dispatch/context.cc defines.
class Context;
void retain_context(const Context& context);
void release_context(const Context& context);
void run_on_callback_thread(Context& context, std::function<void()> callback);

class Device final : public Object {
 public:
  // Opens device `index` of an instance and sets its name, such as "cpu:0".
  Device(Context& context, const tenon_plugin& plugin, const tenon_plugin_calls& calls,
         tenon_instance_p* instance, size_t index, uint64_t memory_limit);
  ~Device();

  // A context owns its devices, so a handle to a device retains the context.
  void retain() const { retain_context(context_); }
  void release() const { release_context(context_); }

  Context& context() const { return context_; }
  const std::string& name() const { return name_; }
  const tenon_plugin& plugin() const { return plugin_; }
  const tenon_plugin_calls& calls() const { return calls_; }
  tenon_device_p* handle() const { return handle_; }
  // Properties as the plugin described them when the device was opened.
  const tenon_device_properties& properties() const { return properties_; }
  // Queries the plugin for the properties again. Their field `driver` may have changed since the
  // device was opened.
  tenon_device_properties describe() const;
  bool has(tenon_features feature) const { return (features_ & feature) == feature; }
  tenon_features features() const { return features_; }
  // Whether launches have finished when they return.
  bool synchronous() const { return synchronous_; }
  // Whether the host can access device memory directly.
  bool host_visible() const { return host_visible_; }
  Allocator& allocator() { return allocator_; }
  KernelTable& kernels() { return kernels_; }
  LoopTable& loops() { return loops_; }

  tenon_stream_p* open_stream();
  // Returns the queue of an asynchronous device. A synchronous device has none.
  WorkQueue& queue() { return *queue_; }
  // Whether the host may block until enqueued work has finished.
  bool can_wait() const { return !queue_ || queue_->can_wait(); }
  // Blocks until all enqueued work has finished. Does nothing on a synchronous device.
  void wait() {
    if (queue_) queue_->wait_all();
  }
  // Like wait(), and also waits until all completion callbacks have returned.
  void drain() {
    if (queue_) queue_->drain();
  }

  // Releases an object of the plugin once all work enqueued so far, which may use it, has finished.
  template <class T>
  void retire(void (*release)(T*), T* handle) {
    if (queue_) {
      queue_->retire([release, handle] { release(handle); });
    } else {
      release(handle);
    }
  }

  // Copies bytes between host memory and buffers. On an asynchronous device, enqueues the copy.
  void copy(tenon_stream_p* stream, const tenon_place& from, const tenon_place& to,
            uint64_t bytes) {
    if (bytes == 0) return;
    const tenon_copy_region region = {from, to, bytes, 0};
    check(calls_.copy(stream, &region));
  }

  // Writes `bytes`, or enqueues the write on an asynchronous device. `bytes` need not outlive the
  // call.
  void write(tenon_stream_p* stream, tenon_buffer_p* buffer, uint64_t offset,
             std::span<const std::byte> bytes);

  // Marks the device as lost: every later call fails with `why`. Callable from any thread.
  void mark_lost(const ErrorInfo& why);
  void check_usable() const {
    if (lost_.load(std::memory_order_acquire)) [[unlikely]]
      fail_lost();
  }

  // Throws a plugin's error as an Error, and releases it.
  [[noreturn]] void raise(tenon_error* error);
  // Throws the plugin's error, if there is one.
  void check(tenon_error* error) {
    if (error) [[unlikely]]
      raise(error);
  }
  // Releases a plugin's error without reporting it.
  void discard(tenon_error* error) const;

 private:
  Context& context_;
  const tenon_plugin& plugin_;
  const tenon_plugin_calls& calls_;
  std::string name_;
  tenon_device_p* handle_ = nullptr;
  tenon_device_properties properties_ = {};
  tenon_features features_ = 0;
  bool synchronous_ = false;
  bool host_visible_ = false;
  [[noreturn]] void fail_lost() const;

  std::atomic<const ErrorInfo*> lost_{nullptr};
  Allocator allocator_;
  KernelTable kernels_;
  LoopTable loops_;
  std::unique_ptr<WorkQueue> queue_;
};

}  // namespace tenon
