// Streams of a device, and events on streams. Programs need no events for correct results: calls
// follow the work, on any stream, that computes their inputs.

#pragma once

#include <tenon/context.hpp>

namespace tenon {

// A point in a stream, which the device reaches when it has finished the earlier work.
class Event {
 public:
  // Takes ownership of the caller's reference.
  static Event adopt(tenon_event* event) { return Event(Shared::adopt(event)); }

  bool is_reached() const { return tenon_event_is_reached(get()); }
  // Blocks until the device has reached the event.
  void wait(SourceLocation at = here()) const { check(tenon_event_wait(get()), at); }

  tenon_event* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_event, tenon_event_retain, tenon_event_release>;
  explicit Event(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

// A sequence of work on a device. Scope::set_stream() makes a scope run its calls on it.
class Stream {
 public:
  // Opens a stream.
  explicit Stream(const Device& device, SourceLocation at = here())
      : handle_(detail::make<Shared>(
            at, [&](tenon_stream** out) { return tenon_stream_open(device.get(), out); })) {}
  // Takes ownership of the caller's reference.
  static Stream adopt(tenon_stream* stream) { return Stream(Shared::adopt(stream)); }

  // Records an event at the current end of the stream.
  Event record_event(SourceLocation at = here()) const {
    tenon_event* event = nullptr;
    check(tenon_event_record(get(), &event), at);
    return Event::adopt(event);
  }
  // Makes later work on the stream follow an event on any stream of the device.
  void wait_event(const Event& event, SourceLocation at = here()) const {
    check(tenon_stream_wait_event(get(), event.get()), at);
  }

  tenon_stream* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_stream, tenon_stream_retain, tenon_stream_release>;
  explicit Stream(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

}  // namespace tenon
