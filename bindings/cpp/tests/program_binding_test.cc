#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

namespace tenon {
namespace {

using Floats = std::vector<float>;

// Saves a program with two functions: x * w, and a step that adds x to w.
struct Saved {
  explicit Saved(std::string_view path) {
    const Variable w(vector<float>({2, 3}), {.name = "w"});
    const InputSpec specs[] = {
        {.name = "x", .shape = {TENON_SIZE_UNKNOWN, 2}, .size_names = {"n", ""}}};
    const Function scale([&](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
      return {in[0] * w, in[0] + w};
    });
    const Function add([&](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
      w.assign(w + sum(in[0], {.axes = {0}}));
      return {};
    });
    Program::save(path, {{"scale", scale.trace(specs)}, {"add", add.trace(specs)}});
  }
};

TEST(Programs, SavedProgramComputesTheSameResults) {
  const Saved saved("program_back");
  const Program program("program_back");
  const Tensor in[] = {matrix<float>({{1, 2}, {3, 4}})};

  const std::vector<Tensor> out = program.function("scale")(in);

  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].to_vector<float>(), (Floats{2, 6, 6, 12}));
  EXPECT_EQ(out[1].to_vector<float>(), (Floats{3, 5, 5, 7}));
}

TEST(Programs, DescribeTheirFunctionsAndVariables) {
  const Saved saved("program_says");
  const Program program("program_says");
  std::map<std::string, ProgramFunction> functions;
  for (const ProgramFunction& each : program.functions()) functions.emplace(each.name, each);

  ASSERT_EQ(functions.size(), 2u);
  ASSERT_EQ(functions.at("scale").signatures.size(), 1u);
  const ProgramSignature& scale = functions.at("scale").signatures[0];
  ASSERT_EQ(scale.inputs.size(), 1u);
  EXPECT_EQ(scale.inputs[0].name, "x");
  EXPECT_EQ(scale.inputs[0].dtype, kFloat32);
  EXPECT_EQ(scale.inputs[0].shape, (Shape{TENON_SIZE_UNKNOWN, 2}));
  EXPECT_EQ(scale.inputs[0].size_names, (std::vector<std::string>{"n", ""}));
  EXPECT_EQ(scale.outputs.size(), 2u);
  EXPECT_EQ(functions.at("add").signatures[0].outputs.size(), 0u);
  ASSERT_EQ(program.variables().size(), 1u);
  EXPECT_EQ(program.variables()[0].name(), "w");
  EXPECT_NE(program.describe().find("\"scale\""), std::string::npos) << program.describe();
}

TEST(Programs, ShareVariablesAmongTheirFunctions) {
  const Saved saved("program_shares");
  const Program program("program_shares");
  const Tensor in[] = {matrix<float>({{10, 20}, {1, 2}})};

  EXPECT_TRUE(program.function("add")(in).empty());

  EXPECT_EQ(program.variables()[0].read().to_vector<float>(), (Floats{13, 25}));
  const Tensor ones[] = {matrix<float>({{1, 1}})};
  EXPECT_EQ(program.function("scale")(ones)[0].to_vector<float>(), (Floats{13, 25}));
}

TEST(Programs, AreDifferentiatedAndSavedAgain) {
  const Saved saved("program_again");
  const Program program("program_again");
  const Function scale = program.function("scale");
  const Tensor in[] = {matrix<float>({{4, 5}})};

  const Tape tape;
  const Tensor y = scale(in)[0];
  EXPECT_EQ(tape.gradient(y, program.variables()[0]).to_vector<float>(), (Floats{4, 5}));

  for (const ProgramFunction& each : program.functions()) {
    if (each.name != "scale") continue;
    Program::save("program_alone", {{"alone", scale.trace(each.signatures[0].inputs)}});
  }
  EXPECT_EQ(Program("program_alone").function()(in)[0].to_vector<float>(), (Floats{8, 15}));
}

// Returns three traces of x * by, where `by` is a static argument with the default 2: for float32
// and for int32 with by = 2, and for float32 with by = 3.
std::vector<std::pair<std::string, Trace>> times() {
  const Function f(
      [](std::span<const Tensor> in, const Statics& statics) -> std::vector<Tensor> {
        return {in[0] * statics.at("by").as_int()};
      },
      {.name = "times", .defaults = {{"by", 2}}});
  const Shape open = {TENON_SIZE_UNKNOWN};
  const InputSpec real = {.name = "x", .shape = open}, whole = {"x", kInt32, open};
  return {{"times", f.trace({&real, 1})},
          {"times", f.trace({&whole, 1})},
          {"times", f.trace({&real, 1}, {{"by", 3}})}};
}

TEST(Programs, FunctionsMayHaveSeveralSignatures) {
  Program::save("program_signatures", times());
  const Program program("program_signatures");
  const Function f = program.function();
  const Tensor real[] = {vector<float>({1, 2})}, whole[] = {vector<int32_t>({3, 4, 5})};

  EXPECT_EQ(f(real)[0].to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(f(whole)[0].to_vector<int32_t>(), (std::vector<int32_t>{6, 8, 10}));
  EXPECT_EQ(f(real, {{"by", 3}})[0].to_vector<float>(), (Floats{3, 6}));
  try {
    f(whole, {{"by", 3}});
    ADD_FAILURE() << "there is no such signature";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_NE(error.message().find("no signature for (i32[3]) with by=3"), std::string::npos)
        << error.what();
    EXPECT_NE(error.message().find("(x: f32[x_0]) with by=3"), std::string::npos) << error.what();
  }
}

TEST(Programs, ListSignaturesAndAreSavedAgainWithThem) {
  Program::save("program_signatures", times());
  const Program program("program_signatures");
  const ProgramFunction f = program.functions().at(0);
  ASSERT_EQ(f.signatures.size(), 3u);
  EXPECT_EQ(f.signatures[1].inputs[0].dtype, kInt32);
  EXPECT_EQ(f.signatures[2].statics.at("by").as_int(), 3);

  std::vector<std::pair<std::string, Trace>> traces;
  for (const ProgramSignature& each : f.signatures) {
    traces.emplace_back("again", program.function().trace(each.inputs, each.statics));
  }
  Program::save("program_signatures_again", traces);

  const Tensor in[] = {vector<float>({1, 2})};
  const Function again = Program("program_signatures_again").function("again");
  EXPECT_EQ(again(in)[0].to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(again(in, {{"by", 3}})[0].to_vector<float>(), (Floats{3, 6}));
  EXPECT_EQ(again.gradient()(in)[0].to_vector<float>(), (Floats{2, 2}));
}

TEST(Programs, ReportMissingFilesAndFunctions) {
  EXPECT_THROW(Program("no_such_program"), Error);
  const Saved saved("program_wrong");
  const Program program("program_wrong");
  try {
    program.function("frobnicate");
    ADD_FAILURE() << "there is no such function";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_NE(error.message().find("scale"), std::string::npos) << error.what();
  }
  EXPECT_THROW(Program::save("program_nothing", {}), Error);
}

}  // namespace
}  // namespace tenon
