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
// Formats the numbers of open objects.
std::string to_text(const Balance& balance);

enum class Poison : uint8_t { kOnes = 0xff, kPattern = 0xa5, kZeros = 0 };

namespace guard {

// Wraps the plugin with query function `inner`. Use query() in place of that function.
void set_guarded_plugin(tenon_plugin_query inner);
// Returns the query function of the guarding plugin.
tenon_plugin_query query();
const tenon_plugin& plugin();  // The wrapped plugin. Throws if it was not queried yet.

// Observes launches from `start_observing` until `stop_observing`, except those of recordings.
void start_observing(Poison poison);
// Ends the observation of launches.
void stop_observing();
std::vector<std::string> take_faults();  // Faults found since the last call.
uint64_t n_watched();  // Launches with an observed operand since the last `start_observing`.

enum class Call { kAllocate, kLaunch, kCopy, kPrepare };  // Replays count as launches.
// Makes the n-th call of a kind from now fail, counted from 1; if `n` is 0, no call.
void inject_failure(Call call, uint64_t n);
// Returns the number of calls of a kind since the last inject_failure() for that kind.
uint64_t n_calls(Call call);

// Makes the n-th allocation of host memory from now fail, counted from 1 over all threads while a
// launch is observed; if `n` is 0, none. Returns whether the previously requested failure was
// reached.
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

// Whether the plugin has the slot `prepare_loop`.
bool has_loops();
uint64_t n_loops();         // Number of loop programs without an anchor prepared so far.
uint64_t n_row_loops();     // Number of loop programs over rows prepared so far.
uint64_t n_anchor_loops();  // Number of loop programs with an anchor prepared so far.

// Whether the plugin has the slot `record`.
bool has_recordings();
uint64_t n_recordings();  // Number of recordings made so far.
uint64_t n_replays();     // Number of replays so far.

}  // namespace guard
}  // namespace tenon_kit
