// The names of inputs and outputs do not change when an ONNX model is saved as a program, or when a
// program is read and saved again.

#include "core/io/save_program.h"
#include "core/testing/folder.h"
#include "core/testing/onnx_program.h"

namespace tenon {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.
using Names = std::vector<std::string>;

class SavedNames : public ModelProgram {
 protected:
  static Names inputs_of(const SavedProgram& program, const std::string& function = "") {
    Names names;
    for (const InputSpec& input : program.find(function).signatures[0].inputs) {
      names.push_back(input.name);
    }
    return names;
  }
  static const Names& outputs_of(const SavedProgram& program, const std::string& function = "") {
    return program.find(function).signatures[0].outputs;
  }

  // Traces and saves all functions of a program, and returns the program as read back.
  Ref<SavedProgram> again(const SavedProgram& program) {
    std::vector<FunctionToSave> all;
    for (const ProgramFunction& function : program.functions()) {
      const std::string name = function.name.empty() ? "f" : function.name;
      for (const ProgramSignature& each : function.signatures) {
        all.push_back({name, function.function->trace(scope(), each.inputs, {})});
      }
    }
    const std::string path = folder_.file("program" + std::to_string(n_saved_++));
    save_program(scope(), path, all);
    return read_program(scope(), path);
  }

  // Saves the model of `bytes` as a program, reads it and saves it again. Expects that the names of
  // inputs and outputs stay the same, and that each saved program computes the model's results.
  void expect_kept(const std::string& bytes, const Names& inputs, const Names& outputs,
                   const Tensors& given) {
    const Ref<SavedProgram> model = read(bytes);
    const Tensors want = model->find("").function->call(scope(), given, {});
    Ref<SavedProgram> program = model;
    for (int i = 0; i < 2; ++i) {
      program = again(*program);
      EXPECT_EQ(inputs_of(*program), inputs);
      EXPECT_EQ(outputs_of(*program), outputs);
    }
    const Tensors got = program->find("").function->call(scope(), given, {});
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_TENSOR(got[i], want[i]);
  }

