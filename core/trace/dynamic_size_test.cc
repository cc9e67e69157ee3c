// Functions with inputs of unknown sizes: after the first calls, another size prepares no new
// kernels.

#include "core/testing/control.h"
#include "core/trace/control/lists.h"

namespace tenon {
namespace {

using testing::f32;
using testing::i64_scalar;
using testing::values_of;

class DynamicSizes : public testing::ControlTest {
 protected:
  // Returns the numbers of kernels and of loops that the device has prepared.
  std::vector<uint64_t> n_prepared() {
    return {device().kernels().n_prepared(), device().loops().n_prepared()};
  }

  static Tensor numbers(const Dims& shape, double scale) {
    return sin(iota(shape, DType::kF32, 0) * number(scale) + iota(shape, DType::kF32, -1));
  }
  Tensor part(const Tensor& gates, int64_t i) const {
    return slice(gates, {.starts = {i * kHidden}, .ends = {(i + 1) * kHidden}, .axes = {1}});
  }
  // An LSTM cell: returns the next output and the next memory.
  Tensors cell(const Tensor& x, const Tensor& h, const Tensor& c) const {
    const Tensor gates = matmul(concat(Tensors{x, h}, 1), weights_);
    const Tensor memory =
        sigmoid(part(gates, 2)) * c + sigmoid(part(gates, 1)) * tanh(part(gates, 0));
    return {sigmoid(part(gates, 3)) * tanh(memory), memory};
  }
  Tensor zero() const { return zeros(TensorType(DType::kF32, Dims{1, kHidden})); }

  // Scans over the first axis of `xs`.
  Tensors by_scan(const Tensor& xs) {
    Tensors found = scan(
        scope(),
        [&](TensorSpan in) {
          Tensors next = cell(in[2], in[0], in[1]);
          return Tensors{next[0], next[1], next[0]};
        },
        Tensors{zero(), zero()}, Tensors{xs});
    return {found[2]};
  }
  // The same computation as by_scan(), as a loop that gathers into a list.
  Tensors by_list(const Tensor& xs) {
    const Size length = xs->shape()[0];
    const Tensor n = reshape(shape_tensor(Dims{length}), Dims{}), rows = list_unstack(xs);
    const Tensors found = while_loop(
        scope(), [&](TensorSpan in) { return Tensors{less(in[0], n)}; },
        [&](TensorSpan in) {
          Tensors next = cell(list_get(rows, in[0]), in[1], in[2]);
          return Tensors{in[0] + integer(1), next[0], next[1], list_set(in[3], in[0], next[0])};
        },
        Tensors{i64_scalar(0), zero(), zero(), list_create(zero()->type)});
    return {list_stack(found[3], length)};
  }

  void takes_each_length(const std::function<Tensors(const Tensor&)>& code) {
    const auto f =
        function({.name = "xs", .dtype = DType::kF32, .sizes = {InputSpec::kUnknown, 1, kInputs}},
                 [&](Scope&, TensorSpan in, const Statics&) { return code(in[0]); });
    const auto run = [&](int64_t length) {
      const Tensor xs = numbers(Dims{length, 1, kInputs}, 0.1);
      const auto t = tape();
      t->watch(xs);
      const Tensor y = f->call(scope(), {&xs, 1}, {})[0];
      EXPECT_EQ(values_of(y), values_of(code(xs)[0]));
      EXPECT_EQ(t->gradient(y, xs)->type, xs->type);
    };
    for (const int64_t length : {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9}) run(length);
    const std::vector<uint64_t> before = n_prepared();
    for (int64_t length = 10; length < 110; ++length) run(length);
    EXPECT_EQ(n_prepared(), before);
    EXPECT_EQ(f->traces().size(), 1u);
  }

  static constexpr int64_t kInputs = 3, kHidden = 4;
  const Tensor weights_ = numbers(Dims{kInputs + kHidden, 4 * kHidden}, 0.7);
};

TEST_F(DynamicSizes, NewLengthsPrepareNoKernelsForAnLstmInAScan) {
  takes_each_length([&](const Tensor& xs) { return by_scan(xs); });
}

TEST_F(DynamicSizes, NewLengthsPrepareNoKernelsForAnLstmThatGathersIntoAList) {
  takes_each_length([&](const Tensor& xs) { return by_list(xs); });
}

// The rows of the fused loop have the length of the sequence.
TEST_F(DynamicSizes, NewLengthsPrepareNoKernelsForASoftmax) {
  takes_each_length([](const Tensor& xs) {
    const Along along{.axes = {0}, .keepdims = true};
    const Tensor e = exp(xs - max(xs, along));
    return Tensors{e / sum(e, along)};
  });
}

// The gradient of a mean divides by an unknown size.
TEST_F(DynamicSizes, CanBeDivisorsInGradients) {
  const auto slope = [&](const Tensor& x) {
    const auto t = tape();
    t->watch(x);
    const Along along{.axes = {0}};
    return t->gradient(sum(mean(square(x), along)) + mean(x * x * x), x);
  };
  const auto body = [&](Scope&, TensorSpan in, const Statics&) { return Tensors{slope(in[0])}; };
  InputSpec spec;
  spec.dtype = DType::kF32;
  spec.sizes = {InputSpec::kUnknown, 3};
  const auto f = Ref<Function>::adopt(
      new Function(context(), "f", body, {.signature = {spec}, .has_signature = true}));
  for (const int64_t n : {2, 5, 7}) {
    const Tensor x = numbers(Dims{n, 3}, 0.3);
    EXPECT_EQ(values_of(f->call(scope(), {&x, 1}, {})[0]), values_of(slope(x)));
  }
  EXPECT_EQ(f->traces().size(), 1u);
}

}  // namespace
}  // namespace tenon
