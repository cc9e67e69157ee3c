// Tests that on a device with asynchronous work and memory that the host cannot access, the kit
// finds the same faults as on a device in host memory. The device is `fake`, with one fault in one
// op.

#include <gtest/gtest.h>

#include "conformance/device/failing_memory.h"
#include "conformance/kit/op_registry.h"
#include "conformance/tests/process.h"

#if defined(TENON_TEST_FAKE)
namespace tenon_kit {
namespace {

// Runs one check of one op on `fake`; `option` injects a fault into its launches.
ProcessResult run_with_fault(const char* option, const char* op, const char* check,
                             const std::string& more) {
  return run("--plugin " TENON_TEST_FAKE " --dtype f32 --jobs 1 --op " + std::string(op) +
             " --check " + check + " --option " + option + "=" + std::to_string(op_named(op).id) +
             " " + more);
}

TEST(InvisibleDevice, WritePastAnOutputIsReportedWithItsOpAtTheSmokeLevel) {
  const struct {
    const char* op;
    int n_outputs;
  } ops[] = {{"add", 1},    {"exp", 1}, {"cast", 1},   {"sum", 1},    {"matmul", 1},
             {"gather", 1}, {"pad", 1}, {"concat", 1}, {"cumsum", 1}, {"top_k", 2}};
  for (const auto& [op, n_outputs] : ops) {
    for (int i = 0; i < n_outputs; ++i) {
      const std::string number = std::to_string(i);
      const ProcessResult ended = run_with_fault("overrun_op", op, "guards",
                                                 "--level smoke --option overrun_output=" + number);
      EXPECT_EQ(ended.status, 1) << op;
      EXPECT_TRUE(has(ended, "FAIL guards " + std::string(op) + " ")) << ended.text;
      EXPECT_TRUE(has(ended, std::string(op) + ": output " + number + " was written outside its "))
          << ended.text;
    }
  }
}

TEST(InvisibleDevice, FaultlessOpPassesTheGuardAndPoisonChecks) {
  const std::string few =
      "--plugin " TENON_TEST_FAKE " --op top_k --dtype f32 --level smoke --jobs 1";
  EXPECT_TRUE(has(run(few + " --check guards"), "cells: 1, 1 PASS"));
  EXPECT_TRUE(has(run(few + " --check poison"), "cells: 1, 1 PASS"));
}

TEST(InvisibleDevice, LeakOfEachLaunchIsFound) {
  if (!device::can_fail_host_memory()) GTEST_SKIP() << "this build cannot count bytes of malloc";
  const ProcessResult ended = run_with_fault("leak_op", "add", "leaks", "--level smoke");
  EXPECT_TRUE(has(ended, "LEAK leaks add f32: each call leaks at least ")) << ended.text;
  EXPECT_TRUE(has(run_with_fault("leak_op", "sub", "leaks", "--level smoke --option leak_op=0"),
                  "cells: 1, 1 PASS"));
}

TEST(InvisibleDevice, LaunchThatHidesItsOutOfMemoryErrorIsFound) {
  if (!device::can_fail_host_memory()) GTEST_SKIP() << "this build cannot make malloc fail";
  for (const char* visible : {"0", "1"}) {
    const ProcessResult ended =
        run_with_fault("swallow_op", "add", "failures",
                       "--option visible=" + std::string(visible) +
                           " --option asynchronous=" + (*visible == '0' ? "1" : "0"));
    EXPECT_TRUE(has(ended, "FAIL failures add f32: allocation ")) << ended.text;
    EXPECT_TRUE(has(ended, " of host memory in a launch failed, but this was not reported: "))
        << ended.text;
  }
}

TEST(InvisibleDevice, ClaimedKernelThatIsRefusedIsReportedWithTheReason) {
  const ProcessResult ended = run_with_fault("refuse_op", "add", "guards", "--level smoke");
  EXPECT_TRUE(has(ended, "FAIL guards add f32: claimed, but refused: ")) << ended.text;
  EXPECT_TRUE(has(ended, "claims this op but has no kernel for it")) << ended.text;
}

}  // namespace
}  // namespace tenon_kit
#endif
