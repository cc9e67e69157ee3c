// Tests how failures are attributed to ops, in the summary of a report and for cells that end a
// process.

#include "conformance/report/blame.h"

#include <gtest/gtest.h>

#include "conformance/run/workers.h"

namespace tenon_kit {
namespace {

Row failing(const char* op, const char* dtypes, const char* check, int level, std::string message,
            std::string line = "") {
  return {.op = op,
          .dtypes = dtypes,
          .check = check,
          .level = level,
          .status = Status::kFail,
          .message = std::move(message),
          .line = std::move(line)};
}

TEST(Blame, LaunchedOpsCanBeParsedFromAMessage) {
  const Row row = failing("embedding", "f32", "value", 3,
                          with_launched_ops("element 0 is 1, not 2", {"copy", "gather"}));
  EXPECT_EQ(row.message, "element 0 is 1, not 2 [launches copy, gather]");
  EXPECT_EQ(parse_launched_ops(row), (std::vector<std::string>{"copy", "gather"}));
  EXPECT_EQ(with_launched_ops("element 0 is 1, not 2", {}), "element 0 is 1, not 2");
}

TEST(Blame, SingleFaultHasNoSummary) {
  EXPECT_EQ(fault_summary({failing("exp", "f32", "value", 2, "no")}), "");
}

// The failure of the composite comes first in the report, and its program names both ops.
TEST(Blame, ConsequencesAreListedBelowTheOpThatFailsByItself) {
  const std::string summary = fault_summary({
      failing("embedding", "f32,i32->f32", "unclaimed", 3,
              "element 0 is 1, not 2 [launches gather]"),
      failing("functions.programs", "-", "traced", 5, "call 3: element 0 is 0, not 3",
              R"({"steps":[{"op":"gather","in":[1,2]},{"op":"neg","in":[3]}]})"),
      failing("gather", "f32,i32->f32", "layouts", 2, "element 0 is 1, not 2"),
      failing("gather", "f32,i32->f32", "value", 2, "element 0 is 1, not 2", R"({"op":"gather"})"),
      failing("exp", "f32", "value", 2, "element 0 is 3, not 4"),
  });
  EXPECT_EQ(summary,
            "faults, the most specific first:\n"
            "  FAIL layouts gather f32,i32->f32: element 0 is 1, not 2\n"
            "    also (1): value gather f32,i32->f32\n"
            "    in consequence (2): unclaimed embedding f32,i32->f32, traced "
            "functions.programs -\n"
            "  FAIL value exp f32: element 0 is 3, not 4\n");
}

TEST(Blame, FailureIsAttributedToTheOpThatBeginsItsMessage) {
  const std::string summary = fault_summary({
      failing("sub", "f32", "guards", 2, "copy: output 0 was written outside its 4 bytes, at 4"),
      failing("copy", "f32", "guards", 2, "copy: output 0 was written outside its 4 bytes, at 4"),
      failing("kernels", "-", "kernel_life", 0, "copy \"T->T T:any\", launched again: byte 0"),
  });
  EXPECT_EQ(summary,
            "faults, the most specific first:\n"
            "  FAIL kernel_life kernels -: copy \"T->T T:any\", launched again: byte 0\n"
            "    also (1): guards copy f32\n"
            "    in consequence (1): guards sub f32\n");
}

// A check of the device has no reproducible problem, but it names its step.
TEST(Blame, CrashOfADeviceCheckNamesItsStep) {
  Row found;
  run_cells(
      {.command = {"/bin/sh", "-c", "read c; echo '@abs \"f32->f32\"' >&3; kill -SEGV $$"},
       .problem_seconds = 5},
      {{kDevice, 0}}, [](const Cell&) { return Row{.op = "kernels", .dtypes = kNoDTypes}; },
      [&](const Cell&, const Row& row) { found = row; });
  EXPECT_EQ(found.status, Status::kCrash);
  EXPECT_EQ(found.message,
            "abs \"f32->f32\": the process was killed by the signal: Segmentation fault");
  EXPECT_EQ(found.line, "");
}

}  // namespace
}  // namespace tenon_kit
