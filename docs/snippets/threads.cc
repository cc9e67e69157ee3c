// docs/threads_and_scopes.md: one context, a scope for each thread.

#include <iostream>
#include <tenon/tenon.hpp>
#include <thread>

using namespace tenon;

namespace {

// Stores the derivative of x^2 at x = `at` in `out`. Computes it in a scope of this thread.
void derivative(const Context& context, float at, float& out) {
  const ScopeGuard in(Scope(context, "cpu"));
  const Tensor x = vector<float>({at});
  const Tape tape;
  tape.watch(x);
  out = tape.gradient(square(x), x).item<float>();
}

}  // namespace

int main() {
  const Context context;
  float one = 0, two = 0;
  std::thread first([&] { derivative(context, 3, one); });
  std::thread second([&] { derivative(context, 5, two); });
  first.join();
  second.join();
  std::cout << "one: " << one << "\ntwo: " << two << '\n';
}
