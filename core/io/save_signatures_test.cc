// Saved functions with several signatures: each call selects the signature that matches its inputs.

#include <fstream>

#include "core/io/onnx/named_call.h"
#include "core/io/program.h"
#include "core/io/save_program.h"
#include "core/testing/folder.h"
#include "core/testing/functions.h"

namespace tenon {
namespace {

using onnx::call_named1;
using testing::f32;
using testing::i64;
using testing::values_of;
using Doubles = std::vector<double>;
using Names = std::vector<std::string>;

constexpr int64_t kUnknown = InputSpec::kUnknown;

InputSpec x_of(DType dtype, std::vector<int64_t> sizes, Names names = {}) {
  return {.name = "x", .dtype = dtype, .sizes = std::move(sizes), .dim_names = std::move(names)};
}

tenon_static number_named(const char* name, int64_t value) {
  tenon_static made = {};
  made.kind = TENON_STATIC_INT;
  made.name = {name, std::strlen(name)};
  made.int_value = value;
  return made;
}

class SaveSignatures : public testing::FunctionTest {
 protected:
  std::string file(const std::string& name) const { return folder_.file("program/" + name); }
  Ref<SavedProgram> saved(const std::vector<FunctionToSave>& functions) {
    save_program(scope(), folder_.file("program"), functions);
    return read_program(scope(), folder_.file("program"));
  }
  // Saves a function "f" with a signature for each of `inputs`, and reads it back.
  Ref<SavedProgram> again(const Ref<Function>& f, const std::vector<InputSpec>& inputs) {
    std::vector<FunctionToSave> all;
    for (const InputSpec& each : inputs) all.push_back({"f", f->trace(scope(), {each}, {})});
    return saved(all);
  }
  // Returns a function that returns a different number in each trace. A test can thus identify the
  // trace that ran.
  Ref<Function> numbered() {
    return function([this](TensorSpan in) {
      return Tensors{fill(number(bodies_run), Dims{}, DType::kF32), in[0]};
    });
  }
  double which(const Ref<Function>& f, const Tensor& x) {
    return values_of(f->call(scope(), {&x, 1}, {})[0])[0];
  }
  static Statics given(const StaticArguments& statics) { return statics.view(); }
  Tensor of(DType dtype, const Dims& shape) { return tenon::zeros(TensorType(dtype, shape)); }

