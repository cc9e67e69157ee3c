// A saved function that is read back returns the same results and gradients as the original, and
// can be trained further.

#include "core/dispatch/generator.h"
#include "core/io/onnx/named_call.h"
#include "core/io/program.h"
#include "core/io/save_program.h"
#include "core/testing/folder.h"
#include "core/testing/functions.h"
#include "core/trace/control/control.h"
#include "core/trace/effects.h"

namespace tenon {
namespace {

using onnx::call_named;
using onnx::call_named1;
using testing::f32;
using testing::i64;
using testing::tensors_equal;

constexpr int64_t kUnknown = InputSpec::kUnknown;

class SaveAndRead : public testing::FunctionTest {
 protected:
  SaveAndRead() {
    context().set_print([this](std::string_view text) { printed += text; });
  }

  Ref<SavedProgram> again(const Ref<Function>& f, const std::vector<InputSpec>& inputs) {
    const FunctionToSave one = {"f", f->trace(scope(), inputs, {})};
    save_program(scope(), folder_.file("program"), {&one, 1});
    return read_program(scope(), folder_.file("program"));
  }
  // Expects equal results of both functions. `tolerance` allows for sums in a different order.
  void expect_same(const Ref<Function>& a, const Ref<Function>& b, const Tensors& inputs,
                   double tolerance = 0) {
    const Tensors want = a->call(scope(), inputs, {}), got = b->call(scope(), inputs, {});
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_TRUE(tensors_equal(got[i], want[i], tolerance, tolerance)) << "output " << i;
    }
  }
  Tensor numbers(const Dims& shape, double step = 0.37) {
    const Tensor x = iota(Dims{count(shape)}, DType::kF32, 0) * number(step);
    return reshape(call_named1("sin", {}, {x}), shape);
  }

  std::string printed;

