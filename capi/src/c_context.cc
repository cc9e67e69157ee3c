#include <tenon/context.h>

#include <deque>
#include <memory>

#include "capi/src/boundary.h"
#include "capi/src/structs.h"

using namespace tenon::capi;
using tenon::Code;
using tenon::ContextOptions;

namespace {

#define TENON_TEXT_OF_(x) #x
#define TENON_TEXT_OF(x) TENON_TEXT_OF_(x)
constexpr char kVersion[] = TENON_TEXT_OF(TENON_VERSION_MAJOR) "." TENON_TEXT_OF(
    TENON_VERSION_MINOR) "." TENON_TEXT_OF(TENON_VERSION_PATCH);

// Converts an option to an enum. Throws INVALID_ARGUMENT unless the value is in [0, most].
template <class Enum>
Enum to_enum(int32_t value, int32_t most, const char* name) {
  if (value < 0 || value > most) {
    fail_argument(name, tenon::format("{} is not a known value", {value}));
  }
  return static_cast<Enum>(value);
}

// Wraps the user's log callback. The payload is destroyed with the last copy of the function.
std::function<void(int32_t, std::string_view)> to_log_function(const tenon_log_callback& log,
                                                               Payload payload) {
  if (!log.function) return {};
  auto shared = std::make_shared<Payload>(std::move(payload));
  return [function = log.function, shared](int32_t level, std::string_view message) {
    const std::string text(message);  // Adds the zero byte that tenon_string has at its end.
    function(shared->get(), level, borrow_text(text));
  };
}

ContextOptions to_context_options(const tenon_context_options& c, Payload log) {
  ContextOptions options;
  options.log = to_log_function(c.log, std::move(log));
  options.log_level = c.log_level;
  if (c.n_plugin_paths > 0) require_pointer(c.plugin_paths, "options.plugin_paths");
  for (size_t i = 0; i < c.n_plugin_paths; ++i) {
    options.plugin_paths.emplace_back(get_text(c.plugin_paths[i], "options.plugin_paths"));
  }
  if (c.n_plugin_options > 0) require_pointer(c.plugin_options, "options.plugin_options");
  for (size_t i = 0; i < c.n_plugin_options; ++i) {
    const tenon_plugin_option& option = c.plugin_options[i];
    options.plugin_options.push_back(
        {std::string(get_text(option.plugin, "options.plugin_options")),
         std::string(get_text(option.key, "options.plugin_options")),
         std::string(get_text(option.value, "options.plugin_options"))});
  }
  options.memory_limit_bytes = c.memory_limit_bytes;
  options.threads = c.threads;
  options.deterministic = c.deterministic;
  to_enum<int32_t>(c.log_level, TENON_LOG_ERROR, "options.log_level");
  options.numeric_policy =
      to_enum<tenon::NumericPolicy>(c.numeric_policy, TENON_NUMERIC_FAST, "options.numeric_policy");
  options.fallback_policy = to_enum<tenon::FallbackPolicy>(c.fallback_policy, TENON_FALLBACK_AUTO,
                                                           "options.fallback_policy");
  return options;
}

}  // namespace

tenon_string tenon_version(void) { return {kVersion, sizeof kVersion - 1}; }

uint32_t tenon_version_number(void) { return TENON_VERSION_NUMBER; }

tenon_error* tenon_context_create(const tenon_context_options* options,
                                  tenon_context** out_context) {
  clear_output(out_context);
  return boundary([&] {
    constexpr tenon_context_options kDefault = TENON_CONTEXT_OPTIONS_DEFAULT;
    const tenon_log_callback callback = known_fields(options, kDefault).log;
    Payload log(callback.payload, callback.destroy);
    const tenon_context_options given = read_struct(options, kDefault, "options");
    require_pointer(out_context, "out_context");
    give(tenon::Ref<tenon::Context>::adopt(
             new tenon::Context(to_context_options(given, std::move(log)))),
         out_context);
  });
}

void tenon_context_retain(tenon_context* context) { retain_handle(context); }

void tenon_context_release(tenon_context* context) { release_handle(context); }

tenon_scope* tenon_context_default_scope(tenon_context* context) {
  tenon::Context* found = get_or_null(context);
  return found ? to_handle(&found->default_scope()) : nullptr;
}

void tenon_context_cancel(tenon_context* context) {
  if (tenon::Context* found = get_or_null(context)) found->cancel();
}

tenon_error* tenon_context_count_devices(tenon_context* context, size_t* out_count) {
  clear_output(out_count);
  return boundary([&] {
    tenon::Context& self = get(context, "context");
    require_pointer(out_count, "out_count");
    *out_count = self.devices().size();
  });
}

tenon_error* tenon_context_get_device(tenon_context* context, size_t index,
                                      tenon_device** out_device) {
  clear_output(out_device);
  return boundary([&] {
    tenon::Context& self = get(context, "context");
    require_pointer(out_device, "out_device");
    const std::vector<tenon::Device*> devices = self.devices();
    tenon::require_code(index < devices.size(), Code::kOutOfRange,
                        "device {} was requested, but there are {}", index, devices.size());
    give(tenon::Ref<tenon::Device>::share(devices[index]), out_device);
  });
}

tenon_error* tenon_context_find_device(tenon_context* context, tenon_string name,
                                       tenon_device** out_device) {
  clear_output(out_device);
  return boundary([&] {
    tenon::Context& self = get(context, "context");
    require_pointer(out_device, "out_device");
    give(tenon::Ref<tenon::Device>::share(&self.device(get_text(name, "name"))), out_device);
  });
}

tenon_error* tenon_context_load_plugin(tenon_context* context, tenon_string path) {
  return boundary([&] {
    tenon::Context& self = get(context, "context");
    self.load_plugin(std::string(get_text(path, "path")));
  });
}

size_t tenon_context_count_candidates(tenon_context* context) {
  size_t n = 0;
  tenon::release_error(boundary([&] { n = get(context, "context").candidates().size(); }));
  return n;
}

tenon_error* tenon_context_get_candidate(tenon_context* context, size_t index,
                                         tenon_plugin_candidate* out_candidate) {
  return boundary([&] {
    tenon::Context& self = get(context, "context");
    const auto& candidates = self.candidates();
    tenon::require_code(index < candidates.size(), Code::kOutOfRange,
                        "candidate {} was requested, but there are {}", index, candidates.size());
    const tenon::PluginCandidate& found = candidates[index];
    write_struct({.struct_size = 0,
                  .state = static_cast<int32_t>(found.state),
                  .code = static_cast<tenon_code>(found.refusal.code),
                  .reserved = 0,
                  .path = borrow_text(self.keep(found.path)),
                  .name = borrow_text(self.keep(found.name)),
                  .version = borrow_text(self.keep(found.version)),
                  .reason = borrow_text(self.keep(found.refusal.message))},
                 out_candidate, "out_candidate");
  });
}
