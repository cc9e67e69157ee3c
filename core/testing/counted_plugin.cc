#include "core/testing/counted_plugin.h"

#include "core/device/plugin_files.h"

namespace tenon::testing {
namespace {

tenon_plugin_query inner_query = nullptr;
tenon_plugin plugin;
tenon_plugin_calls inner, calls;

// The entry of the wrapper: replaces slots of the wrapped plugin by functions that count calls.
tenon_error* query(const tenon_host* host, const tenon_plugin** out_plugin) {
  const tenon_plugin* found = nullptr;
  if (tenon_error* error = inner_query(host, &found)) return error;
  plugin = *found;
  inner = calls = *found->calls;
  plugin.calls = &calls;
  calls.allocate = [](tenon_device_p* device, uint64_t size, tenon_buffer_p** out_buffer) {
    ++call_counts().allocations;
    return inner.allocate(device, size, out_buffer);
  };
  calls.fill = [](tenon_stream_p* stream, const tenon_fill_region* region) {
    ++call_counts().fills;
    return inner.fill(stream, region);
  };
  calls.launch = [](tenon_kernel_p* kernel, tenon_stream_p* stream, const tenon_launch* launch) {
    ++call_counts().launches;
    return inner.launch(kernel, stream, launch);
  };
  calls.record = [](tenon_device_p* device, const tenon_record_request* request,
                    tenon_recording_p** out_recording, tenon_string* out_reason) {
    ++call_counts().records;
    tenon_error* error = inner.record(device, request, out_recording, out_reason);
    if (*out_recording) ++call_counts().recordings;
    return error;
  };
  calls.replay = [](tenon_recording_p* recording, tenon_stream_p* stream,
                    const tenon_replay* replay) {
    ++call_counts().replays;
    return inner.replay(recording, stream, replay);
  };
  if (inner.run_tasks) {
    calls.run_tasks = [](tenon_stream_p* stream, const tenon_tasks* tasks) {
      call_counts().tasks += tasks->n;
      inner.run_tasks(stream, tasks);
    };
  }
  calls.release_recording = [](tenon_recording_p* recording) {
    --call_counts().recordings;
    inner.release_recording(recording);
  };
  *out_plugin = &plugin;
  return nullptr;
}

}  // namespace

// Wraps the plugin in the file `path`, to count its calls. A process can wrap only one plugin.
tenon_plugin_query counted_plugin(const std::string& path) {
  inner_query = map_plugin_file(path);
  return query;
}

// Returns the numbers of calls that the wrapped plugin has received so far.
CallCounts& call_counts() {
  static CallCounts counts;
  return counts;
}

}  // namespace tenon::testing
