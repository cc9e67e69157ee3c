#include "core/io/program.h"

#include <filesystem>

#include "core/dispatch/generator.h"
#include "core/io/save_program.h"
#include "core/testing/folder.h"
#include "core/testing/functions.h"
#include "core/testing/onnx_file.h"

namespace tenon {
namespace {

using namespace testing;  // NOLINT: functions that build parts of files.
namespace fs = std::filesystem;

class ProgramFiles : public FunctionTest {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }
  Ref<SavedProgram> read(const std::string& name) { return read_program(scope(), path(name)); }

  Folder folder_;
};

// ---- a file

class ExternalData : public ProgramFiles {
 protected:
  // y = x + w, where the elements of w are in another file.
  static std::string adding(const std::string& location, const std::string& offset = "0",
                            const std::string& length = "8", uint64_t size = 2) {
    const auto entry = [](const std::string& key, const std::string& value) {
      return WireWriter().text(1, key).text(2, value);
    };
    WireWriter w = WireWriter().number(1, size).number(2, kOnnxFloat).text(8, "w");
    w.message(13, entry("location", location)).message(13, entry("offset", offset));
    if (!length.empty()) w.message(13, entry("length", length));
    w.number(14, 1);
    return model(graph({.nodes = {node("Add", {"x", "w"}, {"y"})},
                        .initializers = {w},
                        .inputs = {value_info("x")},
                        .outputs = {value_info("y")}}));
  }
  Tensor sum(const std::string& bytes) {
    folder_.write("m/model.onnx", bytes);
    return read("m/model.onnx")->find("").function->call(scope(), Tensors{f32({1, 2})}, {})[0];
  }
  static std::string floats(std::initializer_list<float> values) {
    return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(float)};
  }
};

TEST_F(ExternalData, IsReadFromTheModelsFolder) {
  folder_.write("m/w.bin", floats({9, 10, 20}));
  folder_.write("m/deeper/w.bin", floats({30, 40}));

  EXPECT_TENSOR(sum(adding("w.bin", "4")), f32({11, 22}));
  EXPECT_TENSOR(sum(adding("deeper/w.bin", "0", "")), f32({31, 42}));
}

TEST_F(ExternalData, IsRefusedOutsideTheModelsFolder) {
  folder_.write("w.bin", floats({1, 2}));
  fs::create_directories(folder_.path() / "m");
  fs::create_symlink(folder_.path() / "w.bin", folder_.path() / "m" / "link.bin");
  fs::create_directory_symlink(folder_.path(), folder_.path() / "m" / "out");
  fs::create_hard_link(folder_.path() / "w.bin", folder_.path() / "m" / "twin.bin");
  fs::create_directory(folder_.path() / "m" / "folder");

  const char* const paths[] = {"../w.bin",      "/etc/hostname", "",       ".",
                               "a/../../w.bin", "a//w.bin",      "./w.bin"};
  for (const char* each : paths) {
    EXPECT_ERROR(sum(adding(each)), Code::kDataLoss,
                 "must be a plain relative path within the model's folder");
  }
  EXPECT_ERROR(sum(adding(std::string("w\0.bin", 6))), Code::kDataLoss,
               "a character that is not allowed in paths");
  EXPECT_ERROR(sum(adding("..\\w.bin")), Code::kDataLoss,
               "a character that is not allowed in paths");
  EXPECT_ERROR(sum(adding("link.bin")), Code::kDataLoss, "without symbolic links");
  EXPECT_ERROR(sum(adding("out/w.bin")), Code::kDataLoss, "without symbolic links");
  EXPECT_ERROR(sum(adding("twin.bin")), Code::kDataLoss,
               "is not a regular file with a single link");
  EXPECT_ERROR(sum(adding("folder")), Code::kDataLoss, "is not a regular file with a single link");
  EXPECT_ERROR(sum(adding("none.bin")), Code::kNotFound, "\"none.bin\" cannot be opened");
}

TEST_F(ExternalData, DataBeyondTheEndOfItsFileIsRefused) {
  folder_.write("m/w.bin", floats({1, 2}));

  EXPECT_ERROR(
      sum(adding("w.bin", "4")), Code::kDataLoss,
      "tensor \"w\" is f32[2] and has 8 bytes at offset 4 of \"w.bin\", which has only 8 bytes");
  EXPECT_ERROR(sum(adding("w.bin", "18446744073709551615")), Code::kDataLoss,
               "which has only 8 bytes");
  EXPECT_ERROR(sum(adding("w.bin", "0", "4")), Code::kDataLoss,
               "tensor \"w\" is f32[2] and needs 8 bytes, but has 4 bytes");
  EXPECT_ERROR(sum(adding("w.bin", "-1")), Code::kDataLoss, "is not a number of bytes");
  EXPECT_ERROR(sum(adding("w.bin", "0", "", uint64_t{1} << 40)), Code::kDataLoss,
               "has 4398046511104 bytes at offset 0");
}

TEST_F(ProgramFiles, AMissingOrEmptyFileIsAnError) {
  EXPECT_ERROR(read("none.onnx"), Code::kNotFound, "none.onnx\" cannot be opened");
  EXPECT_ERROR(read(""), Code::kNotFound, "\"tenon.json\" cannot be opened");
  folder_.write("empty.onnx", "");
  EXPECT_ERROR(read("empty.onnx"), Code::kDataLoss, "a model of 0 bytes has no graph");
}

