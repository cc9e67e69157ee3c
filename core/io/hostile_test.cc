// Malicious and malformed ONNX files: bytes, graphs, tensors, numbers and paths. Each must be
// rejected within the limits of core/testing/hostile_files.h. hostile_nodes_test.cc tests invalid
// nodes.

#include <sys/stat.h>

#include "core/testing/hostile_files.h"

namespace tenon {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

constexpr uint64_t kHuge = uint64_t{1} << 62;

// ---- builders of files

std::string with(const WireWriter& tensor) {
  return model_of({node("Add", {"x", "w"}, {"y"})}, {tensor});
}
WireWriter function_of(const std::string& name, const std::vector<WireWriter>& nodes) {
  WireWriter function;
  function.text(1, name).text(4, "a").text(5, "b");
  for (const WireWriter& each : nodes) function.message(7, each);
  return function.message(9, WireWriter().text(1, "").number(2, 17)).text(10, "own");
}
WireWriter call(const std::string& name, const std::string& from, const std::string& to) {
  return node(name, {from}, {to}).text(7, "own");
}
std::string with_functions(const std::vector<WireWriter>& functions) {
  std::string file = model_of({call("f0", "x", "y")});
  WireWriter more;
  for (const WireWriter& function : functions) more.message(25, function);
  return file + more.message(8, WireWriter().text(1, "own").number(2, 1)).bytes();
}
WireWriter nested(int depth) {
  if (depth == 0) {
    return graph({.nodes = {node("Neg", {"x"}, {"z"})}, .outputs = {value_info("z")}});
  }
  const std::string y = "z" + std::to_string(depth);
  return graph({.nodes = {node("If", {"c"}, {y},
                               {graph_attribute("then_branch", nested(depth - 1)),
                                graph_attribute("else_branch", nested(depth - 1))})},
                .outputs = {value_info(y)}});
}

// ---- malformed bytes

std::vector<Bad> wire() {
  const std::string good = model_of({node("Neg", {"x"}, {"y"})});
  return {
      {"nothing", "", "no graph"},
      {"text", "this is not a model", ""},
      {"a key that does not end", "\xff\xff\xff", ""},
      {"a number that does not end", "\x08\xff", ""},
      {"a number of eleven bytes", "\x08" + std::string(10, '\xff') + "\x01", ""},
      {"a length beyond the file", "\x3a\x7f" + good, ""},
      {"a length of 2^63", "\x3a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", ""},
      {"a group", "\x3b" + good, ""},
      {"a form that there is not", "\x3e" + good, ""},
      {"field 0", std::string("\x00\x01", 2), ""},
      {"a graph that is a number", "\x38\x05", ""},
      {"a name that is not a string", model_of({node("Neg", {"x"}, {"y"}).text(3, "\xff\xfe")}),
       "UTF-8"},
      {"no graph", WireWriter().number(1, 8).bytes(), "no graph"},
      {"two graphs", good + good, "second graph"},
      {"graphs in graphs in graphs",
       model_of({node("If", {"c"}, {"y"}, {graph_attribute("then_branch", nested(17))})}),
       "nests more than 16 graphs"},
      {"an op of no name", model_of({node("", {"x"}, {"y"})}), "not supported"},
      {"ops that nobody knows", model_of({node("Frob", {"x"}, {"a"}), node("Knit", {"a"}, {"y"})}),
       "Frob (node 0), Knit (node 1)"},
      {"ops of the future", model_of({node("Neg", {"x"}, {"y"})}, {}, 28), "27"},
  };
}

// ---- malformed graphs

std::vector<Bad> graphs() {
  const WireWriter neg = node("Neg", {"x"}, {"y"});
  const auto doubled = [](int i) {
    const std::string next = "f" + std::to_string(i + 1);
    return function_of("f" + std::to_string(i), {call(next, "a", "m"), call(next, "m", "b")});
  };
  std::vector<WireWriter> doubling, deep;
  for (int i = 0; i < 40; ++i) doubling.push_back(doubled(i));
  doubling.push_back(function_of("f40", {node("Neg", {"a"}, {"b"})}));
  for (int i = 0; i < 100; ++i) {
    deep.push_back(
        function_of("f" + std::to_string(i), {call("f" + std::to_string(i + 1), "a", "b")}));
  }
  deep.push_back(function_of("f100", {node("Neg", {"a"}, {"b"})}));
  return {
      {"a cycle", model_of({node("Neg", {"b"}, {"a"}), node("Neg", {"a"}, {"b"}), neg}), "cycle"},
      {"a node that reads itself", model_of({node("Add", {"x", "y"}, {"y"})}), "cycle"},
      {"unordered nodes", model_of({node("Neg", {"a"}, {"y"}), node("Neg", {"x"}, {"a"})}),
       "unordered"},
      {"a value that nobody makes", model_of({node("Neg", {"lost"}, {"y"})}), "lost"},
      {"an output that nobody makes", model_of({node("Neg", {"x"}, {"z"})}), "\"y\""},
      {"a value defined twice", model_of({neg, neg}), "defined twice"},
      {"an input made again", model_of({node("Neg", {"x"}, {"x"}), neg}), "defined twice"},
      {"an initialiser made again", model_of({neg}, {float_tensor("y", {1}, {1})}),
       "defined twice"},
      {"an input twice",
       model(graph({.nodes = {neg}, .inputs = {x_info(), x_info()}, .outputs = {y_info()}})),
       "defined twice"},
      {"an input without a name",
       model(graph({.nodes = {neg}, .inputs = {x_info(), value_info("")}, .outputs = {y_info()}})),
       "no name"},
      {"an attribute twice",
       model_of(
           {node("Softmax", {"x"}, {"y"}, {int_attribute("axis", 0), int_attribute("axis", 1)})}),
       "twice"},
      {"an attribute that nobody knows",
       model_of({node("Elu", {"x"}, {"y"}, {int_attribute("spin", 1)})}), "spin"},
      {"an attribute of another kind",
       model_of({node("Softmax", {"x"}, {"y"}, {text_attribute("axis", "one")})}), "axis"},
      {"an attribute without its tensor",
       model_of({node("Constant", {}, {"y"}, {WireWriter().text(1, "value").number(20, 4)})}),
       "no value"},
      {"an attribute of a function, but is outside a function",
       model_of({node("Softmax", {"x"}, {"y"}, {WireWriter().text(1, "axis").text(21, "a")})}),
       "outside"},
      {"too few inputs", model_of({node("Add", {"x"}, {"y"})}), "Add"},
      {"too many inputs", model_of({node("Neg", {"x", "x", "x"}, {"y"})}), "Neg"},
      {"too many outputs", model_of({node("Neg", {"x"}, {"y", "z"})}), "Neg"},
      {"If without a branch",
       model_of({node("If", {"c"}, {"y"})}, {tensor_of({}, kOnnxBool).number(5, 1)}), ""},
      {"Loop without a body", model_of({node("Loop", {"", "", "x"}, {"y"})}), "body"},
      {"Scan over more than there is",
       model_of({node("Scan", {"x"}, {"y"},
                      {int_attribute("num_scan_inputs", 5), graph_attribute("body", nested(0))})}),
       "num_scan_inputs"},
      {"a function that calls itself", with_functions({function_of("f0", {call("f0", "a", "b")})}),
       "calls itself"},
      {"functions in a circle",
       with_functions(
           {function_of("f0", {call("f1", "a", "b")}), function_of("f1", {call("f0", "a", "b")})}),
       "calls itself"},
      {"a function twice",
       with_functions({function_of("f0", {node("Neg", {"a"}, {"b"})}),
                       function_of("f0", {node("Abs", {"a"}, {"b"})})}),
       "twice"},
      {"functions that double forty times", with_functions(doubling), "nodes"},
      {"functions a hundred deep", with_functions(deep), "deep"},
      {"a function that does not give its output",
       with_functions({function_of("f0", {node("Neg", {"a"}, {"c"})})}), "\"b\""},
  };
}

// ---- malformed tensors and types

std::vector<Bad> tensors() {
  const WireWriter neg = node("Neg", {"x"}, {"y"});
  const auto declared = [&](const WireWriter& input, const WireWriter& output) {
    return model(graph({.nodes = {neg}, .inputs = {input}, .outputs = {output}}));
  };
  return {
      {"a negative size", with(tensor_of({~uint64_t{0}}, kOnnxFloat)), "negative"},
      {"sizes whose product is beyond 64 bits", with(tensor_of({kHuge, kHuge}, kOnnxFloat)), "w"},
      {"an empty tensor of such sizes", with(tensor_of({kHuge, kHuge, 0}, kOnnxFloat)), "w"},
      {"bytes beyond 64 bits", with(tensor_of({kHuge}, kOnnxFloat)), "w"},
      {"2^40 elements in no bytes", with(tensor_of({uint64_t{1} << 40}, kOnnxFloat)), "0 elements"},
      {"33 axes", with(tensor_of(std::vector<uint64_t>(33, 1), kOnnxFloat)), "axes"},
      {"too few raw bytes", with(tensor_of({2}, kOnnxFloat).text(9, "1234567")), "7"},
      {"too many raw bytes", with(tensor_of({2}, kOnnxFloat).text(9, "123456789")), "9"},
      {"too few elements", with(tensor_of({3}, kOnnxFloat).real(4, 1)), "1 elements"},
      {"elements of another field", with(tensor_of({1}, kOnnxFloat).number(7, 1)), "0 elements"},
      {"an element type of no name", with(tensor_of({1}, 99).text(9, "1234")), "element type 99"},
      {"text", with(tensor_of({1}, 8).text(6, "abc")), "string"},
      {"a part of a tensor", with(tensor_of({1}, kOnnxFloat).message(3, WireWriter().number(1, 0))),
       "segment of a tensor"},
      {"a declared dtype that is not so",
       declared(shaped_info("x", {2}), value_info("y", kOnnxInt64)), "declared"},
      {"a declared size of 2^62", declared(shaped_info("x", {kHuge, kHuge}), y_info()), ""},
      {"another type declared for an initialiser",
       model(graph({.nodes = {node("Add", {"x", "w"}, {"y"})},
                    .initializers = {float_tensor("w", {2}, {1, 2})},
                    .inputs = {x_info()},
                    .outputs = {y_info()}})
                 .message(13, shaped_info("w", {3}))),
       "declared"},
  };
}

// ---- invalid numbers in nodes

std::vector<Bad> numbers() {
  constexpr int64_t kMany = int64_t{1} << 61;
  const auto scaled = [](float scale) {
    return model_of({node("Reshape", {"x", "i"}, {"p"}), node("Resize", {"p", "", "s"}, {"y"})},
                    {int_tensor("i", {1, 1, 1, 2}), float_tensor("s", {4}, {1, 1, 1, scale})});
  };
  const auto pooled = [](std::vector<WireWriter> attributes) {
    return model_of({node("Reshape", {"x", "i"}, {"p"}), node("MaxPool", {"p"}, {"y"}, attributes)},
                    {int_tensor("i", {1, 1, 1, 2})});
  };
  return {
      {"Reshape to more than there is", with_ints("Reshape", {3}), "reshape"},
      {"Reshape to sizes beyond 64 bits", with_ints("Reshape", {kMany, kMany}), ""},
      {"Reshape with two open sizes", with_ints("Reshape", {-1, -1}), ""},
      {"Expand to 2^61 elements", with_ints("Expand", {kMany, 2}), ""},
      {"Tile 2^61 times", with_ints("Tile", {kMany}), ""},
      {"ConstantOfShape of 2^61 elements",
       model_of({node("ConstantOfShape", {"i"}, {"y"})}, {int_tensor("i", {kMany})}), ""},
      {"Range without an end",
       model_of({node("Range", {"a", "b", "c"}, {"y"})},
                {int_tensor("a", {0}), int_tensor("b", {kMany}), int_tensor("c", {0})}),
       ""},
      {"an index out of range", with_ints("Gather", {1000}), "1000"},
      {"an axis out of range",
       model_of({node("Concat", {"x", "x"}, {"y"}, {int_attribute("axis", 7)})}), "axis"},
      {"Transpose that takes an axis twice",
       model_of({node("Transpose", {"x"}, {"y"}, {ints_attribute("perm", {0, 0})})}), "perm"},
      {"Split into other sizes",
       model_of({node("Split", {"x", "i"}, {"y", "z"})}, {int_tensor("i", {5, 6})}), "split"},
      {"Pad by 2^61", with_ints("Pad", {kMany, kMany}), ""},
      {"Pad by less than is there", with_ints("Pad", {-5, 0}), ""},
      {"Cast to a dtype of no name",
       model_of({node("Cast", {"x"}, {"y"}, {int_attribute("to", 77)})}), "77"},
      {"TopK of more than there are", with_ints("TopK", {9}), ""},
      {"Resize by nothing", scaled(0), ""},
      {"Resize by less than nothing", scaled(-2), ""},
      {"Resize by no number", scaled(std::numeric_limits<float>::quiet_NaN()), ""},
      {"Resize by 2^60", scaled(1e18f), ""},
      {"a window of no elements", pooled({ints_attribute("kernel_shape", {0, 0})}), "kernel"},
      {"a stride of 0",
       pooled({ints_attribute("kernel_shape", {1, 1}), ints_attribute("strides", {0, 0})}),
       "stride"},
      {"a window beyond 64 bits",
       pooled({ints_attribute("kernel_shape", {kMany, kMany}),
               ints_attribute("dilations", {kMany, kMany})}),
       ""},
      {"an equation that is none",
       model_of({node("Einsum", {"x"}, {"y"}, {text_attribute("equation", "i->->j")})}), ""},
      {"blocks of no elements",
       model_of({node("DepthToSpace", {"x"}, {"y"}, {int_attribute("blocksize", 0)})}), ""},
  };
}

TEST_F(HostileFiles, AreRefused) {
  size_t n = 0;
  for (const auto& classes : {wire(), graphs(), tensors(), numbers()}) {
    for (const Bad& bad : classes) expect_refused(bad);
    n += classes.size();
  }
  EXPECT_GE(n, 80u);  // hostile_nodes_test.cc has the others of 150 classes.
}

// Truncates a valid file after each byte. Every truncated file must be rejected, except one that
// lacks only the operator set version.
TEST_F(HostileFiles, TruncatedFilesAreRefused) {
  const std::string file =
      model(graph({.nodes = {node("If", {"c"}, {"z"},
                                  {graph_attribute("then_branch", nested(0)),
                                   graph_attribute("else_branch", nested(0))}),
                             node("Add", {"z", "w"}, {"y"})},
                   .initializers = {float_tensor("w", {2}, {3, 4}),
                                    tensor_of({}, kOnnxBool).number(5, 1).text(8, "c")},
                   .inputs = {shaped_info("x", {2})},
                   .outputs = {y_info()}}));
  ASSERT_EQ(refusal(folder_.write("model.onnx", file)), "");
  size_t read = 0;
  for (size_t n = 0; n < file.size(); ++n) {
    if (refusal(folder_.write("model.onnx", file.substr(0, n))).empty()) ++read;
  }
  EXPECT_LE(read, 1u);  // Only the operator set version follows the graph.
}

// Replaces each byte of a valid file. The file must be rejected or be another valid model.
TEST_F(HostileFiles, AChangedByteMakesAFileInvalidOrAnotherValidModel) {
  const std::string file =
      model_of({node("Reshape", {"x", "i"}, {"r"}), node("Add", {"r", "w"}, {"y"})},
               {int_tensor("i", {1, 2}), float_tensor("w", {2}, {3, 4})});
  size_t refused = 0;
  for (size_t at = 0; at < file.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string other = file;
      other[at] = static_cast<char>(other[at] ^ change);
      if (!refusal(folder_.write("model.onnx", other)).empty()) ++refused;
    }
  }
  EXPECT_GT(refused, file.size());
}

