// Streams that programs open, and events on streams.

#pragma once

#include <functional>
#include <memory>

#include "core/base/pool.h"
#include "core/base/ref.h"
#include "core/device/device.h"

namespace tenon {

// A handle to a stream of a device. On a synchronous device it stands for the calling thread.
class DeviceStream final : public Object, public Pooled<DeviceStream> {
 public:
  // Opens a stream.
  explicit DeviceStream(Device& device);
  // Creates a handle to a stream that the caller uses, or to the default stream.
  DeviceStream(Device& device, StreamId id);
  ~DeviceStream();
  void release() const {
    if (drop()) delete this;
  }

  Device& device() const { return *device_; }
  StreamId id() const { return id_; }

 private:
  const Ref<Device> device_;
  StreamId id_ = WorkQueue::kDefaultStream;
};

// A point in a stream, which the device reaches once.
class StreamEvent final : public Object, public Pooled<StreamEvent> {
 public:
  // Records an event at the current end of the stream.
  explicit StreamEvent(const DeviceStream& stream);
  ~StreamEvent();
  void release() const {
    if (drop()) delete this;
  }

  Device& device() const { return *device_; }
  // Makes later work on `stream`, which is a stream of the same device, follow the event.
  void order_before(const DeviceStream& stream) const;
  bool is_reached() const;
  // Blocks until the device has reached the event.
  void wait() const;
  // Does not wait: calls `done` on any thread when the device has reached the event.
  void wait(std::function<void(const ErrorInfo*)> done) const;

 private:
  struct State;

  const Ref<Device> device_;
  const StreamId stream_;
  WorkQueue::EventPoint point_;         // Used only on an asynchronous device.
  const std::shared_ptr<State> state_;  // Shared with the notification of the stream.
};

}  // namespace tenon
