#include "core/dispatch/context.h"

#include <algorithm>
#include <cstdio>
#include <deque>

#include "core/base/error_object.h"
#include "core/dispatch/profile_log.h"
#include "core/dispatch/scope.h"
#include "core/ops/definition/op.h"
#include "core/ops/definition/registry.h"

namespace tenon {

// A loaded plugin, its instance, and its open devices.
struct Context::Plugin {
  const tenon_plugin* plugin = nullptr;
  tenon_plugin_calls calls = {};
  tenon_instance_p* instance = nullptr;
  std::vector<std::unique_ptr<Device>> devices;

  ~Plugin() {
    devices.clear();
    if (instance) calls.destroy(instance);
  }
};

Context::Context(ContextOptions options) : Object(Kind::kContext), options_(std::move(options)) {
  if (options_.numeric_policy == NumericPolicy::kStrict) request_flags_ |= TENON_REQUEST_STRICT;
  if (options_.deterministic) request_flags_ |= TENON_REQUEST_DETERMINISTIC;
  default_scope_.reset(new Scope(*this, Scope::Default{}));
}

Context::~Context() {
  // Pending work may call back, so it is drained while the callback thread still exists.
  for (const auto& plugin : plugins_) {
    for (const auto& device : plugin->devices) device->drain();
  }
}

void Context::release() const {
  if (drop()) delete this;
}

void retain_context(const Context& context) { context.retain(); }
void release_context(const Context& context) { context.release(); }
void run_on_callback_thread(Context& context, std::function<void()> callback) {
  context.callbacks().push(std::move(callback));
}
void log_to_context(const Context& context, int32_t level, std::string_view message) {
  context.log(level, message);
}

void Context::set_print(Print print) {
  auto made = print ? std::make_shared<const Print>(std::move(print)) : nullptr;
  std::lock_guard guard(mutex_);
  std::swap(print_, made);
}

void Context::print(std::string_view text) const {
  std::shared_ptr<const Print> print;
  {
    std::lock_guard guard(mutex_);
    print = print_;
  }
  if (print) return (*print)(text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Context::log(int32_t level, std::string_view message) const {
  if (level < options_.log_level) return;
  if (options_.log) {
    options_.log(level, message);
  } else {
    std::fprintf(stderr, "tenon: %.*s\n", static_cast<int>(message.size()), message.data());
  }
}

// Finds the plugin files, on the first call only.
void Context::discover() {
  if (discovered_) return;
  candidates_ = discover_plugins(options_.plugin_paths);
  discovered_ = true;
}

// Loads a plugin and opens its devices. On failure, stores the reason in the candidate and returns
// NULL.
Context::Plugin* Context::open(PluginCandidate& candidate) {
  if (candidate.state != PluginCandidate::State::kNotTried) return nullptr;
  const auto try_to_open = [&]() -> Plugin* {
    candidate.refusal = {.code = Code::kOk};
    tenon::load_plugin(candidate);
    if (candidate.state != PluginCandidate::State::kLoaded) return nullptr;

    auto refuse = [&](ErrorInfo refusal) {
      candidate.state = PluginCandidate::State::kRefused;
      candidate.refusal = std::move(refusal);
      return nullptr;
    };
    const tenon_plugin& found = *candidate.plugin;
    const std::string_view name(found.name.data, found.name.size);
    for (const auto& other : plugins_) {
      if (std::string_view(other->plugin->name.data, other->plugin->name.size) == name) {
        return refuse({.code = Code::kInvalidArgument,
                       .message = format("a plugin named {} is already loaded", {name})});
      }
    }
    auto plugin = std::make_unique<Plugin>();
    plugin->plugin = &found;
    plugin->calls = complete_calls(*found.calls);

    std::vector<tenon_string> keys, values;
    for (const PluginOption& option : options_.plugin_options) {
      if (option.plugin != name) continue;
      keys.push_back({option.key.data(), option.key.size()});
      values.push_back({option.value.data(), option.value.size()});
    }
    const tenon_instance_options instance_options = {
        .struct_size = sizeof(tenon_instance_options),
        .threads = options_.threads,
        .log_context = this,
        .option_keys = keys.data(),
        .option_values = values.data(),
        .n_options = keys.size(),
    };
    try {
      if (tenon_error* error = found.create(&host_table(), &instance_options, &plugin->instance)) {
        throw take_error(error);
      }
      size_t n = 0;
      if (tenon_error* error = plugin->calls.count_devices(plugin->instance, &n)) {
        throw take_error(error);
      }
      // A larger count indicates that the plugin left the variable uninitialised.
      constexpr size_t kMaxDevices = 4096;
      require(n <= kMaxDevices, "the plugin reports {} devices, but at most {} are allowed", n,
              kMaxDevices);
      for (size_t i = 0; i < n; ++i) {
        plugin->devices.push_back(std::make_unique<Device>(
            *this, found, plugin->calls, plugin->instance, i, options_.memory_limit_bytes));
      }
    } catch (const Error& error) {
      return refuse(error.info());
    }
    plugins_.push_back(std::move(plugin));
    return plugins_.back().get();
  };
  try {
    Plugin* const plugin = try_to_open();
    // A lack of memory may be temporary, so a later call tries again.
    if (!plugin && candidate.refusal.code == Code::kOutOfMemory) {
      candidate.state = PluginCandidate::State::kNotTried;
    }
    return plugin;
  } catch (...) {
    candidate.state = PluginCandidate::State::kNotTried;
    throw;
  }
}

// Finds a device of a plugin that is open; NULL if there is none.
Device* Context::find_open(std::string_view name, size_t index) {
  for (const auto& plugin : plugins_) {
    if (std::string_view(plugin->plugin->name.data, plugin->plugin->name.size) != name) continue;
    return index < plugin->devices.size() ? plugin->devices[index].get() : nullptr;
  }
  return nullptr;
}

Device& Context::device(std::string_view name) {
  std::lock_guard guard(mutex_);
  if (name == "best") {
    const std::vector<Device*> all = devices();
    for (Device* device : all) {
      if (device->properties().kind != TENON_DEVICE_CPU) return *device;
    }
    if (!all.empty()) return *all[0];
  }
  std::string_view plugin = name;
  size_t index = 0;
  bool well_formed = !name.empty();
  if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
    plugin = name.substr(0, colon);
    const std::string_view digits = name.substr(colon + 1);
    well_formed = !plugin.empty() && !digits.empty() && digits.size() <= 4;
    for (const char c : digits) {
      well_formed = well_formed && c >= '0' && c <= '9';
      index = index * 10 + static_cast<size_t>(c - '0');
    }
  }
  if (well_formed) {
    if (Device* device = find_open(plugin, index)) return *device;
    discover();
    const ErrorInfo* shortage = nullptr;
    for (PluginCandidate& candidate : candidates_) {
      if (candidate.name != plugin) continue;
      if (open(candidate)) break;
      if (candidate.refusal.code == Code::kOutOfMemory) shortage = &candidate.refusal;
    }
    if (Device* device = find_open(plugin, index)) return *device;
    if (shortage) throw Error(*shortage);
  }
  fail(Code::kNotFound, "there is no device \"{}\"; {}", {name, list_devices()});
}

std::string Context::list_devices() {
  std::string text;
  for (Device* device : devices()) {
    text += (text.empty() ? "the devices are " : ", ") + device->name();
  }
  if (text.empty()) text = "there are no devices";
  for (const PluginCandidate& candidate : candidates_) {
    if (candidate.state == PluginCandidate::State::kRefused) {
      text += format("; {}: {}", {candidate.name, candidate.refusal.message});
    }
  }
  return text;
}

std::vector<Device*> Context::devices() {
  std::lock_guard guard(mutex_);
  discover();
  for (PluginCandidate& candidate : candidates_) open(candidate);
  std::vector<Device*> all;
  for (const auto& plugin : plugins_) {
    for (const auto& device : plugin->devices) all.push_back(device.get());
  }
  std::stable_sort(all.begin(), all.end(), [](const Device* a, const Device* b) {
    const bool a_cpu = a->name().starts_with("cpu:"), b_cpu = b->name().starts_with("cpu:");
    return a_cpu != b_cpu ? a_cpu : a->name() < b->name();
  });
  return all;
}

void Context::load_plugin(const std::string& path) { add(make_file_candidate(path), path); }

void Context::add_plugin(std::string_view name, tenon_plugin_query query) {
  PluginCandidate linked;
  linked.name = name;
  linked.query = query;
  add(std::move(linked), name);
}

// Adds a candidate and opens it. Errors refer to it as `called`.
void Context::add(PluginCandidate found, std::string_view called) {
  std::lock_guard guard(mutex_);
  discover();
  candidates_.push_back(std::move(found));
  try {
    open(candidates_.back());
  } catch (...) {
    candidates_.pop_back();
    throw;
  }
  const PluginCandidate& candidate = candidates_.back();
  if (candidate.state == PluginCandidate::State::kLoaded) return;
  fail_because(Error(candidate.refusal), candidate.refusal.code, "{}: {}",
               {called, candidate.refusal.message});
}

// Returns every plugin that was found, and whether it was loaded or why not.
std::vector<PluginCandidate> Context::candidates() {
  std::lock_guard guard(mutex_);
  discover();
  return candidates_;
}

// Interns the text.
const std::string& Context::keep(std::string_view text) {
  std::lock_guard guard(mutex_);
  return *kept_.emplace(text).first;
}

void Context::start_profile(std::shared_ptr<ProfileLog> log) {
  std::lock_guard guard(mutex_);
  require_code(!profile_log_, Code::kFailedPrecondition,
               "the context is already being profiled: stop that profiler first");
  profile_log_ = std::move(log);
  profiled_.store(profile_log_->number(), std::memory_order_relaxed);
}

void Context::stop_profile(const ProfileLog& log) {
  std::lock_guard guard(mutex_);
  if (profile_log_.get() != &log) return;
  profiled_.store(0, std::memory_order_relaxed);
  profile_log_.reset();
}

std::shared_ptr<ProfileTrack> Context::new_profile_track() {
  std::lock_guard guard(mutex_);
  return profile_log_ ? ProfileLog::new_track(profile_log_) : nullptr;
}

const OpDef& Context::add_op(std::unique_ptr<OpDef> op) {
  std::lock_guard guard(ops_mutex_);
  bool taken = tenon::find_op(op->name) != nullptr;
  for (const auto& other : custom_ops_) taken = taken || other->name == op->name;
  require(!taken, "an op named {} already exists", op->name);
  op->id = (uint32_t{1} << 31) + static_cast<uint32_t>(custom_ops_.size());
  custom_ops_.push_back(std::move(op));
  return *custom_ops_.back();
}

const OpDef* Context::find_op(uint32_t id) const {
  if (const OpDef* op = tenon::find_op(id)) return op;
  std::lock_guard guard(ops_mutex_);
  const size_t index = id - (uint32_t{1} << 31);
  return index < custom_ops_.size() ? custom_ops_[index].get() : nullptr;
}

const OpDef* Context::find_op(std::string_view name) const {
  if (const OpDef* op = tenon::find_op(name)) return op;
  std::lock_guard guard(ops_mutex_);
  for (const auto& op : custom_ops_) {
    if (op->name == name) return op.get();
  }
  return nullptr;
}

// Returns true on the first call with this text.
bool Context::is_first_time(const std::string& what) {
  std::lock_guard guard(mutex_);
  if (std::find(warned_.begin(), warned_.end(), what) != warned_.end()) return false;
  warned_.push_back(what);
  return true;
}

}  // namespace tenon
