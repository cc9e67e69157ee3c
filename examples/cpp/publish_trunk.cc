// Saves a model with two heads on one trunk, and loads it. Then saves the loaded trunk alone, with
// only the variables that it uses.

#include <array>

#include "examples/cpp/eager_and_traced.hpp"

using namespace tenon;

static void list_variables(const char* label, const Program& program) {
  std::cout << label;
  for (const Variable& v : program.variables()) std::cout << " " << v.name();
  std::cout << "\n";
}

int main() {
  return run_eager_and_traced([] {
    const Variable w(matrix<float>({{1, -1}, {2, 0.5}}), {.name = "trunk"});
    const Variable a(matrix<float>({{1}, {3}}), {.name = "price"});
    const Variable b(matrix<float>({{-2}, {1}}), {.name = "age"});
    const auto trunk = [&](const Tensor& x) { return relu(matmul(x, w)); };
    const auto features = function(trunk);
    const auto both = function([&](const Tensor& x) {
      const Tensor h = trunk(x);
      return std::array{matmul(h, a), matmul(h, b)};
    });
    const InputSpec x = {.name = "x", .shape = {TENON_SIZE_UNKNOWN, 2}};
    Program::save("two_heads", {{"both", both.trace({x})}, {"features", features.trace({x})}});

    const Program model("two_heads");
    list_variables("saved:", model);
    const Function read = model.function("features");
    Program::save("features", {{"features", read.trace({x})}});
    const Program published("features");
    list_variables("published:", published);

    const Tensor input = matrix<float>({{1, 1}, {0, 2}});
    const std::vector<Tensor> heads = model.function("both")(input);
    std::cout << "price: " << transpose(heads[0]) << "\nage: " << transpose(heads[1]) << "\n";
    std::cout << "features:\n" << published.function()(input)[0] << "\n";
  });
}
