// Options of a fake device, as an application passes them to a context ("delay_us" = "50"), with
// their defaults.

#pragma once

#include <tenon/plugin.h>

#include "plugins/sdk/host.h"

namespace tenon_fake {

struct Options {
  // ---- properties of the device ----
  uint64_t asynchronous = 1;       // Work runs on the stream's own thread.
  uint64_t visible = 0;            // Memory is host-visible.
  uint64_t blocking = 1;           // The plugin has `wait`.
  uint64_t delay_us = 0;           // Delay before each job.
  uint64_t memory_bytes = 0;       // Total memory; 0: that of the host.
  uint64_t max_operand_bytes = 0;  // Maximum operand size for kernels; 0 for none.
  uint64_t out_of_order = 0;  // Of the streams with work, the one that was opened last runs first.
  uint64_t records = 1;       // Supports recordings.
  uint64_t clock = 100;       // Speed of its clock in percent; 0 for no clock.

  // ---- false claims ----
  uint64_t claim_features = 0;  // Additional features to claim.
  uint64_t refuse_op = 0;       // The kernel entries of this op refuse all requests.

  // ---- faults, by number from 1 over the device's life; 0 for never ----
  uint64_t fail_launch = 0;    // The launch with this number fails.
  uint64_t fail_enqueue = 0;   // The launch with this number is refused by the call.
  uint64_t fail_copy = 0;      // The copy with this number fails.
  uint64_t fail_allocate = 0;  // The allocation with this number fails.
  uint64_t fail_call = 0;      // Of all calls that may fail, the one with this number fails.
  uint64_t lose_at = 0;        // The device is lost from this launch on.
  uint64_t silent = 0;         // A failed launch is reported only by `notify` and `wait`.

  // ---- faults of the launches of one op, by its number; 0 for none ----
  uint64_t overrun_op = 0;      // Writes one element after the end of
  uint64_t overrun_output = 0;  // this output.
  uint64_t leak_op = 0;         // Leaks a few bytes of host memory.
  uint64_t swallow_op = 0;      // Does nothing, and succeeds, if it gets no host memory.
};

// Refuses unknown keys and values that are not numbers.
tenon_error* read_options(const tenon_sdk::Host& host, const tenon_instance_options& given,
                          Options& options);

}  // namespace tenon_fake
