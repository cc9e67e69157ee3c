// Tests the guard around a device whose launches are asynchronous. There is one guard in a process,
// so this test has its own executable.

#include "conformance/kit/guard.h"

#include <gtest/gtest.h>

#include "conformance/kit/plugin_log.h"
#include "conformance/kit/session.h"
#include "conformance/run/claim_run.h"

namespace tenon_kit {
namespace {

enum class Fault { kNone, kWritesPastItsOutput, kWritesToItsInput };
Fault fault = Fault::kNone;

const tenon_plugin& fake() {
  static const tenon_plugin* const plugin = [] {
    const tenon_plugin* found = nullptr;
    tenon::check(open_plugin(TENON_TEST_FAKE)(tenon_host_table(), &found));
    return found;
  }();
  return *plugin;
}

// Launches the kernel, and then enqueues the write that is the plugin's fault. It happens long
// after this call has returned.
tenon_error* launch(tenon_kernel_p* kernel, tenon_stream_p* stream, const tenon_launch* launch) {
  tenon_error* error = fake().calls->launch(kernel, stream, launch);
  if (error || fault == Fault::kNone) return error;
  const bool of_input = fault == Fault::kWritesToItsInput;
  const tenon_view& view = of_input ? launch->inputs[0] : launch->outputs[0];
  const uint64_t bytes = TENON_DTYPE_BITS(view.dtype) / 8 * static_cast<uint64_t>(view.sizes[0]);
  const tenon_fill_region region = {.buffer = view.buffer,
                                    .offset = view.byte_offset + (of_input ? 0 : bytes),
                                    .size = 4,
                                    .pattern = 0x11,
                                    .pattern_size = 1,
                                    .reserved = 0};
  return fake().calls->fill(stream, &region);
}

// Whether each new instance logs one line of each level.
bool logs_lines = false;

tenon_error* create(const tenon_host* host, const tenon_instance_options* options,
                    tenon_instance_p** out) {
  for (const int32_t level : {TENON_LOG_INFO, TENON_LOG_WARNING, TENON_LOG_ERROR}) {
    const std::string line = "line of level " + std::to_string(level);
    if (logs_lines) host->log(options->log_context, level, tenon_str(line.c_str()));
  }
  return fake().create(host, options, out);
}

tenon_error* query(const tenon_host*, const tenon_plugin** out_plugin) {
  static tenon_plugin_calls calls = *fake().calls;
  static tenon_plugin plugin = fake();
  calls.launch = launch;
  plugin.calls = &calls;
  plugin.create = create;
  *out_plugin = &plugin;
  return nullptr;
}

// The faults that the guard has found. `blocking` is whether the device has the slot `wait`;
// without that slot, the guard waits with `notify`.
struct Seen {
  std::vector<std::string> faults;
  uint64_t n_watched = 0;
  Reals values;
};

Seen watched(Fault own, bool blocking) {
  guard::set_guarded_plugin(query);
  const Session session(
      {.device = "fake:0",
       .query = guard::query(),
       .plugin_options = {
           {"visible", "1"}, {"blocking", blocking ? "1" : "0"}, {"delay_us", "2000"}}});
  Problem problem;
  problem.op = &op_named("neg");
  Operand x;
  x.shape = {4};
  x.fill.values = {1, 2, 3, 4};
  problem.inputs = {x};
  session.run(problem);

  Seen seen;
  fault = own;
  guard::take_faults();
  guard::start_observing(Poison::kPattern);
  seen.values = session.run(problem)[0].values();
  guard::stop_observing();
  fault = Fault::kNone;
  seen.faults = guard::take_faults();
  seen.n_watched = guard::n_watched();
  return seen;
}

TEST(Guard, DetectsWritesThatHappenAfterTheLaunchReturned) {
  for (const bool blocking : {true, false}) {
    const Seen sane = watched(Fault::kNone, blocking);
    EXPECT_TRUE(sane.faults.empty());
    EXPECT_EQ(sane.n_watched, 1u);
    EXPECT_EQ(sane.values, (Reals{-1, -2, -3, -4}));

    const Seen beyond = watched(Fault::kWritesPastItsOutput, blocking);
    ASSERT_EQ(beyond.faults.size(), 1u);
    EXPECT_EQ(beyond.faults[0], "neg: output 0 was written outside its 16 bytes, at 16");

    const Seen changed = watched(Fault::kWritesToItsInput, blocking);
    ASSERT_EQ(changed.faults.size(), 1u);
    EXPECT_EQ(changed.faults[0], "neg: input 0 was written to");
  }
}

TEST(Guard, CollectsWarningsAndErrorsThatAPluginLogs) {
  guard::set_guarded_plugin(query);
  take_plugin_log();
  logs_lines = true;
  const Session session({.device = "fake:0", .query = guard::query()});
  logs_lines = false;
  EXPECT_EQ(take_plugin_log(), "line of level 2; line of level 3");
  EXPECT_EQ(take_plugin_log(), "");
}

TEST(PluginLog, ReturnsTheFirstLinesAndCountsTheRest) {
  for (int i = 0; i < 5; ++i) note_plugin_log(TENON_LOG_ERROR, tenon_str("again"));
  EXPECT_EQ(take_plugin_log(), "again; again; again; and 2 more lines");
}

}  // namespace
}  // namespace tenon_kit
