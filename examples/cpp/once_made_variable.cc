// A function may create variables in its first call only. Creating one in every call is an error in
// the first call, because each trace would contain another variable.

#include <optional>

#include "examples/cpp/eager_and_traced.hpp"

using namespace tenon;

int main() {
  return run_eager_and_traced([] {
    const FunctionOptions options = {.name = "example"};
    const auto wrong = function(
        [](const Tensor& x) {
          const Variable b(12.f, {.name = "b"});
          return x + b;
        },
        options);
    std::optional<Variable> b;
    const auto right = function(
        [&](const Tensor& x) {
          if (!b) b.emplace(12.f, VariableOptions{.name = "b"});
          return x + *b;
        },
        options);
    const Tensor x = scalar(1.f);
    try {
      const Tensor y = wrong(x);
      std::cout << "made at every call: " << y << "\n";
    } catch (const Error& error) {
      std::cout << "made at every call: " << error.message() << "\n";
    }
    std::cout << "made once: " << right(x) << "\n";
    b->assign(100.f);
    std::cout << "and assigned: " << right(x) << "\n";
  });
}
