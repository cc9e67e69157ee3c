// Tests the program tenon-conformance in child processes.

#include <gtest/gtest.h>

#include <string>

#include "conformance/tests/process.h"

namespace tenon_kit {
namespace {

TEST(Program, ReportsInvalidArguments) {
  const struct {
    const char *arguments, *words;
  } cases[] = {
      {"", "--plugin is required"},
      {"--plugin nothing", "no file and no plugin is named \"nothing\"; Tenon finds"},
      {"--plugin /dev/null", "/dev/null"},
      {"--plugin ref --op nothing", "--op: unknown op \"nothing\""},
      {"--plugin ref --dtype f33", "unknown dtype \"f33\""},
      {"--plugin ref --check nothing", "unknown property \"nothing\"; there are"},
      {"--plugin ref --level 9", "--level"},
      {"--plugin ref --profile loose", "--profile"},
      {"--plugin ref --seed one", "--seed"},
      {"--plugin ref --jobs 0", "--jobs"},
      {"--plugin ref --shard 3/2", "--shard expects I/N with 1 <= I <= N"},
      {"--plugin ref --option novalue", "--option expects KEY=VALUE"},
      {"--plugin ref --case '{'", "--case expects a line of a report"},
      {"--plugin ref --case '{\"op\":\"nothing\"}'", "unknown op \"nothing\""},
      {"--plugin ref --op exp --resume nothing", "cannot read nothing"},
      {"--plugin ref --op exp --expected nothing", "cannot read nothing"},
      {"--plugin ref --op exp --json no/such/folder", "cannot write no/such/folder"},
      {"--plugin ref --range 0:1", "--range can only be used with --exhaustive"},
      {"--plugin ref --exhaustive nothing", "unknown op \"nothing\""},
      {"--plugin ref --exhaustive add", "add is not an elementwise op with one input"},
      {"--plugin ref --exhaustive exp --dtype f64", "takes f32, f16 and bf16, not f64"},
      {"--plugin ref --exhaustive exp --range 1:0", "--range expects A:B"},
      {"--plugin ref --nonsense", "--nonsense"},
      {"--plugin ref --memory-mib much", "--memory-mib"},
  };
  for (const auto& [arguments, words] : cases) {
    const ProcessResult ended = run(arguments);
    EXPECT_NE(ended.status, 0) << arguments;
    EXPECT_TRUE(has(ended, words)) << arguments << "\n" << ended.text;
  }
}

// If the plugin returns UNAVAILABLE, the run is skipped. If a host refuses the plugin, the run
// fails.
TEST(Program, SkipsOnlyPluginsThatReturnUnavailable) {
  const struct {
    const char* fault;
    int status;
    const char* words;
  } cases[] = {
      {"error", 77, "bad: needs a unicorn"},
      {"create", 77, "the driver is asleep"},
      {"epoch", 1, "has another ABI epoch"},
      {"feature", 1, "the plugin requires features that this host lacks: bit 40"},
      {"load", 1, "what_no_library_has"},
      {"many", 1, "the plugin reports 1099511627776 devices, but at most 4096 are allowed"},
      {"count", 1, "tenon_plugin.n_kernels is 1099511627776, but must be at most"},
      {"nulltext", 1, "kernels[1].signature is NULL"},
  };
  for (const auto& [fault, status, words] : cases) {
    const std::string file = std::string(TENON_TEST_BAD_PLUGIN) + fault + ".so";
    const ProcessResult ended = run("--plugin " + file + " --op exp");
    EXPECT_EQ(ended.status, status) << fault << "\n" << ended.text;
    EXPECT_TRUE(has(ended, words)) << fault << "\n" << ended.text;
  }
}

TEST(Program, PrintsHelpForItsArguments) {
  const ProcessResult help = run("--help");
  EXPECT_EQ(help.status, 0);
  for (const char* option : {"--plugin", "--level", "--op", "--dtype", "--profile", "--seed",
                             "--case", "--jobs", "--minutes", "--memory-mib", "--shard", "--resume",
                             "--json", "--junit", "--html", "--claims", "--exhaustive"}) {
    EXPECT_TRUE(has(help, option)) << option;
  }
}

TEST(Program, ListsClaims) {
  const ProcessResult claims = run("--plugin ref --claims");
  EXPECT_EQ(claims.status, 0);
  EXPECT_TRUE(has(claims, "\nexp f16 bf16 f32 f64\n"));
  EXPECT_FALSE(has(claims, "relu6"));  // The plugin does not claim relu6.
}

TEST(Program, ReproducesTheLineOfAReport) {
  const std::string given =
      R"( --case '{"op":"exp","inputs":[{"dtype":"f32","shape":[1],"values":[0]}],)"
      R"("expect":[{"dtype":"f32","shape":[1],"values":[)";

  const ProcessResult right = run("--plugin ref --check literal" + given + "1]}]}'");
  EXPECT_EQ(right.status, 0);
  EXPECT_TRUE(has(right, "PASS literal")) << right.text;

  const ProcessResult wrong = run("--plugin ref --check literal" + given + "2]}]}'");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_TRUE(has(wrong, "FAIL literal output 0: element 0 is 1, not 2")) << wrong.text;
}

TEST(Program, RunsTheSelectedCells) {
  const ProcessResult ended = run("--plugin ref --op exp --dtype f16 --check all_halves --jobs 1");
  EXPECT_EQ(ended.status, 0);
  EXPECT_TRUE(has(ended, "cells: 1, 1 PASS")) << ended.text;
  EXPECT_TRUE(has(ended, "claims executed / claimed / whole: 1 / ")) << ended.text;
}

TEST(Program, RefusesRelaxedForDevicesWithoutFastMath) {
  const ProcessResult ref = run("--plugin ref --profile relaxed --op exp --dtype f32 --jobs 1");
  EXPECT_EQ(ref.status, 2);
  EXPECT_TRUE(
      has(ref, "--profile relaxed is for devices that declare FAST_MATH, which ref:0 does not"))
      << ref.text;
}

TEST(Program, LimitsTheMemoryOfWorkers) {
  const std::string few = "--plugin ref --op exp --dtype f16 --check fused --jobs 1";
  EXPECT_TRUE(has(run(few + " --memory-mib 2048"), "cells: 1, 1 PASS"));
  EXPECT_TRUE(has(run(few + " --memory-mib 0"), "cells: 1, 1 PASS"));
}

TEST(Program, StopsAfterTheTimeLimitAndResumes) {
  const std::string few = "--plugin ref --op exp --jobs 1 --json exp.json";

  const ProcessResult cut = run(few + " --minutes 0.00001");
  EXPECT_EQ(cut.status, 75);
  EXPECT_TRUE(has(cut, " cells; --resume continues with them")) << cut.text;
  EXPECT_TRUE(has(cut, "UNFINISHED")) << cut.text;

  const ProcessResult whole = run(few + " --resume exp.json");
  EXPECT_EQ(whole.status, 0);
  EXPECT_TRUE(has(whole, "PASSED")) << whole.text;
  EXPECT_FALSE(has(whole, "left: ")) << whole.text;

  const ProcessResult known = run(few + " --resume exp.json --minutes 0.00001");
  EXPECT_EQ(known.status, 0);
  EXPECT_TRUE(has(known, "PASSED")) << known.text;
}

TEST(Program, FailsIfNoCellWasRun) {
  const ProcessResult ended = run("--plugin ref --op exp --dtype i64");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(has(ended, "no cell was run, so the run fails")) << ended.text;
}

TEST(Program, ResumesAnExhaustiveRun) {
  const std::string all = "--plugin ref --exhaustive exp --dtype bf16 --jobs 1 ";

  const ProcessResult half = run(all + "--shard 1/2 --json half.json");
  EXPECT_EQ(half.status, 0);
  EXPECT_TRUE(has(half, "PASSED (1 of 2 parts)")) << half.text;

  const ProcessResult whole = run(all + "--resume half.json --html all.html");
  EXPECT_EQ(whole.status, 0);
  EXPECT_TRUE(has(whole, "exp bf16 on ref:0: 1 parts of 2, bound 1 ulp")) << whole.text;
  EXPECT_TRUE(has(whole, "largest error: 0.5 ulp at x = ")) << whole.text;
  EXPECT_TRUE(has(whole, "beyond the bound: 0 of 65536 inputs")) << whole.text;

  const ProcessResult other = run("--plugin ref --exhaustive log --dtype bf16 --resume half.json");
  EXPECT_NE(other.status, 0);
  EXPECT_TRUE(has(other, "half.json belongs to a different run")) << other.text;
}

}  // namespace
}  // namespace tenon_kit
