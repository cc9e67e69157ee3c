// Tests level 5: serialising and shrinking programs, and the results of checks with injected
// faults.

#include <gtest/gtest.h>

#include <set>

#include "conformance/device/device_check.h"
#include "conformance/functions/draw_program.h"
#include "conformance/functions/tracing.h"
#include "conformance/run/claim_run.h"

namespace tenon_kit::functions {
namespace {

// A process has one guard, so it has one runner.
const Runner& runner() {
  static const Runner runner({.plugin = TENON_TEST_REF, .thorough = false});
  return runner;
}
Bench bench() { return {.env = runner().environment(), .claims = runner().claims()}; }

constexpr const char* kLine =
    R"({"inputs":[{"dtype":"f32","shape":[2],"values":[1,2]},{"dtype":"f32","scalar":3}],)"
    R"("constants":[{"dtype":"f32","shape":[2],"values":[5,7]}],)"
    R"("steps":[{"op":"mul","in":[0,1]},{"op":"add","in":[3,2]},{"op":"sum","attrs":{"axes":[0]},)"
    R"("in":[4]},{"op":"split","attrs":{"axis":0,"split":[1,1]},"in":[4],"out":2}],)"
    R"("outputs":[5,7]})";

Results values_of(const Program& program) {
  const tenon::ScopeGuard in = on_device(bench());
  return read_all(bench(), evaluate(program, make_all(bench(), program.inputs),
                                    make_all(bench(), program.constants)));
}

TEST(Programs, RoundTripThroughALine) {
  const Program program = program_from_line(kLine);
  EXPECT_EQ(to_line(program), kLine);
  EXPECT_EQ(program.n_values(), 8u);
}

TEST(Programs, ComputeTheResultsOfTheirSteps) {
  const Results values = values_of(program_from_line(kLine));

  ASSERT_EQ(values.size(), 8u);
  EXPECT_EQ(values[4].values(), (Reals{8, 13}));
  EXPECT_EQ(values[5].values(), (Reals{21}));
  EXPECT_EQ(values[7].values(), (Reals{13}));
}

TEST(Programs, RefuseLinesWithUndefinedValues) {
  const auto line = [](const char* steps, const char* outputs) {
    return std::string(R"({"inputs":[{"dtype":"f32","shape":[],"values":[1]}],"steps":[)") + steps +
           "],\"outputs\":[" + outputs + "]}";
  };
  EXPECT_NO_THROW(program_from_line(line(R"({"op":"neg","in":[0]})", "1")));
  EXPECT_THROW(program_from_line(line(R"({"op":"neg","in":[1]})", "1")), std::exception);
  EXPECT_THROW(program_from_line(line(R"({"op":"neg","in":[0]})", "2")), std::exception);
  EXPECT_THROW(program_from_line(line(R"({"op":"no_such_op","in":[0]})", "1")), std::exception);
  EXPECT_THROW(program_from_line("{}"), std::exception);
}

TEST(Programs, CanRunWithOtherInputValuesAndLayouts) {
  const std::vector<Operand> inputs = program_from_line(kLine).inputs;

  EXPECT_EQ(with_other_values(inputs)[0].values(), (Reals{2, 1}));
  EXPECT_EQ(with_other_values(inputs)[1].fill.values, (Reals{4}));
  EXPECT_EQ(with_other_layouts(inputs)[0].values(), inputs[0].values());
  EXPECT_NE(with_other_layouts(inputs)[0].layout, inputs[0].layout);
  EXPECT_TRUE(with_other_layouts(inputs)[1].scalar);
}

TEST(DrawnPrograms, AreDeterministicForASeed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Program a = draw_program(bench().env.device, {TENON_FLOAT32, TENON_INT32}, seed);
    const Program b = draw_program(bench().env.device, {TENON_FLOAT32, TENON_INT32}, seed);
    EXPECT_EQ(to_line(a), to_line(b));
    EXPECT_EQ(values_of(program_from_line(to_line(a))).size(), a.n_values());
  }
}

TEST(DrawnPrograms, CoverCommonOpsAndShapes) {
  std::set<std::string> ops;
  bool any_empty = false, any_shared = false;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const Program program = draw_program(bench().env.device, {TENON_FLOAT32, TENON_INT32}, seed);
    std::set<size_t> read;
    for (const Step& step : program.steps) {
      ops.insert(step.op->name);
      for (const size_t k : step.inputs) any_shared = any_shared || !read.insert(k).second;
    }
    for (const Operand& x : program.inputs) {
      any_empty = any_empty || (is_tensor(x) && count_of(x.shape) == 0);
    }
  }
  for (const char* op : {"add", "where", "cast", "sum", "moments", "matmul", "gather", "transpose",
                         "split", "concat", "softmax", "less"}) {
    EXPECT_TRUE(ops.contains(op)) << op;
  }
  EXPECT_TRUE(any_empty);
  EXPECT_TRUE(any_shared);
}

// ---- checks

std::vector<Program> one_program(const Bench&) { return {program_from_line(kLine)}; }

FunctionCheck planted(Fault (*holds)(const Bench&, const Program&)) {
  return {.part = "functions.programs",
          .name = "planted",
          .what = "",
          .programs = one_program,
          .holds = holds};
}

