#include "core/io/onnx/model_program.h"

#include <nlohmann/json.hpp>

#include "core/testing/onnx_program.h"

namespace tenon::onnx {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

// ---- sizes

TEST_F(ModelProgram, AComputedShapeServesAllLengths) {
  // The model computes y = reshape(x, [N * 3]).
  const auto f = function(model(graph(
      {.nodes = {node("Shape", {"x"}, {"shape"}), node("Gather", {"shape", "zero"}, {"n"}),
                 node("Mul", {"n", "three"}, {"all"}), node("Unsqueeze", {"all", "axes"}, {"list"}),
                 node("Cast", {"list"}, {"narrow"}, {int_attribute("to", 6)}),
                 node("Concat", {"narrow"}, {"joined"}, {int_attribute("axis", 0)}),
                 node("Cast", {"joined"}, {"to"}, {int_attribute("to", 7)}),
                 node("Reshape", {"x", "to"}, {"y"})},
       .initializers = {WireWriter().number(2, kOnnxInt64).number(7, 0).text(8, "zero"),
                        WireWriter().number(2, kOnnxInt64).number(7, 3).text(8, "three"),
                        int_tensor("axes", {0})},
       .inputs = {value("x", {"N", "3"})},
       .outputs = {value_info("y")}})));

  EXPECT_TENSOR(call_one(f, {f32({1, 3}, {1, 2, 3})}), f32({1, 2, 3}));
  EXPECT_TENSOR(call_one(f, {f32({2, 3}, {1, 2, 3, 4, 5, 6})}), f32({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(text(f), "(x: f32[N,3]) {\n  v0 = reshape(x, shape=[3*N])\n  return v0\n}\n");
  EXPECT_EQ(f->traces().size(), 1u);
}

TEST_F(ModelProgram, FoldsPadsAsExportersComputeThem) {
  // PyTorch's exporter lists pads as [before, after], last axis first. The model reverses them by a
  // reshape, a slice with a negative step, and a transpose.
  const auto f = function(model(graph(
      {.nodes =
           {node("ConstantOfShape", {"two"}, {"zeros"},
                 {WireWriter().text(1, "value").message(5, int_tensor("", {0})).number(20, 4)}),
            node("Concat", {"pads", "zeros"}, {"all"}, {int_attribute("axis", 0)}),
            node("Reshape", {"all", "pairs"}, {"matrix"}),
            node("Slice", {"matrix", "minus_one", "first", "axis", "minus_one"}, {"back"}),
            node("Transpose", {"back"}, {"turned"}, {ints_attribute("perm", {1, 0})}),
            node("Reshape", {"turned", "minus_one"}, {"list"}), node("Pad", {"x", "list"}, {"y"})},
       .initializers = {int_tensor("two", {2}), int_tensor("pads", {1, 2}),
                        int_tensor("pairs", {-1, 2}), int_tensor("minus_one", {-1}),
                        int_tensor("first", {-INT64_MAX}), int_tensor("axis", {0})},
       .inputs = {value("x", {"N", "M"})},
       .outputs = {value_info("y")}})));

  EXPECT_TENSOR(call_one(f, {f32({1, 2}, {7, 8})}), f32({1, 5}, {0, 7, 8, 0, 0}));
  EXPECT_EQ(text(f), "(x: f32[N,M]) {\n  v0 = pad(x, none, pads=[0,1,0,2])\n  return v0\n}\n");
}

TEST_F(ModelProgram, ARoundedFractionOfASizeServesAllLengths) {
  // The model computes range(ceil(N / 2)).
  const auto f = function(model(
      graph({.nodes = {node("Size", {"x"}, {"n"}),
                       node("Cast", {"n"}, {"real"}, {int_attribute("to", 1)}),
                       node("Mul", {"real", "half"}, {"scaled"}), node("Ceil", {"scaled"}, {"up"}),
                       node("Cast", {"up"}, {"size"}, {int_attribute("to", 7)}),
                       node("Range", {"zero", "size", "one"}, {"y"})},
             .initializers = {float_tensor("half", {}, {0.5}),
                              WireWriter().number(2, kOnnxInt64).number(7, 0).text(8, "zero"),
                              WireWriter().number(2, kOnnxInt64).number(7, 1).text(8, "one")},
             .inputs = {value("x", {"N"})},
             .outputs = {value_info("y", kOnnxInt64)}})));

  EXPECT_TENSOR(call_one(f, {f32({1, 2, 3, 4})}), i64({0, 1}));
  EXPECT_TENSOR(call_one(f, {f32({1, 2, 3, 4, 5})}), i64({0, 1, 2}));
  EXPECT_EQ(f->traces().size(), 1u);
}

// Constants whose arithmetic overflows int64 are not folded. The ops then wrap around.
TEST_F(ModelProgram, IntegerOverflowsAreNotFolded) {
  const auto of = [&](const char* op, int64_t a, int64_t b) {
    return call_one(
        function(model(graph({.nodes = {node(op, {"a", "b"}, {"y"})},
                              .initializers = {int_tensor("a", {a}), int_tensor("b", {b})},
                              .outputs = {value_info("y", kOnnxInt64)}}))),
        {});
  };

  EXPECT_TENSOR(of("Div", INT64_MIN, -1), i64({INT64_MIN}));
  EXPECT_TENSOR(of("Mod", INT64_MIN, -1), i64({0}));
  EXPECT_TENSOR(of("Mul", INT64_MIN, -1), i64({INT64_MIN}));
  EXPECT_TENSOR(of("Sub", INT64_MIN, INT64_MAX), i64({1}));
  EXPECT_TENSOR(of("Add", INT64_MAX, 1), i64({INT64_MIN}));
  EXPECT_TENSOR(of("Div", INT64_MIN, 0), i64({0}));
  EXPECT_TENSOR(of("Div", 7, -2), i64({-3}));
}

TEST_F(ModelProgram, DeclaredSizesFormASignature) {
  const auto program = read(model(graph({.nodes = {node("Add", {"x", "z"}, {"y"})},
                                         .inputs = {value("x", {"N", "2"}), value("z", {"N", "?"})},
                                         .outputs = {value("y", {"N", "2"})}})));
  const ProgramFunction& f = program->find("");
  const ProgramSignature& signature = f.signatures[0];

  EXPECT_EQ(f.name, "file");
  EXPECT_EQ(signature.inputs[0].dim_names, (std::vector<std::string>{"N", ""}));
  EXPECT_EQ(signature.inputs[1].sizes, (std::vector<int64_t>{-1, -1}));
  EXPECT_EQ(signature.outputs, std::vector<std::string>{"y"});
  EXPECT_EQ(signature.output_specs[0].sizes, (std::vector<int64_t>{-1, 2}));
  EXPECT_ERROR(call(f.function, {f32({1, 3}, {1, 2, 3}), f32({1, 3}, {1, 2, 3})}),
               Code::kInvalidArgument, "x must be f32[N,2], but is f32[1,3]");
  EXPECT_ERROR(call(f.function, {f32({1, 2}, {1, 2}), f32({2, 2}, {1, 2, 3, 4})}),
               Code::kInvalidArgument, "N is 1, but 2 in z");
  EXPECT_ERROR(program->find("g"), Code::kNotFound,
               "the program has no function \"g\"; its functions are file");
}

TEST_F(ModelProgram, AWrongDeclaredDTypeIsAnError) {
  const auto with = [&](const WireWriter& output, const WireWriter& inner) {
    WireWriter g = graph({.nodes = {node("Neg", {"x"}, {"a"}), node("Abs", {"a"}, {"y"})},
                          .inputs = {value("x", {"2"})},
                          .outputs = {output}});
    return call_one(function(model(g.message(13, inner))), {f32({1, 2})});
  };

  EXPECT_TENSOR(with(value("y", {"2"}), value("a", {"M"})), f32({1, 2}));
  EXPECT_EQ(log_, "");
  EXPECT_ERROR(with(value("y", {"2"}), value("a", {"2"}, kOnnxInt64)), Code::kDataLoss,
               "the value \"a\" is declared to be i64[2], but is f32[2]");
}

// Some published models declare shapes that differ from those that their nodes compute.
TEST_F(ModelProgram, AWrongDeclaredShapeCausesOneWarning) {
  const auto f = function(model(graph({.nodes = {node("Neg", {"x"}, {"y"})},
                                       .inputs = {value("x", {"N"})},
                                       .outputs = {value("y", {"3", "1"})}})));

  EXPECT_TENSOR(call_one(f, {f32({1, 2})}), f32({-1, -2}));
  EXPECT_TENSOR(call_one(f, {f32({1})}), f32({-1}));
  EXPECT_EQ(
      log_,
      "the value \"y\" of the model is declared to be f32[3,1], but is f32[N]; the declaration "
      "is ignored\n");
}

TEST_F(ModelProgram, AWrongDeclaredShapeIsAnErrorIfReadStrictly) {
  const auto read_strictly = [&](const std::vector<std::string>& sizes) {
    const std::string bytes = model(graph({.nodes = {node("Neg", {"x"}, {"y"})},
                                           .inputs = {value("x", {"N"})},
                                           .outputs = {value("y", sizes)}}));
    const auto program =
        onnx::program_of_model(scope(), {.bytes = bytes, .stem = "file", .strict = true});
    return program->functions()[0].function;
  };

  EXPECT_ERROR(call_one(read_strictly({"3", "1"}), {f32({1, 2})}), Code::kDataLoss,
               "the value \"y\" is declared to be f32[3,1], but is f32[2]");
  EXPECT_TENSOR(call_one(read_strictly({"M"}), {f32({1, 2})}), f32({-1, -2}));
  EXPECT_EQ(log_, "");
}

TEST_F(ModelProgram, DataDependentSizesAreTraced) {
  const auto f = function(model(graph({.nodes = {node("NonZero", {"x"}, {"y"})},
                                       .inputs = {value("x", {"N"})},
                                       .outputs = {value_info("y", kOnnxInt64)}})));

  EXPECT_TENSOR(call_one(f, {f32({0, 5, 6})}), make(DType::kI64, {1, 2}, {1, 2}));
  EXPECT_TENSOR(call_one(f, {f32({7, 0})}), make(DType::kI64, {1, 1}, {0}));
  EXPECT_TENSOR(call_one(f, {f32({0, 0})}), make(DType::kI64, {1, 0}, {}));
  EXPECT_EQ(log_, "");
  EXPECT_EQ(f->traces().size(), 1u);
}

TEST_F(ModelProgram, UntraceableModelsRunCallByCallAndReportWhy) {
  const auto f =
      function(model(graph({.nodes = {node("Pad", {"x", "pads"}, {"y"}).text(3, "wider")},
                            .inputs = {value("x", {"N"}), value("pads", {"2"}, kOnnxInt64)},
                            .outputs = {value_info("y", kOnnxFloat)}})));
  const auto pads = [](double before, double after) {
    return make(DType::kI64, {2}, {before, after});
  };

  EXPECT_TENSOR(call_one(f, {f32({5, 6}), pads(1, 0)}), f32({0, 5, 6}));
  EXPECT_TENSOR(call_one(f, {f32({7}), pads(0, 2)}), f32({7, 0, 0}));
  const std::string why =
      "function file cannot be traced and therefore runs op by op: node \"wider\"";
  EXPECT_EQ(log_.find(why), 0u) << log_;
  EXPECT_EQ(log_.rfind("runs op by op"), log_.find("runs op by op"));
  EXPECT_NE(f->explain().find("runs op by op, because node \"wider\""), std::string::npos);
}

TEST_F(ModelProgram, TheErrorOfACallNamesTheNodeAndTheSizes) {
  const auto f =
      function(model(graph({.nodes = {node("MatMul", {"x", "z"}, {"y"}).text(3, "product")},
                            .inputs = {value("x", {"N", "M"}), value("z", {"P", "Q"})},
                            .outputs = {value_info("y")}})));
  const Tensor row = f32({1, 2}, {1, 2}), column = f32({2, 1}, {3, 4});

  EXPECT_ERROR(call(f, {row, row}), Code::kInvalidArgument, "node \"product\" (MatMul): matmul: C");
  EXPECT_TENSOR(call_one(f, {row, column}), f32({1, 1}, {11}));
  EXPECT_EQ(log_, "");
}

// ---- weights

TEST_F(ModelProgram, InitialisersAreTrainableVariables) {
  const auto program = read(
      model(graph({.nodes = {node("Mul", {"x", "w"}, {"a"}), node("Pow", {"a", "two"}, {"y"})},
                   .initializers = {float_tensor("w", {2}, {3, 4}), float_tensor("two", {}, {2})},
                   .inputs = {value("x", {"2"})},
                   .outputs = {value_info("y")}})));
  const auto& f = program->find("").function;
  const Ref<Variable>& w = program->variables()[0];
  const auto watching = tape();

  const Tensor y = call_one(f, {f32({1, 2})});
  const Tensors gradients = watching->gradient(Tensors{y}, {}, std::vector<Source>{Source(w)});

  ASSERT_EQ(program->variables().size(), 1u);
  EXPECT_EQ(w->name(), "w");
  EXPECT_TRUE(w->trainable());
  EXPECT_TENSOR(y, f32({9, 64}));
  EXPECT_TENSOR(gradients[0], f32({6, 32}));
  w->assign(scope(), f32({1, 1}));
  EXPECT_TENSOR(call_one(f, {f32({1, 2})}), f32({1, 4}));
}

TEST_F(ModelProgram, WeightsInConstantNodesAreTrainableButStatisticsAreNot) {
  const auto constant = [](const std::string& name, const WireWriter& tensor) {
    return node("Constant", {}, {name},
                {WireWriter().text(1, "value").message(5, tensor).number(20, 4)});
  };
  const auto program = read(model(
      graph({.nodes = {constant("scale", float_tensor("", {2}, {1, 1})),
                       node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y"})},
             .initializers = {float_tensor("bias", {2}, {0, 0}), float_tensor("mean", {2}, {1, 2}),
                              float_tensor("var", {2}, {1, 1})},
             .inputs = {value("x", {"1", "2"})},
             .outputs = {value_info("y")}})));
  std::vector<std::string> names, trained;
  for (const Ref<Variable>& variable : program->variables()) {
    names.push_back(variable->name());
    if (variable->trainable()) trained.push_back(variable->name());
  }

  EXPECT_EQ(names, (std::vector<std::string>{"bias", "mean", "var", "scale"}));
  EXPECT_EQ(trained, (std::vector<std::string>{"bias", "scale"}));
  EXPECT_TENSOR_NEAR(call_one(program->find("").function, {f32({1, 2}, {2, 4})}),
                     f32({1, 2}, {1, 2}), 1e-4, 0);
}

TEST_F(ModelProgram, IsDescribedAsJson) {
  const auto program =
      read(model(graph({.nodes = {node("Add", {"x", "w"}, {"a"}), node("Add", {"a", "w"}, {"y"})},
                        .initializers = {float_tensor("w", {2}, {3, 4})},
                        .inputs = {value("x", {"N", "2"})},
                        .outputs = {value_info("y")}})));

  EXPECT_EQ(nlohmann::json::parse(program->describe()),
            nlohmann::json::parse(
                R"({"functions":[{"name":"file","defaults":{},"signatures":[{"statics":{},)"
                R"("inputs":[{"name":"x","type":"f32[N,2]"}],)"
                R"("outputs":[{"name":"y","type":"f32[...]"}],"ops":{"Add":2},)"
                R"("operator_sets":{"ai.onnx":17}}]}],)"
                R"("variables":[{"name":"w","type":"f32[2]","bytes":8,"trainable":true}]})"));
}

// ---- control flow

TEST_F(ModelProgram, OnlyTheBranchThatSizesSelectIsTraced) {
  const WireWriter squeezed =
      graph({.nodes = {node("Squeeze", {"x", "one"}, {"s"})}, .outputs = {value_info("s")}});
  const WireWriter kept =
      graph({.nodes = {node("Identity", {"x"}, {"i"})}, .outputs = {value_info("i")}});
  const auto f = function(model(
      graph({.nodes = {node("Shape", {"x"}, {"shape"}), node("Gather", {"shape", "one"}, {"size"}),
                       node("Equal", {"size", "one"}, {"is_one"}),
                       node("If", {"is_one"}, {"y"},
                            {graph_attribute("then_branch", squeezed),
                             graph_attribute("else_branch", kept)})},
             .initializers = {int_tensor("one", {1})},
             .inputs = {value("x", {"?", "?"})},
             .outputs = {value_info("y")}})));

  EXPECT_TENSOR(call_one(f, {f32({2, 1}, {1, 2})}), f32({1, 2}));
  EXPECT_TENSOR(call_one(f, {f32({1, 2}, {1, 2})}), f32({1, 2}, {1, 2}));
  EXPECT_EQ(f->traces().size(), 2u);
  EXPECT_EQ(log_, "");
}

TEST_F(ModelProgram, ADataDependentBranchIsPartOfTheTrace) {
  const WireWriter plus = graph({.nodes = {node("Add", {"x", "w"}, {"s"})},
                                 .initializers = {float_tensor("w", {1}, {10})},
                                 .outputs = {value_info("s")}});
  const WireWriter minus = graph({.nodes = {node("Sub", {"x", "w"}, {"s"})},
                                  .initializers = {float_tensor("w", {1}, {1})},
                                  .outputs = {value_info("s")}});
  const auto program = read(model(graph(
      {.nodes = {node("If", {"c"}, {"y"},
                      {graph_attribute("then_branch", plus), graph_attribute("else_branch", minus)})
                     .text(3, "choice")},
       .inputs = {value("c", {}, kOnnxBool), value("x", {"N"})},
       .outputs = {value_info("y")}})));
  const auto& f = program->find("").function;

  EXPECT_TENSOR(call_one(f, {make(DType::kBool, {}, {1}), f32({1, 2})}), f32({11, 12}));
  EXPECT_TENSOR(call_one(f, {make(DType::kBool, {}, {0}), f32({1, 2})}), f32({0, 1}));
  EXPECT_EQ(f->traces().size(), 1u);
  // Both branches have an initialiser named "w".
  EXPECT_EQ(program->variables()[0]->name(), "w");
  EXPECT_EQ(program->variables()[1]->name(), "choice.else_branch.w");
}

TEST_F(ModelProgram, AnUntraceableBranchFailsOnlyWhenItIsTaken) {
  const WireWriter fits =
      graph({.nodes = {node("Neg", {"x"}, {"n"})}, .outputs = {value_info("n")}});
  const WireWriter does_not =
      graph({.nodes = {node("MatMul", {"x", "x"}, {"p"})}, .outputs = {value_info("p")}});
  for (const bool first : {true, false}) {
    const auto f = function(
        model(graph({.nodes = {node("If", {"c"}, {"y"},
                                    {graph_attribute("then_branch", first ? does_not : fits),
                                     graph_attribute("else_branch", first ? fits : does_not)})},
                     .inputs = {value("c", {}, kOnnxBool), value("x", {"N", "M"})},
                     .outputs = {value_info("y")}})));
    const Tensor x = f32({1, 2}, {1, 2});
    const auto choose = [](bool c) { return make(DType::kBool, {}, {c ? 1.0 : 0.0}); };

    EXPECT_TENSOR(call_one(f, {choose(!first), x}), f32({1, 2}, {-1, -2}));
    EXPECT_ERROR(call(f, {choose(first), x}), Code::kFailedPrecondition,
                 "of the model does not fit these inputs: node 0 (MatMul): matmul: C");
    EXPECT_EQ(f->traces().size(), 1u);
  }
  EXPECT_EQ(log_, "");
}

TEST_F(ModelProgram, ALoopMayHaveADataDependentTripCount) {
  const WireWriter body =
      graph({.nodes = {node("Add", {"v", "step"}, {"v2"}), node("Less", {"v2", "limit"}, {"c2"})},
             .inputs = {value("i", {}, kOnnxInt64), value("c", {}, kOnnxBool), value("v", {})},
             .outputs = {value("c2", {}, kOnnxBool), value("v2", {})}});
  const auto f = function(model(
      graph({.nodes = {node("Loop", {"most", "", "x"}, {"y"}, {graph_attribute("body", body)})},
             .initializers = {float_tensor("step", {}, {2}), float_tensor("limit", {}, {7})},
             .inputs = {value("most", {}, kOnnxInt64), value("x", {})},
             .outputs = {value_info("y")}})));
  const auto most = [](double n) { return make(DType::kI64, {}, {n}); };
  const auto scalar = [](double x) { return make(DType::kF32, {}, {x}); };

  EXPECT_TENSOR(call_one(f, {most(2), scalar(0)}), scalar(4));
  EXPECT_TENSOR(call_one(f, {most(9), scalar(0)}), scalar(8));
  EXPECT_TENSOR(call_one(f, {most(0), scalar(5)}), scalar(5));
  EXPECT_EQ(f->traces().size(), 1u);
  EXPECT_EQ(log_, "");
}

TEST_F(ModelProgram, ALoopWithASizeAsTripCountHasScanOutputs) {
  const WireWriter body =
      graph({.nodes = {node("Gather", {"x", "i"}, {"each"}), node("Add", {"v", "each"}, {"v2"}),
                       node("Identity", {"c"}, {"c2"}), node("Identity", {"v2"}, {"sum"})},
             .inputs = {value("i", {}, kOnnxInt64), value("c", {}, kOnnxBool), value("v", {})},
             .outputs = {value("c2", {}, kOnnxBool), value("v2", {}), value("sum", {})}});
  const auto f = function(model(graph(
      {.nodes = {node("Shape", {"x"}, {"shape"}), node("Squeeze", {"shape"}, {"n"}),
                 node("Loop", {"n", "", "zero"}, {"last", "y"}, {graph_attribute("body", body)})},
       .initializers = {float_tensor("zero", {}, {0})},
       .inputs = {value("x", {"N"})},
       .outputs = {value("y", {"N"}), value("last", {})}})));

  EXPECT_TENSOR(call_one(f, {f32({1, 2, 3})}), f32({1, 3, 6}));
  EXPECT_TENSOR(call(f, {f32({1, 2, 3, 4})})[1], make(DType::kF32, {}, {10}));
  EXPECT_EQ(f->traces().size(), 1u);
}

TEST_F(ModelProgram, ALoopThatCountsUpToASizeHasScanOutputsOfThatLength) {
  const WireWriter body = graph(
      {.nodes = {node("Add", {"k", "one"}, {"k2"}), node("Less", {"k2", "n"}, {"c2"}),
                 node("Gather", {"x", "k"}, {"e"}), node("Neg", {"e"}, {"minus"})},
       .inputs = {value("i", {}, kOnnxInt64), value("c", {}, kOnnxBool),
                  value("k", {}, kOnnxInt64)},
       .outputs = {value("c2", {}, kOnnxBool), value("k2", {}, kOnnxInt64), value("minus", {})}});
  const auto f = function(
      model(graph({.nodes = {node("Size", {"x"}, {"n"}), node("Less", {"one", "n"}, {"begins"}),
                             node("Loop", {"", "begins", "one"}, {"last", "y"},
                                  {graph_attribute("body", body)})},
                   .initializers = {WireWriter().number(2, kOnnxInt64).number(7, 1).text(8, "one")},
                   .inputs = {value("x", {"N"})},
                   .outputs = {value_info("y")}})));

  EXPECT_TENSOR(call_one(f, {f32({1, 2, 3})}), f32({-2, -3}));
  EXPECT_TENSOR(call_one(f, {f32({1, 2, 3, 4})}), f32({-2, -3, -4}));
  EXPECT_EQ(f->traces().size(), 1u);
  EXPECT_EQ(log_, "");
}

TEST_F(ModelProgram, AScanIteratesOverAnyAxisInEitherDirection) {
  const WireWriter body =
      graph({.nodes = {node("Add", {"v", "e"}, {"v2"}), node("Identity", {"v2"}, {"s"})},
             .inputs = {value("v", {"2"}), value("e", {"2"})},
             .outputs = {value("v2", {"2"}), value("s", {"2"})}});
  const auto f = function(model(
      graph({.nodes = {node("Scan", {"zero", "x"}, {"last", "y"},
                            {graph_attribute("body", body), int_attribute("num_scan_inputs", 1),
                             ints_attribute("scan_input_axes", {1}),
                             ints_attribute("scan_input_directions", {1}),
                             ints_attribute("scan_output_axes", {1})})},
             .initializers = {float_tensor("zero", {2}, {0, 0})},
             .inputs = {value("x", {"2", "N"})},
             .outputs = {value_info("y"), value_info("last")}})));

  EXPECT_TENSOR(call_one(f, {f32({2, 3}, {1, 2, 3, 4, 5, 6})}), f32({2, 3}, {3, 5, 6, 6, 11, 15}));
  EXPECT_EQ(f->traces().size(), 1u);
  EXPECT_EQ(log_, "");
}

}  // namespace
}  // namespace tenon::onnx
