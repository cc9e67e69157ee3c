#include "core/device/device_stream.h"

#include <utility>
#include <vector>

#include "core/base/error.h"

namespace tenon {

DeviceStream::DeviceStream(Device& device)
    : Object(Kind::kStream), device_(Ref<Device>::share(&device)) {
  if (!device.synchronous()) id_ = device.queue().acquire_stream();
}

DeviceStream::DeviceStream(Device& device, StreamId id)
    : Object(Kind::kStream), device_(Ref<Device>::share(&device)), id_(id) {
  if (id != WorkQueue::kDefaultStream) device.queue().share_stream(id);
}

DeviceStream::~DeviceStream() {
  if (id_ != WorkQueue::kDefaultStream) device_->queue().release_stream(id_);
}

struct StreamEvent::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_reached = false;
  std::vector<std::function<void(const ErrorInfo*)>> waiting;

  void reach() {
    std::vector<std::function<void(const ErrorInfo*)>> callbacks;
    {
      std::lock_guard guard(mutex);
      is_reached = true;
      callbacks.swap(waiting);
      changed.notify_all();
    }
    for (const auto& each : callbacks) each(nullptr);
  }
};

StreamEvent::StreamEvent(const DeviceStream& stream)
    : Object(Kind::kEvent),
      device_(Ref<Device>::share(&stream.device())),
      stream_(stream.id()),
      state_(std::make_shared<State>()) {
  if (device_->synchronous()) {
    state_->is_reached = true;
    return;
  }
  WorkQueue& queue = device_->queue();
  const std::lock_guard turn(queue.mutex());
  device_->check_usable();
  // Precedes the event, so that later events that follow this one are reached after it.
  queue.notify(stream_, [state = state_] { state->reach(); });
  point_ = queue.record_event(stream_);
}

StreamEvent::~StreamEvent() {
  if (!device_->synchronous()) device_->queue().release_event(point_);
}

void StreamEvent::order_before(const DeviceStream& stream) const {
  require(&stream.device() == device_.get(),
          "the event is on another device than the stream: {} and {}", device_->name(),
          stream.device().name());
  if (device_->synchronous()) return;
  WorkQueue& queue = device_->queue();
  const std::lock_guard turn(queue.mutex());
  device_->check_usable();
  queue.order_after(stream.id(), point_);
}

bool StreamEvent::is_reached() const {
  std::lock_guard guard(state_->mutex);
  return state_->is_reached;
}

void StreamEvent::wait() const {
  if (!device_->can_wait()) {
    fail(Code::kUnimplemented,
         "{} cannot wait in a build without threads; use the asynchronous call", {device_->name()});
  }
#if defined(TENON_NO_THREADS)
  if (!is_reached()) device_->queue().wait(stream_);
#else
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->is_reached; });
  lock.unlock();
#endif
  device_->check_usable();
}

void StreamEvent::wait(std::function<void(const ErrorInfo*)> done) const {
  {
    std::lock_guard guard(state_->mutex);
    if (!state_->is_reached) {
      state_->waiting.push_back(std::move(done));
      return;
    }
  }
  done(nullptr);
}

}  // namespace tenon