 private:
  Folder folder_;
  int n_saved_ = 0;
};

TEST_F(SavedNames, NamesOfAnOnnxModelSurviveSaving) {
  expect_kept(model(graph({.nodes = {node("Add", {"image", "bias"}, {"shifted"}),
                                     node("Exp", {"shifted"}, {"probabilities"})},
                           .inputs = {value("image", {"2"}), value("bias", {"2"})},
                           .outputs = {value("shifted", {"2"}), value("probabilities", {"2"})}})),
              {"image", "bias"}, {"shifted", "probabilities"}, {f32({1, 2}), f32({3, 4})});
}

// Exporters write names with dots, slashes and digits. Users also write letters beyond ASCII.
TEST_F(SavedNames, NamesThatAreNotIdentifiersSurviveSaving) {
  expect_kept(
      model(graph({.nodes = {node("Add", {"input.1", "0"}, {"/model/Add_output_0"}),
                             node("Neg", {"input.1"}, {"größe"})},
                   .inputs = {value("input.1", {"2"}), value("0", {"2"})},
                   .outputs = {value("/model/Add_output_0", {"2"}), value("größe", {"2"})}})),
      {"input.1", "0"}, {"/model/Add_output_0", "größe"}, {f32({1, 2}), f32({3, 4})});
}

// Models may use names such as "output", "x0" and "v0", which the export generates for its own
// values and which traces assign to unnamed inputs.
TEST_F(SavedNames, NamesThatTheExportGeneratesSurviveSaving) {
  expect_kept(
      model(graph({.nodes = {node("Add", {"output", "add"}, {"x0"}),
                             node("Mul", {"x0", "half"}, {"c"}), node("Exp", {"c"}, {"v0"})},
                   .initializers = {float_tensor("half", {}, {0.5})},
                   .inputs = {value("output", {"2"}), value("add", {"2"})},
                   .outputs = {value("v0", {"2"}), value("c", {"2"}), value("x0", {"2"})}})),
      {"output", "add"}, {"v0", "c", "x0"}, {f32({1, 2}), f32({3, 4})});
}

TEST_F(SavedNames, TheNameOfAnInputThatIsAnOutputSurvivesSaving) {
  expect_kept(model(graph({.nodes = {node("Neg", {"x"}, {"y"})},
                           .inputs = {value("x", {"2"})},
                           .outputs = {value("x", {"2"}), value("y", {"2"})}})),
              {"x"}, {"x", "y"}, {f32({1, 2})});
}

TEST_F(SavedNames, NamesOfTwoOutputsWithTheSameValueSurviveSaving) {
  expect_kept(model(graph({.nodes = {node("Neg", {"x"}, {"y"}), node("Identity", {"y"}, {"z"})},
                           .inputs = {value("x", {"2"})},
                           .outputs = {value("y", {"2"}), value("z", {"2"})}})),
              {"x"}, {"y", "z"}, {f32({1, 2})});
}

TEST_F(SavedNames, TheNameOfAnInitializerThatIsAnOutputSurvivesSaving) {
  expect_kept(model(graph({.nodes = {node("Add", {"x", "w"}, {"y"})},
                           .initializers = {float_tensor("w", {2}, {5, 6})},
                           .inputs = {value("x", {"2"})},
                           .outputs = {value("w", {"2"}), value("y", {"2"})}})),
              {"x"}, {"w", "y"}, {f32({1, 2})});
}

TEST_F(SavedNames, NamesSurviveIfAModelDeclaresNoShapes) {
  const Ref<SavedProgram> program = read(model(graph({.nodes = {node("Exp", {"my.x"}, {"my.y"})},
                                                      .inputs = {value_info("my.x")},
                                                      .outputs = {value_info("my.y")}})));
  // The first call traces the function.
  const Ref<Function> f = program->find("").function;
  f->call(scope(), Tensors{f32({1, 2})}, {});

  const Ref<Trace> trace = f->traces()[0];

  EXPECT_EQ(trace->argument_name(0), "my.x");
  EXPECT_EQ(trace->output_name(0), "my.y");
}

TEST_F(SavedNames, AVariableIsRenamedIfAnOutputHasItsName) {
  const Ref<SavedProgram> program =
      again(*read(model(graph({.nodes = {node("Add", {"x", "w"}, {"y"})},
                               .initializers = {float_tensor("w", {2}, {5, 6})},
                               .inputs = {value("x", {"2"})},
                               .outputs = {value("y", {"2"})}}))));

  ASSERT_EQ(program->variables().size(), 1u);
  EXPECT_EQ(program->variables()[0]->name(), "w");
}

TEST_F(SavedNames, AGradientFunctionDoesNotUseTheNamesOfOutputs) {
  const Ref<Function> f = function(model(graph({.nodes = {node("Exp", {"x"}, {"y"})},
                                                .inputs = {value("x", {"2"})},
                                                .outputs = {value("y", {"2"})}})));
  const Ref<Function> gradient = f->gradient();
  gradient->call(scope(), Tensors{f32({1, 2})}, {});

  EXPECT_EQ(gradient->traces()[0]->output_name(0), "");
}

TEST_F(SavedNames, UnnamedInputsAndOutputsGetGeneratedNames) {
  const auto f = FunctionTest::function([](TensorSpan in) { return Tensors{-in[0], in[1]}; });
  const InputSpec first = {.dtype = DType::kF32, .sizes = {2}};
  const InputSpec second = {.name = "b", .dtype = DType::kF32, .sizes = {2}};
  const FunctionToSave one = {"f", f->trace(scope(), {first, second}, {})};
  Folder folder;
  save_program(scope(), folder.file("program"), {&one, 1});
  const Ref<SavedProgram> program = read_program(scope(), folder.file("program"));

  EXPECT_EQ(inputs_of(*program), (Names{"x0", "b"}));
  EXPECT_EQ(outputs_of(*program), (Names{"output_0", "output_1"}));
}

}  // namespace
}  // namespace tenon
