// docs/errors.md: an error of the C++ binding names the source line of the call.

#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

// Prints the error without folder names, which differ from machine to machine.
static void show(const Error& error) {
  std::string text = error.what();
  const size_t path = text.find("(called at ") + std::string_view("(called at ").size();
  text.erase(path, text.rfind('/') + 1 - path);
  std::cout << text << "\n";
}

static void an_eager_call() {
  const Tensor x = vector<float>({1, 2, 3});
  try {
    softmax(x, {.axis = 1});
  } catch (const Error& error) {
    show(error);
  }
}

static void a_recorded_call() {
  const auto pick = function([](const Tensor& x, const Tensor& i) {
    const Tensor y = x * 2.f;
    return gather(y, i) + 1.f;  // The line that the error names.
  });
  const Tensor x = vector<float>({1, 2, 3});
  pick(x, vector({0}));
  try {
    pick(x, vector({7}));
  } catch (const Error& error) {
    show(error);
  }
}

// Passes the source line of its caller on.
static Tensor normalised(const Tensor& x, SourceLocation at = here()) {
  return softmax({x, at}, {.axis = 1});
}

static void a_call_of_ones_own() {
  try {
    normalised(vector<float>({1, 2, 3}));
  } catch (const Error& error) {
    show(error);
  }
}

int main() {
  an_eager_call();
  a_recorded_call();
  a_call_of_ones_own();
}
