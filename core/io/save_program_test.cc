#include "core/io/save_program.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/io/onnx/model.h"
#include "core/io/onnx/named_call.h"
#include "core/io/safetensors.h"
#include "core/testing/folder.h"
#include "core/testing/functions.h"
#include "core/trace/control/control.h"
#include "core/trace/control/lists.h"
#include "core/trace/effects.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using onnx::call_named1;
using testing::f32;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SaveProgram : public testing::FunctionTest {
 protected:
  std::string path() const { return folder_.file("program"); }
  std::string file(const char* name) const { return path() + "/" + name; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path()))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  Ref<Trace> traced(const Ref<Function>& f, const std::vector<InputSpec>& inputs) {
    return f->trace(scope(), inputs, {});
  }
  void save(const std::vector<FunctionToSave>& functions) {
    save_program(scope(), path(), functions);
  }
  // Saves a function with one input x, and returns its parsed ONNX model.
  template <class Body>
  const onnx::Model& saved(const std::vector<InputSpec>& inputs, Body body) {
    save({{"f", traced(function(body), inputs)}});
    bytes_ = bytes_of(file("f.onnx"));
    model_ = onnx::parse_model(bytes_);
    return model_;
  }
  std::vector<std::string> ops(const onnx::Graph& graph) {
    std::vector<std::string> all;
    for (const onnx::Node& node : graph.nodes) all.push_back(node.op);
    return all;
  }
  // Saves the functions. Returns the code and the message of the error, or kOk if there is none.
  std::pair<Code, std::string> refusal(const std::vector<FunctionToSave>& functions) {
    try {
      save(functions);
    } catch (const Error& error) {
      return {error.code(), error.what()};
    }
    return {Code::kOk, "saved"};
  }
  Json description() { return Json::parse(bytes_of(file("tenon.json"))); }

 private:
  testing::Folder folder_;
  std::string bytes_;
  onnx::Model model_;
};

const InputSpec kX = {.name = "x", .dtype = DType::kF32, .sizes = {2, 3}};
const InputSpec kRows = {.name = "x",
                         .dtype = DType::kF32,
                         .sizes = {InputSpec::kUnknown, 3},
                         .dim_names = {"rows", ""}};

using Names = std::vector<std::string>;

// ---- written files

TEST_F(SaveProgram, AProgramIsAFolderOfModelsWeightsAndADescription) {
  const auto w = variable(f32({1, 2, 3}), "w");
  const auto read = function([&](TensorSpan in) { return Tensors{in[0] * w->read(scope())}; });
  const auto step = function([&](TensorSpan in) {
    w->assign(scope(), w->read(scope()) + call_named1("sum", {{"axes", Ints{0}}}, {in[0]}));
    return Tensors{};
  });
  save({{"read", traced(read, {kX})}, {"step", traced(step, {kX})}});

  EXPECT_EQ(files(), (Names{"read.onnx", "step.onnx", "tenon.json", "weights.safetensors"}));
  EXPECT_EQ(description(), Json::parse(R"({
      "format": "tenon program", "version": 1, "weights": "weights.safetensors",
      "functions": {
        "read": {"defaults": {}, "signatures": [
            {"file": "read.onnx", "statics": {}, "inputs": ["x"], "outputs": ["output"],
             "states": [], "captures": []}]},
        "step": {"defaults": {}, "signatures": [
            {"file": "step.onnx", "statics": {}, "inputs": ["x"], "outputs": [],
             "states": [{"input": "w", "output": "w_next", "variable": "w",
                         "trainable": true}], "captures": []}]}},
      "variables": [{"name": "w", "kind": "variable", "trainable": true}]})"));
  const auto weights = Safetensors::open(file("weights.safetensors"));
  ASSERT_EQ(weights->tensors().size(), 1u);
  const std::vector<std::byte> bytes = weights->read(weights->find("w"));
  float held[3];
  ASSERT_EQ(bytes.size(), sizeof held);
  std::memcpy(held, bytes.data(), sizeof held);
  EXPECT_EQ(held[2], 3);
}

