// The functions that the host provides to plugins (tenon_host). Any thread may call them, and none
// throws.

#include "core/base/error_object.h"
#include "core/device/plugin_library.h"
#include "core/device/work_queue.h"

namespace tenon {
namespace {

tenon_error* host_make_error(tenon_code code, tenon_string message) {
  return make_error(code_from_c(code), view_of(message));
}

void host_release_error(tenon_error* error) { release_error(error); }

tenon_code host_error_code(const tenon_error* error) {
  return error ? static_cast<tenon_code>(error->info.code) : TENON_OK;
}

tenon_string host_error_message(const tenon_error* error) {
  if (!error) return TENON_STR("");
  const std::string_view message = message_of(*error);
  return {message.data(), message.size()};
}

void host_log(void* log_context, int32_t level, tenon_string message) {
  if (!log_context) return;
  try {
    log_to_context(*static_cast<const Context*>(log_context), level, view_of(message));
  } catch (...) {
    // Failing to log a message must not fail the call that logs it.
  }
}

void host_launch_failed(void* work, uint64_t ticket, tenon_error* error) {
  if (!work || !error) return;
  try {
    static_cast<WorkQueue*>(work)->fail(ticket, take_error(error).info());
  } catch (...) {
    // The host is out of memory and cannot store the error. The plugin's `notify` still reports a
    // failure.
  }
}

constexpr tenon_host kHost = {
    .struct_size = sizeof(tenon_host),
    .reserved = 0,
    .provides = TENON_HOST_FEATURE_ERROR_RECORDS | TENON_HOST_FEATURE_BROADCAST_VIEWS,
    .requires_of_plugin = 0,
    .make_error = host_make_error,
    .release_error = host_release_error,
    .error_code = host_error_code,
    .error_message = host_error_message,
    .log = host_log,
    .launch_failed = host_launch_failed,
};

}  // namespace

const tenon_host& host_table() { return kHost; }

}  // namespace tenon
