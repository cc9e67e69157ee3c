// Tests `tenon run`, `inspect`, `profile` and `convert` by running the command in a shell.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tenon/tenon.hpp>

#include "core/testing/onnx_file.h"
#include "tools/tenon/npy.h"

namespace tenon::command {
namespace {

using Json = nlohmann::json;
using Floats = std::vector<float>;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

struct Outcome {
  int status;
  std::string out, err;

  // prints() searches the text in standard output; says() searches it in standard error.
  bool prints(const std::string& text) const { return out.find(text) != std::string::npos; }
  bool says(const std::string& text) const { return err.find(text) != std::string::npos; }
};
std::ostream& operator<<(std::ostream& to, const Outcome& outcome) {
  return to << "it ended with " << outcome.status << "\n" << outcome.out << outcome.err;
}

Outcome tenon(const std::string& arguments) {
  const std::string line = std::string("'") + TENON_COMMAND + "' " + arguments + " 2>said.txt";
  Outcome outcome = {-1, "", ""};
  FILE* const pipe = popen(line.c_str(), "r");
  if (!pipe) return outcome;
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    outcome.out.append(buffer, n);
  }
  outcome.status = WEXITSTATUS(pclose(pipe));
  outcome.err = read_file("said.txt");
  return outcome;
}

void write_floats(const std::string& path, const Shape& shape, const Floats& values) {
  write_npy(path, kFloat32, shape,
            {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

Floats read_floats(const std::string& path) {
  const NpyArray array = read_npy(path);
  EXPECT_EQ(array.dtype, kFloat32);
  Floats values(array.bytes.size() / sizeof(float));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

// Saves a program with the functions "scale" (x w) and "both" (x + y, x y), and .npy files with
// inputs.
class ProgramCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Variable w(vector<float>({2, 3}), {.name = "w"});
    const Shape open = {TENON_SIZE_UNKNOWN, 2};
    const InputSpec specs[] = {{.name = "x", .shape = open, .size_names = {"n", ""}},
                               {.name = "y", .shape = open, .size_names = {"n", ""}}};
    const Function scale([&](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
      return {in[0] * w};
    });
    const Function both([&](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
      return {in[0] + in[1], in[0] * in[1]};
    });
    Program::save("two", {{"scale", scale.trace({specs, 1})}, {"both", both.trace(specs)}});
    Program::save("one", {{"scale", scale.trace({specs, 1})}});
    save_times();
    write_floats("x.npy", {3, 2}, {1, 2, 3, 4, 5, 6});
    write_floats("y.npy", {3, 2}, {6, 5, 4, 3, 2, 1});
    write_floats("short.npy", {2, 2}, {1, 2, 3, 4});
    write_floats("wide.npy", {2, 3}, {1, 2, 3, 4, 5, 6});
    write_floats("flat.npy", {6}, {1, 2, 3, 4, 5, 6});
    std::ofstream("words.npy") << "words, and no array\n";
    write_npy("whole.npy", kInt64, Shape{1, 2}, std::string(16, '\0'));
  }

  // Saves a function "times" that returns x * by, where `by` is a static argument with the default
  // 2. It has signatures for floats and integers with by = 2, and for floats with by = 3.
  static void save_times() {
    const Function times(
        [](std::span<const Tensor> in, const Statics& statics) -> std::vector<Tensor> {
          return {in[0] * statics.at("by").as_int()};
        },
        {.name = "times", .defaults = {{"by", 2}}});
    const Shape open = {TENON_SIZE_UNKNOWN, 2};
    const InputSpec real = {.name = "x", .shape = open, .size_names = {"n", ""}};
    const InputSpec whole = {"whole", kInt64, open, {"n", ""}};
    Program::save("times", {{"times", times.trace({&real, 1})},
                            {"times", times.trace({&whole, 1})},
                            {"times", times.trace({&real, 1}, {{"by", 3}})}});
  }
};

using testing::GraphParts;
using testing::node;
using testing::value_info;

// Returns a declared value of type f32[old.n,columns].
onnx::WireWriter matrix_info(const std::string& name, uint64_t columns = 2) {
  onnx::WireWriter shape, tensor;
  shape.message(1, onnx::WireWriter().text(2, "old.n"))
      .message(1, onnx::WireWriter().number(1, columns));
  tensor.number(1, testing::kOnnxFloat).message(2, shape);
  return onnx::WireWriter().text(1, name).message(2, onnx::WireWriter().message(1, tensor));
}

// Writes a model that computes relu(a + b), which has two columns, in an old operator set.
void write_model(const std::string& path, const char* op = "Add", uint64_t version = 9,
                 uint64_t declared_columns = 2) {
  GraphParts parts;
  parts.nodes = {node(op, {"a", "b"}, {"sum"}), node("Relu", {"sum"}, {"../y"})};
  parts.initializers = {testing::float_tensor("b", {2}, {-3, 1})};
  parts.inputs = {matrix_info("a")};
  parts.outputs = {matrix_info("../y", declared_columns)};
  std::ofstream(path, std::ios::binary)
      << testing::model(testing::graph(parts).text(2, "old"), version);
}

// ---- run

TEST_F(ProgramCommands, StrictRefusesWrongDeclaredShapes) {
  write_model("wrong.onnx", "Add", 9, 7);
  for (const std::string command : {"run wrong.onnx -i a=x.npy", "convert wrong.onnx right"}) {
    const Outcome lenient = tenon(command), strict = tenon(command + " --strict");
    EXPECT_TRUE(lenient.status == 0 && lenient.says("the declaration is ignored")) << lenient;
    EXPECT_TRUE(strict.status == 1 && strict.says("declared to be f32[old.n,7]")) << strict;
  }
  const Outcome inspected = tenon("inspect wrong.onnx --strict");
  EXPECT_TRUE(inspected.prints("f32[old.n,7], but is f32")) << inspected;
}

TEST_F(ProgramCommands, RunWritesTheOutputsOfAFunction) {
  const Outcome one = tenon("run one --input x=x.npy --output given");
  EXPECT_EQ(one.status, 0) << one;
  EXPECT_TRUE(one.prints("f32[3,2]") && one.prints("min 2, mean 9, max 18")) << one;
  const std::string name = Program("one").functions()[0].signatures[0].outputs[0].name;
  EXPECT_EQ(read_floats("given/" + name + ".npy"), (Floats{2, 6, 6, 12, 10, 18}));
  EXPECT_EQ(read_npy("given/" + name + ".npy").shape, (Shape{3, 2}));
}

TEST_F(ProgramCommands, RunCallsTheNamedFunction) {
  const Outcome both = tenon("run two --function both -i y=y.npy -i x=x.npy --device ref");
  EXPECT_EQ(both.status, 0) << both;
  EXPECT_TRUE(both.prints("min 7, mean 7, max 7") && both.prints("max 12")) << both;
  const Outcome none = tenon("run two --input x=x.npy");
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(none.says("choose one with --function") && none.says("both")) << none;
  const Outcome other = tenon("run two -f scales --input x=x.npy");
  EXPECT_EQ(other.status, 1);
  EXPECT_TRUE(other.says("'scales'") && other.says("scale")) << other;
}

TEST_F(ProgramCommands, RunReadsFortranOrderArrays) {
  std::string bytes = read_file("x.npy");
  const size_t at = bytes.find("False");
  ASSERT_NE(at, std::string::npos);
  std::ofstream("fortran.npy", std::ios::binary) << bytes.replace(at, 5, "True ");
  const Outcome run = tenon("run one --input x=fortran.npy --output fortran");
  EXPECT_EQ(run.status, 0) << run;
  const std::string name = Program("one").functions()[0].signatures[0].outputs[0].name;
  // In Fortran order, the columns are 1, 2, 3 and 4, 5, 6.
  EXPECT_EQ(read_floats("fortran/" + name + ".npy"), (Floats{2, 12, 4, 15, 6, 18}));
}

TEST_F(ProgramCommands, RunReportsInvalidInputs) {
  const struct {
    const char *arguments, *says;
  } cases[] = {
      {"run one", "no --input NAME=FILE.npy is given for x; it takes\n  x  f32[n,2]"},
      {"run one -i z=x.npy", "has no input 'z'"},
      {"run one -i x=x.npy -i x=y.npy", "given twice"},
      {"run one -i x.npy", "the value must have the form NAME=VALUE"},
      {"run one -i x=no_such.npy", "no_such.npy: No such file"},
      {"run one -i x=words.npy", "not a .npy file"},
      {"run one -i x=whole.npy", "whole.npy holds i64[1,2], and the function takes f32[n,2]"},
      {"run one -i x=whole.npy", "x.astype('float32')"},
      {"run one -i x=flat.npy", "it has 1 axes instead of 2"},
      {"run one -i x=wide.npy", "axis 1 has the size 3 instead of 2"},
      {"run two -f both -i x=x.npy -i y=short.npy", "n is 2 here and 3 in an input before"},
      {"run two -f both -i x=x.npy", "is given for y"},
      {"run no_such_program -i x=x.npy", "no_such_program"},
      {"run one -i x=x.npy --device frob", "frob"},
      {"run one -i x=x.npy --output x.npy", "x.npy"},
  };
  for (const auto& each : cases) {
    const Outcome outcome = tenon(each.arguments);
    EXPECT_EQ(outcome.status, 1) << each.arguments;
    EXPECT_TRUE(outcome.says(each.says)) << each.arguments << ": " << outcome;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(ProgramCommands, RunWritesOutputsOnlyInsideTheFolder) {
  write_model("outside.onnx");
  const Outcome run = tenon("run outside.onnx -i a=x.npy --output inside");
  EXPECT_EQ(run.status, 0) << run;
  EXPECT_TRUE(std::filesystem::exists("inside/_.._y.npy")) << run;
  EXPECT_EQ(read_floats("inside/_.._y.npy"), (Floats{0, 3, 0, 5, 2, 7}));
}

// ---- functions with several signatures

TEST_F(ProgramCommands, RunSelectsTheMatchingSignature) {
  EXPECT_TRUE(tenon("run times -i x=x.npy").prints("min 2, mean 7, max 12"));
  EXPECT_TRUE(tenon("run times -i x=x.npy --static by=2").prints("min 2, mean 7, max 12"));
  EXPECT_TRUE(tenon("run times -i x=x.npy --static by=3").prints("min 3, mean 10.5, max 18"));
  EXPECT_TRUE(tenon("run times -i whole=whole.npy").prints("i64[1,2]"));
  EXPECT_TRUE(tenon("profile times -i x=x.npy --static by=3").prints("mul"));
}

TEST_F(ProgramCommands, RunListsSignaturesIfNoneMatches) {
  const Outcome outcome = tenon("run times -i x=flat.npy --static by=4");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(
      outcome.says("has no signature for (x: f32[6]) with by=4; it has\n"
                   "  times(x: f32[n,2]) with by=2 -> output: f32[n,2]\n"
                   "  times(whole: i64[n,2]) with by=2 -> output: i64[n,2]\n"
                   "  times(x: f32[n,2]) with by=3 -> output: f32[n,2]\n"))
      << outcome;
  EXPECT_TRUE(tenon("run times -i y=x.npy").says("has no input 'y'; it has\n  times(x: f32[n,2])"));
  EXPECT_TRUE(
      tenon("run times -i x=x.npy --static by").says("the value must have the form NAME=VALUE"));
  EXPECT_TRUE(tenon("run one -i x=x.npy --static by=2").says("--static NAME=VALUE gives one"));
}

TEST_F(ProgramCommands, InspectAndConvertEachSignature) {
  const Outcome text = tenon("inspect times");
  EXPECT_TRUE(text.prints("times(x: f32[n,2]) with by=2 -> ") &&
              text.prints("times(whole: i64[n,2]) with by=2 -> ") && text.prints("with by=3 -> "))
      << text;
  const Json all = Json::parse(tenon("inspect times --json").out);
  ASSERT_EQ(all["functions"][0]["signatures"].size(), 3u);
  EXPECT_EQ(all["functions"][0]["signatures"][2]["trace"]["calls"][0]["op"], "mul");

  const Outcome written = tenon("convert times times_again --name more");
  EXPECT_TRUE(written.prints("times_again/more.onnx") && written.prints("more.3.onnx")) << written;
  EXPECT_TRUE(tenon("run times_again -i x=x.npy").prints("max 12"));
  EXPECT_TRUE(tenon("run times_again -i x=x.npy --static by=3").prints("max 18"));
}

// ---- calls in batches of rows

TEST_F(ProgramCommands, RunInBatchesReturnsTheSameOutputs) {
  const Outcome whole = tenon("run two -f both -i x=x.npy -i y=y.npy -o whole");
  ASSERT_EQ(whole.status, 0) << whole;
  for (const char* size : {"1", "2", "3", "100"}) {
    const std::string given = std::string("run two -f both -i x=x.npy -i y=y.npy -o parts ");
    const Outcome parts = tenon(given + "--batch-size " + size);
    EXPECT_EQ(parts.status, 0) << parts;
    std::string told = parts.out;
    for (size_t at = 0; (at = told.find("parts/", at)) != std::string::npos;) {
      told.replace(at, 6, "whole/");
    }
    EXPECT_EQ(told, whole.out);
    for (const auto& entry : std::filesystem::directory_iterator("whole")) {
      const std::string name = entry.path().filename();
      EXPECT_EQ(read_file("parts/" + name), read_file("whole/" + name)) << size;
    }
  }
}

TEST_F(ProgramCommands, RunInBatchesSupportsFortranOrderAndEmptyInputs) {
  std::string bytes = read_file("x.npy");
  bytes.replace(bytes.find("False"), 5, "True ");
  std::ofstream("columns.npy", std::ios::binary) << bytes;
  write_floats("none.npy", {0, 2}, {});
  const std::string output = "/" + Program("one").functions()[0].signatures[0].outputs[0].name;

  EXPECT_EQ(tenon("run one -i x=columns.npy -o columns --batch-size 2").status, 0);
  EXPECT_EQ(read_floats("columns" + output + ".npy"), (Floats{2, 12, 4, 15, 6, 18}));
  EXPECT_TRUE(tenon("run one -i x=none.npy -o none --batch-size 2").prints("f32[0,2]"));
  EXPECT_EQ(read_npy("none" + output + ".npy").shape, (Shape{0, 2}));
}

TEST_F(ProgramCommands, RunReportsWhatCannotBeBatched) {
  const InputSpec specs[] = {
      {.name = "x", .shape = {TENON_SIZE_UNKNOWN, 2}, .size_names = {"n", ""}},
      {.name = "scale", .shape = {}}};
  const Function total([&](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
    return {sum(in[0])};
  });
  const Function scaled([&](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
    return {in[0] * in[1]};
  });
  const Function nothing([&](std::span<const Tensor>, const Statics&) -> std::vector<Tensor> {
    return {vector<float>({1, 2})};
  });
  const Function pairs([&](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
    return {in[0] + in[0]};
  });
  const InputSpec fixed = {.name = "x", .shape = {2, 2}};
  Program::save("whole_only", {{"total", total.trace({specs, 1})},
                               {"scaled", scaled.trace(specs)},
                               {"nothing", nothing.trace({})},
                               {"pairs", pairs.trace({&fixed, 1})}});
  write_floats("scale.npy", {}, {2});
  const struct {
    const char *arguments, *says;
  } cases[] = {
      {"run two -f both -i x=x.npy -i y=short.npy", "of which x has 3 and y has 2"},
      {"run whole_only -f scaled -i x=x.npy -i scale=scale.npy", "input scale has no axis"},
      {"run whole_only -f nothing", "the call has no inputs to divide into batches"},
      {"run whole_only -f total -i x=x.npy", "the output output is f32[] for inputs of 2"},
      {"run whole_only -f pairs -i x=x.npy", "axis 0 has the size 1 instead of 2"},
  };
  for (const auto& each : cases) {
    const Outcome outcome = tenon(std::string(each.arguments) + " --batch-size 2");
    EXPECT_EQ(outcome.status, 1) << each.arguments;
    EXPECT_TRUE(outcome.says(each.says)) << each.arguments << ": " << outcome;
  }
  EXPECT_EQ(tenon("run one -i x=x.npy --batch-size 0").status, 2);
}

// ---- inspect

TEST_F(ProgramCommands, InspectDescribesAProgram) {
  const Outcome text = tenon("inspect two --size n=4");
  EXPECT_EQ(text.status, 0) << text;
  for (const char* part :
       {"scale(x: f32[n,2]) -> ", "both(x: f32[n,2], y: f32[n,2]) -> ", "n 4", "cpu:0",
        "a kernel of the device", "1 variable of 2 elements, 2 of them trained, 8 bytes",
        "w  f32[2]", "ai.onnx 20"}) {
    EXPECT_TRUE(text.prints(part)) << part << "\n" << text;
  }
  const Outcome one = tenon("inspect two --function scale");
  EXPECT_TRUE(one.prints("scale(") && !one.prints("both(")) << one;
}

TEST_F(ProgramCommands, InspectWritesJson) {
  const Outcome printed = tenon("inspect two --json --size n=4 --device ref");
  ASSERT_EQ(printed.status, 0) << printed;
  const Json all = Json::parse(printed.out);
  EXPECT_EQ(all["device"], "ref:0");
  ASSERT_EQ(all["functions"].size(), 2u);
  for (const Json& function : all["functions"]) {
    if (function["name"] != "scale") continue;
    const Json& trace = function["signatures"][0]["trace"];
    EXPECT_EQ(trace["sizes"]["n"], 4);
    const Json* product = nullptr;
    for (const Json& call : trace["calls"]) {
      if (call["op"] == "mul") product = &call;
    }
    ASSERT_NE(product, nullptr) << trace.dump(2);
    EXPECT_EQ((*product)["runs"], "kernel");
    EXPECT_EQ((*product)["device"], "ref:0");
    EXPECT_EQ((*product)["outputs"][0], "f32[4,2]");
    EXPECT_EQ(trace["memory"]["inputs"], 32);
    EXPECT_EQ(trace["memory"]["outputs"], 32);
    EXPECT_EQ(trace["memory"]["variables"], 8);
  }
}

TEST_F(ProgramCommands, InspectListsUnknownOpsWithTheirNodes) {
  write_model("unknown.onnx", "Frobnicate");
  for (const char* arguments : {"inspect unknown.onnx", "inspect unknown.onnx --json"}) {
    const Outcome outcome = tenon(arguments);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(outcome.prints("Frobnicate") && outcome.says("Frobnicate")) << outcome;
    EXPECT_TRUE(outcome.prints("a") && outcome.prints("f32[old.n,2]")) << outcome;
  }
  EXPECT_EQ(tenon("inspect x.npy").status, 1);
  EXPECT_EQ(tenon("inspect one --size n=many").status, 1);
  EXPECT_TRUE(tenon("inspect one --size n=-4").says("must be a number from 0"));
}

// ---- profile

TEST_F(ProgramCommands, ProfileShowsTheTimeOfOps) {
  const Outcome text = tenon("profile one -i x=x.npy --repeat 5 --trace events.json");
  EXPECT_EQ(text.status, 0) << text;
  EXPECT_TRUE(text.prints("mul") && text.prints("a call (the median of 5")) << text;
  EXPECT_FALSE(Json::parse(read_file("events.json")).empty());

  const Outcome printed = tenon("profile one -i x=x.npy --repeat 5 --json");
  ASSERT_EQ(printed.status, 0) << printed;
  bool is_found = false;
  const Json all = Json::parse(printed.out);
  for (const Json& row : all["rows"]) {
    is_found = is_found || (row["name"] == "mul" && row["count"] == 5);
  }
  EXPECT_TRUE(is_found) << printed;
  EXPECT_EQ(tenon("profile one -i x=x.npy --repeat 0").status, 2);
  EXPECT_TRUE(tenon("profile one -i x=x.npy --trace no/such/folder").says("no/such/folder"));
}

// ---- convert

TEST_F(ProgramCommands, ConvertUpgradesOldOperatorSets) {
  write_model("old.onnx");
  const Outcome written = tenon("convert old.onnx new --name relu_of_sum");
  EXPECT_EQ(written.status, 0) << written;
  EXPECT_TRUE(written.prints("new/relu_of_sum.onnx") && written.prints("new/weights.safetensors"))
      << written;
  const Outcome inspected = tenon("inspect new/relu_of_sum.onnx");
  EXPECT_TRUE(inspected.prints("ai.onnx 20") && inspected.prints("Relu 1")) << inspected;
  // The name "old.n" is converted to the identifier "old_n".
  EXPECT_TRUE(inspected.prints("relu_of_sum(a: f32[old_n,2])")) << inspected;

  // Opens the program's folder and its single ONNX file.
  for (const std::string path : {"new", "new/relu_of_sum.onnx"}) {
    const Outcome run = tenon("run " + path + " -i a=x.npy");
    EXPECT_EQ(run.status, 0) << run;
    EXPECT_TRUE(run.prints("min 0, mean 2.83333, max 7")) << run;
  }
  // The option --size fixes an unknown size.
  EXPECT_EQ(tenon("convert old.onnx fixed --name f --size old_n=3").status, 0);
  EXPECT_EQ(Program("fixed").functions()[0].signatures[0].inputs[0].shape, (Shape{3, 2}));
  const Outcome again = tenon("convert two two_again");
  EXPECT_EQ(again.status, 0) << again;
  EXPECT_EQ(Program("two_again").functions().size(), 2u);
}

TEST_F(ProgramCommands, ConvertKeepsTheNamesOfInputsAndOutputs) {
  const GraphParts parts = {.nodes = {node("Neg", {"input.1"}, {"/net/Neg_output_0"}),
                                      node("Exp", {"input.1"}, {"logits"})},
                            .initializers = {},
                            .inputs = {matrix_info("input.1")},
                            .outputs = {matrix_info("/net/Neg_output_0"), matrix_info("logits")}};
  std::ofstream("named.onnx", std::ios::binary)
      << testing::model(testing::graph(parts).text(2, "named"));
  const auto names_of = [](const std::string& path) {
    const ProgramSignature signature = Program(path).functions()[0].signatures[0];
    std::vector<std::string> names;
    for (const InputSpec& input : signature.inputs) names.push_back(input.name);
    for (const InputSpec& output : signature.outputs) names.push_back(output.name);
    return names;
  };
  const std::vector<std::string> want = {"input.1", "/net/Neg_output_0", "logits"};
  ASSERT_EQ(names_of("named.onnx"), want);

  const Outcome first = tenon("convert named.onnx named");
  EXPECT_EQ(first.status, 0) << first;
  const Outcome second = tenon("convert named named_again");
  EXPECT_EQ(second.status, 0) << second;

  for (const char* path : {"named", "named/named.onnx", "named_again", "named_again/named.onnx"}) {
    EXPECT_EQ(names_of(path), want) << path;
  }
  EXPECT_TRUE(tenon("run named_again -i input.1=x.npy").prints("logits"));
}

// The search for a similar op name only considers names of similar length.
TEST_F(ProgramCommands, OpsAnswersQuicklyForAVeryLongName) {
  const std::string name(100'000, 'a');
  const Outcome outcome = tenon("ops " + name);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.says("`tenon ops` lists all")) << outcome;
  EXPECT_LT(outcome.err.size(), 500u);
  EXPECT_TRUE(tenon("ops sofmx").says("did you mean 'softmax'?"));
}

TEST_F(ProgramCommands, ConvertReportsWhatCannotBeConverted) {
  write_model("strange.onnx", "Frobnicate");
  EXPECT_TRUE(tenon("convert strange.onnx nowhere").says("Frobnicate"));
  EXPECT_TRUE(tenon("convert one new.onnx").says("the output must be a folder"));
  EXPECT_TRUE(tenon("convert two nowhere --name f").says("but this program has 2"));
  EXPECT_FALSE(std::filesystem::exists("nowhere"));
  EXPECT_EQ(tenon("convert one").status, 2);
}

TEST_F(ProgramCommands, EachCommandPrintsHelp) {
  for (const char* command : {"run", "inspect", "profile", "convert"}) {
    const Outcome help = tenon(std::string(command) + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_TRUE(help.prints("ONNX file")) << help;
  }
}

}  // namespace
}  // namespace tenon::command
