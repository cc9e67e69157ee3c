// Tests each verdict of the kit with an injected fault.

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "conformance/run/all_inputs.h"
#include "conformance/run/claim_run.h"
#include "conformance/run/workers.h"

namespace tenon_kit {
namespace {

// A process has one guard, so it has one runner.
const Runner& runner() {
  static const Runner runner({.plugin = TENON_TEST_REF});
  return runner;
}

const Claim& claim_of(const char* op, const char* dtypes) {
  for (const Claim& claim : runner().claims()) {
    if (claim.op->name == op && claim.dtypes == dtypes) return claim;
  }
  throw std::runtime_error("no such claim");
}

std::vector<Problem> a_thousand(const Environment&, const Claim& claim) {
  Problem problem;
  problem.op = claim.op;
  problem.inputs = {uniform_operand(claim.inputs[0], {1000}, 1)};
  return {problem};
}

using Test = Finding (*)(const Environment&, const Problem&);

Row verdict_on(const Claim& claim, const decltype(Check::problems)& problems, Test test) {
  const Check check = {"planted", 2, "", always, problems, test};
  return runner().run(claim, check, [](const Problem&) {});
}

Row verdict_on(Test test) { return verdict_on(claim_of("exp", "f32"), a_thousand, test); }

TEST(Verdicts, PassIfTheCheckHolds) {
  const Row row = verdict_on([](const Environment& env, const Problem& problem) {
    return judge_values(env, problem, env.device.run(problem));
  });
  EXPECT_EQ(row.status, Status::kPass) << row.message;
  EXPECT_EQ(row.cases, 1u);
}

// The injected fault changes one element of the result: the one whose input is the only value above
// 0.99.
TEST(Verdicts, FailWithTheSmallestFailingProblem) {
  const Row row = verdict_on([](const Environment& env, const Problem& problem) {
    std::vector<Result> got = env.device.run(problem);
    const Reals x = problem.inputs[0].values();
    auto* y = reinterpret_cast<float*>(got[0].bytes.data());
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] > Real(0.99)) y[i] *= 1.001f;
    }
    return judge_values(env, problem, got);
  });
  EXPECT_EQ(row.status, Status::kFail);
  EXPECT_NE(row.message.find("element 0 is"), std::string::npos) << row.message;
  const Problem least = from_line(row.line);
  EXPECT_EQ(least.inputs[0].shape, (Sizes{1}));
}

// Gathers the last three of 64 elements, so cropping the data puts the indices out of range.
std::vector<Problem> gather_of_the_last(const Environment&, const Claim& claim) {
  Problem problem;
  problem.op = claim.op;
  problem.inputs = {uniform_operand(claim.inputs[0], {64}, 1),
                    explicit_operand(claim.inputs[1], {3}, {61, 62, 63})};
  return {problem};
}

Row verdict_on_gather(Test test) {
  return verdict_on(claim_of("gather", "f32,i64->f32"), gather_of_the_last, test);
}

TEST(Verdicts, FailWithAProblemThatIsValid) {
  const Row wrong = verdict_on_gather([](const Environment& env, const Problem& problem) {
    std::vector<Result> got = env.device.run(problem);
    got[0].bytes.back() ^= std::byte{0x40};
    return judge_values(env, problem, got);
  });
  const Row refused = verdict_on_gather([](const Environment& env, const Problem& problem) {
    Problem bad = problem;
    bad.inputs[1] = explicit_operand(TENON_INT64, {1}, {1 << 20});
    env.device.run(bad);
    return Finding();
  });

  for (const Row& row : {wrong, refused}) {
    ASSERT_EQ(row.status, Status::kFail) << row.message;
    EXPECT_NO_THROW(runner().environment().oracle.run(from_line(row.line))) << row.line;
  }
}

TEST(Verdicts, AreLeakIfMemoryIsNotReleased) {
  const Row row = verdict_on([](const Environment&, const Problem&) {
    Finding finding = Finding::fault("a buffer");
    finding.leaked = true;
    return finding;
  });
  EXPECT_EQ(row.status, Status::kLeak);
}

TEST(Verdicts, AreMistrustedIfTheOracleCannotRevealAFault) {
  const Row row =
      verdict_on([](const Environment&, const Problem&) { return Finding{.trusted = false}; });
  EXPECT_EQ(row.status, Status::kMistrusted);
}

// Two cases; the second has 10 elements.
std::vector<Problem> two_sizes(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = a_thousand(env, claim);
  problems.push_back(problems[0]);
  problems[1].inputs[0].shape = {10};
  return problems;
}

TEST(Verdicts, CountMistrustedCasesSeparately) {
  const Check check = {
      "planted", 2, "", always, two_sizes, [](const Environment&, const Problem& problem) {
        return Finding{.trusted = problem.inputs[0].shape[0] == 10};
      }};
  const Row row = runner().run(claim_of("exp", "f32"), check, [](const Problem&) {});
  EXPECT_EQ(row.status, Status::kPass);
  EXPECT_EQ(row.cases, 2u);
  EXPECT_EQ(row.mistrusted, 1u);
}

