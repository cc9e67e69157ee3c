// Injected faults in memory, streams, events and launches (level 1).

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "conformance/device/broken_device.h"

namespace tenon_kit::device {
namespace {

void* address(const tenon_place& place) {
  return static_cast<char*>(place.buffer ? broken->inner.map(place.buffer) : place.host) +
         place.offset;
}

// Keeps objects that a broken device never releases reachable, so that leak checkers do not report
// them.
void keep(void* lost) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::vector<void*>;
  std::lock_guard lock(*mutex);
  all->push_back(lost);
}

// Uses the kernel lines of the unmodified plugin, because `fake` looks up a kernel line by its
// address.
void prepare_by_its_own_lines(FaultyPlugin& b) { b.plugin.kernels = b.sane->kernels; }

}  // namespace

std::vector<DeviceFault> faults_of_level_1() {
  return {
      {"alignment", "buffers are not aligned", kRef,
       [](FaultyPlugin& b) {
         b.calls.map = [](tenon_buffer_p* buffer) -> void* {
           return static_cast<char*>(broken->inner.map(buffer)) + 4;
         };
       }},
      {"buffer_sizes", "the last byte of a large copy is missing", kRef,
       [](FaultyPlugin& b) {
         b.calls.copy = [](tenon_stream_p* stream, const tenon_copy_region* region) {
           tenon_copy_region own = *region;
           own.size -= own.size > 5000;
           return broken->inner.copy(stream, &own);
         };
       }},
      {"map", "map returns another address each time", kRef,
       [](FaultyPlugin& b) {
         b.calls.map = [](tenon_buffer_p* buffer) -> void* {
           return static_cast<char*>(broken->inner.map(buffer)) - 64 * (broken->n++ % 2);
         };
       }},
      {"import", "imported memory is a copy", kRef,
       [](FaultyPlugin& b) {
         b.calls.import_host = [](tenon_device_p* device, void*, uint64_t size,
                                  tenon_buffer_p** out) {
           return broken->inner.allocate(device, size, out);
         };
       }},
      {"exhaustion", "out of memory is reported as INTERNAL", kRef,
       [](FaultyPlugin& b) {
         b.calls.allocate = [](tenon_device_p* device, uint64_t size, tenon_buffer_p** out) {
           tenon_error* error = broken->inner.allocate(device, size, out);
           if (!error) return error;
           host_table().release_error(error);
           return host_table().make_error(TENON_INTERNAL, tenon_str("no memory"));
         };
       }},
      {"statistics", "allocations are not counted", kRef,
       [](FaultyPlugin& b) {
         b.calls.memory_statistics = [](tenon_device_p* device, tenon_memory_statistics* out) {
           tenon_error* error = broken->inner.memory_statistics(device, out);
           out->allocations = 0;
           return error;
         };
       }},
      {"balance", "every hundredth buffer is not released", kRef,
       [](FaultyPlugin& b) {
         b.calls.release = [](tenon_buffer_p* buffer) {
           if (++broken->inside % 100) return broken->inner.release(buffer);
           keep(buffer);
         };
       }},
      {"roundtrip", "offsets are multiples of 8", kRef,
       [](FaultyPlugin& b) {
         b.calls.copy = [](tenon_stream_p* stream, const tenon_copy_region* region) {
           tenon_copy_region own = *region;
           if (own.from.buffer) own.from.offset &= ~uint64_t{7};
           return broken->inner.copy(stream, &own);
         };
       }},
      {"device_copies", "device copies omit the last odd bytes", kRef,
       [](FaultyPlugin& b) {
         b.calls.copy = [](tenon_stream_p* stream, const tenon_copy_region* region) {
           tenon_copy_region own = *region;
           if (own.from.buffer && own.to.buffer) own.size &= ~uint64_t{3};
           return broken->inner.copy(stream, &own);
         };
       }},
      {"overlap", "overlapping copies run forward", kRef,
       [](FaultyPlugin& b) {
         b.calls.copy = [](tenon_stream_p*, const tenon_copy_region* region) {
           auto* from = static_cast<volatile char*>(address(region->from));
           auto* to = static_cast<volatile char*>(address(region->to));
           for (uint64_t i = 0; i < region->size; ++i) to[i] = from[i];
           return static_cast<tenon_error*>(nullptr);
         };
       }},
      {"fill_patterns", "the high bytes of a pattern come first", kRef,
       [](FaultyPlugin& b) {
         b.calls.fill = [](tenon_stream_p* stream, const tenon_fill_region* region) {
           tenon_fill_region own = *region;
           own.pattern = __builtin_bswap64(own.pattern) >> (64 - 8 * own.pattern_size);
           return broken->inner.fill(stream, &own);
         };
       }},
      {"stream_order", "device copies run out of order", kRef,
       [](FaultyPlugin& b) {
         b.calls.copy = [](tenon_stream_p* stream, const tenon_copy_region* region) {
           if (!region->from.buffer || !region->to.buffer)
             return broken->inner.copy(stream, region);
           broken->copies.push_back(*region);
           return static_cast<tenon_error*>(nullptr);
         };
         b.calls.notify = [](tenon_stream_p* stream, tenon_done_callback done) {
           for (const tenon_copy_region& copy : std::exchange(broken->copies, {})) {
             broken->inner.copy(stream, &copy);
           }
           return broken->inner.notify(stream, done);
         };
       }},
      {"completion", "notify calls back before the work is done", kLate,
       [](FaultyPlugin& b) {
         b.calls.notify = [](tenon_stream_p* stream, tenon_done_callback done) {
           done.function(done.payload, nullptr);
           if (done.destroy) done.destroy(done.payload);
           // Waits, because a stream must be idle when it closes.
           return broken->inner.wait(stream);
         };
       }},
      {"notify", "notify calls back twice", kRef,
       [](FaultyPlugin& b) {
         b.calls.notify = [](tenon_stream_p* stream, tenon_done_callback done) {
           if (!done.destroy) done.function(done.payload, nullptr);
           return broken->inner.notify(stream, done);
         };
       }},
      {"wait", "wait returns immediately", kLate,
       [](FaultyPlugin& b) {
         b.calls.wait = [](tenon_stream_p*) { return static_cast<tenon_error*>(nullptr); };
       }},
      {"synchronous",
       "an asynchronous device claims SYNCHRONOUS",
       {{"claim_features", "4"}, {"delay_us", "100"}},
       nullptr},
      {"many_streams", "only 32 streams can be open", kRef,
       [](FaultyPlugin& b) {
         b.calls.open_stream = [](tenon_device_p* device, tenon_stream_p** out) {
           if (++broken->n <= 32) return broken->inner.open_stream(device, out);
           return host_table().make_error(TENON_UNAVAILABLE, tenon_str("no more streams"));
         };
       }},
      {"stream_threads", "copies on two threads disturb each other", kRef,
       [](FaultyPlugin& b) {
         b.calls.copy = [](tenon_stream_p* stream, const tenon_copy_region* region) {
           const bool alone = ++broken->inside == 1;
           std::this_thread::sleep_for(std::chrono::microseconds(200));
           tenon_error* error = broken->inner.copy(stream, region);
           --broken->inside;
           if (alone || error) return error;
           return host_table().make_error(TENON_INTERNAL, tenon_str("somebody else was here"));
         };
       }},
      {"regions", "copy regions are read after the call", kRef,
       [](FaultyPlugin& b) {
         b.calls.copy = [](tenon_stream_p*, const tenon_copy_region* region) {
           broken->regions.push_back(region);
           return static_cast<tenon_error*>(nullptr);
         };
         b.calls.notify = [](tenon_stream_p* stream, tenon_done_callback done) {
           for (const tenon_copy_region* region : std::exchange(broken->regions, {})) {
             broken->inner.copy(stream, region);
           }
           return broken->inner.notify(stream, done);
         };
       }},
      {"event_order", "events are not waited for", kLate,
       [](FaultyPlugin& b) {
         b.calls.wait_event = [](tenon_stream_p*, tenon_event_p*) {
           return static_cast<tenon_error*>(nullptr);
         };
       }},
      {"event_order", "events are not waited for, out of order", kReverse,
       [](FaultyPlugin& b) {
         b.calls.wait_event = [](tenon_stream_p*, tenon_event_p*) {
           return static_cast<tenon_error*>(nullptr);
         };
       }},
      {"event_twice", "only the first wait for an event waits", kLate,
       [](FaultyPlugin& b) {
         b.calls.wait_event = [](tenon_stream_p* stream, tenon_event_p* event) {
           if (!broken->events.insert(event).second) return static_cast<tenon_error*>(nullptr);
           return broken->inner.wait_event(stream, event);
         };
       }},
      {"event_moment", "all events of a stream are its first event", kLate,
       [](FaultyPlugin& b) {
         b.calls.record_event = [](tenon_stream_p* stream, tenon_event_p** out) {
           tenon_error* error = nullptr;
           if (stream != broken->stream) error = broken->inner.record_event(stream, &broken->event);
           broken->stream = stream;
           *out = broken->event;
           return error;
         };
         b.calls.release_event = [](tenon_event_p* event) { keep(event); };
       }},
      {"event_released", "releasing an event ends pending waits", kLate,
       [](FaultyPlugin& b) {
         b.calls.wait_event = [](tenon_stream_p* stream, tenon_event_p* event) {
           broken->stream = stream;
           broken->event = event;
           return static_cast<tenon_error*>(nullptr);
         };
         b.calls.release_event = [](tenon_event_p* event) {
           if (event == broken->event) broken->event = nullptr;
           broken->inner.release_event(event);
         };
         b.calls.copy = [](tenon_stream_p* stream, const tenon_copy_region* region) {
           if (broken->event && stream == broken->stream) {
             broken->inner.wait_event(stream, std::exchange(broken->event, nullptr));
           }
           return broken->inner.copy(stream, region);
         };
       }},
      {"event_blocking", "wait_event blocks the caller", kLate,
       [](FaultyPlugin& b) {
         b.calls.record_event = [](tenon_stream_p* stream, tenon_event_p** out) {
           broken->stream = stream;
           return broken->inner.record_event(stream, out);
         };
         b.calls.wait_event = [](tenon_stream_p*, tenon_event_p*) {
           return broken->inner.wait(broken->stream);
         };
       }},
      {"launch_sizes", "launches of long vectors do nothing", kRef,
       [](FaultyPlugin& b) {
         b.calls.launch = [](tenon_kernel_p* kernel, tenon_stream_p* stream,
                             const tenon_launch* launch) {
           if (launch->outputs[0].sizes[0] > 1000) return static_cast<tenon_error*>(nullptr);
           return broken->inner.launch(kernel, stream, launch);
         };
       }},
      {"launch_reports", "a launch fails", {{"fail_launch", "3"}}, nullptr},
      {"launch_reports",
       "a launch fails, and which is not told",
       {{"fail_launch", "3"}, {"silent", "1"}},
       nullptr},
      {"launch_reports", "a launch is refused", {{"fail_enqueue", "20"}}, nullptr},
      {"launch_reports", "the device is lost", {{"lose_at", "20"}}, nullptr},
      {"launch_reports", "a launch is lost without a report", kRef,
       [](FaultyPlugin& b) {
         b.calls.launch = [](tenon_kernel_p* kernel, tenon_stream_p* stream,
                             const tenon_launch* launch) {
           if (++broken->n == 7) return static_cast<tenon_error*>(nullptr);
           return broken->inner.launch(kernel, stream, launch);
         };
       }},
      {"by_value", "values are read too late", kRef,
       [](FaultyPlugin& b) {
         b.calls.launch = [](tenon_kernel_p* kernel, tenon_stream_p* stream,
                             const tenon_launch* launch) {
           static double later = 0;
           tenon_launch own = *launch;
           tenon_view input = launch->inputs[0];
           if (!input.buffer) input.data = &later;
           own.inputs = &input;
           return broken->inner.launch(kernel, stream, &own);
         };
       }},
      {"index_records", "an index out of range is not reported", kRef,
       [](FaultyPlugin& b) {
         b.calls.launch = [](tenon_kernel_p* kernel, tenon_stream_p* stream,
                             const tenon_launch* launch) {
           static tenon_error_record nowhere;
           tenon_launch own = *launch;
           own.record = &nowhere;
           return broken->inner.launch(kernel, stream, &own);
         };
       }},
      {"tasks", "the last of many tasks does not run", kRef,
       [](FaultyPlugin& b) {
         b.calls.run_tasks = [](tenon_stream_p*, const tenon_tasks* tasks) {
           for (size_t i = 0; i < tasks->n - (tasks->n > 100); ++i) {
             tasks->run(tasks->payload, i);
           }
         };
       }},
      {"tasks", "a nested task runs twice", kRef,
       [](FaultyPlugin& b) {
         b.calls.run_tasks = [](tenon_stream_p*, const tenon_tasks* tasks) {
           const bool is_inner = broken->inside++ > 0;
           for (size_t i = 0; i < tasks->n; ++i) tasks->run(tasks->payload, i);
           if (is_inner) tasks->run(tasks->payload, 0);
           --broken->inside;
         };
       }},
      {"task_launches", "a launch in a task is lost while another one runs", kRef,
       [](FaultyPlugin& b) {
         b.calls.run_tasks = [](tenon_stream_p*, const tenon_tasks* tasks) {
           for (size_t i = 0; i < tasks->n; ++i) {
             broken->inside = static_cast<int>(i % 2);
             tasks->run(tasks->payload, i);
           }
           broken->inside = 0;
         };
         b.calls.launch = [](tenon_kernel_p* kernel, tenon_stream_p* stream,
                             const tenon_launch* launch) -> tenon_error* {
           if (broken->inside > 0) return nullptr;
           return broken->inner.launch(kernel, stream, launch);
         };
       }},
      {"time_order", "each stream has its own clock", kLate,
       [](FaultyPlugin& b) {
         b.calls.read_time = [](tenon_stream_p* stream, uint64_t mark, uint64_t* out_ns) {
           tenon_error* error = broken->inner.read_time(stream, mark, out_ns);
           *out_ns += reinterpret_cast<uintptr_t>(stream) % 100'000 * 1'000'000;
           return error;
         };
       }},
      {"time_unit", "the clock counts microseconds", kLate,
       [](FaultyPlugin& b) {
         b.calls.read_time = [](tenon_stream_p* stream, uint64_t mark, uint64_t* out_ns) {
           tenon_error* error = broken->inner.read_time(stream, mark, out_ns);
           *out_ns /= 1000;
           return error;
         };
       }},
      {"time_work", "the clock is read when the mark is enqueued", kLate,
       [](FaultyPlugin& b) {
         b.calls.mark_time = [](tenon_stream_p*, uint64_t* out_mark) -> tenon_error* {
           *out_mark = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                             std::chrono::nanoseconds(1));
           return nullptr;
         };
         b.calls.read_time = [](tenon_stream_p*, uint64_t mark, uint64_t* out_ns) -> tenon_error* {
           *out_ns = mark;
           return nullptr;
         };
       }},
      {"time_forgotten", "mark numbers are reused after fifty", kLate,
       [](FaultyPlugin& b) {
         b.calls.mark_time = [](tenon_stream_p*, uint64_t* out_mark) -> tenon_error* {
           *out_mark = static_cast<uint64_t>(broken->n++ % 50);
           return nullptr;
         };
         b.calls.read_time = [](tenon_stream_p*, uint64_t, uint64_t* out_ns) -> tenon_error* {
           *out_ns = static_cast<uint64_t>(broken->n++);
           return nullptr;
         };
       }},
      {"time_forgotten", "no mark is available after one is read", kLate,
       [](FaultyPlugin& b) {
         b.calls.mark_time = [](tenon_stream_p* stream, uint64_t* out_mark) {
           if (broken->n++ < 1000) return broken->inner.mark_time(stream, out_mark);
           return host_table().make_error(TENON_OUT_OF_MEMORY, tenon_str("all marks are taken"));
         };
       }},
      {"replays", "replays use the values of the first replay", kLate,
       [](FaultyPlugin& b) {
         prepare_by_its_own_lines(b);
         b.calls.replay = [](tenon_recording_p* recording, tenon_stream_p* stream,
                             const tenon_replay* replay) {
           static std::vector<tenon_element> first;
           if (first.empty()) first.assign(replay->values, replay->values + replay->n_values);
           tenon_replay own = *replay;
           own.values = first.data();
           return broken->inner.replay(recording, stream, &own);
         };
       }},
      {"replays", "replays write to the recorded memory", kLate,
       [](FaultyPlugin& b) {
         prepare_by_its_own_lines(b);
         b.calls.replay = [](tenon_recording_p* recording, tenon_stream_p* stream,
                             const tenon_replay* replay) {
           static tenon_slot first = replay->slots[1];
           std::vector<tenon_slot> slots(replay->slots, replay->slots + replay->n_slots);
           slots[1] = first;
           tenon_replay own = *replay;
           own.slots = slots.data();
           return broken->inner.replay(recording, stream, &own);
         };
       }},
      {"replays", "one of four recorded launches is lost", kLate,
       [](FaultyPlugin& b) {
         prepare_by_its_own_lines(b);
         b.calls.record = [](tenon_device_p* device, const tenon_record_request* request,
                             tenon_recording_p** out, tenon_string* reason) {
           tenon_record_request own = *request;
           own.n_launches -= own.n_launches == 4;
           return broken->inner.record(device, &own, out, reason);
         };
       }},
      {"replay_records", "replays use the first error record", kLate,
       [](FaultyPlugin& b) {
         prepare_by_its_own_lines(b);
         b.calls.replay = [](tenon_recording_p* recording, tenon_stream_p* stream,
                             const tenon_replay* replay) {
           static tenon_buffer_p* const first = replay->record_buffer;
           tenon_replay own = *replay;
           own.record_buffer = first;
           return broken->inner.replay(recording, stream, &own);
         };
       }},
      {"index_values", "an index out of range leaves the output unwritten", kRef,
       [](FaultyPlugin& b) {
         b.calls.launch = [](tenon_kernel_p* kernel, tenon_stream_p* stream,
                             const tenon_launch* launch) {
           tenon_error* error = broken->inner.launch(kernel, stream, launch);
           const tenon_view& y = launch->outputs[0];
           if (launch->record && launch->record->state == 1) {
             std::memset(static_cast<std::byte*>(y.data) + y.strides[0], 0xc3, 1);
           }
           return error;
         };
       }},
      {"host_memory", "a call throws an exception", kRef,
       [](FaultyPlugin& b) {
         b.calls.open_stream = [](tenon_device_p* device, tenon_stream_p** out) {
           delete std::make_unique<std::string>(100, 'x').release();
           return broken->inner.open_stream(device, out);
         };
       }},
      {"host_memory", "a failed notify does not destroy its callback", kRef,
       [](FaultyPlugin& b) {
         b.calls.notify = [](tenon_stream_p* stream, tenon_done_callback done) {
           void* const scratch = std::malloc(10);
           if (!scratch) return host_table().make_error(TENON_OUT_OF_MEMORY, tenon_str("none"));
           std::free(scratch);
           return broken->inner.notify(stream, done);
         };
       }},
  };
}

}  // namespace tenon_kit::device
