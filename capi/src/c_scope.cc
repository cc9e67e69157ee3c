#include <tenon/scope.h>

#include <memory>

#include "capi/src/boundary.h"
#include "capi/src/completion.h"

using namespace tenon::capi;

tenon_error* tenon_scope_create(tenon_context* context, tenon_string device,
                                tenon_scope** out_scope) {
  clear_output(out_scope);
  return boundary([&] {
    tenon::Context& self = get(context, "context");
    require_pointer(out_scope, "out_scope");
    const std::string_view name = get_text(device, "device");
    tenon::Device* on = name.empty() ? nullptr : &self.device(name);
    give(tenon::Ref<tenon::Scope>::adopt(new tenon::Scope(self, on)), out_scope);
  });
}

void tenon_scope_retain(tenon_scope* scope) { retain_handle(scope); }

void tenon_scope_release(tenon_scope* scope) { release_handle(scope); }

tenon_context* tenon_scope_context(const tenon_scope* scope) {
  const tenon::Scope* self = get_or_null(scope);
  return self ? to_handle(&self->context()) : nullptr;
}

tenon_error* tenon_scope_set_device(tenon_scope* scope, tenon_string name) {
  return boundary_in(scope, [&](tenon::Scope& self) {
    self.set_device(self.context().device(get_text(name, "name")));
  });
}

tenon_error* tenon_scope_get_device(tenon_scope* scope, tenon_device** out_device) {
  clear_output(out_device);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_device, "out_device");
    give(tenon::Ref<tenon::Device>::share(&self.device()), out_device);
  });
}

tenon_error* tenon_scope_set_stream(tenon_scope* scope, tenon_stream* stream) {
  return boundary_in(scope, [&](tenon::Scope& self) {
    if (!stream) return self.reset_streams();
    const tenon::DeviceStream& given = get(stream, "stream");
    if (&given.device().context() != &self.context()) {
      fail_argument("stream", "belongs to another context");
    }
    self.set_stream(given.device(), given.id());
  });
}

tenon_error* tenon_scope_get_stream(tenon_scope* scope, tenon_stream** out_stream) {
  clear_output(out_stream);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_stream, "out_stream");
    tenon::Device& device = self.device();
    give(tenon::Ref<tenon::DeviceStream>::adopt(
             new tenon::DeviceStream(device, self.stream_id(device))),
         out_stream);
  });
}

tenon_error* tenon_scope_wait(tenon_scope* scope) {
  return boundary_in(scope, [&](tenon::Scope& self) { self.wait(); });
}

tenon_error* tenon_scope_wait_async(tenon_scope* scope, tenon_done_callback done) {
  Completion completion(done);
  return boundary_in(scope, [&](tenon::Scope& self) {
    completion.require_function();
    completion.start_work(self.context(), [&](auto finished) { self.wait(finished); });
  });
}

void tenon_scope_cancel(tenon_scope* scope) {
  if (tenon::Scope* self = get_or_null(scope)) self->cancel();
}

tenon_error* tenon_scope_set_location(tenon_scope* scope, tenon_string location) {
  return boundary_in(scope, [&](tenon::Scope& self) {
    self.set_location(std::string(get_text(location, "location")));
  });
}