// ---- malicious paths

TEST_F(HostileFiles, CannotReachOutsideTheirFolder) {
  const std::filesystem::path secret = folder_.path() / "secret";
  const Folder inner;
  folder_.write("secret", std::string(64, 's'));
  inner.write("weights", std::string(64, 'w'));
  std::filesystem::create_directory(inner.path() / "sub");
  std::filesystem::create_symlink(secret, inner.path() / "link");
  std::filesystem::create_directory_symlink(folder_.path(), inner.path() / "out");
  inner.write("one", std::string(64, 'h'));
  std::filesystem::create_hard_link(inner.path() / "one", inner.path() / "two");
  ASSERT_EQ(::mkfifo((inner.path() / "pipe").c_str(), 0600), 0);
  struct External {
    std::string location;
    const char *offset, *length, *says;
  };
  const auto refused = [&](const External& external) {
    const auto entry = [](const char* key, const std::string& value) {
      return WireWriter().text(1, key).text(2, value);
    };
    WireWriter tensor = tensor_of({2}, kOnnxFloat).number(14, 1);
    if (!external.location.empty()) tensor.message(13, entry("location", external.location));
    if (external.offset) tensor.message(13, entry("offset", external.offset));
    if (external.length) tensor.message(13, entry("length", external.length));
    return refusal(inner.write("model.onnx", with(tensor)));
  };
  EXPECT_EQ(refused({"weights", "8", "8", ""}), "");
  for (const External& bad : std::vector<External>{
           {"", nullptr, nullptr, "must be a plain relative path within the model's folder"},
           {secret.string(), nullptr, nullptr,
            "must be a plain relative path within the model's folder"},
           {"../" + folder_.path().filename().string() + "/secret", nullptr, nullptr,
            "must be a plain relative path within the model's folder"},
           {"sub/../weights", nullptr, nullptr,
            "must be a plain relative path within the model's folder"},
           {"./weights", nullptr, nullptr,
            "must be a plain relative path within the model's folder"},
           {"sub//weights", nullptr, nullptr,
            "must be a plain relative path within the model's folder"},
           {"..\\secret", nullptr, nullptr, "character"},
           {std::string("weights\0.txt", 12), nullptr, nullptr, "character"},
           {"link", nullptr, nullptr, "without symbolic links"},
           {"out/secret", nullptr, nullptr, "without symbolic links"},
           {"two", nullptr, nullptr, "is not a regular file with a single link"},
           {"pipe", nullptr, nullptr, "is not a regular file with a single link"},
           {"sub", nullptr, nullptr, "is not a regular file with a single link"},
           {"missing", nullptr, nullptr, "missing"},
           {"weights", "60", "8", "which has only 64 bytes"},
           {"weights", "18446744073709551612", "8", "which has only 64 bytes"},
           {"weights", "0", "9", "9"},
           {"weights", "-8", "8", "not a number of bytes"},
           {"weights", "0x8", "8", "not a number of bytes"},
           {"weights", "99999999999999999999999", "8", "not a number of bytes"},
       }) {
    const std::string why = refused(bad);
    EXPECT_NE(why, "") << bad.location;
    EXPECT_NE(why.find(bad.says), std::string::npos) << bad.location << ": " << why;
  }
}

TEST_F(HostileFiles, MustBeRegularFiles) {
  EXPECT_NE(refusal((folder_.path() / "none.onnx").string()).find("NOT_FOUND"), std::string::npos);
  EXPECT_NE(refusal(folder_.path().string()), "");
  ASSERT_EQ(::mkfifo((folder_.path() / "pipe.onnx").c_str(), 0600), 0);
  EXPECT_NE(refusal((folder_.path() / "pipe.onnx").string()).find("is not a file"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon
