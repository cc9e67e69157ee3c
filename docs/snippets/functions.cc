// docs/from_eager_to_functions.md: what happens when code is traced, and what when it runs.

#include <iostream>
#include <optional>
#include <tenon/tenon.hpp>

using namespace tenon;

static void show(const char* what, const Tensor& x) { std::cout << what << ": " << x << "\n"; }

static void traced_once() {
  const auto f = function([](const Tensor& x, const Tensor& rate) {
    std::cout << "tracing\n";
    return x * rate;
  });
  show("first", f(vector<float>({1, 2}), 10.f));
  show("second", f(vector<float>({3, 4}), 0.5f));
  show("other dtype", f(vector<int32_t>({1, 2}), 3));
}

static void prints_at_each_call() {
  const auto f = function([](const Tensor& x) {
    std::cout << "traced " << x << "\n";
    print("ran with {}", x);
    return x + 1.f;
  });
  f(vector<float>({1, 2}));
  f(vector<float>({3, 4}));
}

static void stops_where_an_assertion_fails() {
  const Variable best(0.f);
  const auto f = function([&](const Tensor& loss) {
    best.assign(loss);
    assert_that(less(loss, 10.f), "the loss is {}", loss);
    best.assign(-1.f);
  });
  try {
    f(12.f);
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
  show("best", best);
}

static void the_host_is_called() {
  const auto halved = [](const Tensor& x) {
    Tensor y = x;
    while (y.item<float>() >= 1) y = y / 2.f;
    return y;
  };
  const auto f = function([&](const Tensor& x) { return host_call(x, halved, x * x); });
  const Tensor x = tensor<float>({3}, {});
  const Tape tape;
  tape.watch(x);
  const Tensor y = f(x);
  show("halved", y);
  show("slope", tape.gradient(y, x));
}

static void variables_are_read_at_each_call() {
  const Variable total(0.f);
  const auto add = function([&](const Tensor& x) { total.assign(total + x); });
  add(1.f);
  total.assign(100.f);
  add(2.f);
  show("total", total);
}

static void a_variable_made_once() {
  std::optional<Variable> weight;
  const auto scale = function([&](const Tensor& x) {
    if (!weight) weight.emplace(x + 1.f);
    return x * *weight;
  });
  show("with a new weight", scale(2.f));
  show("with the same", scale(5.f));
}

static void sizes_may_stay_open() {
  const Function mean_row(
      [](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
        return {mean(in[0], {.axes = {0}})};
      },
      {.name = "mean_row",
       .signature = std::vector<InputSpec>{{.name = "rows", .shape = {TENON_SIZE_UNKNOWN, 2}}}});
  const Tensor two[] = {matrix<float>({{1, 2}, {3, 4}})};
  const Tensor three[] = {matrix<float>({{1, 2}, {3, 4}, {8, 9}})};
  show("of two", mean_row(two)[0]);
  show("of three", mean_row(three)[0]);
  std::cout << mean_row.traces()[0].text();
}

static void gradients_pass_through() {
  const auto cube = function([](const Tensor& x) { return x * x * x; });
  const Tensor x = vector<float>({2});
  const Tape outer;
  outer.watch(x);
  const Tape inner;
  inner.watch(x);
  const Tensor slope = inner.gradient(cube(x), x);
  show("slope", slope);
  show("curvature", outer.gradient(slope, x));
}

static void branches_and_loops() {
  const auto magnitude = [](const Tensor& x) {
    return cond(
        greater(x, 0.f), [&] { return x; }, [&] { return -x; });
  };
  show("eager", magnitude(-3.f));
  show("traced", function(magnitude)(-3.f));
  const auto power = function([](const Tensor& x, const Tensor& n) {
    const auto [i, y] = while_loop([&](const Tensor& i, const Tensor&) { return less(i, n); },
                                   [&](const Tensor& i, const Tensor& y) {
                                     return std::array{i + 1, y * x};
                                   },
                                   0, 1.f);
    return y;
  });
  show("2 to the power of 10", power(2.f, 10));
  show("2 to the power of 3", power(2.f, 3));
}

static void there_is_no_value_yet() {
  const auto f = function([](const Tensor& x) { return x.item<float>() > 0 ? x : -x; });
  try {
    f(-1.f);
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
}

int main() {
  traced_once();
  prints_at_each_call();
  variables_are_read_at_each_call();
  a_variable_made_once();
  sizes_may_stay_open();
  gradients_pass_through();
  branches_and_loops();
  stops_where_an_assertion_fails();
  the_host_is_called();
  there_is_no_value_yet();
}
