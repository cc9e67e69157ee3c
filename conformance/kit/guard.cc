#include "conformance/kit/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "conformance/device/failing_memory.h"
#include "conformance/kit/op_registry.h"
#include "conformance/kit/plugin_log.h"
#include "conformance/kit/watched_launch.h"

namespace tenon_kit::guard {
namespace {

constexpr size_t kCalls = 4;

struct State {
  tenon_plugin_query query = nullptr;
  const tenon_host* host = nullptr;
  tenon_host heard = {};  // The host's table; the guard wraps some of its functions.
  const tenon_plugin* inner = nullptr;
  tenon_plugin outer = {};
  tenon_plugin_calls calls = {};  // The slots of the guarded plugin.
  tenon_plugin_calls own = {};
  std::vector<tenon_kernel> kernels;

  std::mutex mutex;
  std::map<tenon_device_p*, tenon_features> features_of;
  std::map<tenon_stream_p*, tenon_device_p*> device_of;
  std::map<tenon_kernel_p*, uint32_t> op_of;  // The op of each kernel; 0 for a loop or a custom op.
  std::set<std::tuple<uint32_t, tenon_dtype, tenon_dtype>> prepared;
  std::map<uint32_t, std::string> refusals;
  std::set<std::string> launched;
  std::atomic<bool> notes_launches{false};
  std::vector<std::string> faults;
  bool watching = false;
  Poison poison = Poison::kPattern;
  std::atomic<uint64_t> watched{0};
  uint64_t memory_left = 0;  // Host allocations until one fails; 1: the next one fails; 0: none.
  std::atomic<uint64_t> loops{0}, row_loops{0}, anchor_loops{0}, recordings{0}, replays{0};
  std::atomic<uint64_t> seen[kCalls] = {};
  std::atomic<uint64_t> fails[kCalls] = {};

