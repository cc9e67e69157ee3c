// docs/languages.md: twenty tasks in C++; languages.c has the same tasks in C. The code of a task
// is between the comments [its name] and [end].

#include <array>
#include <cstdio>
#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

static void show(const char* label, const Tensor& x) { std::cout << label << ": " << x << "\n"; }

static Tensor create_values_and_apply_ops() {
  // [make]
  const Tensor x = matrix<float>({{1, 2}, {3, 4}});
  // [end]

  // [arithmetic]
  const Tensor y = 2 * x + x;
  // [end]
  show("arithmetic", y);

  // [attributes]
  const Tensor rows = sum(x, {.axes = {1}, .keepdims = true});
  // [end]
  show("attributes", rows);

  // [outputs]
  const auto [values, indices] = top_k(x, {.k = 1});
  // [end]
  show("outputs", indices);

  // [index]
  const Tensor last_row = slice(x, {.starts = {1}, .ends = {2}, .axes = {0}, .steps = {}});
  // [end]
  show("index", last_row);
  return x;
}

static void read_values(const Tensor& x) {
  // [shape]
  const auto shape = x.shape();
  // [end]
  std::printf("shape: %d of %d axes\n", static_cast<int>(shape[0]), static_cast<int>(x.rank()));

  // [item]
  const float number = sum(x).item<float>();
  // [end]
  std::printf("item: %g\n", static_cast<double>(number));

  // [read]
  const std::vector<float> host = x.to_vector<float>();
  // [end]
  std::printf("read: %g\n", static_cast<double>(host[3]));
  std::fflush(stdout);

  // [print]
  std::cout << x << "\n";
  // [end]

  // [device]
  const Tensor there = x.to("cpu");
  // [end]

  // [random]
  const Generator generator(7);
  const Tensor noise = generator.normal({2, 2});
  // [end]

  // [error]
  try {
    softmax(x, {.axis = 5});
  } catch (const Error& error) {
    std::cout << error.message() << "\n";
  }
  // [end]
}

static void take_training_step(const Tensor& x) {
  // [variable]
  const Variable w(x);
  w.assign(w.read());
  // [end]

  // [gradient]
  const Tape tape;
  const Tensor loss = sum(square(w));
  const Tensor gradient = tape.gradient(loss, w);
  // [end]
  show("gradient", gradient);
}

static void define_functions(const Tensor& x) {
  // [function]
  const auto scaled = function([](const Tensor& a, const Tensor& b) { return a * b; });
  const Tensor product = scaled(x, x);
  // [end]
  show("function", product);

  const Tensor start = vector<float>({3});

  // [cond]
  const Tensor chosen = cond(
      all(greater(start, 0)), [&] { return -start; }, [&] { return start; });
  // [end]
  show("cond", chosen);

  // [while_loop]
  const Tensor last = while_loop([](const Tensor& value) { return less(value, 100); },
                                 [](const Tensor& value) { return value + value; }, 3.0);
  // [end]
  show("while_loop", last);

  // [host_call]
  const auto print_it = [](const Tensor& value) {
    std::cout << "host: " << value.item<double>() << "\n";
    return value;
  };
  host_call(last, print_it, last);
  // [end]
}

static void save_and_load_files(const Tensor& x) {
  // [safetensors]
  save_safetensors("languages.safetensors", {{"x", x}});
  const Tensor loaded = Safetensors("languages.safetensors").load("x");
  // [end]
  show("safetensors", loaded);
}

int main() {
  // [context]
  const ScopeGuard scope(Scope(Context{}));
  // [end]
  const Tensor x = create_values_and_apply_ops();
  read_values(x);
  take_training_step(x);
  define_functions(x);
  save_and_load_files(x);
}