  testing::Folder folder_;
};

TEST_F(SaveSignatures, SignaturesAreReadAsOneFunctionThatSelectsByInputTypes) {
  const Ref<SavedProgram> program =
      again(numbered(), {x_of(DType::kF32, {kUnknown, 3}), x_of(DType::kU8, {kUnknown, 3}),
                         x_of(DType::kF32, {kUnknown}), x_of(DType::kF32, {kUnknown, 4})});

  ASSERT_EQ(program->functions().size(), 1u);
  const ProgramFunction& f = program->find("f");
  ASSERT_EQ(f.signatures.size(), 4u);
  EXPECT_EQ(f.signatures[1].inputs[0].dtype, DType::kU8);
  EXPECT_EQ(which(f.function, of(DType::kF32, {2, 3})), 1);
  EXPECT_EQ(which(f.function, of(DType::kU8, {2, 3})), 2);
  EXPECT_EQ(which(f.function, of(DType::kF32, {7})), 3);
  EXPECT_EQ(which(f.function, of(DType::kF32, {5, 4})), 4);
  // A call with other values of the unknown sizes uses the same trace.
  which(f.function, of(DType::kF32, {9, 3}));
  EXPECT_EQ(f.function->traces().size(), 4u);
  for (const char* name : {"f.onnx", "f.2.onnx", "f.3.onnx", "f.4.onnx"}) {
    EXPECT_TRUE(std::filesystem::exists(file(name))) << name;
  }
}

TEST_F(SaveSignatures, TheMostSpecificSignatureIsSelected) {
  const Ref<Function> f =
      again(numbered(), {x_of(DType::kF32, {kUnknown, kUnknown}),
                         x_of(DType::kF32, {kUnknown, kUnknown}, {"n", "n"}),
                         x_of(DType::kF32, {1, kUnknown}), x_of(DType::kF32, {1, 2})})
          ->find("f")
          .function;

  EXPECT_EQ(which(f, of(DType::kF32, {3, 4})), 1);
  EXPECT_EQ(which(f, of(DType::kF32, {3, 3})), 2);
  EXPECT_EQ(which(f, of(DType::kF32, {1, 4})), 3);
  EXPECT_EQ(which(f, of(DType::kF32, {1, 2})), 4);
  // Signatures 2 and 3 both match with one unknown size. The first of them is selected.
  EXPECT_EQ(which(f, of(DType::kF32, {1, 1})), 2);
}

TEST_F(SaveSignatures, AFailedSelectionListsAllSignatures) {
  const Ref<Function> f = again(numbered(), {x_of(DType::kF32, {kUnknown, 3}, {"n", ""}),
                                             x_of(DType::kU8, {kUnknown, 3}, {"n", ""})})
                              ->find("f")
                              .function;

  EXPECT_ERROR(which(f, of(DType::kF64, {2, 3})), Code::kInvalidArgument,
               "function f has no signature for (f64[2,3]). Its signatures are\n"
               "  (x: f32[n,3])\n  (x: u8[n,3])");
  const Tensor x = of(DType::kF32, {2, 3});
  const tenon_static n = number_named("n", 1);
  EXPECT_ERROR(f->call(scope(), {&x, 1}, StaticArguments(&n, 1, {}).view()), Code::kInvalidArgument,
               "no signature for (f32[2,3]) with n=1");
}

TEST_F(SaveSignatures, SignaturesAreSelectedUnderTrace) {
  const Ref<Function> f =
      again(numbered(), {x_of(DType::kF32, {1, 3}), x_of(DType::kU8, {kUnknown, 3}),
                         x_of(DType::kF32, {kUnknown, 3})})
          ->find("f")
          .function;
  const auto outer = function([&](TensorSpan in) { return f->call(scope(), in, {}); });

  // The inner call has an unknown size. Only a signature that serves every size may be selected.
  const Ref<Trace> trace = outer->trace(scope(), {x_of(DType::kF32, {kUnknown, 3})}, {});

  for (const int64_t n : {1, 4}) {
    const Tensor x = of(DType::kF32, {n, 3});
    EXPECT_EQ(values_of(trace->call(scope(), {&x, 1}, *trace->sizes_for({&x, 1}))[0])[0], 3);
  }
  const auto other = function([&](TensorSpan in) { return f->call(scope(), in, {}); });
  EXPECT_EQ(which(other, of(DType::kF32, {1, 3})), 1);
}

TEST_F(SaveSignatures, SignaturesCanBeTracedAndSavedAgain) {
  const Ref<SavedProgram> first =
      again(numbered(), {x_of(DType::kF32, {kUnknown, 3}), x_of(DType::kU8, {kUnknown, 3})});
  std::vector<FunctionToSave> all;
  for (const ProgramSignature& each : first->find("f").signatures) {
    all.push_back({"g", first->find("f").function->trace(scope(), each.inputs, {})});
  }

  const Ref<SavedProgram> second = saved(all);

  EXPECT_EQ(which(second->find("g").function, of(DType::kF32, {2, 3})), 1);
  EXPECT_EQ(which(second->find("g").function, of(DType::kU8, {2, 3})), 2);
  EXPECT_FALSE(std::filesystem::exists(file("f.2.onnx")));
}

// ---- states and derivatives

TEST_F(SaveSignatures, SignaturesTrainSharedVariables) {
  const auto w = variable(f32({1, 2}), "w");
  const auto step = function([&](TensorSpan in) {
    const Ref<Tape> recording = tape();
    const Tensor p = w->read(scope());
    recording->watch(p);
    const Tensor x = call_named1("cast", {{"to", DType::kF32}}, {in[0]});
    const Tensor loss = call_named1("sum", {}, {x * p * p});
    const std::vector<Source> sources = {p};
    w->assign(scope(), p - recording->gradient(Tensors{loss}, {}, sources)[0] * number(0.25));
    return Tensors{loss};
  });
  const Ref<SavedProgram> program =
      again(step, {x_of(DType::kF32, {kUnknown, 2}), x_of(DType::kI64, {2})});
  const Ref<Function> read = program->find("f").function;
  ASSERT_EQ(program->variables().size(), 1u);

  EXPECT_EQ(which(read, reshape(f32({1, 1, 1, 0}), Dims{2, 2})), 6);  // The loss, 2 w0^2 + w1^2.
  EXPECT_EQ(values_of(program->variables()[0]->load_untraced()), (Doubles{0, 1}));
  EXPECT_EQ(which(read, i64({5, 1})), 1);
  EXPECT_EQ(values_of(program->variables()[0]->load_untraced()), (Doubles{0, 0.5}));
}

TEST_F(SaveSignatures, EachSignatureIsDifferentiable) {
  const auto f = function([](TensorSpan in) { return Tensors{in[0] * in[0]}; });
  const Ref<Function> gradient =
      again(f, {x_of(DType::kF32, {kUnknown}), x_of(DType::kF64, {2}), x_of(DType::kI64, {2})})
          ->find("f")
          .function->gradient();

  EXPECT_EQ(values_of(call_one(gradient, {f32({1, 2, 3})})), (Doubles{2, 4, 6}));
  EXPECT_EQ(values_of(call_one(gradient, {testing::f64({5, 6})})), (Doubles{10, 12}));
  EXPECT_EQ(values_of(call_one(gradient->gradient(), {f32({1})})), Doubles{2});
  EXPECT_ERROR(call_one(gradient, {i64({1, 2})}), Code::kInvalidArgument, "has no floating input");
}

// ---- static arguments

class SaveStatics : public SaveSignatures {
 protected:
  // Returns a function that multiplies its input by its first static argument, which is 2 by
  // default.
  Ref<Function> times() {
    const tenon_static two = number_named("by", 2);
    FunctionOptions options;
    options.defaults = std::make_shared<const OwnedStatics>(&two, 1);
    return function(
        [](TensorSpan in, const Statics& statics) {
          return Tensors{in[0] * number(double(statics.all->at(0).int_value))};
        },
        std::move(options));
  }
  Ref<Trace> traced(const Ref<Function>& f, const std::vector<tenon_static>& statics) {
    const StaticArguments all(statics.data(), statics.size(), f->defaults());
    return f->trace(scope(), {x_of(DType::kF32, {kUnknown})}, all.view());
  }
  Tensor call_with(const Ref<Function>& f, const std::vector<tenon_static>& statics) {
    const StaticArguments all(statics.data(), statics.size(), f->defaults());
    const Tensor x = f32({1, 10});
    return f->call(scope(), {&x, 1}, all.view())[0];
  }
};

TEST_F(SaveStatics, StaticArgumentsSelectTheSignature) {
  const auto f = times();
  const Ref<SavedProgram> program =
      saved({{"f", traced(f, {})}, {"f", traced(f, {number_named("by", 3)})}});
  const Ref<Function> read = program->find("f").function;

  EXPECT_TENSOR(call_with(read, {}), f32({2, 20}));
  EXPECT_TENSOR(call_with(read, {number_named("by", 2)}), f32({2, 20}));
  EXPECT_TENSOR(call_with(read, {number_named("by", 3)}), f32({3, 30}));
  EXPECT_ERROR(call_with(read, {number_named("by", 4)}), Code::kInvalidArgument,
               "no signature for (f32[2]) with by=4. Its signatures are\n"
               "  (x: f32[x_0]) with by=2\n  (x: f32[x_0]) with by=3");
  EXPECT_ERROR(call_with(read, {number_named("others", 4)}), Code::kInvalidArgument,
               "with by=2, others=4");
  // If a program is read and saved again, the defaults of its static arguments stay the same.
  const auto once_more = saved({{"g", traced(read, {})}})->find("g").function;
  EXPECT_TENSOR(call_with(once_more, {}), f32({2, 20}));
}

TEST_F(SaveStatics, StaticArgumentsOfEveryKindAreReadBackUnchanged) {
  const auto text = [](const char* value) { return tenon_string{value, std::strlen(value)}; };
  const auto of = [&](int32_t kind, const char* name) {
    tenon_static made = {};
    made.kind = kind;
    made.name = text(name);
    made.int_value = 1;
    made.float_value = 1;
    made.string_value = text("1");
    return made;
  };
  tenon_static list = of(TENON_STATIC_LIST, "list"), map = of(TENON_STATIC_MAP, "map");
  const tenon_static items[] = {of(TENON_STATIC_INT, "a"), of(TENON_STATIC_ENUM, "b"),
                                of(TENON_STATIC_NONE, "c")};
  list.items = map.items = items;
  list.n_items = map.n_items = 3;
  tenon_static infinite = of(TENON_STATIC_FLOAT, "infinite"), least = infinite;
  infinite.float_value = -std::numeric_limits<double>::infinity();
  least.name = text("least");
  least.float_value = -0.0;
  const std::vector<tenon_static> all = {of(TENON_STATIC_NONE, "none"),
                                         of(TENON_STATIC_BOOL, "bool"),
                                         of(TENON_STATIC_INT, "int"),
                                         of(TENON_STATIC_FLOAT, "float"),
                                         of(TENON_STATIC_STRING, "text"),
                                         of(TENON_STATIC_ENUM, "enum"),
                                         list,
                                         map,
                                         infinite,
                                         least};
  const auto f = function([](TensorSpan in) { return Tensors(in); });
  const Ref<Trace> trace = traced(f, all);

  const Ref<SavedProgram> program = saved({{"f", trace}});

  EXPECT_EQ(program->find("f").signatures[0].statics->key(), trace->statics().all->key());
  EXPECT_TENSOR(call_with(program->find("f").function, all), f32({1, 10}));
}

TEST_F(SaveStatics, StaticArgumentsThatCannotBeSavedAreRefused) {
  const auto f = function([](TensorSpan in) { return Tensors(in); });
  const auto refused = [&](tenon_static given) {
    try {
      saved({{"f", traced(f, {given})}});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kUnimplemented);
      return std::string(error.what());
    }
    return std::string();
  };
  const auto w = variable(f32({1}));
  tenon_static object = number_named("object", 0), unnamed = number_named("", 1);
  object.kind = TENON_STATIC_HANDLE;
  object.handle = w.get();