TEST_F(SaveProgram, AssignedStatesAreInputsAndOutputs) {
  const auto w = variable(f32({1, 2, 3}), "w"), v = variable(f32({0, 0, 0}), "v");
  const onnx::Model& model = saved({kX}, [&](TensorSpan in) {
    v->assign(scope(), w->read(scope()));
    return Tensors{in[0] + v->read(scope())};
  });

  ASSERT_EQ(model.graph.inputs.size(), 2u);
  EXPECT_EQ(model.graph.inputs[0].name, "x");
  EXPECT_EQ(model.graph.inputs[1].name, "v");
  ASSERT_EQ(model.graph.outputs.size(), 2u);
  EXPECT_EQ(model.graph.outputs[1].name, "v_next");
  EXPECT_EQ(to_string(model.graph.outputs[1]), "f32[3]");
  ASSERT_EQ(model.graph.initializers.size(), 1u);
  EXPECT_EQ(model.graph.initializers[0].name, "w");
}

TEST_F(SaveProgram, DuplicateNamesAreMadeUnique) {
  const auto a = variable(f32({1, 2, 3}), "x"), b = variable(f32({4, 5, 6}), "x");
  const Tensor captured = f32({7, 8, 9});
  saved({kX}, [&](TensorSpan in) {
    return Tensors{in[0] + a->read(scope()) + b->read(scope()) + captured};
  });

  const Json json = description();
  EXPECT_EQ(json["variables"][0]["name"], "x_1");
  EXPECT_EQ(json["variables"][1]["name"], "x_2");
  EXPECT_EQ(json["functions"]["f"]["signatures"][0]["captures"], Json(Names{"capture"}));
}

// ---- ONNX models

TEST_F(SaveProgram, UnknownSizesHaveNames) {
  const onnx::Model& model = saved({kRows}, [](TensorSpan in) {
    return Tensors{concat(Tensors{in[0], in[0]}, 0), in[0]};
  });

  EXPECT_EQ(to_string(model.graph.inputs[0]), "f32[rows,3]");
  EXPECT_EQ(to_string(model.graph.outputs[1]), "f32[rows,3]");
  EXPECT_EQ(model.graph.outputs[0].name, "output_0");
  EXPECT_EQ(model.version_of(""), 20);
}

TEST_F(SaveProgram, AFormulaOfSizesBecomesNodes) {
  const onnx::Model& model = saved({kRows}, [](TensorSpan in) {
    return Tensors{tenon::zeros(TensorType(DType::kF32, {in[0]->shape()[0] * 2 + 1}))};
  });

  EXPECT_EQ(ops(model.graph), (Names{"Shape", "Mul", "Add", "ConstantOfShape", "Identity"}));
}

TEST_F(SaveProgram, DeadCodeIsNotSaved) {
  const onnx::Model& model = saved({kX}, [](TensorSpan in) {
    call_named1("exp", {}, {in[0]});
    return Tensors{call_named1("tanh", {}, {in[0]})};
  });

  EXPECT_EQ(ops(model.graph), (Names{"Tanh", "Identity"}));
}

TEST_F(SaveProgram, AllCallsOfAnOpThatOnnxLacksShareOneFunction) {
  const onnx::Model& model = saved({kX}, [](TensorSpan in) {
    return Tensors{call_named1("silu", {}, {call_named1("silu", {}, {in[0]})})};
  });

  EXPECT_EQ(ops(model.graph), (Names{"silu__1", "silu__1", "Identity"}));
  EXPECT_EQ(model.graph.nodes[0].domain, "tenon");
  EXPECT_EQ(model.version_of("tenon"), 1);
}

TEST_F(SaveProgram, CallsOfAnOpWithDifferentAttributesUseDifferentFunctions) {
  const onnx::Model& model = saved({kX}, [](TensorSpan in) {
    const Tensor y = call_named1("hard_tanh", {{"max_val", 2.0}}, {in[0]});
    return Tensors{call_named1("hard_tanh", {{"max_val", 3.0}}, {y})};
  });

  EXPECT_EQ(ops(model.graph), (Names{"hard_tanh__1", "hard_tanh__2", "Identity"}));
}

TEST_F(SaveProgram, AStackedListBecomesAScanOutputOfALoop) {
  const onnx::Model& model = saved({kRows}, [&](TensorSpan in) {
    const Block step = [](TensorSpan s) { return Tensors{s[0] + s[1], s[0]}; };
    const Tensor zero = fill(number(0), Dims{3}, DType::kF32);
    return scan(scope(), step, Tensors{zero}, in);
  });

  const auto is_loop = [](const onnx::Node& node) { return node.op == "Loop"; };
  const auto at = std::find_if(model.graph.nodes.begin(), model.graph.nodes.end(), is_loop);
  ASSERT_NE(at, model.graph.nodes.end());
  const onnx::Graph& body = *at->attributes[0].graph;
  // The loop carries two counters and the sum. The stacked value is a scan output.
  EXPECT_EQ(body.inputs.size(), 5u);
  EXPECT_EQ(body.outputs.size(), 5u);
  EXPECT_EQ(to_string(body.outputs[4]), "f32[3]");
}

