// An open device of a plugin: its calls, its memory, its kernels.

#pragma once

#include <tenon/plugin.h>

#include <mutex>
#include <string>

#include "core/base/ref.h"
#include "core/device/allocator.h"
#include "core/device/kernel_table.h"

namespace tenon {

// What owns the devices lies above this layer, which needs no more of it than that it stays while
// one of them is in use. These two are defined with it, in core/dispatch/context.cc.
class Context;
void retain_context(const Context& context);
void release_context(const Context& context);

class Device final : public Object {
 public:
  // Opens device `index` of an instance and takes its name: "cpu:0".
  Device(Context& context, const tenon_plugin& plugin, const tenon_plugin_calls& calls,
         tenon_instance_p* instance, size_t index, uint64_t memory_limit);
  ~Device();

  // A handle to a device keeps its context, which owns it.
  void retain() const { retain_context(context_); }
  void release() const { release_context(context_); }

  Context& context() const { return context_; }
  const std::string& name() const { return name_; }
  const tenon_plugin& plugin() const { return plugin_; }
  const tenon_plugin_calls& calls() const { return calls_; }
  tenon_device_p* handle() const { return handle_; }
  const tenon_device_properties& properties() const { return properties_; }
  bool has(tenon_features feature) const { return (features_ & feature) == feature; }
  tenon_features features() const { return features_; }
  bool synchronous() const { return synchronous_; }
  bool host_visible() const { return host_visible_; }
  Allocator& allocator() { return allocator_; }
  KernelTable& kernels() { return kernels_; }

  // The one stream of an asynchronous device, and the lock that whoever enqueues on it holds.
  tenon_stream_p* default_stream() const { return default_stream_; }
  std::mutex& stream_mutex() { return stream_mutex_; }
  tenon_stream_p* open_stream();

  // Blocks until what was enqueued on the stream has finished, and throws its first failure.
  void wait(tenon_stream_p* stream);

  // Throws an error of the plugin as ours, and releases it.
  [[noreturn]] void raise(tenon_error* error) const;
  void check(tenon_error* error) const {
    if (error) [[unlikely]]
      raise(error);
  }
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
  tenon_stream_p* default_stream_ = nullptr;
  std::mutex stream_mutex_;
  Allocator allocator_;
  KernelTable kernels_;
};

}  // namespace tenon
