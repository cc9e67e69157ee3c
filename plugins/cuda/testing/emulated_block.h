// Runs the threads of one block as fibers of the calling thread, so that barriers, shuffles and
// votes behave as CUDA specifies. A thread that never waits needs no switch: its fiber continues
// with the next thread.

#pragma once

#include <string>

#include "plugins/cuda/testing/emulated_abi.h"

namespace tenon_emulated {

using Call = void (*)(const void* parameters);

// The state that device code reads; one launch runs at a time.
TenonEmulatedThread& device_state();

// Runs all threads of the block in device_state(). Returns a description of the error, such as a
// divergent barrier; empty if there was none.
std::string run_block(Call call, const void* parameters);

}  // namespace tenon_emulated
