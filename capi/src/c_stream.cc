#include <tenon/stream.h>

#include "capi/src/boundary.h"
#include "capi/src/completion.h"

using namespace tenon::capi;

tenon_error* tenon_stream_open(tenon_device* device, tenon_stream** out_stream) {
  clear_output(out_stream);
  return boundary([&] {
    tenon::Device& self = get(device, "device");
    require_pointer(out_stream, "out_stream");
    give(tenon::Ref<tenon::DeviceStream>::adopt(new tenon::DeviceStream(self)), out_stream);
  });
}

void tenon_stream_retain(tenon_stream* stream) { retain_handle(stream); }

void tenon_stream_release(tenon_stream* stream) { release_handle(stream); }

tenon_error* tenon_stream_wait_event(tenon_stream* stream, const tenon_event* event) {
  return boundary([&] {
    const tenon::DeviceStream& self = get(stream, "stream");
    get(event, "event").order_before(self);
  });
}

tenon_error* tenon_event_record(tenon_stream* stream, tenon_event** out_event) {
  clear_output(out_event);
  return boundary([&] {
    const tenon::DeviceStream& self = get(stream, "stream");
    require_pointer(out_event, "out_event");
    give(tenon::Ref<tenon::StreamEvent>::adopt(new tenon::StreamEvent(self)), out_event);
  });
}

void tenon_event_retain(tenon_event* event) { retain_handle(event); }

void tenon_event_release(tenon_event* event) { release_handle(event); }

bool tenon_event_is_reached(const tenon_event* event) {
  const tenon::StreamEvent* self = get_or_null(event);
  return self && self->is_reached();
}

tenon_error* tenon_event_wait(const tenon_event* event) {
  return boundary([&] { get(event, "event").wait(); });
}

tenon_error* tenon_event_wait_async(const tenon_event* event, tenon_done_callback done) {
  Completion completion(done);
  return boundary([&] {
    const tenon::StreamEvent& self = get(event, "event");
    completion.require_function();
    completion.start_work(self.device().context(), [&](auto finished) { self.wait(finished); });
  });
}
