// Functions that read dynamic sizes on the host while they are traced.

#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

namespace tenon {
namespace {

using Floats = std::vector<float>;

Tensor counted(int64_t n) { return iota({.shape = {n}, .dtype = kFloat32}); }

Function open_function(std::function<Tensor(const Tensor&)> body, Shape shape) {
  return Function(
      [body = std::move(body)](std::span<const Tensor> in, const Statics&) {
        return std::vector<Tensor>{body(in[0])};
      },
      {.signature = std::vector<InputSpec>{{.name = "x", .shape = std::move(shape)}}});
}

// Checks at several lengths that a function of `body` returns what `body` returns eagerly. The
// first lengths are traced separately, before the size becomes dynamic.
void expect_same_at_each_length(const std::function<Tensor(const Tensor&)>& body) {
  const auto f = function(body);
  for (const int64_t n : {4, 5, 6, 7, 3, 6}) {
    EXPECT_EQ(f(counted(n)).to_vector<float>(), body(counted(n)).to_vector<float>()) << n;
  }
}

TEST(DynamicSizes, HostReadsReturnTheSizesOfEachCall) {
  expect_same_at_each_length([](const Tensor& x) { return sum(x) / float(x.size(0)); });
  expect_same_at_each_length([](const Tensor& x) { return sum(x) / float(x.count()); });
  expect_same_at_each_length([](const Tensor& x) { return sum(x) / float(x.shape()[0]); });
  expect_same_at_each_length([](const Tensor& x) { return sum(x) / float(x.bytes()); });
  expect_same_at_each_length([](const Tensor& x) { return x.size(0) > 3 ? x * 10.f : x; });
  expect_same_at_each_length([](const Tensor& x) { return gather(x, x.size(0) - 1); });
  expect_same_at_each_length(
      [](const Tensor& x) { return slice(x, {.starts = {0}, .ends = {x.size(0) - 1}}); });
  expect_same_at_each_length(
      [](const Tensor& x) { return slice(x, {.starts = {0}, .ends = {x.size(-1) / 2}}); });
}

TEST(DynamicSizes, HostReadsInABranchReturnTheSizesOfEachCall) {
  expect_same_at_each_length([](const Tensor& x) {
    return cond(
        greater(sum(x), 0.f), [&] { return sum(x) / float(x.size(0)); }, [&] { return sum(x); });
  });
}

TEST(DynamicSizes, UnknownSizesOfASignatureCannotBeReadOnTheHost) {
  const std::function<void(const Tensor&)> reads[] = {
      [](const Tensor& x) { x.size(0); }, [](const Tensor& x) { x.shape(); },
      [](const Tensor& x) { x.count(); }, [](const Tensor& x) { x.bytes(); },
      [](const Tensor& x) { x.to_vector<float>(); }};
  for (const auto& read : reads) {
    const Function f = open_function(
        [&](const Tensor& x) {
          EXPECT_EQ(x.size(1), 2);  // Axis 1 has a declared size.
          read(x);
          return x;
        },
        {TENON_SIZE_UNKNOWN, 2});
    const Tensor x[] = {matrix<float>({{1, 2}, {3, 4}})};
    try {
      f(x);
      FAIL() << "the read did not fail";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kFailedPrecondition);
      EXPECT_NE(std::string(error.what()).find("tenon_shape"), std::string::npos) << error.what();
    }
  }
}

TEST(DynamicSizes, CannotBeReadAfterTracingHasEnded) {
  Tensor escaped;
  const auto f = open_function(
      [&](const Tensor& x) {
        escaped = x;
        return x;
      },
      {TENON_SIZE_UNKNOWN, 2});
  const Tensor x[] = {matrix<float>({{1, 2}})};
  f(x);
  EXPECT_EQ(escaped.size(1), 2);
  EXPECT_THROW(escaped.size(0), Error);
}

TEST(DynamicSizes, IndexingDoesNotSpecialiseTheTrace) {
  const Shape open = {TENON_SIZE_UNKNOWN, 2};
  const Function first = open_function([](const Tensor& x) { return x[0]; }, open);
  const Function last = open_function([](const Tensor& x) { return x[-1]; }, open);
  for (const int64_t n : {2, 3, 5, 9, 1}) {
    const Tensor x[] = {iota({.shape = {n, 2}, .dtype = kFloat32})};
    EXPECT_EQ(first(x)[0].to_vector<float>(), (Floats{0, 0}));
    EXPECT_EQ(last(x)[0].to_vector<float>(), (Floats{float(n - 1), float(n - 1)}));
  }
  EXPECT_EQ(first.traces().size(), 1u);
  EXPECT_EQ(last.traces().size(), 1u);
}

TEST(DynamicSizes, IndexOutOfRangeIsAnError) {
  const auto f = function([](const Tensor& x) { return x[4]; });
  for (const int64_t n : {5, 6, 7, 8}) EXPECT_EQ(f(counted(n)).item<float>(), 4);
  EXPECT_THROW(f(counted(3)), Error);
  EXPECT_THROW(f(counted(4)), Error);
}

// Checks that functions of `body` and of its gradient return what eager execution returns, at ten
// sizes of the unknown axis of the input shape `open`. One trace of `body`, and
// `n_gradient_traces` traces of the gradient, must serve all sizes.
void expect_one_trace(const char* name, Shape open,
                      const std::function<Tensor(const Tensor&)>& body,
                      size_t n_gradient_traces = 1) {
  const auto slope = [&](const Tensor& x) {
    const Tape t;
    t.watch(x);
    return t.gradient(sum(square(body(x))), x);
  };
  const Function f = open_function(body, open), df = open_function(slope, open);
  for (int64_t n = 4; n < 24; n += 2) {
    Shape shape = open;
    for (int64_t& size : shape) size = size < 0 ? n : size;
    const Tensor x[] = {sin(iota({.shape = shape, .dtype = kFloat32, .axis = 0}) * 1.7f +
                            iota({.shape = shape, .dtype = kFloat32, .axis = -1}))};
    EXPECT_EQ(f(x)[0].str(), body(x[0]).str()) << name << n;
    EXPECT_EQ(df(x)[0].str(), slope(x[0]).str()) << name << n;
  }
  EXPECT_EQ(f.traces().size(), 1u) << name;
  EXPECT_EQ(df.traces().size(), n_gradient_traces) << name;
}

TEST(DynamicSizes, OneTraceServesAllSizesOfASignature) {
  constexpr int64_t kOpen = TENON_SIZE_UNKNOWN;
  const Tensor w = matrix<float>({{1, 2, 3}, {4, 5, 6}});
  expect_one_trace("einsum", {kOpen, 2}, [&](const Tensor& x) {
    return einsum({x, w}, {.equation = "ij,jk->ik"});
  });
  expect_one_trace("einsum, both", {kOpen, 2}, [](const Tensor& x) {
    return einsum({x, x}, {.equation = "ij,kj->ik"});
  });
  expect_one_trace("einsum, ellipsis", {kOpen, 2}, [&](const Tensor& x) {
    return einsum({x, vector<float>({2, 3})}, {.equation = "...j,j->..."});
  });
  expect_one_trace("tensordot", {kOpen, 2}, [&](const Tensor& x) {
    return tensordot(x, w, {.axes_a = {1}, .axes_b = {0}});
  });
  expect_one_trace("tril", {kOpen, kOpen}, [](const Tensor& x) { return tril(x, {.k = -1}); });
  expect_one_trace("triu", {kOpen, 3}, [](const Tensor& x) { return triu(x, {.k = 1}); });
  for (const int64_t shift : {1, -1}) {
    expect_one_trace("roll", {kOpen, 2}, [=](const Tensor& x) {
      return roll(x, {.shifts = {shift}, .axes = {0}}) * x;
    });
  }
  expect_one_trace("roll, flat", {kOpen, 2},
                   [](const Tensor& x) { return roll(x, {.shifts = {3}, .axes = {}}) * x; });
  expect_one_trace("diff", {kOpen, 2},
                   [](const Tensor& x) { return diff(x, {.n = 2, .axis = 0}); });
  expect_one_trace("tile", {kOpen, 2}, [](const Tensor& x) {
    return tile(x, {.repeats = {2, 3}});
  });
  expect_one_trace("repeat", {kOpen, 2},
                   [](const Tensor& x) { return repeat(x, {.repeats = {2}, .axis = 1}); });
}

Tensor weights(Shape shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return reshape(cos(iota({.shape = {n}, .dtype = kFloat32}) * 0.7f), {.shape = shape});
}

TEST(DynamicSizes, OneTraceServesAllSizesOfWindowOps) {
  constexpr int64_t kOpen = TENON_SIZE_UNKNOWN;
  const Tensor w = weights({2, 1, 3});
  const Shape batch = {kOpen, 1, 8}, length = {1, 1, kOpen};
  const auto windows = [&](const char* name, const std::function<Tensor(const Tensor&)>& body) {
    expect_one_trace(name, batch, body);
    expect_one_trace(name, length, body);
  };
  windows("conv", [&](const Tensor& x) { return conv(x, w); });
  windows("conv, pads", [&](const Tensor& x) { return conv(x, w, {}, {.pads = {1, 1}}); });
  windows("conv, strides", [&](const Tensor& x) {
    return conv(x, w, {}, {.strides = {2}, .pads = {1, 0}, .dilations = {1}});
  });
  windows("conv_transpose", [&](const Tensor& x) {
    return conv_transpose(x, weights({1, 2, 3}), {}, {.strides = {2}, .output_padding = {1}});
  });
  windows("max_pool",
          [](const Tensor& x) { return max_pool(x, {.kernel_shape = {2}, .strides = {2}}).y; });
  windows("max_pool, ceil_mode", [](const Tensor& x) {
    return max_pool(x, {.kernel_shape = {3}, .strides = {2}, .ceil_mode = true}).y;
  });
  windows("avg_pool", [](const Tensor& x) { return avg_pool(x, {.kernel_shape = {2}}); });
  windows("avg_pool, pads", [](const Tensor& x) {
    return avg_pool(x, {.kernel_shape = {3}, .strides = {2}, .pads = {1, 1}});
  });
  windows("avg_pool, ceil_mode", [](const Tensor& x) {
    return avg_pool(x, {.kernel_shape = {3}, .strides = {2}, .ceil_mode = true});
  });
  windows("lp_pool", [](const Tensor& x) { return lp_pool(x, {.kernel_shape = {2}}); });
  windows("im2col", [](const Tensor& x) {
    return im2col(x, {.kernel_shape = {2}, .pads = {1, 0}});
  });
  windows("resize_linear",
          [](const Tensor& x) { return resize_linear(x, {.scales = {2}, .axes = {2}}); });
  windows("resize_linear, sizes",
          [](const Tensor& x) { return resize_linear(x, {.sizes = {7}, .axes = {2}}); });
  windows("resize_nearest", [](const Tensor& x) {
    return resize_nearest(x, {.scales = {3}, .scale_divisors = {2}, .axes = {2}});
  });
  windows("resize_cubic",
          [](const Tensor& x) { return resize_cubic(x, {.scales = {2}, .axes = {2}}); });
  windows("pad, reflect", [](const Tensor& x) {
    return pad(x, {}, {.pads = {0, 0, 1, 0, 0, 1}, .mode = PadMode::kReflect});
  });
}

TEST(DynamicSizes, OneTraceServesAllSizesOfRecurrentLayers) {
  constexpr int64_t kOpen = TENON_SIZE_UNKNOWN;
  const Shape time = {kOpen, 1, 2}, batch = {4, kOpen, 2};
  // The gradient unrolls the time steps, so it is traced once for each number of steps.
  const auto layers = [&](const char* name, const std::function<Tensor(const Tensor&)>& body) {
    expect_one_trace(name, time, body, 10);
    expect_one_trace(name, batch, body);
  };
  layers("lstm", [](const Tensor& x) {
    return lstm(x, weights({1, 12, 2}), weights({1, 12, 3})).y;
  });
  layers("lstm, both directions", [](const Tensor& x) {
    return lstm(x, weights({2, 12, 2}), weights({2, 12, 3}), {}, {}, {}, {}, {},
                {.direction = Direction::kBidirectional})
        .y;
  });
  layers("gru", [](const Tensor& x) { return gru(x, weights({1, 9, 2}), weights({1, 9, 3})).y; });
  layers("rnn", [](const Tensor& x) { return rnn(x, weights({1, 3, 2}), weights({1, 3, 3})).y; });
}

}  // namespace
}  // namespace tenon
