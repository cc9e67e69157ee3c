// A plugin that wraps the plugin under test. It forwards every call and checks it: outputs are in
// poisoned memory between guard bytes, inputs must not change, and open objects must be closed. It
// makes calls fail when a check requests that.
//
// There is one guard in a process. It observes launches on any device, even if the host cannot
// access the device's memory. It waits for each observed launch that may run asynchronously.

#pragma once

#include <tenon/plugin.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon_kit {

// Objects that a plugin has opened and not closed yet.
struct Balance {
  int64_t instances = 0;
  int64_t devices = 0;
  int64_t buffers = 0;
  int64_t streams = 0;
  int64_t events = 0;
  int64_t kernels = 0;
  int64_t recordings = 0;
  friend bool operator==(const Balance&, const Balance&) = default;
};
std::string to_text(const Balance& balance);

enum class Poison : uint8_t { kOnes = 0xff, kPattern = 0xa5, kZeros = 0 };

namespace guard {

// Wraps the plugin with query function `inner`. Use query() in place of that function.
void set_guarded_plugin(tenon_plugin_query inner);
tenon_plugin_query query();
const tenon_plugin& plugin();  // The wrapped plugin. Throws if it was not queried yet.

// Observes launches from `start_observing` until `stop_observing`, except those of recordings.
void start_observing(Poison poison);
void stop_observing();
std::vector<std::string> take_faults();  // Faults found since the last call.
uint64_t n_watched();  // Launches with an observed operand since the last `start_observing`.

// Makes the n-th call of a kind from now fail, counted from 1; 0 for none.
enum class Call { kAllocate, kLaunch, kCopy, kPrepare };  // Replays count as launches.
void inject_failure(Call call, uint64_t n);
uint64_t n_calls(Call call);  // Number of calls since the last `inject_failure`.

// Makes the n-th host allocation of observed launches from now fail, on any thread; 0 for none.
// Returns whether the previously requested failure was reached.
bool fail_memory_at(uint64_t n);

// The numbers of objects that are open now.
Balance balance();

// Whether the plugin has prepared a kernel for the op with these dtypes of the first input and the
// first output.
bool has_prepared_kernel(uint32_t op, tenon_dtype input, tenon_dtype output);

// The plugin's reason for its last refusal of a kernel for the op; empty if it never refused.
std::string refusal_of(uint32_t op);

// take_launched_ops() returns the sorted names of the ops whose kernels were launched since
// start_listing_launches().
void start_listing_launches();
std::vector<std::string> take_launched_ops();

// has_loops: whether the plugin has the slot `prepare_loop`. The others return how many loop
// programs it has prepared: elementwise ones, those over rows, and those after anchor kernels.
bool has_loops();
uint64_t n_loops();
uint64_t n_row_loops();
uint64_t n_anchor_loops();

// Whether the plugin has the slot `record`, and how many recordings and replays it has made.
bool has_recordings();
uint64_t n_recordings();
uint64_t n_replays();

}  // namespace guard
}  // namespace tenon_kit
