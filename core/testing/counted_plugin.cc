#include "core/testing/counted_plugin.h"

#include "core/device/plugin_files.h"

namespace tenon::testing {
namespace {

tenon_plugin_query inner_query = nullptr;
tenon_plugin plugin;
tenon_plugin_calls inner, calls;

tenon_error* query(const tenon_host* host, const tenon_plugin** out_plugin) {
  const tenon_plugin* found = nullptr;
  if (tenon_error* error = inner_query(host, &found)) return error;
  plugin = *found;
  inner = calls = *found->calls;
  plugin.calls = &calls;
  calls.allocate = [](tenon_device_p* device, uint64_t size, tenon_buffer_p** out_buffer) {
    ++counted().allocations;
    return inner.allocate(device, size, out_buffer);
  };
  calls.fill = [](tenon_stream_p* stream, const tenon_fill_region* region) {
    ++counted().fills;
    return inner.fill(stream, region);
  };
  calls.launch = [](tenon_kernel_p* kernel, tenon_stream_p* stream, const tenon_launch* launch) {
    ++counted().launches;
    return inner.launch(kernel, stream, launch);
  };
  calls.record = [](tenon_device_p* device, const tenon_record_request* request,
                    tenon_recording_p** out_recording, tenon_string* out_reason) {
    ++counted().records;
    tenon_error* error = inner.record(device, request, out_recording, out_reason);
    if (*out_recording) ++counted().recordings;
    return error;
  };
  calls.replay = [](tenon_recording_p* recording, tenon_stream_p* stream,
                    const tenon_replay* replay) {
    ++counted().replays;
    return inner.replay(recording, stream, replay);
  };
  if (inner.run_tasks) {
    calls.run_tasks = [](tenon_stream_p* stream, const tenon_tasks* tasks) {
      counted().tasks += tasks->n;
      inner.run_tasks(stream, tasks);
    };
  }
  calls.release_recording = [](tenon_recording_p* recording) {
    --counted().recordings;
    inner.release_recording(recording);
  };
  *out_plugin = &plugin;
  return nullptr;
}

}  // namespace

tenon_plugin_query counted_plugin(const std::string& path) {
  inner_query = map_plugin_file(path);
  return query;
}

CallCounts& counted() {
  static CallCounts counts;
  return counts;
}

}  // namespace tenon::testing
