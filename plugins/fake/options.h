// How a fake device is to behave. The options of the plugin, as a program gives them to a context
// ("delay_us" = "50"), and what the members below stand for when none is given.

#pragma once

#include <tenon/plugin.h>

#include "plugins/sdk/host.h"

namespace tenon_fake {

struct Options {
  // ---- what the device is ----
  uint64_t asynchronous = 1;       // Work runs on a thread of its stream's.
  uint64_t visible = 0;            // The host sees the memory.
  uint64_t blocking = 1;           // `wait` is there.
  uint64_t delay_us = 0;           // Before each piece of work.
  uint64_t memory_bytes = 0;       // All that there is; 0 for what the host has.
  uint64_t max_operand_bytes = 0;  // What kernels see of an operand; 0 for all.
  uint64_t out_of_order = 0;       // Of two streams with work the one opened later goes first.
  uint64_t records = 1;            // It makes recordings.
  uint64_t clock = 100;            // How fast its clock goes, in percent; 0: it has none.

  // ---- what it says that is not so ----
  uint64_t claim_features = 0;  // The device says that it has these too.
  uint64_t refuse_op = 0;       // This op's lines are there, and refuse.

  // ---- what goes wrong; counted from 1 over the device's life, 0 for never ----
  uint64_t fail_launch = 0;    // This launch fails,
  uint64_t fail_enqueue = 0;   // or this one, at once.
  uint64_t fail_copy = 0;      // This copy.
  uint64_t fail_allocate = 0;  // This allocation.
  uint64_t fail_call = 0;      // This call of those that may fail, whichever it is.
  uint64_t lose_at = 0;        // From this launch on the device is lost.
  uint64_t silent = 0;         // A failed launch is not named: only `notify` and `wait` tell.
};

// Refuses keys that there are not and values that are no numbers.
tenon_error* read_options(const tenon_sdk::Host& host, const tenon_instance_options& given,
                          Options& options);

}  // namespace tenon_fake
