// A plugin around the plugin under test: it hands every call on, and looks at what passes. Outputs
// are written into memory of its own that was poisoned before and has guard bytes at both ends;
// inputs must be what they were; what is opened must be closed; and calls fail where a check orders
// it.
//
// There is one in a process. It works for devices whose memory the host sees; each watched launch
// is waited for where work would go on behind its return. Elsewhere nothing is seen, and `watches`
// says so.

#pragma once

#include <tenon/plugin.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon_kit {

// What a plugin has opened and not closed yet.
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

// Puts the guard around a plugin; its query function takes the plugin's place.
void wrap(tenon_plugin_query inner);
tenon_plugin_query query();
const tenon_plugin& plugin();  // The one within. Throws what its query function answered.

// From here on, until `relax`, launches are watched. Those of a recording are not seen.
void watch(Poison poison);
void relax();
std::vector<std::string> take_faults();  // What was seen since the last time.
bool watches();        // Whether the host sees the memory of the devices that were opened.
uint64_t n_watched();  // Launches of which an operand was looked at, since the last `watch`.

// Lets the n-th call from now fail, 1 for the next one; 0 for none.
enum class Call { kAllocate, kLaunch, kCopy, kPrepare };  // A replay is a launch.
void fail_at(Call call, uint64_t n);
uint64_t n_calls(Call call);  // Since the last `fail_at`.

Balance balance();

// Whether a kernel was prepared for the op with these dtypes of its first input and output.
bool has_prepared(uint32_t op, tenon_dtype input, tenon_dtype output);

// Whether the plugin answers `prepare_loop`, and how many loops it made ready so far; those over
// rows, and those behind heads.
bool has_loops();
uint64_t n_loops();
uint64_t n_row_loops();
uint64_t n_head_loops();

// The same of `record`, and how often a recording was replayed.
bool has_recordings();
uint64_t n_recordings();
uint64_t n_replays();

}  // namespace guard
}  // namespace tenon_kit