// ---- a folder

class SavedFolder : public ProgramFiles {
 protected:
  // step(x) adds x to `sum` and returns the sum; look(x) returns w * x + sum.
  void save() {
    const auto sum = variable(f32({1, 1}), "sum");
    const auto w = variable(f32({2, 3}), "w");
    const auto step = function([=, this](TensorSpan in) {
      sum->assign(scope(), sum->read(scope()) + in[0]);
      return Tensors{sum->read(scope())};
    });
    const auto look = function([=, this](TensorSpan in) {
      return Tensors{w->read(scope()) * in[0] + sum->read(scope())};
    });
    const FunctionToSave functions[] = {
        {"step", step->trace(scope(), {{.dtype = DType::kF32, .sizes = {2}}}, {})},
        {"look", look->trace(scope(), {{.dtype = DType::kF32, .sizes = {2}}}, {})}};
    save_program(scope(), path("p"), functions);
  }
  void replace(const std::string& from, const std::string& to) {
    std::string json = folder_.read("p/tenon.json");
    const size_t at = json.find(from);
    ASSERT_NE(at, std::string::npos) << json;
    folder_.write("p/tenon.json", json.replace(at, from.size(), to));
  }
};

TEST_F(SavedFolder, HoldsFunctionsThatShareTheirVariables) {
  save();
  const auto program = read("p");
  const auto call = [&](const char* name, const Tensor& x) {
    return program->find(name).function->call(scope(), Tensors{x}, {})[0];
  };

  EXPECT_TENSOR(call("look", f32({1, 1})), f32({3, 4}));
  EXPECT_TENSOR(call("step", f32({10, 20})), f32({11, 21}));
  EXPECT_TENSOR(call("step", f32({10, 20})), f32({21, 41}));
  EXPECT_TENSOR(call("look", f32({0, 0})), f32({21, 41}));
  EXPECT_EQ(program->variables().size(), 2u);
  EXPECT_EQ(program->find("step").signatures[0].inputs.size(), 1u);
  EXPECT_EQ(program->find("step").signatures[0].outputs.size(), 1u);
  EXPECT_EQ(log_, "");
  // Running the program does not change the folder.
  EXPECT_TENSOR(read("p")->find("look").function->call(scope(), Tensors{f32({0, 0})}, {})[0],
                f32({1, 1}));
}

TEST_F(SavedFolder, GeneratorsContinueTheirSequence) {
  const auto generator = Ref<Generator>::adopt(new Generator(scope(), 7));
  const auto draw = function([=, this](TensorSpan) {
    const Tensor state = generator->load(scope());
    const Tensors drawn = random_uniform(state, {3}, DType::kF32);
    generator->store(scope(), drawn[1]);
    return Tensors{drawn[0]};
  });
  const FunctionToSave functions[] = {{"draw", draw->trace(scope(), {}, {})}};
  save_program(scope(), path("p"), functions);
  const auto program = read("p");

  const Tensor first = program->find("").function->call(scope(), Tensors{}, {})[0];
  const Tensor second = program->find("").function->call(scope(), Tensors{}, {})[0];

  EXPECT_TENSOR(first, call_one(draw, {}));
  EXPECT_TENSOR(second, call_one(draw, {}));
}

TEST_F(SavedFolder, IsRefusedIfItsDescriptionIsInvalid) {
  const auto refused = [&](const char* from, const char* to, const char* why) {
    save();
    replace(from, to);
    EXPECT_ERROR(read("p"), Code::kDataLoss, why);
  };

  refused("\"tenon program\"", "\"a program\"",
          "tenon.json must have \"format\": \"tenon program\"");
  refused("\"weights\":", "\"more\": 1, \"weights\":",
          "tenon.json has \"more\", which is not supported");
  refused("\"file\":", "\"files\":", "must have the key \"file\"");
  refused("\"trainable\": true", "\"trainable\": 1", "must have the key \"trainable\"");
  refused("\"version\": 1", "\"version\": 1, \"version\": 1", "the key \"version\" twice");
  refused("\"step.onnx\"", "\"../step.onnx\"",
          "must be a plain relative path within the model's folder");
  refused("\"weights.safetensors\"", "\"step.onnx\"", "");
  refused("\"sum_next\"", "\"next\"", "the graph has no output \"next\"");
  refused("\"kind\": \"variable\"", "\"kind\": \"cell\"", "which is not supported");
  refused("{", (std::string(40, '[') + "{").c_str(), "is nested too deeply");
  refused("\"version\": 1", "\"version\": 1e999", "tenon.json is not valid JSON");
  save();
  replace("\"version\": 1", "\"version\": 2");
  EXPECT_ERROR(read("p"), Code::kUnimplemented,
               "tenon.json has version 2, but only version 1 is supported");
}

TEST_F(SavedFolder, IsRefusedIfItsFilesAreInconsistent) {
  save();
  fs::remove(folder_.path() / "p" / "weights.safetensors");
  EXPECT_ERROR(read("p"), Code::kNotFound, "\"weights.safetensors\" cannot be opened");
  save();
  fs::rename(folder_.path() / "p" / "step.onnx", folder_.path() / "step.onnx");
  fs::create_symlink(folder_.path() / "step.onnx", folder_.path() / "p" / "step.onnx");
  EXPECT_ERROR(read("p"), Code::kDataLoss, "without symbolic links");
}

}  // namespace
}  // namespace tenon