Row row_of(const FunctionCheck& check) {
  return run_function_check(check, bench(), 100, [](const std::string&) {});
}

TEST(FunctionChecks, FailWithTheSmallestFailingProgram) {
  const Row row = row_of(planted([](const Bench&, const Program& program) -> Fault {
    for (const Step& step : program.steps) {
      if (step.op->name == "add") return "an add";
    }
    return "";
  }));

  EXPECT_EQ(row.status, Status::kFail);
  EXPECT_EQ(row.message, "an add");
  const Program least = program_from_line(row.line);
  EXPECT_EQ(least.steps.size(), 1u);
  EXPECT_EQ(least.steps[0].op->name, "add");
  EXPECT_EQ(values_of(least).back().shape, (Sizes{1}));
}

TEST(FunctionChecks, FailIfACallFails) {
  const Row row = row_of(planted([](const Bench&, const Program&) -> Fault {
    throw tenon::Error(tenon::Code::kInternal, "broken");
  }));
  EXPECT_EQ(row.status, Status::kFail);
  EXPECT_EQ(row.message, "a call failed: broken");
}

TEST(FunctionChecks, FailIfNoProgramExercisedTheFeature) {
  FunctionCheck check = planted([](const Bench&, const Program&) { return Fault(); });
  EXPECT_EQ(row_of(check).status, Status::kPass);
  check.missing = [](const Bench&) { return Fault("no loop"); };
  EXPECT_EQ(row_of(check).status, Status::kFail);
}

TEST(FunctionChecks, AreUnsupportedIfANeededSignatureIsNotClaimed) {
  const auto status_with = [](uint64_t (*test)(const Bench&)) {
    return row_of({.part = "functions.state", .name = "planted", .what = "", .test = test}).status;
  };
  EXPECT_EQ(status_with([](const Bench&) -> uint64_t { throw Unsupported("no"); }),
            Status::kUnsupported);
  EXPECT_EQ(status_with([](const Bench&) -> uint64_t {
              throw tenon::Error(tenon::Code::kUnimplemented, "no kernel");
            }),
            Status::kUnsupported);
  EXPECT_EQ(status_with([](const Bench&) -> uint64_t { throw std::runtime_error("wrong"); }),
            Status::kFail);
  EXPECT_EQ(status_with([](const Bench&) -> uint64_t { return 1; }), Status::kPass);
}

TEST(FunctionChecks, HaveUniqueNames) {
  std::set<std::string> names;
  for (const Check& check : all_checks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
  }
  for (const DeviceCheck& check : all_device_checks()) names.insert(check.name);
  for (const FunctionCheck& check : all_function_checks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
    EXPECT_NE(check.test == nullptr, check.programs == nullptr) << check.name;
    EXPECT_EQ(check.programs == nullptr, check.holds == nullptr) << check.name;
    EXPECT_EQ(find_op(check.part), nullptr) << check.part;
  }
}

// run_program also returns the traced graph.
TEST(FunctionChecks, ShowTheGraphOfAProgram) {
  const FunctionCheck& check = *find_function_check("traced");
  const auto [passed, words] = run_program(check, bench(), program_from_line(kLine));
  EXPECT_TRUE(passed);
  EXPECT_NE(words.find("mul"), std::string::npos) << words;
  EXPECT_THROW(run_program(*find_function_check("steady"), bench(), program_from_line(kLine)),
               std::exception);
}

// A result that is wrong only from the third call on must be found.
TEST(FunctionChecks, CompareRepeatedCalls) {
  const tenon::ScopeGuard in = on_device(bench());
  const std::vector<Tensors> inputs = {make_all(bench(), program_from_line(kLine).inputs)};
  const auto code = [](const Tensors& x) { return Tensors{x[0] * x[1]}; };
  const std::vector<Results> want = {read_all(bench(), code(inputs[0]))};
  EXPECT_EQ(compare_calls(bench(), code, inputs, want), "");

  int calls = 0;
  const auto wrong_later = [&](const Tensors& x) {
    return ++calls < 3 ? code(x) : Tensors{x[0] * 2.f};
  };
  EXPECT_EQ(compare_calls(bench(), wrong_later, inputs, want), "call 3: element 0 is 2, not 3");
}

TEST(FunctionChecks, PassesOffDisablesPassesWhileItExists) {
  const tenon::ScopeGuard in = on_device(bench());
  EXPECT_THROW(PassesOff({"no_such_pass"}), tenon::Error);
  const auto a_dead_gather_fails = [] {
    const tenon::Function f = as_function([](std::span<const tenon::Tensor> x) {
      const tenon::Tensor dead = tenon::gather(x[0], x[1]);
      return Tensors{x[0]};
    });
    const Tensors inputs = {tenon::vector<float>({1}), tenon::vector<int64_t>({3})};
    try {
      f(inputs);
      return false;
    } catch (const tenon::Error&) {
      return true;
    }
  };
  {
    const PassesOff off({"dce"});
    EXPECT_TRUE(a_dead_gather_fails());
  }
  EXPECT_FALSE(a_dead_gather_fails());
}

}  // namespace
}  // namespace tenon_kit::functions
