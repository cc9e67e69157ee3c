#include "conformance/run/plain_load.h"

#include <tenon/tenon.hpp>

namespace tenon_kit {

// Loads a plugin and opens its devices like an application, without the guard of the kit.
void load_plainly(const std::string& path) {
  const tenon::Context context;
  tenon::check(tenon_context_load_plugin(context.get(), {path.data(), path.size()}));
}

bool is_unavailable(const device::Subject& subject) {
  const auto says_so = [](tenon_error* error) {
    return device::take_failure(error).code == TENON_UNAVAILABLE;
  };
  const tenon_host& host = device::host_table();
  const tenon_plugin* plugin = nullptr;
  if (tenon_error* error = subject.query(&host, &plugin)) return says_so(error);
  if (!plugin || !plugin->create || !plugin->calls) return false;
  const tenon_plugin_calls calls = device::Plugin(subject).calls;
  if (!calls.destroy || !calls.open_device || !calls.close_device) return false;

  const device::InstanceOptions options(subject);
  const tenon_instance_options c_options = options.get();
  tenon_instance_p* instance = nullptr;
  if (tenon_error* error = plugin->create(&host, &c_options, &instance)) return says_so(error);
  tenon_device_p* opened = nullptr;
  tenon_error* error = calls.open_device(instance, subject.index, &opened);
  const bool is_it = error && says_so(error);
  if (!error) calls.close_device(opened);
  calls.destroy(instance);
  return is_it;
}

}  // namespace tenon_kit
