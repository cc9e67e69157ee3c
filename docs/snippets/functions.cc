// docs/from_eager_to_functions.md: which code runs when a function is traced, and which at each
// call.

#include <iostream>
#include <optional>
#include <tenon/tenon.hpp>

using namespace tenon;

static void show(const char* what, const Tensor& x) { std::cout << what << ": " << x << "\n"; }

static void show_tracing() {
  const auto f = function([](const Tensor& x, const Tensor& rate) {
    std::cout << "tracing\n";
    return x * rate;
  });
  show("first", f(vector<float>({1, 2}), 10.f));
  show("second", f(vector<float>({3, 4}), 0.5f));
  show("other dtype", f(vector<int32_t>({1, 2}), 3));
}

static void show_print() {
  const auto f = function([](const Tensor& x) {
    std::cout << "traced " << x << "\n";
    print("ran with {}", x);
    return x + 1.f;
  });
  f(vector<float>({1, 2}));
  f(vector<float>({3, 4}));
}

static void show_assert() {
  const Variable best(0.f);
  const auto f = function([&](const Tensor& loss) {
    best.assign(loss);
    assert_that(less(loss, 10.f), "the loss is {}", loss);
    best.assign(-1.f);
  });
  try {
    f(12.f);
  } catch (const Error& error) {
    std::cout << error.message() << "\n";
  }
  show("best", best);
}

static void show_host_call() {
  const auto halved = [](const Tensor& x) {
    Tensor y = x;
    while (y.item<float>() >= 1) y = y / 2.f;
    return y;
  };
  const auto f = function([&](const Tensor& x) { return host_call(x, halved, x * x); });
  const Tensor x = scalar(3.f);
  const Tape tape;
  tape.watch(x);
  const Tensor y = f(x);
  show("halved", y);
  show("slope", tape.gradient(y, x));
}

static void show_host_control_flow() {
  float factor = 2;
  Tensor offset = vector<float>({1, 1});
  const auto f = function([&](const Tensor& x) {
    Tensor y = factor * x + offset;
    for (int i = 0; i < 2; ++i) y = y * y;
    return y;
  });
  show("at first", f(vector<float>({0, 1})));
  factor = 100;
  offset = vector<float>({7, 7});
  show("and later", f(vector<float>({0, 1})));
}

static void show_static_arguments() {
  const auto scaled = function([](const Tensor& x, const Statics& statics) {
    const int64_t by = statics.at("by").as_int();
    std::cout << "tracing for " << by << "\n";
    return x * by;
  });
  for (const int by : {2, 5, 2}) show("scaled", scaled(3.f, Statics{{"by", by}}));
}

static void show_variable_reads() {
  const Variable total(0.f);
  const auto add = function([&](const Tensor& x) { total.assign(total + x); });
  add(1.f);
  total.assign(100.f);
  add(2.f);
  show("total", total);
}

static void show_variable_created_once() {
  std::optional<Variable> weight;
  const auto scale = function([&](const Tensor& x) {
    if (!weight) weight.emplace(x + 1.f);
    return x * *weight;
  });
  show("with a new weight", scale(2.f));
  show("with the same", scale(5.f));
}

static void show_variable_created_in_every_call() {
  const auto wrong = function(
      [](const Tensor& x) {
        const Variable b(12.f, {.name = "b"});
        return x + b;
      },
      {.name = "wrong"});
  try {
    wrong(1.f);
  } catch (const Error& error) {
    std::cout << error.message() << "\n";
  }
}

static void show_unknown_sizes() {
  const auto mean_row = function(
      [](const Tensor& rows) { return mean(rows, {.axes = {0}}); },
      {.name = "mean_row", .signature = {{.name = "rows", .shape = {TENON_SIZE_UNKNOWN, 2}}}});
  show("of two", mean_row(matrix<float>({{1, 2}, {3, 4}})));
  show("of three", mean_row(matrix<float>({{1, 2}, {3, 4}, {8, 9}})));
  std::cout << mean_row.traces()[0].text();
}

static void show_data_dependent_sizes() {
  const auto positive =
      function([](const Tensor& x) { return boolean_mask(x, greater(x, 0.f)).y; });
  show("two", positive(vector<float>({1, -2, 3})));
  show("one", positive(vector<float>({-1, -2, 3})));
  show("none", positive(vector<float>({-1, -2, -3})));
}

static void show_gradients() {
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

static void show_branches_and_loops() {
  const auto magnitude = [](const Tensor& x) {
    return cond(
        greater(x, 0.f), [&] { return x; }, [&] { return -x; });
  };
  show("eager", magnitude(-3.f));
  show("traced", function(magnitude)(-3.f));
  const auto power = function([](const Tensor& x, const Tensor& n) {
    const auto [i, y] = while_loop(
        [&](const Tensor& i, const Tensor&) { return less(i, n); },
        [&](const Tensor& i, const Tensor& y) { return std::pair(i + 1, y * x); }, 0, 1.f);
    return y;
  });
  show("2 to the power of 10", power(2.f, 10));
  show("2 to the power of 3", power(2.f, 3));
}

static void show_lists() {
  const auto running = [](const Tensor& xs) {
    const Tensor n = shape(xs)[0];
    const TensorList each = TensorList::unstack(xs);
    const auto [i, sum, sums] =
        while_loop([&](const Tensor& i, const Tensor&, const TensorList&) { return less(i, n); },
                   [&](const Tensor& i, const Tensor& sum, const TensorList& sums) {
                     const Tensor next = sum + each[i];
                     return std::tuple(i + 1, next, sums.push(next));
                   },
                   0, 0.f, TensorList(kFloat32));
    return sums.stack(n);
  };
  const auto sums = function(running, {.signature = {{.shape = {TENON_SIZE_UNKNOWN}}}});
  for (const Tensor& xs : {vector<float>({1, 2, 4}), vector<float>({5, 6})}) {
    show("eager", running(xs));
    show("traced", sums(xs));
  }
  std::cout << "traces: " << sums.traces().size() << "\n";
}

static void show_missing_value() {
  const auto f = function([](const Tensor& x) { return x.item<float>() > 0 ? x : -x; });
  try {
    f(-1.f);
  } catch (const Error& error) {
    std::cout << error.message() << "\n";
  }
}

static void show_eager_functions() {
  const auto f = function([](const Tensor& x) {
    std::cout << (is_tracing() ? "tracing" : "running") << "\n";
    return is_tracing() ? x : x * x.item<float>();
  });
  show("traced", f(3.f));
  run_functions_eagerly(true);
  show("eager", f(3.f));
  run_functions_eagerly(false);
}

int main() {
  show_tracing();
  show_host_control_flow();
  show_static_arguments();
  show_print();
  show_variable_reads();
  show_variable_created_once();
  show_variable_created_in_every_call();
  show_unknown_sizes();
  show_data_dependent_sizes();
  show_gradients();
  show_branches_and_loops();
  show_lists();
  show_assert();
  show_host_call();
  show_missing_value();
  show_eager_functions();
}