  std::atomic<int64_t> instances{0}, devices{0}, buffers{0}, streams{0}, events{0}, kernels_open{0},
      recordings_open{0};
};
State state;

void report_fault(std::string text) {
  std::lock_guard lock(state.mutex);
  if (state.faults.size() < 100) state.faults.push_back(std::move(text));
}

// Counts the call. Returns an error if this call is to fail, else NULL.
tenon_error* injected_failure(Call call) {
  const auto i = static_cast<size_t>(call);
  const uint64_t n = state.seen[i].fetch_add(1) + 1;
  if (n != state.fails[i].load()) return nullptr;
  const bool memory = call == Call::kAllocate;
  return state.host->make_error(memory ? TENON_OUT_OF_MEMORY : TENON_INTERNAL,
                                tenon_str("injected failure"));
}

// ---- the host's table: allocations by the host are not attributed to the plugin

tenon_error* make_error(tenon_code code, tenon_string message) {
  const device::HostMemoryHolds holds;
  return state.host->make_error(code, message);
}
void launch_failed(void* work, uint64_t ticket, tenon_error* error) {
  const device::HostMemoryHolds holds;
  state.host->launch_failed(work, ticket, error);
}
void log(void* log_context, int32_t level, tenon_string message) {
  const device::HostMemoryHolds holds;
  note_plugin_log(level, message);
  state.host->log(log_context, level, message);
}

// ---- counting open objects

tenon_error* create(const tenon_host*, const tenon_instance_options* options,
                    tenon_instance_p** out) {
  tenon_error* error = state.inner->create(&state.heard, options, out);
  if (!error) ++state.instances;
  return error;
}
void destroy(tenon_instance_p* self) {
  --state.instances;
  state.calls.destroy(self);
}
tenon_error* open_device(tenon_instance_p* self, size_t index, tenon_device_p** out) {
  tenon_error* error = state.calls.open_device(self, index, out);
  if (error) return error;
  ++state.devices;
  tenon_device_properties properties = {};
  properties.struct_size = sizeof properties;
  if (tenon_error* refused = state.calls.describe_device(*out, &properties)) {
    // Drops the error: the core makes the same call and reports it.
    state.host->release_error(refused);
  }
  std::lock_guard lock(state.mutex);
  state.features_of[*out] = properties.features;
  return nullptr;
}
void close_device(tenon_device_p* device) {
  --state.devices;
  {
    std::lock_guard lock(state.mutex);
    state.features_of.erase(device);
  }
  state.calls.close_device(device);
}
tenon_error* allocate(tenon_device_p* device, uint64_t size, tenon_buffer_p** out) {
  if (tenon_error* error = injected_failure(Call::kAllocate)) return error;
  tenon_error* error = state.calls.allocate(device, size, out);
  if (!error) ++state.buffers;
  return error;
}
tenon_error* import_host(tenon_device_p* device, void* data, uint64_t size, tenon_buffer_p** out) {
  tenon_error* error = state.calls.import_host(device, data, size, out);
  if (!error) ++state.buffers;
  return error;
}
void release(tenon_buffer_p* buffer) {
  --state.buffers;
  state.calls.release(buffer);
}
tenon_error* copy(tenon_stream_p* stream, const tenon_copy_region* region) {
  if (tenon_error* error = injected_failure(Call::kCopy)) return error;
  return state.calls.copy(stream, region);
}
tenon_error* open_stream(tenon_device_p* device, tenon_stream_p** out) {
  tenon_error* error = state.calls.open_stream(device, out);
  if (error) return error;
  ++state.streams;
  std::lock_guard lock(state.mutex);
  state.device_of[*out] = device;
  return nullptr;
}
void close_stream(tenon_stream_p* stream) {
  --state.streams;
  {
    std::lock_guard lock(state.mutex);
    state.device_of.erase(stream);
  }
  state.calls.close_stream(stream);
}
tenon_error* record_event(tenon_stream_p* stream, tenon_event_p** out) {
  tenon_error* error = state.calls.record_event(stream, out);
  if (!error) ++state.events;
  return error;
}
void release_event(tenon_event_p* event) {
  --state.events;
  state.calls.release_event(event);
}
void release_kernel(tenon_kernel_p* kernel) {
  --state.kernels_open;
  {
    std::lock_guard lock(state.mutex);
    state.op_of.erase(kernel);
  }
  state.calls.release_kernel(kernel);
}

tenon_error* record(tenon_device_p* device, const tenon_record_request* request,
                    tenon_recording_p** out, tenon_string* out_reason) {
  tenon_error* error = state.calls.record(device, request, out, out_reason);
  if (!error && *out) {
    ++state.recordings;
    ++state.recordings_open;
  }
  return error;
}
tenon_error* replay(tenon_recording_p* recording, tenon_stream_p* stream,
                    const tenon_replay* replay) {
  if (tenon_error* error = injected_failure(Call::kLaunch)) return error;
  ++state.replays;
  return state.calls.replay(recording, stream, replay);
}
void release_recording(tenon_recording_p* recording) {
  --state.recordings_open;
  state.calls.release_recording(recording);
}

// While launches are observed, runs tasks one after another on the calling thread.
void run_tasks(tenon_stream_p* stream, const tenon_tasks* tasks) {
  if (!state.watching) return state.calls.run_tasks(stream, tasks);
  for (size_t i = 0; i < tasks->n; ++i) tasks->run(tasks->payload, i);
}

// Returns the dtype of the first operand; TENON_DTYPE_NONE if there are no operands.
tenon_dtype first_dtype(const tenon_operand* operands, size_t n) {
  return n == 0 ? TENON_DTYPE_NONE : operands[0].dtype;
}

// Returns the kernel line of the guarded plugin of which `copy` is the guard's copy.
const tenon_kernel* inner_line(const tenon_kernel* copy) {
  const auto index = static_cast<size_t>(copy - state.kernels.data());
  const auto* first = reinterpret_cast<const char*>(state.inner->kernels);
  return reinterpret_cast<const tenon_kernel*>(first + index * state.inner->kernel_size);
}

tenon_error* prepare(tenon_device_p* device, const tenon_kernel_request* request,
                     tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                     tenon_string* out_reason) {
  if (tenon_error* error = injected_failure(Call::kPrepare)) return error;
  tenon_kernel_request handed = *request;
  handed.line = inner_line(request->line);
  tenon_error* error = handed.line->prepare(device, &handed, out_kernel, out_traits, out_reason);
  if (!error && !*out_kernel) {
    std::lock_guard lock(state.mutex);
    state.refusals[handed.line->op] =
        out_reason->data ? std::string(out_reason->data, out_reason->size) : "no reason";
  }
  if (!error && *out_kernel) {
    ++state.kernels_open;
    std::lock_guard lock(state.mutex);
    state.op_of[*out_kernel] = handed.line->op;
    state.prepared.insert({handed.line->op, first_dtype(request->inputs, request->n_inputs),
                           first_dtype(request->outputs, request->n_outputs)});
  }
  return error;
}

tenon_error* prepare_loop(tenon_device_p* device, const tenon_loop_request* request,
                          tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                          tenon_string* out_reason) {
  if (tenon_error* error = injected_failure(Call::kPrepare)) return error;
  std::vector<tenon_loop_instruction> instructions(request->instructions,
                                                   request->instructions + request->n_instructions);
  for (tenon_loop_instruction& each : instructions) each.line = inner_line(each.line);
  tenon_loop_request handed = *request;
  handed.instructions = instructions.data();
  tenon_kernel_request anchor;
  if (request->anchor != nullptr) {
    anchor = *request->anchor;
    anchor.line = inner_line(anchor.line);
    handed.anchor = &anchor;
  }
  tenon_error* error =
      state.calls.prepare_loop(device, &handed, out_kernel, out_traits, out_reason);
  if (!error && *out_kernel) {
    ++state.kernels_open;
    ++(request->anchor != nullptr ? state.anchor_loops
       : request->row_axes != 0   ? state.row_loops
                                  : state.loops);
  }
  return error;
}

// ---- launches

// The name of a kernel's op, for messages.
std::string name_of(tenon_kernel_p* kernel) {
  std::lock_guard lock(state.mutex);
  const auto found = state.op_of.find(kernel);
  const OpFacts* const op = found == state.op_of.end() ? nullptr : find_op(found->second);
  if (op) return op->name;
  return found == state.op_of.end() ? "a loop" : "a custom op";
}

// Launches a kernel. If one of its host allocations shall fail, first waits for earlier work of the
// stream, so that no other work makes that allocation.
tenon_error* launch_with_failing_memory(const Inner& inner, tenon_features features,
                                        tenon_kernel_p* kernel, tenon_stream_p* stream,
                                        const tenon_launch& launch) {
  if (state.memory_left == 0) return state.calls.launch(kernel, stream, &launch);
  if (tenon_error* error = wait_for_stream(inner, stream, features)) return error;
  device::fail_host_memory_of_all_at(state.memory_left);
  tenon_error* error = state.calls.launch(kernel, stream, &launch);
  const device::HostMemoryHolds holds;
  tenon_error* late = error ? nullptr : wait_for_stream(inner, stream, features);
  state.memory_left = device::fail_host_memory_of_all_at(0);
  return error ? error : late;
}

// Launches the kernel on operands in guarded memory instead of its own, waits for it, and reports
// the faults.
tenon_error* observe_launch(tenon_device_p* device, tenon_features features, tenon_kernel_p* kernel,
                            tenon_stream_p* stream, const tenon_launch* launch) {
  const Inner inner = {state.calls, *state.host};
  const bool is_visible = (features & TENON_FEATURE_HOST_VISIBLE) != 0;
  Watched watched(inner, device, stream, is_visible, *launch);
  tenon_error* error = watched.prepare(state.poison);
  if (!error) {
    const tenon_launch handed = watched.redirected_launch();
    error = launch_with_failing_memory(inner, features, kernel, stream, handed);
  }
  if (!error) error = watched.enqueue_copies_back();
  tenon_error* late = wait_for_stream(inner, stream, features);
  if (error) {
    state.host->release_error(late);
    return error;
  }
  const std::string name = name_of(kernel);
  for (const std::string& text : watched.faults()) report_fault(name + ": " + text);
  if (watched.has_observed_operands()) ++state.watched;
  return late;
}

tenon_error* launch(tenon_kernel_p* kernel, tenon_stream_p* stream, const tenon_launch* launch) {
  if (tenon_error* error = injected_failure(Call::kLaunch)) return error;
  if (state.notes_launches) {
    std::string name = name_of(kernel);
    std::lock_guard lock(state.mutex);
    state.launched.insert(std::move(name));
  }
  if (!state.watching) return state.calls.launch(kernel, stream, launch);
  tenon_device_p* device;
  tenon_features features;
  {
    std::lock_guard lock(state.mutex);
    device = state.device_of[stream];
    features = state.features_of[device];
  }
  return observe_launch(device, features, kernel, stream, launch);
}

// ---- replacing the plugin

// Builds the table of the guarding plugin, with wrappers of the slots that the guard observes.
void build_guarding_plugin() {
  const tenon_plugin& inner = *state.inner;
  std::memcpy(&state.calls, inner.calls,
              std::min<size_t>(inner.calls->struct_size, sizeof state.calls));
  state.own = state.calls;
  state.own.struct_size = std::min<uint32_t>(inner.calls->struct_size, sizeof state.own);
  const auto replace = [](auto& slot, auto with) {
    if (slot) slot = with;
  };
  replace(state.own.destroy, destroy);
  replace(state.own.open_device, open_device);
  replace(state.own.close_device, close_device);
  replace(state.own.allocate, allocate);
  replace(state.own.import_host, import_host);
  replace(state.own.release, release);
  replace(state.own.copy, copy);
  replace(state.own.open_stream, open_stream);
  replace(state.own.close_stream, close_stream);
  replace(state.own.record_event, record_event);
  replace(state.own.release_event, release_event);
  replace(state.own.launch, launch);
  replace(state.own.release_kernel, release_kernel);
  replace(state.own.prepare_loop, prepare_loop);
  replace(state.own.record, record);
  replace(state.own.replay, replay);
  replace(state.own.release_recording, release_recording);
  replace(state.own.run_tasks, run_tasks);

  const auto* line = reinterpret_cast<const char*>(inner.kernels);
  for (size_t i = 0; i < inner.n_kernels; ++i, line += inner.kernel_size) {
    tenon_kernel copy = {};
    std::memcpy(&copy, line, std::min(inner.kernel_size, sizeof copy));
    copy.prepare = prepare;
    state.kernels.push_back(copy);
  }
  state.outer = {};
  std::memcpy(&state.outer, &inner, std::min<size_t>(inner.struct_size, sizeof state.outer));
  state.outer.struct_size = sizeof state.outer;
  state.outer.create = create;
  state.outer.calls = &state.own;
  state.outer.kernels = state.kernels.data();
  state.outer.kernel_size = sizeof(tenon_kernel);
}

// The query function of the guarding plugin. Queries the guarded plugin the first time.
tenon_error* query_guarding_plugin(const tenon_host* host, const tenon_plugin** out_plugin) {
  if (!state.inner) {
    const tenon_plugin* found = nullptr;
    state.host = host;
    state.heard = *host;
    state.heard.make_error = make_error;
    state.heard.launch_failed = launch_failed;
    state.heard.log = log;
    if (tenon_error* error = state.query(&state.heard, &found)) return error;
    if (!found || !found->calls || (found->n_kernels && !found->kernels)) {
      *out_plugin = found;  // The core rejects this plugin and reports the error.
      return nullptr;
    }
    state.inner = found;
    build_guarding_plugin();
  }
  *out_plugin = &state.outer;
  return nullptr;
}

}  // namespace

void set_guarded_plugin(tenon_plugin_query inner) { state.query = inner; }
tenon_plugin_query query() { return query_guarding_plugin; }

const tenon_plugin& plugin() {
  if (!state.inner) throw std::logic_error("the plugin has not been queried yet");
  return *state.inner;
}

void start_observing(Poison poison) {
  state.poison = poison;
  state.watched = 0;
  state.watching = true;
}
void stop_observing() { state.watching = false; }

bool fail_memory_at(uint64_t n) { return std::exchange(state.memory_left, n) == 0; }

std::vector<std::string> take_faults() {
  std::lock_guard lock(state.mutex);
  return std::exchange(state.faults, {});
}
uint64_t n_watched() { return state.watched; }

void inject_failure(Call call, uint64_t n) {
  const auto i = static_cast<size_t>(call);
  state.seen[i] = 0;
  state.fails[i] = n;
}
uint64_t n_calls(Call call) { return state.seen[static_cast<size_t>(call)]; }

Balance balance() {
  return {state.instances, state.devices,      state.buffers,        state.streams,
          state.events,    state.kernels_open, state.recordings_open};
}

bool has_prepared_kernel(uint32_t op, tenon_dtype input, tenon_dtype output) {
  std::lock_guard lock(state.mutex);
  return state.prepared.contains({op, input, output});
}

std::string refusal_of(uint32_t op) {
  std::lock_guard lock(state.mutex);
  const auto found = state.refusals.find(op);
  return found == state.refusals.end() ? "" : found->second;
}

void start_listing_launches() {
  std::lock_guard lock(state.mutex);
  state.launched.clear();
  state.notes_launches = true;
}

std::vector<std::string> take_launched_ops() {
  std::lock_guard lock(state.mutex);
  state.notes_launches = false;
  return {state.launched.begin(), state.launched.end()};
}

bool has_loops() { return state.own.prepare_loop != nullptr; }
uint64_t n_loops() { return state.loops + state.row_loops; }
uint64_t n_row_loops() { return state.row_loops; }
uint64_t n_anchor_loops() { return state.anchor_loops; }
bool has_recordings() { return state.own.record != nullptr; }
uint64_t n_recordings() { return state.recordings; }
uint64_t n_replays() { return state.replays; }

}  // namespace tenon_kit::guard

namespace tenon_kit {

std::string to_text(const Balance& b) {
  return fmt::format(
      "{} instances, {} devices, {} buffers, {} streams, {} events, {} kernels, {} recordings",
      b.instances, b.devices, b.buffers, b.streams, b.events, b.kernels, b.recordings);
}

}  // namespace tenon_kit