  EXPECT_NE(refused(object).find("f: the static argument object is an object"), std::string::npos);
  EXPECT_NE(refused(unnamed).find("f: a static argument must have a name"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("program")));
}

// ---- invalid arguments

TEST_F(SaveStatics, AmbiguousSignaturesAreRefused) {
  const auto f = numbered();
  const auto pair = [&](const InputSpec& a, const InputSpec& b) {
    saved({{"f", f->trace(scope(), {a}, {})}, {"f", numbered()->trace(scope(), {b}, {})}});
  };
  EXPECT_ERROR(pair(x_of(DType::kF32, {kUnknown, 3}, {"n", ""}),
                    x_of(DType::kF32, {kUnknown, 3}, {"m", ""})),
               Code::kInvalidArgument, "two signatures of f are equal: (x: f32[n,3])");
  InputSpec scalar = x_of(DType::kF32, {});
  scalar.weak = true;  // In the file it is an ordinary tensor without axes.
  EXPECT_ERROR(pair(scalar, x_of(DType::kF32, {})), Code::kInvalidArgument, "are equal");
  EXPECT_ERROR(
      saved({{"f", traced(times(), {})}, {"f", traced(numbered(), {number_named("by", 3)})}}),
      Code::kInvalidArgument, "come from functions with different defaults: by=2, and ");
}

TEST_F(SaveSignatures, FurtherSignaturesGetUnusedFileNames) {
  const auto f = numbered();
  const auto trace = [&](int64_t n) { return f->trace(scope(), {x_of(DType::kF32, {n})}, {}); };

  const Ref<SavedProgram> program =
      saved({{"f", trace(1)}, {"f", trace(2)}, {"f.2", trace(3)}, {"f", trace(4)}});

  for (const char* name : {"f.onnx", "f.2.onnx", "f.3.onnx", "f.4.onnx"}) {
    EXPECT_TRUE(std::filesystem::exists(file(name))) << name;
  }
  EXPECT_EQ(which(program->find("f.2").function, of(DType::kF32, {3})), 3);
  EXPECT_EQ(which(program->find("f").function, of(DType::kF32, {2})), 2);
}

}  // namespace
}  // namespace tenon