// Registry cases may have results that reveal nothing. If there are cases with random values, one
// of them must be telling.
TEST(Verdicts, AreMistrustedIfNoRandomCaseCanRevealAFault) {
  const auto status_with = [](std::vector<Problem> (*problems)(const Environment&, const Claim&)) {
    const Check check = {
        "planted", 2, "", always, problems, [](const Environment&, const Problem& problem) {
          return Finding{.trusted = !problem.name.empty()};
        }};
    return runner().run(claim_of("exp", "f32"), check, [](const Problem&) {}).status;
  };
  EXPECT_EQ(status_with([](const Environment& env, const Claim& claim) {
              std::vector<Problem> problems = two_sizes(env, claim);
              problems[0].name = "by_hand";
              return problems;
            }),
            Status::kMistrusted);
  EXPECT_EQ(status_with([](const Environment& env, const Claim& claim) {
              std::vector<Problem> problems = a_thousand(env, claim);
              problems[0].name = "by_hand";
              return problems;
            }),
            Status::kPass);
}

TEST(Verdicts, AreUnsupportedIfNoCaseCanRun) {
  const auto run = [](Finding (*test)(const Environment&, const Problem&)) {
    const Check check = {"planted", 2, "", always, two_sizes, test};
    return runner().run(claim_of("exp", "f32"), check, [](const Problem&) {});
  };
  const Row none = run([](const Environment&, const Problem&) {
    return Finding{.impossible = "it cannot be seen"};
  });
  EXPECT_EQ(none.status, Status::kUnsupported);
  EXPECT_EQ(none.message, "it cannot be seen");
  EXPECT_EQ(none.cases, 0u);

  const Row some = run([](const Environment&, const Problem& problem) {
    Finding finding;
    if (problem.inputs[0].shape[0] == 10) finding.impossible = "it cannot be seen";
    return finding;
  });
  EXPECT_EQ(some.status, Status::kPass);
  EXPECT_EQ(some.cases, 1u);
}

// The check fails in every dtype, so shrinking finds the simplest claimed one.
TEST(Verdicts, FailInTheSimplestClaimedDType) {
  const auto least_of = [](const char* dtypes, bool (*applies)(const Environment&, const Claim&)) {
    const Check check = {
        "planted",  2,
        "",         applies,
        a_thousand, [](const Environment&, const Problem&) { return Finding::fault("no"); }};
    const Row row = runner().run(claim_of("neg", dtypes), check, [](const Problem&) {});
    return from_line(row.line).inputs[0];
  };
  EXPECT_EQ(least_of("bf16", always).dtype, TENON_FLOAT32);
  EXPECT_EQ(least_of("i64", always).dtype, TENON_FLOAT32);
  const auto of_integers = [](const Environment&, const Claim& claim) {
    return is_integer(claim.inputs[0]);
  };
  EXPECT_EQ(least_of("i64", of_integers).dtype, TENON_INT8);
  // All problems of the check have an axis, so shrinking keeps one.
  EXPECT_EQ(least_of("bf16", always).shape, Sizes{1});
}

TEST(Verdicts, FailIfAClaimHasNoValidCase) {
  const Check check = {"planted",
                       2,
                       "",
                       always,
                       [](const Environment&, const Claim&) { return std::vector<Problem>(); },
                       nullptr};
  const Row row = runner().run(claim_of("exp", "f32"), check, [](const Problem&) {});
  EXPECT_EQ(row.status, Status::kFail);
}

TEST(Verdicts, AreUnsupportedForUnclaimedOpsWhoseDecompositionPasses) {
  const Claim& claim = claim_of("relu6", "f32");
  EXPECT_FALSE(claim.claimed);
  const Check& check = *find_check(kUnclaimedCheck);

  const Row row = runner().run(claim, check, [](const Problem&) {});

  EXPECT_EQ(row.status, Status::kUnsupported);
  EXPECT_GT(row.cases, 0u);
  EXPECT_EQ(row.message, "not claimed; the decomposition runs and passes");
}

// The derivative of an unclaimed op is checked as well, through its decomposition.
TEST(Verdicts, CheckDerivativesOfUnclaimedOps) {
  const Claim& claim = claim_of("gemm", "f64");
  EXPECT_FALSE(claim.claimed);
  std::set<std::string> names;
  for (const size_t i : runner().checks_of(claim)) names.insert(all_checks()[i].name);

  const Row row = runner().run(claim, *find_check("differences"), [](const Problem&) {});

  EXPECT_EQ(names, (std::set<std::string>{"unclaimed", "differences", "second_differences",
                                          "adjoint_of_definition"}));
  EXPECT_EQ(row.status, Status::kPass) << row.message;
  EXPECT_GT(row.cases, 0u);
}

// ---- crashes and timeouts

