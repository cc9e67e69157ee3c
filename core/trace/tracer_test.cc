#include "core/trace/tracer.h"

#include "core/testing/graph_text.h"

namespace tenon {
namespace {

using testing::f32;

class Tracing : public testing::CoreTest {
 protected:
  // Traces `body` with an input of each type, and returns the text of the graph.
  template <class Body>
  std::string trace(std::initializer_list<TensorType> types, const Body& body) {
    Tracer tracer(scope(), graph_);
    Tensors inputs;
    for (const TensorType& type : types) {
      inputs.push_back(tracer.input(type, InputRole::kArgument, names_[inputs.size()], device()));
    }
    const Tensors outputs = body(inputs);
    tracer.finish({outputs.data(), outputs.size()});
    captures_ = tracer.captures();
    return to_text(graph_);
  }

  static TensorType f32_of(const Dims& shape) { return {DType::kF32, shape}; }
  Size symbol(const char* name) { return graph_.sizes().symbol(name); }

  Graph graph_;
  std::vector<Tensor> captures_;

 private:
  std::string names_[3] = {"x", "y", "z"};
};

TEST_F(Tracing, RecordsCallsAndComputesNothing) {
  const uint64_t before = live_bytes();

  EXPECT_GRAPH(
      trace({f32_of({1000, 1000})}, [](const Tensors& in) { return Tensors{exp(in[0]) * 2.0}; }),
      "(x: f32[1000,1000]) { return mul(exp(x), 2.0) }");
  EXPECT_EQ(live_bytes(), before);
}

TEST_F(Tracing, RecordsPromotions) {
  EXPECT_GRAPH(trace({f32_of({2}), TensorType(DType::kF64, {2})},
                     [](const Tensors& in) { return Tensors{in[0] + in[1]}; }),
               "(x: f32[2], y: f64[2]) { return add(cast(x, to=f64), y) }");
}

TEST_F(Tracing, CapturesTensorsOnce) {
  const Tensor c = f32({1, 2});

  EXPECT_GRAPH(trace({f32_of({2})}, [&](const Tensors& in) { return Tensors{in[0] * c + c}; }),
               "(x: f32[2], c: capture f32[2]) { return add(mul(x, c), c) }");
  ASSERT_EQ(captures_.size(), 1u);
  EXPECT_EQ(captures_[0], c);
}

TEST_F(Tracing, ReportsErrorsOfOps) {
  EXPECT_ERROR(
      trace({f32_of({2}), f32_of({3})}, [](const Tensors& in) { return Tensors{in[0] + in[1]}; }),
      Code::kInvalidArgument, "shapes [2] and [3] do not broadcast");
}

TEST_F(Tracing, SupportsDataDependentSizes) {
  EXPECT_GRAPH(trace({f32_of({4})}, [](const Tensors& in) { return nonzero(in[0], {}); }),
               "(x: f32[4]) { places, count = nonzero(x, size=4) n = extent(count, size=d0) "
               "return copy(slice(places, starts=[0], ends=[d0], axes=[1])), count }");
}

TEST_F(Tracing, UsesTheSizeAttributeOfDataDependentOps) {
  EXPECT_GRAPH(trace({f32_of({4})}, [](const Tensors& in) { return nonzero(in[0], {.size = 2}); }),
               "(x: f32[4]) { places, count = nonzero(x, size=2) return places, count }");
}

TEST_F(Tracing, GuardsOnlyComparedSizes) {
  const Size n = symbol("n"), m = symbol("m");

  EXPECT_GRAPH(trace({f32_of({n, 3}), f32_of({m, 3}), f32_of({1, 3})},
                     [](const Tensors& in) { return Tensors{in[0] + in[1] * in[2]}; }),
               "(x: f32[n,3], y: f32[m,3], z: f32[1,3]) where m == n { return add(x, mul(y, z)) }");
}

TEST_F(Tracing, RecordsGradientsThatTheBodyComputes) {
  EXPECT_GRAPH(trace({f32_of({symbol("n"), 3})},
                     [&](const Tensors& in) {
                       const Ref<Tape> recording = tape();
                       recording->watch(in[0]);
                       return Tensors{recording->gradient(sum(in[0] * in[0]), in[0])};
                     }),
               R"((x: f32[n,3]) {
                 y = sum(mul(x, x))
                 dy = broadcast_to(reshape(fill(1.0, dtype=f32), shape=[1,1]), shape=[n,3])
                 return add(mul(dy, x), mul(dy, x))
               })");
}

TEST_F(Tracing, IsNotRecordedByOuterTapes) {
  const Tensor x = f32({1, 2});
  Ref<Tape> kept = tape({.persistent = true}), released = tape();
  kept->watch(x);
  const Tensor before = x * x;
  trace({f32_of({2})}, [&](const Tensors& in) {
    // Releases the tape while it is on the interpreter stack that the trace hides.
    released.reset();
    return Tensors{in[0] * x};
  });
  const Tensor y = before * x;

  EXPECT_EQ(testing::values_of(kept->gradient(y, x)), (std::vector<double>{3, 12}));
}

TEST_F(Tracing, RejectsTensorsOfAnotherTrace) {
  Tensor escaped;
  trace({f32_of({2})}, [&](const Tensors& in) {
    escaped = in[0];
    return in;
  });

  EXPECT_ERROR(exp(escaped), Code::kFailedPrecondition, "belongs to a trace");
  EXPECT_ERROR(testing::values_of(escaped), Code::kFailedPrecondition, "belongs to a trace");
  EXPECT_ERROR(trace({f32_of({2})}, [&](const Tensors& in) { return Tensors{in[0] + escaped}; }),
               Code::kFailedPrecondition, "belongs to another trace");
}

}  // namespace
}  // namespace tenon