 private:
  testing::Folder folder_;
};

const InputSpec kRows = {
    .name = "x", .dtype = DType::kF32, .sizes = {kUnknown, 4}, .dim_names = {"rows", ""}};

TEST_F(SaveAndRead, ASavedNetworkAcceptsAnyBatchSize) {
  const auto w = variable(numbers({4, 3}), "w"), b = variable(f32({1, 2, 3}), "b");
  const auto f = function([&](TensorSpan in) {
    const Tensor y = call_named1("dense", {}, {in[0], w->read(scope()), b->read(scope())});
    return Tensors{call_named1("softmax", {}, {call_named1("silu", {}, {y})})};
  });
  const Ref<SavedProgram> program = again(f, {kRows});

  const ProgramFunction& read = program->find("f");
  EXPECT_EQ(read.signatures[0].inputs[0].dim_names, (std::vector<std::string>{"rows", ""}));
  EXPECT_EQ(read.signatures[0].outputs, std::vector<std::string>{"output"});
  ASSERT_EQ(program->variables().size(), 2u);
  for (const int64_t rows : {1, 2, 5}) expect_same(f, read.function, {numbers({rows, 4})});
  // The program calls Tenon's op silu again, not its decomposition.
  EXPECT_NE(text(read.function).find("silu("), std::string::npos) << text(read.function);
  EXPECT_NE(text(read.function).find("dense("), std::string::npos) << text(read.function);
}

TEST_F(SaveAndRead, StorageDTypesOfVariablesAndCasts) {
  const auto w = variable(cast(numbers({4, 3}, 3) * 9, DType::kI4), "w");
  const auto f = function([&](TensorSpan in) {
    const Tensor y = matmul(in[0], cast(w->read(scope()), DType::kF32));
    return Tensors{cast(cast(y, DType::kF8E5M2, false), DType::kF32), cast(y, DType::kU2),
                   cast(cast(y, DType::kF8E8M0FNU), DType::kF32)};
  });
  const Ref<SavedProgram> program = again(f, {kRows});
  EXPECT_EQ(program->variables()[0]->type(), TensorType(DType::kI4, {4, 3}));
  for (const int64_t rows : {1, 2, 5}) {
    expect_same(f, program->find("f").function, {numbers({rows, 4})});
  }
}

TEST_F(SaveAndRead, ASavedTrainingStepContinuesTraining) {
  const auto w = variable(numbers({4, 3}), "w"), m = variable(tenon::zeros(w->type()), "m");
  const auto f = function([&](TensorSpan in) {
    const Ref<Tape> recording = tape();
    const Tensor p = w->read(scope());
    recording->watch(p);
    const Tensor loss =
        call_named("sparse_softmax_cross_entropy", {}, {matmul(in[0], p), in[1]})[0];
    const std::vector<Source> sources = {p};
    const Tensor dp = recording->gradient(Tensors{loss}, {}, sources)[0];
    const Tensors next = call_named("momentum", {}, {p, dp, m->read(scope()), number(0.1)});
    w->assign(scope(), next[0]);
    m->assign(scope(), next[1]);
    return Tensors{loss};
  });
  const InputSpec x = {.name = "x", .dtype = DType::kF32, .sizes = {5, 4}};
  const InputSpec labels = {.name = "labels", .dtype = DType::kI64, .sizes = {5}};
  const Ref<SavedProgram> program = again(f, {x, labels});
  const Ref<Function> read = program->find("f").function;

  for (int step = 0; step < 3; ++step) {
    SCOPED_TRACE(step);
    expect_same(f, read, {numbers({5, 4}, 0.1 + step), i64({0, 1, 2, 1, 0})}, 1e-6);
  }
  for (const Ref<Variable>& variable : program->variables()) {
    const Ref<Variable>& own = variable->name() == "w" ? w : m;
    EXPECT_TRUE(tensors_equal(variable->load_untraced(), own->load_untraced(), 1e-6, 1e-6))
        << own->name();
  }
}

TEST_F(SaveAndRead, ASavedLoopOverTimeIsDifferentiable) {
  const auto w = variable(numbers({4, 4}), "w");
  const auto f = function([&](TensorSpan in) {
    const Block step = [&](TensorSpan s) {
      const Tensor y = call_named1("tanh", {}, {matmul(s[0], w->read(scope())) + s[1]});
      return Tensors{y, y};
    };
    return scan(scope(), step, in.subspan(1), in.subspan(0, 1));
  });
  const InputSpec time = {
      .name = "x", .dtype = DType::kF32, .sizes = {kUnknown, 2, 4}, .dim_names = {"time", "", ""}};
  const InputSpec state = {.name = "h", .dtype = DType::kF32, .sizes = {2, 4}};
  const Ref<SavedProgram> program = again(f, {time, state});
  const Ref<Function> read = program->find("f").function;

  for (const int64_t length : {1, 3}) {
    const Tensors inputs = {numbers({length, 2, 4}), numbers({2, 4}, 0.2)};
    expect_same(f, read, inputs);
    expect_same(f->gradient(), read->gradient(), inputs, 1e-5);
  }
}

TEST_F(SaveAndRead, ASavedLoopMayHaveADataDependentEnd) {
  const auto f = function([&](TensorSpan in) {
    const Tensor zero = fill(integer(0), Dims{}, DType::kI64);
    const auto goes_on = [&](TensorSpan s) { return Tensors{less(s[0], in[0])}; };
    const auto body = [&](TensorSpan s) {
      const Tensors y = cond(
          scope(), greater(call_named1("max", {}, {s[1]}), number(2)),
          [&](TensorSpan) { return Tensors{s[1] * number(0.25)}; },
          [&](TensorSpan) { return Tensors{s[1] + number(1)}; });
      return Tensors{s[0] + integer(1), y[0]};
    };
    return Tensors{while_loop(scope(), goes_on, body, Tensors{zero, in[1]})[1]};
  });
  const InputSpec trips = {.name = "n", .dtype = DType::kI64};
  const InputSpec x = {.name = "x", .dtype = DType::kF32, .sizes = {3}};
  const Ref<Function> read = again(f, {trips, x})->find("f").function;

  for (const int64_t n : {0, 1, 8}) {
    expect_same(f, read, {fill(integer(n), Dims{}, DType::kI64), f32({1, 0.5, -3})});
  }
}

TEST_F(SaveAndRead, ASavedFunctionSelectsRowsByTheirValues) {
  const auto f = function([&](TensorSpan in) {
    const Tensor sums = call_named1("sum", {{"axes", Ints{1}}}, {in[0]});
    const Tensor rows = call_named1("boolean_mask", {}, {in[0], greater(sums, number(0))});
    const Tensor among = number(3.0) * tenon::ones(rows->type);
    return Tensors{rows + among, shape_tensor(rows->shape())};
  });
  const Ref<Function> read = again(f, {kRows})->find("f").function;

  for (const int64_t rows : {1, 4, 9}) expect_same(f, read, {numbers({rows, 4})});
  expect_same(f, read, {numbers({3, 4}) - number(2)});  // Selects no row.
}

TEST_F(SaveAndRead, RandomNumbersContinueTheirSequence) {
  const auto generator = Ref<Generator>::adopt(new Generator(scope(), 42));
  const auto f = function([&](TensorSpan in) {
    const Tensors drawn = call_named("dropout", {}, {in[0], generator->load(scope())});
    generator->store(scope(), drawn[2]);
    return Tensors{drawn[0]};
  });
  const InputSpec x = {.name = "x", .dtype = DType::kF32, .sizes = {4, 4}};
  const Ref<Function> read = again(f, {x})->find("f").function;

  for (int draw = 0; draw < 2; ++draw) expect_same(f, read, {numbers({4, 4})});
}

// ---- effects, which are exported as functions that return their first operand

TEST_F(SaveAndRead, SavedPrintsAndChecksKeepTheirOrder) {
  const auto f = function([&](TensorSpan in) {
    const Tensor y = in[0] * number(2);
    print(scope(), "first {} of {}", Tensors{y, in[0]});
    assert_all(scope(), less(y, number(100)), "too large: {}", Tensors{y});
    const Tensor checked = call_named1("check_numerics", {}, {y});
    print(scope(), "then {}", Tensors{checked});
    return Tensors{checked + number(1)};
  });
  const InputSpec x = {.name = "x", .dtype = DType::kF32, .sizes = {2}};
  const Ref<Function> read = again(f, {x})->find("f").function;

  printed.clear();
  expect_same(f, f, {f32({1, 2})});
  const std::string twice = printed;
  printed.clear();
  expect_same(read, read, {f32({1, 2})});
  EXPECT_EQ(printed, twice);
  EXPECT_NE(printed.find("first [2. 4.] of [1. 2.]"), std::string::npos) << printed;
  EXPECT_NE(printed.find("then"), std::string::npos) << printed;
  EXPECT_THROW(call(read, {f32({1, 200})}), Error);
}

TEST_F(SaveAndRead, SavedPrintsRunInLoopsAndBranches) {
  const auto f = function([&](TensorSpan in) {
    const Tensor zero = fill(integer(0), Dims{}, DType::kI64);
    const auto goes_on = [&](TensorSpan s) { return Tensors{less(s[0], in[0])}; };
    const auto body = [&](TensorSpan s) {
      print(scope(), "trip {}", Tensors{s[0]});
      const Tensors y = cond(
          scope(), greater(s[1], number(2)),
          [&](TensorSpan) {
            print(scope(), "large {}", Tensors{s[1]});
            return Tensors{s[1] * number(0.5)};
          },
          [&](TensorSpan) { return Tensors{s[1] + number(1)}; });
      return Tensors{s[0] + integer(1), y[0]};
    };
    return Tensors{while_loop(scope(), goes_on, body, Tensors{zero, in[1]})[1]};
  });
  const InputSpec trips = {.name = "n", .dtype = DType::kI64};
  const InputSpec x = {.name = "x", .dtype = DType::kF32};
  const Ref<Function> read = again(f, {trips, x})->find("f").function;

  const Tensors inputs = {fill(integer(4), Dims{}, DType::kI64), fill(number(1), {}, DType::kF32)};
  printed.clear();
  const Tensors want = f->call(scope(), inputs, {});
  const std::string once = printed;
  printed.clear();
  const Tensors got = read->call(scope(), inputs, {});
  EXPECT_EQ(printed, once);
  EXPECT_TRUE(tensors_equal(got[0], want[0], 0, 0));
  EXPECT_NE(once.find("large"), std::string::npos) << once;
}

}  // namespace
}  // namespace tenon