Row row_of_worker(const std::string& script, uint64_t memory_bytes = 0) {
  WorkerOptions options = {
      .command = {"/bin/sh", "-c", script}, .problem_seconds = 5, .memory_bytes = memory_bytes};
  Row found;
  run_cells(
      options, {{0, 0}}, [](const Cell&) { return Row{.op = "exp"}; },
      [&](const Cell&, const Row& row) { found = row; });
  return found;
}

TEST(Verdicts, ReportACrashAndItsProblem) {
  const Row row = row_of_worker("read c; echo '@the problem' >&3; kill -SEGV $$");
  EXPECT_EQ(row.status, Status::kCrash);
  EXPECT_EQ(row.line, "the problem");
  EXPECT_NE(row.message.find("Segmentation fault"), std::string::npos) << row.message;
}

TEST(Verdicts, ReportAnUnexpectedExit) {
  const Row row = row_of_worker("read c; exit 3");
  EXPECT_EQ(row.status, Status::kCrash);
  EXPECT_EQ(row.message, "the process exited with 3");
}

TEST(Verdicts, ReportATimeout) {
  const Row row = row_of_worker("read c; echo '@the problem' >&3; exec sleep 60");
  EXPECT_EQ(row.status, Status::kTimeout);
  EXPECT_EQ(row.line, "the problem");
}

const std::string answer = R"(={"op":"exp","dtypes":"f32","check":"value","level":2,)"
                           R"("status":"PASS","cases":1,"ulp":0,"seconds":0})";

// The shell script stores 64 MiB in a variable.
TEST(Verdicts, AreCrashIfAProcessExceedsItsMemory) {
  const std::string script =
      "read c; x=$(head -c 67108864 /dev/zero | tr '\\0' x) 2>/dev/null; echo '" + answer + "' >&3";
  EXPECT_EQ(row_of_worker(script).status, Status::kPass);
  EXPECT_EQ(row_of_worker(script, 1 << 30).status, Status::kPass);
  const bool limits = default_memory_mib() != 0;  // There is no limit under sanitizers.
  EXPECT_EQ(row_of_worker(script, 32 << 20).status, limits ? Status::kCrash : Status::kPass);
}

TEST(Verdicts, ContinueAfterACrash) {
  WorkerOptions options = {
      .command = {"/bin/sh", "-c",
                  "while read claim check; do [ $claim = 1 ] && kill -ABRT $$; echo '" + answer +
                      "' >&3; done"}};
  std::vector<Status> found;
  run_cells(
      options, {{0, 0}, {1, 0}, {2, 0}}, [](const Cell&) { return Row(); },
      [&](const Cell&, const Row& row) { found.push_back(row.status); });
  EXPECT_EQ(found, (std::vector<Status>{Status::kPass, Status::kCrash, Status::kPass}));
}

// ---- all inputs

TEST(Exhaustive, MeasuresOnlyTheErrorsOfItsShard) {
  const Environment& env = runner().environment();

  const PartResult part = run_part(env, op_named("exp"), TENON_FLOAT32, {0x3f800000, 1000});

  EXPECT_EQ(part.n_inputs, 1000u);
  EXPECT_EQ(part.n_beyond, 0u) << part.message;
  EXPECT_GT(part.ulp, 0.4);
  EXPECT_LE(part.ulp, 0.5);  // `ref` rounds correctly.
}

TEST(Exhaustive, AcceptsUnaryElementwiseOpsOnly) {
  const Session& oracle = runner().environment().oracle;
  EXPECT_EQ(untestable_reason(op_named("exp"), TENON_FLOAT32, oracle), "");
  EXPECT_EQ(untestable_reason(op_named("gelu"), TENON_BFLOAT16, oracle), "");
  EXPECT_EQ(untestable_reason(op_named("isnan"), TENON_FLOAT32, oracle), "");
  EXPECT_NE(untestable_reason(op_named("add"), TENON_FLOAT32, oracle), "");
  EXPECT_NE(untestable_reason(op_named("softmax"), TENON_FLOAT32, oracle), "");
  EXPECT_NE(untestable_reason(op_named("bitwise_not"), TENON_FLOAT32, oracle), "");
}

// ---- coverage of an ordinary run

// Every unary op runs on all 16-bit floats, in the check `all_halves` or `unclaimed`.
TEST(Coverage, IncludesAllSixteenBitFloatsForUnaryOps) {
  for (const Claim& claim : runner().claims()) {
    const bool unary = claim.op->elementwise && claim.inputs.size() == 1;
    if (!unary || !is_float(claim.inputs[0]) || facts(claim.inputs[0]).size != 2) continue;
    bool found = false;
    for (const size_t check : runner().checks_of(claim)) {
      for (const Problem& problem : all_checks()[check].problems(runner().environment(), claim)) {
        found = found || count_of(problem.inputs[0].shape) == 65536;
      }
    }
    EXPECT_TRUE(found) << claim.op->name << " " << claim.dtypes;
  }
}

}  // namespace
}  // namespace tenon_kit