TEST_F(SaveProgram, ABranchBecomesIf) {
  const InputSpec flag = {.name = "flag", .dtype = DType::kBool};
  const onnx::Model& model = saved({kX, flag}, [&](TensorSpan in) {
    return cond(
        scope(), in[1], [&](TensorSpan) { return Tensors{in[0]}; },
        [&](TensorSpan) { return Tensors{in[0] * number(2)}; });
  });

  EXPECT_EQ(ops(model.graph), (Names{"If", "Identity"}));
}

// ---- what ONNX cannot express

TEST_F(SaveProgram, EverythingInexpressibleIsReportedAtOnceAndNothingIsWritten) {
  const auto f = function([&](TensorSpan in) {
    const Tensor bits = call_named1("bitcast", {{"dtype", DType::kU8}}, {in[0]});
    return Tensors{bits, call_named1("nextafter", {}, {in[0], in[0]})};
  });
  const auto g = function([](TensorSpan in) { return Tensors{list_unstack(in[0])}; });

  const auto [code, text] = refusal({{"f", traced(f, {kX})}, {"g", traced(g, {kX})}});

  EXPECT_EQ(code, Code::kUnimplemented);
  EXPECT_NE(text.find("\n  f: bitcast: "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  f: nextafter: "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  g: output is a list of tensors"), std::string::npos) << text;
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(SaveProgram, HostCallbacksAreRefused) {
  const auto code =
      std::make_shared<const HostCode>(HostCode{[](Scope&, TensorSpan in) { return Tensors(in); }});
  const auto f = function([&](TensorSpan in) { return host_call(scope(), code, in, in); });

  const auto [refused, text] = refusal({{"f", traced(f, {kX})}});

  EXPECT_EQ(refused, Code::kUnimplemented);
  EXPECT_NE(text.find("f: host_call: a host callback cannot be saved in a file"), std::string::npos)
      << text;
}

TEST_F(SaveProgram, PrintBecomesAFunctionThatReturnsItsOperand) {
  const onnx::Model& model = saved({kX}, [&](TensorSpan in) {
    print(scope(), "{}", in);
    return Tensors{call_named1("tanh", {}, {in[0]})};
  });

  EXPECT_EQ(ops(model.graph), (Names{"print__1", "Tanh", "Identity"}));
  EXPECT_EQ(model.graph.nodes[1].inputs, model.graph.nodes[0].outputs);
  EXPECT_EQ(model.graph.inputs.size(), 1u);
}

TEST_F(SaveProgram, DTypesThatOnnxLacksAreRefused) {
  const InputSpec quad = {.name = "x", .dtype = DType::kF128, .sizes = {2}};
  const auto f = function([](TensorSpan in) { return Tensors{in[0]}; });

  EXPECT_EQ(refusal({{"f", traced(f, {quad})}}).first, Code::kUnimplemented);
}

// ---- invalid arguments

TEST_F(SaveProgram, NamesThatCannotBeFileNamesAreRefused) {
  const auto trace = traced(function([](TensorSpan in) { return Tensors{in[0]}; }), {kX});

  for (const char* name : {"", "a/b", "..", ".hidden", "a b", "a\\b"}) {
    EXPECT_EQ(refusal({{name, trace}}).first, Code::kInvalidArgument) << name;
  }
  EXPECT_EQ(refusal({{"f", trace}, {"f", trace}}).second,
            "two signatures of f are equal: (x: f32[2,3])");
  EXPECT_EQ(refusal({}).second, "there is no function to save");
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(SaveProgram, AFolderThatCannotBeCreatedIsAnError) {
  const auto trace = traced(function([](TensorSpan in) { return Tensors{in[0]}; }), {kX});
  const FunctionToSave one = {"f", trace};
  const auto code = [&](const std::string& at) {
    try {
      save_program(scope(), at, {&one, 1});
    } catch (const Error& error) {
      return error.code();
    }
    return Code::kOk;
  };

  EXPECT_EQ(code(path() + "/nowhere/program"), Code::kNotFound);
  std::ofstream(path()) << "a file";
  EXPECT_EQ(code(path()), Code::kUnavailable);
  EXPECT_EQ(bytes_of(path()), "a file");
}

// ---- saving over an earlier program

class SaveAgain : public SaveProgram {
 protected:
  Ref<Trace> times(double factor) {
    return traced(function([=](TensorSpan in) { return Tensors{in[0] * number(factor)}; }), {kX});
  }
  // Returns the contents of all files of the folder, keyed by name.
  std::map<std::string, std::string> all() {
    std::map<std::string, std::string> held;
    for (const std::string& name : files()) {
      if (fs::is_regular_file(file(name.c_str()))) held[name] = bytes_of(file(name.c_str()));
    }
    return held;
  }
};

TEST_F(SaveAgain, RemovesFilesThatTheEarlierProgramLists) {
  save({{"f", times(2)}, {"g", times(3)}});
  std::ofstream(file("notes.txt")) << "of somebody else";
  std::ofstream(file("h.onnx")) << "of somebody else, too";

  save({{"f", times(4)}});

  EXPECT_EQ(files(), (Names{"f.onnx", "h.onnx", "notes.txt", "tenon.json", "weights.safetensors"}));
  EXPECT_EQ(bytes_of(file("h.onnx")), "of somebody else, too");
}

TEST_F(SaveAgain, RemovesOnlyFilesThatASaveCouldHaveWritten) {
  save({{"f", times(2)}, {"g", times(3)}});
  const std::string json = bytes_of(file("tenon.json"));
  std::ofstream(path() + ".onnx") << "outside";
  std::ofstream(file("notes.txt")) << "no model";
  for (const std::string listed : {"../program.onnx", "notes.txt", "..", ""}) {
    std::string other = json;
    other.replace(other.find("g.onnx"), 6, listed);
    std::ofstream(file("tenon.json")) << other;
    save({{"f", times(4)}});
    EXPECT_EQ(bytes_of(path() + ".onnx"), "outside");
    EXPECT_EQ(bytes_of(file("notes.txt")), "no model");
  }
  std::ofstream(file("tenon.json")) << "no program";
  save({{"f", times(4)}});
  EXPECT_TRUE(fs::exists(file("g.onnx")));  // A leftover, since no readable program lists it.
}

TEST_F(SaveAgain, KeepsTheEarlierProgramIfAFileCannotBeWritten) {
  save({{"f", times(2)}});
  const auto before = all();
  fs::create_directories(
      file("tenon.json.tenon-old/of somebody else"));  // The first to be renamed.

  EXPECT_EQ(refusal({{"f", times(3)}, {"g", times(4)}}).first, Code::kUnavailable);

  EXPECT_EQ(all(), before);
}

TEST_F(SaveAgain, KeepsTheEarlierProgramIfAFileCannotBeRenamed) {
  save({{"e", times(1)}, {"f", times(2)}});
  const auto before = all();
  fs::create_directories(file("g.onnx/of somebody else"));  // Fails after others were renamed.

  EXPECT_EQ(refusal({{"f", times(3)}, {"g", times(4)}}).first, Code::kUnavailable);

  EXPECT_EQ(all(), before);
  EXPECT_TRUE(fs::exists(file("g.onnx/of somebody else")));
}

TEST_F(SaveAgain, KeepsTheEarlierProgramIfAnEarlierFileCannotBeRenamed) {
  save({{"e", times(1)}, {"f", times(2)}});
  const auto before = all();
  fs::create_directories(file("e.onnx.tenon-old/of somebody else"));  // The last to be renamed.

  EXPECT_EQ(refusal({{"f", times(3)}}).first, Code::kUnavailable);

  EXPECT_EQ(all(), before);
}

// Simulates a save whose process was killed while it renamed files.
TEST_F(SaveAgain, SucceedsAfterAnInterruptedSave) {
  save({{"f", times(2)}});
  fs::rename(file("tenon.json"), file("tenon.json.tenon-old"));
  fs::rename(file("f.onnx"), file("f.onnx.tenon-old"));

  save({{"f", times(3)}});

  EXPECT_EQ(files(), (Names{"f.onnx", "tenon.json", "weights.safetensors"}));
}

}  // namespace
}  // namespace tenon
