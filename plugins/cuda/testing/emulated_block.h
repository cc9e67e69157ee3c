// Runs the threads of one block as fibers of the calling thread, so that barriers, shuffles and
// votes behave as CUDA specifies. A thread that never waits costs no switch: the fiber that ran it
// goes on with the next thread.

#pragma once

#include <string>

#include "plugins/cuda/testing/emulated_abi.h"

namespace tenon_emulated {

using Call = void (*)(const void* parameters);

// The state that device code reads; one launch runs at a time.
TenonEmulatedThread& device_state();

// Runs all threads of the block that device_state() names. Returns what they did wrong, such as a
// divergent barrier; empty: nothing.
std::string run_block(Call call, const void* parameters);

}  // namespace tenon_emulated
