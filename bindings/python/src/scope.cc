// The shared context, the scope of each thread, devices, and interrupts.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>

#include "native.h"

namespace tenon_python {

namespace {

tenon_context* context_in_use = nullptr;  // Never released: threads may use it until exit.
std::mutex context_lock;

// ---- references that are dropped later ---------------------------------------------------------

std::mutex released_lock;
std::vector<PyObject*>* released = new std::vector<PyObject*>;

// Drops the references in `released`. Python calls it on a thread that holds the GIL.
int drop_released(void*) {
  std::vector<PyObject*> objects;
  {
    const std::lock_guard lock(released_lock);
    objects.swap(*released);
  }
  for (PyObject* object : objects) Py_DECREF(object);
  return 0;
}

// ---- interrupts --------------------------------------------------------------------------------
// Python's signal handler only sets a flag, which nobody checks during a long C call. This handler
// also wakes a thread, which cancels the calls of the shared context until Python has seen the
// flag: the main thread may begin a long call between its last check of the flag and the first
// cancel.

int interrupt_pipe[2] = {-1, -1};
struct sigaction python_handler;
std::atomic<bool> is_interrupt_unseen{false};

// Python's main thread calls it after it has checked for signals.
int note_seen_interrupt(void*) {
  is_interrupt_unseen = false;
  return 0;
}

// The handler of SIGINT. Calls Python's handler, and wakes the thread that cancels calls.
void on_interrupt(int number, siginfo_t* info, void* machine) {
  const int saved = errno;
  if (python_handler.sa_flags & SA_SIGINFO) {
    python_handler.sa_sigaction(number, info, machine);
  } else if (python_handler.sa_handler != SIG_DFL && python_handler.sa_handler != SIG_IGN) {
    python_handler.sa_handler(number);
  }
  const char byte = 0;
  if (write(interrupt_pipe[1], &byte, 1) < 0) {
    // The pipe is full, so the thread is already awake.
  }
  errno = saved;
}

// The loop of the thread that cancels the calls of the shared context after each SIGINT.
void cancel_on_interrupts() {
  char byte;
  while (read(interrupt_pipe[0], &byte, 1) > 0) {
    is_interrupt_unseen = true;
    if (Py_AddPendingCall(note_seen_interrupt, nullptr) != 0) is_interrupt_unseen = false;
    do {
      tenon_context* context;
      {
        const std::lock_guard lock(context_lock);
        context = context_in_use;
      }
      tenon_context_cancel(context);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } while (is_interrupt_unseen);
  }
}

// Installs the handler of SIGINT and starts the thread that cancels calls. Does nothing if Python
// does not handle SIGINT, for example if Python is embedded in another program.
void watch_interrupts() {
  if (sigaction(SIGINT, nullptr, &python_handler) != 0) return;
  if (!(python_handler.sa_flags & SA_SIGINFO) &&
      (python_handler.sa_handler == SIG_DFL || python_handler.sa_handler == SIG_IGN))
    return;
  if (pipe(interrupt_pipe) != 0) return;
  std::thread(cancel_on_interrupts).detach();
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_sigaction = on_interrupt;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

// ---- contexts and scopes -----------------------------------------------------------------------

// Owns the scope of a thread, and releases it when the thread ends.
struct ThreadScope {
  tenon_scope* scope = nullptr;
  ~ThreadScope() {
    if (current.scope == scope) current = {};
    tenon_scope_release(scope);
  }
};
thread_local ThreadScope thread_scope;

// Returns the properties of a device as a dict.
nb::object describe_device(tenon_device* device) {
  tenon_device_info info;
  std::memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  check(tenon_device_describe(device, &info));
  nb::dict result;
  result["name"] = to_python(info.name);
  result["kind"] = info.kind == TENON_DEVICE_CPU   ? "cpu"
                   : info.kind == TENON_DEVICE_GPU ? "gpu"
                                                   : "accelerator";
  result["description"] = to_python(info.description);
  result["vendor"] = to_python(info.vendor);
  result["driver"] = to_python(info.driver);
  result["plugin"] = to_python(info.plugin);
  result["features"] = info.features;
  result["memory_bytes"] = info.memory_bytes;
  result["max_buffer_bytes"] = info.max_buffer_bytes;
  result["compute_units"] = info.compute_units;
  result["vector_bits"] = info.vector_bits;
  result["uuid"] = nb::bytes(reinterpret_cast<const char*>(info.uuid), sizeof info.uuid);
  return result;
}

// Owns a reference to a device for the duration of a function.
struct DeviceHandle {
  tenon_device* device = nullptr;
  ~DeviceHandle() { tenon_device_release(device); }
};

// Finds a device by name in the context of the current scope.
void find_device(const std::string& name, DeviceHandle& out) {
  tenon_context* context = tenon_scope_context(scope());
  run_blocking([&] { return tenon_context_find_device(context, to_c(name), &out.device); });
}

// Returns the memory statistics of the device with this name.
nb::dict memory_statistics(const std::string& name) {
  DeviceHandle found;
  find_device(name, found);
  tenon_memory_info info;
  std::memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  check(tenon_device_describe_memory(found.device, &info));
  nb::dict result;
  result["live_bytes"] = info.live_bytes;
  result["peak_bytes"] = info.peak_bytes;
  result["held_bytes"] = info.held_bytes;
  result["live_buffers"] = info.live_buffers;
  result["allocations"] = info.allocations;
  result["limit_bytes"] = info.limit_bytes;
  return result;
}

// Returns the state, path, name and version of each plugin that was found.
nb::list plugins() {
  tenon_context* context = tenon_scope_context(scope());
  nb::list result;
  for (size_t i = 0, n = tenon_context_count_candidates(context); i < n; ++i) {
    tenon_plugin_candidate candidate;
    std::memset(&candidate, 0, sizeof candidate);
    candidate.struct_size = sizeof candidate;
    check(tenon_context_get_candidate(context, i, &candidate));
    nb::dict entry;
    entry["state"] = candidate.state == TENON_PLUGIN_LOADED    ? "loaded"
                     : candidate.state == TENON_PLUGIN_REFUSED ? "refused"
                                                               : "not tried";
    entry["path"] = to_python(candidate.path);
    entry["name"] = to_python(candidate.name);
    entry["version"] = to_python(candidate.version);
    entry["reason"] = to_python(candidate.reason);
    result.append(entry);
  }
  return result;
}

struct Options {
  std::vector<std::string> texts;
  std::vector<tenon_string> paths;
  std::vector<tenon_plugin_option> plugin_options;
  tenon_context_options c = TENON_CONTEXT_OPTIONS_DEFAULT;
};

// Creates a context. The keys of `plugin_options` have the form "plugin.key".
tenon_context* create_context(const std::vector<std::string>& plugin_paths, nb::dict plugin_options,
                              uint64_t memory_limit_bytes, uint32_t threads, int32_t numeric_policy,
                              int32_t fallback_policy, bool deterministic, int32_t log_level) {
  Options options;
  for (const std::string& path : plugin_paths) options.paths.push_back(to_c(path));
  std::vector<std::string> texts;
  texts.reserve(3 * nb::len(plugin_options));
  for (auto [key, value] : plugin_options) {
    const std::string name = nb::cast<std::string>(key);
    const size_t dot = name.find('.');
    texts.push_back(name.substr(0, dot));
    texts.push_back(dot == std::string::npos ? "" : name.substr(dot + 1));
    texts.push_back(nb::cast<std::string>(nb::str(value)));
    const std::string* last = &texts[texts.size() - 3];
    options.plugin_options.push_back({to_c(last[0]), to_c(last[1]), to_c(last[2])});
  }
  options.c.plugin_paths = options.paths.data();
  options.c.n_plugin_paths = options.paths.size();
  options.c.plugin_options = options.plugin_options.data();
  options.c.n_plugin_options = options.plugin_options.size();
  options.c.memory_limit_bytes = memory_limit_bytes;
  options.c.threads = threads;
  options.c.numeric_policy = numeric_policy;
  options.c.fallback_policy = fallback_policy;
  options.c.deterministic = deterministic;
  options.c.log_level = log_level;
  tenon_context* context = nullptr;
  check(tenon_context_create(&options.c, &context));
  return context;
}

// A context, and a scope that a `with` statement makes the current one of the thread.
struct Context {
  tenon_context* handle;
  ~Context() {
    const nb::gil_scoped_release release;
    tenon_context_release(handle);
  }
};

struct Scope {
  tenon_scope* handle;
  std::vector<Current> outer;
  ~Scope() { tenon_scope_release(handle); }
};

}  // namespace

// Drops a reference to a Python object later, on a thread that holds the GIL.
void release_later(PyObject* object) {
  if (!object) return;
  {
    const std::lock_guard lock(released_lock);
    released->push_back(object);
  }
  // Fails if Python's queue of pending calls is full. A later run of drop_released then drops the
  // reference.
  Py_AddPendingCall(drop_released, nullptr);
}

// The destructor of a C payload that is a reference to a Python object. Calls release_later().
void release_payload(void* object) { release_later(static_cast<PyObject*>(object)); }

// Returns the shared context. Creates it at the first use.
tenon_context* shared_context() {
  {
    const std::lock_guard lock(context_lock);
    if (context_in_use) return context_in_use;
  }
  // The options contain the paths of plugins that other Python packages provide.
  nb::object options = nb::module_::import_("tenon._devices").attr("_default_options")();
  tenon_context* made =
      create_context(nb::cast<std::vector<std::string>>(options["plugin_paths"]), nb::dict(), 0, 0,
                     TENON_NUMERIC_STRICT, TENON_FALLBACK_WARN, false, TENON_LOG_WARNING);
  const std::lock_guard lock(context_lock);
  if (context_in_use) {
    tenon_context_release(made);
  } else {
    context_in_use = made;
  }
  return context_in_use;
}

// Creates the scope of this thread in the shared context, and makes it current.
tenon_scope* make_thread_scope() {
  if (!thread_scope.scope)
    check(tenon_scope_create(shared_context(), TENON_STR(""), &thread_scope.scope));
  current = {thread_scope.scope, false};
  return current.scope;
}

// Sets the location of the scope to the user's source line.
void set_user_location() {
  static PyObject* const locate = [] {
    nb::object function = nb::module_::import_("tenon._frames").attr("user_location");
    return function.release().ptr();
  }();
  nb::object text = nb::steal(PyObject_CallNoArgs(locate));
  if (!text.is_valid()) {
    PyErr_Clear();
    return;
  }
  const std::string location = nb::cast<std::string>(text);
  tenon_error_release(tenon_scope_set_location(scope(), to_c(location)));
}

// Adds the functions and classes for contexts, scopes and devices to the module tenon._native.
void define_scopes(nb::module_& module) {
  watch_interrupts();
  module.def("is_tracing", [] { return current.tracing; });
  module.def("set_device", [](const std::string& name) {
    tenon_scope* here = scope();
    run_blocking([&] { return tenon_scope_set_device(here, to_c(name)); });
  });
  module.def("get_device", [] {
    tenon_scope* here = scope();
    DeviceHandle found;
    run_blocking([&] { return tenon_scope_get_device(here, &found.device); });
    return to_python(tenon_device_name(found.device));
  });
  module.def("wait", [] {
    tenon_scope* here = scope();
    run_blocking([&] { return tenon_scope_wait(here); });
  });
  module.def("cancel", [] { tenon_context_cancel(tenon_scope_context(scope())); });
  module.def("set_location", [](const std::string& location) {
    check(tenon_scope_set_location(scope(), to_c(location)));
  });
  module.def("describe_device", [](const std::string& name) {
    DeviceHandle found;
    find_device(name, found);
    return describe_device(found.device);
  });
  module.def("list_devices", [] {
    tenon_context* context = tenon_scope_context(scope());
    size_t count = 0;
    run_blocking([&] { return tenon_context_count_devices(context, &count); });
    nb::list result;
    for (size_t i = 0; i < count; ++i) {
      DeviceHandle found;
      check(tenon_context_get_device(context, i, &found.device));
      result.append(describe_device(found.device));
    }
    return result;
  });
  module.def("memory_info", &memory_statistics);
  module.def("reset_peak_memory", [](const std::string& name) {
    DeviceHandle found;
    find_device(name, found);
    tenon_device_reset_peak(found.device);
  });
  module.def("trim_memory", [](const std::string& name) {
    DeviceHandle found;
    find_device(name, found);
    uint64_t freed = 0;
    run_blocking([&] { return tenon_device_trim(found.device, &freed); });
    return freed;
  });
  module.def("plugins", &plugins);
  module.def("load_plugin", [](const std::string& path) {
    tenon_context* context = tenon_scope_context(scope());
    run_blocking([&] { return tenon_context_load_plugin(context, to_c(path)); });
  });
  module.def("passes", [] {
    nb::list result;
    for (size_t i = 0; i < tenon_count_passes(); ++i)
      result.append(
          nb::make_tuple(to_python(tenon_pass_name(i)), to_python(tenon_pass_summary(i))));
    return result;
  });
  module.def("set_pass", [](const std::string& name, bool enabled) {
    check(tenon_context_set_pass(tenon_scope_context(scope()), to_c(name), enabled));
  });
  module.def("run_functions_eagerly", [](bool eagerly) {
    tenon_context_run_functions_eagerly(tenon_scope_context(scope()), eagerly);
  });

  nb::class_<Context>(module, "Context")
      .def("__init__",
           [](Context* self, std::vector<std::string> plugin_paths, nb::dict plugin_options,
              uint64_t memory_limit_bytes, uint32_t threads, int32_t numeric_policy,
              int32_t fallback_policy, bool deterministic, int32_t log_level) {
             new (self)
                 Context{create_context(plugin_paths, plugin_options, memory_limit_bytes, threads,
                                        numeric_policy, fallback_policy, deterministic, log_level)};
           })
      .def("cancel", [](Context& self) { tenon_context_cancel(self.handle); });
  nb::class_<Scope>(module, "Scope")
      .def(
          "__init__",
          [](Scope* self, const Context* context, const std::string& device) {
            tenon_context* owner = context ? context->handle : shared_context();
            tenon_scope* handle = nullptr;
            run_blocking([&] { return tenon_scope_create(owner, to_c(device), &handle); });
            new (self) Scope{handle, {}};
          },
          nb::arg("context").none(), nb::arg("device"))
      .def("enter",
           [](Scope& self) {
             self.outer.push_back(current);
             current = {self.handle, tenon_scope_is_tracing(self.handle)};
           })
      .def("exit",
           [](Scope& self) {
             if (self.outer.empty()) return;
             current = self.outer.back();
             self.outer.pop_back();
           })
      .def("cancel", [](Scope& self) { tenon_scope_cancel(self.handle); })
      .def("wait",
           [](Scope& self) { run_blocking([&] { return tenon_scope_wait(self.handle); }); });
}

}  // namespace tenon_python
