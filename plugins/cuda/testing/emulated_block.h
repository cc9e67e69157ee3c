// Runs the threads of one block as fibers of the calling thread, so that barriers, shuffles and
// votes behave as CUDA specifies. After a thread that never waited, its fiber runs the next thread
// without a switch.

#pragma once

#include <string>

#include "plugins/cuda/testing/emulated_abi.h"

namespace tenon_emulated {

using Call = void (*)(const void* parameters);

// Returns the state that device code reads. There is one state, because one launch runs at a time.
TenonEmulatedThread& device_state();

// Runs all threads of the block in device_state(). Returns a description of the error, such as a
// divergent barrier; empty if there was none.
std::string run_block(Call call, const void* parameters);

}  // namespace tenon_emulated
