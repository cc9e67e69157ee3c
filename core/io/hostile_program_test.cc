// Malicious and malformed program descriptions (tenon.json). Each must be rejected with an error,
// either when the program is read or when it is called.

#include <nlohmann/json.hpp>

#include "core/io/program.h"
#include "core/io/save_program.h"
#include "core/testing/folder.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

class HostileDescriptions : public testing::CoreTest {
 protected:
  // Saves a program whose function f has two signatures, for inputs of two and of three floats.
  // Keeps its description for the tests to modify.
  HostileDescriptions() : CoreTest({.log = [](int32_t, std::string_view) {}}) {
    const auto body = [](Scope&, TensorSpan in, const Statics&) { return Tensors{in[0]}; };
    const auto f = Ref<Function>::adopt(new Function(context(), "f", body, {}));
    std::vector<FunctionToSave> traces;
    for (const int64_t size : {2, 3}) {
      traces.push_back({"f", f->trace(scope(), {{.dtype = DType::kF32, .sizes = {size}}}, {})});
    }
    save_program(scope(), folder_.file("p"), traces);
    json_ = nlohmann::json::parse(folder_.read("p/tenon.json"));
  }

  // Replaces the value at the JSON pointer `path` by `part`, reads and calls the program, and
  // returns the error message.
  std::string refused_with(const char* path, const nlohmann::json& part) {
    nlohmann::json json = json_;
    json[nlohmann::json::json_pointer(path)] = part;
    folder_.write("p/tenon.json", json.dump());
    try {
      const Tensor x = testing::f32({1, 2});
      read_program(scope(), folder_.file("p"))->find("f").function->call(scope(), {&x, 1}, {});
    } catch (const Error& error) {
      EXPECT_NE(error.code(), Code::kInternal) << error.what();
      return error.what();
    }
    return "";
  }

  testing::Folder folder_;
  nlohmann::json json_;
};

TEST_F(HostileDescriptions, AreRefused) {
  using Json = nlohmann::json;
  const char* const kSignatures = "/functions/f/signatures";
  const std::string first = std::string(kSignatures) + "/0", file = first + "/file",
                    statics = first + "/statics/n";
  const Json of_two = json_[Json::json_pointer(first)];
  std::filesystem::copy_file(folder_.file("p/f.onnx"), folder_.file("p/twin.onnx"));
  Json twin = of_two;
  twin["file"] = "twin.onnx";
  for (const char* name : {"a", "b"}) {  // Two links that refer to each other.
    std::filesystem::create_symlink(*name == 'a' ? "b.onnx" : "a.onnx",
                                    folder_.path() / "p" / (name + std::string(".onnx")));
  }
  std::filesystem::create_directory_symlink(".", folder_.path() / "p" / "here");
  Json deep = 1;
  for (int i = 0; i < 100; ++i) deep = Json::array({deep});
  ASSERT_EQ(refused_with("/version", 1), "");
  const struct {
    const std::string path;
    Json part;
    const char* says;
  } all[] = {
      {kSignatures, Json::array({of_two, twin}), "has the signature (x0: f32[2]) twice"},
      {kSignatures, Json::array({of_two, of_two}), "\"f.onnx\" is the model of two signatures"},
      {kSignatures, Json::array(), "has no signature"},
      {kSignatures, of_two, "must have the key \"signatures\""},
      {kSignatures, Json::array({1}), "is not an object"},
      {"/functions/g", json_["functions"]["f"], "is the model of two signatures"},
      {"/functions/f/more", 1, "has \"more\", which is not supported"},
      {first + "/more", 1, "has \"more\", which is not supported"},
      {file, "none.onnx", "\"none.onnx\" cannot be opened"},
      {file, "a.onnx", "without symbolic links"},
      {file, "here/f.onnx", "without symbolic links"},
      {file, "tenon.json", ""},
      {file, "weights.safetensors", ""},
      {file, ".", "must be a plain relative path within the model's folder"},
      {file, "", "must be a plain relative path within the model's folder"},
      {"/weights", "tenon.json", ""},
      {"/weights", "a.onnx", "without symbolic links"},
      {first + "/inputs", Json::array({"x0", "x0"}), "or tenon.json lists it twice"},
      {first + "/inputs", Json::array(), ""},
      {first + "/outputs", Json::array({"x0"}), "has no output \"x0\""},
      {statics, uint64_t{1} << 63, "is not a valid value of a static argument"},
      {statics, Json::object({{"enum", Json::array({1, 2})}}),
       "is not a valid value of a static argument"},
      {statics, Json::object({{"float", "many"}}), "is not a valid value of a static argument"},
      {statics, Json::object({{"map", Json::object({{"", 1}})}}),
       "is not a valid value of a static argument"},
      {statics, Json::object(), "is not a valid value of a static argument"},
      {statics, deep, "nested too deeply"},
      {statics, 1, "no signature for (f32[2])"},
      {first + "/statics", Json::object({{"", 1}}), "is not a valid value of a static argument"},
      {first + "/statics", Json::array(), "must have the key \"statics\""},
      {"/functions/f/defaults", 1, "must have the key \"defaults\""},
  };
  for (const auto& bad : all) {
    const std::string why = refused_with(bad.path.c_str(), bad.part);
    EXPECT_NE(why, "") << bad.path;
    EXPECT_NE(why.find(bad.says), std::string::npos) << bad.path << ": " << why;
  }
}

}  // namespace
}  // namespace tenon
