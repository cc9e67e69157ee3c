// Options of the fake device with their defaults. An application passes them to a context as
// strings, such as "delay_us" = "50".

#pragma once

#include <tenon/plugin.h>

#include "plugins/sdk/host.h"

namespace tenon_fake {

struct Options {
  // ---- properties of the device ----
  uint64_t asynchronous = 1;  // Work runs on the stream's own thread.
  uint64_t visible = 0;       // Memory is host-visible.
  uint64_t blocking = 1;      // Provides the function `wait`.
  uint64_t delay_us = 0;      // Delay before each job, in microseconds.
  uint64_t memory_bytes = 0;  // Total memory in bytes; 0: that of the host.
  // Maximum operand size in bytes that kernels accept; 0: no limit.
  uint64_t max_operand_bytes = 0;
  uint64_t out_of_order = 0;  // Among streams with work, the most recently opened runs first.
  uint64_t records = 1;       // Supports recordings.
  // Speed of the device's clock in percent of the real one; 0: no clock.
  uint64_t clock = 100;

  // ---- false claims: properties that the device reports wrongly ----
  uint64_t claim_features = 0;  // Bits of features to report in addition to the true ones.
  uint64_t refuse_op = 0;       // The kernel entries of this op refuse all requests.

  // ---- faults at the n-th event, counted from 1 over the device's life; 0: never ----
  uint64_t fail_launch = 0;    // The n-th launch fails when it runs.
  uint64_t fail_enqueue = 0;   // The call that enqueues the n-th launch fails.
  uint64_t fail_copy = 0;      // The n-th copy fails.
  uint64_t fail_allocate = 0;  // The n-th allocation fails.
  uint64_t fail_call = 0;      // The n-th call of a plugin function that can return an error fails.
  uint64_t lose_at = 0;        // The device is lost from the n-th launch on.
  uint64_t silent = 0;         // If not 0, only `notify` and `wait` report failed launches.

  // ---- faults in all launches of one op, given by its number (TENON_OP_*); 0: none ----
  uint64_t overrun_op = 0;      // Launches of this op write one element after an output's end.
  uint64_t overrun_output = 0;  // Index of the output after whose end `overrun_op` writes.
  uint64_t leak_op = 0;         // Launches of this op leak 24 bytes of host memory.
  uint64_t swallow_op = 0;      // Launches of this op silently do nothing if malloc fails.
};

// Parses the options. Returns an error for an unknown key or a value that is not a number.
tenon_error* read_options(const tenon_sdk::Host& host, const tenon_instance_options& given,
                          Options& options);

}  // namespace tenon_fake
