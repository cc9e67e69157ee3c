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

static void fail_in_an_eager_call() {
  const Tensor x = vector<float>({1, 2, 3});
  try {
    softmax(x, {.axis = 1});
  } catch (const Error& error) {
    show(error);
  }
}

static void fail_in_a_function() {
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

// Returns softmax(x). Its errors name the source line of the caller, not of the call of softmax.
static Tensor normalised(const Tensor& x, SourceLocation at = here()) {
  return softmax({x, at}, {.axis = 1});
}

static void fail_in_a_helper() {
  try {
    normalised(vector<float>({1, 2, 3}));
  } catch (const Error& error) {
    show(error);
  }
}

int main() {
  fail_in_an_eager_call();
  fail_in_a_function();
  fail_in_a_helper();
}
