// Source lines that errors report.

#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

namespace tenon {
namespace {

template <class Code>
std::string location_of(const Code& code) {
  try {
    code();
  } catch (const Error& error) {
    const std::string location(error.location());
    if (!location.empty()) {
      EXPECT_EQ(error.what(), std::string(error.message()) + " (called at " + location + ")");
    }
    return location;
  }
  ADD_FAILURE() << "the call does not fail";
  return "";
}

std::string in_this_file(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }

// `line` is a reference because `code` may assign it.
template <class Code>
void expect_at(const int& line, const Code& code) {
  const std::string location = location_of(code);
  EXPECT_EQ(location, in_this_file(line));
}

// Checks that the expression fails and that its error reports the line of this macro.
#define EXPECT_ERROR_AT_THIS_LINE(...) expect_at(__LINE__, [&] { (void)(__VA_ARGS__); })

TEST(ErrorLocation, ForOpsIsTheLineOfTheCall) {
  const Tensor x = vector<float>({1, 2}), y = vector<float>({1, 2, 3});
  const Variable w(y);
  EXPECT_ERROR_AT_THIS_LINE(softmax(x, {.axis = 3}));
  EXPECT_ERROR_AT_THIS_LINE(gather(x, 7));
  EXPECT_ERROR_AT_THIS_LINE(matmul(2, x));
  EXPECT_ERROR_AT_THIS_LINE(add(w, x));
  EXPECT_ERROR_AT_THIS_LINE(concat({x, matrix<float>({{1}})}));
  EXPECT_ERROR_AT_THIS_LINE(stack({x, y}));
  EXPECT_ERROR_AT_THIS_LINE(eye({.rows = -1}));
  EXPECT_ERROR_AT_THIS_LINE(split(x, 3, {.num_outputs = 2}));
  EXPECT_ERROR_AT_THIS_LINE(split(x, {.split = {1, 2}}));
  EXPECT_ERROR_AT_THIS_LINE(unstack(x, {.axis = 1}));
  EXPECT_ERROR_AT_THIS_LINE(find_op("no.such.op"));
}

TEST(ErrorLocation, ForOperatorsIsTheLineOfTheOperator) {
  Tensor x = vector<float>({1, 2});
  const Tensor y = vector<float>({1, 2, 3});
  const Variable w(x);
  EXPECT_ERROR_AT_THIS_LINE(x + y);
  EXPECT_ERROR_AT_THIS_LINE(1 + x * y);
  EXPECT_ERROR_AT_THIS_LINE(-x / y);
  EXPECT_ERROR_AT_THIS_LINE(w - y);
  EXPECT_ERROR_AT_THIS_LINE(-Tensor(true));
  EXPECT_ERROR_AT_THIS_LINE(x += y);
  EXPECT_ERROR_AT_THIS_LINE(w += y);
  EXPECT_ERROR_AT_THIS_LINE(w *= y);
  EXPECT_ERROR_AT_THIS_LINE(x[2]);
  EXPECT_ERROR_AT_THIS_LINE(x[vector({2})]);
  EXPECT_ERROR_AT_THIS_LINE(w[-3]);
}

TEST(ErrorLocation, ForTensorAndVariableMethodsIsTheLineOfTheCall) {
  const Tensor x = vector<float>({1, 2});
  const Variable w(x);
  EXPECT_ERROR_AT_THIS_LINE(tensor<float>({1, 2}, {3}));
  EXPECT_ERROR_AT_THIS_LINE(matrix<float>({{1}, {2, 3}}));
  EXPECT_ERROR_AT_THIS_LINE(zeros({-1}));
  EXPECT_ERROR_AT_THIS_LINE(full({2}, x, kInt64));
  EXPECT_ERROR_AT_THIS_LINE(arange(0, 1, 0));
  EXPECT_ERROR_AT_THIS_LINE(x.size(1));
  EXPECT_ERROR_AT_THIS_LINE(x.item<float>());
  EXPECT_ERROR_AT_THIS_LINE(x.to_vector<int>());
  EXPECT_ERROR_AT_THIS_LINE(x.to("none:7"));
  EXPECT_ERROR_AT_THIS_LINE(w.assign(1));
  EXPECT_ERROR_AT_THIS_LINE(w.assign_add(vector<float>({1, 2, 3})));
  EXPECT_ERROR_AT_THIS_LINE(Tape().gradient(vector({1}), w));
  EXPECT_ERROR_AT_THIS_LINE(Generator(1).uniform({-1}));
  EXPECT_ERROR_AT_THIS_LINE(find_device("none:7"));
  EXPECT_ERROR_AT_THIS_LINE(DeviceGuard("none:7"));
  EXPECT_ERROR_AT_THIS_LINE(Program("/nowhere"));
  EXPECT_ERROR_AT_THIS_LINE(load_safetensors("/nowhere"));
  EXPECT_ERROR_AT_THIS_LINE(TensorList(kFloat32).push(x));
  EXPECT_ERROR_AT_THIS_LINE(Static("up").as_int());
}

TEST(ErrorLocation, ForFunctionsAndControlFlowIsTheLineOfTheCall) {
  const Tensor x = vector<float>({1, 2});
  const auto same = [](const Tensor& y) { return y; };
  const auto f = function(same, {.signature = {{.name = "x", .shape = {3}}}});
  const auto less_one = [](const Tensor& y) { return less(y, 1.f); };
  const auto grow = [](const Tensor& y) { return concat({y, y}); };
  const auto to_bool = [](const Tensor&) { return Tensor(true); };
  const auto itself = [&] { return x; };
  EXPECT_ERROR_AT_THIS_LINE(f(x));
  EXPECT_ERROR_AT_THIS_LINE(f(std::array{x}));
  EXPECT_ERROR_AT_THIS_LINE(cond(x, itself, itself));
  EXPECT_ERROR_AT_THIS_LINE(while_loop(less_one, same, x));
  EXPECT_ERROR_AT_THIS_LINE(function([&] { return while_loop(less_one, grow, x); })());
  EXPECT_ERROR_AT_THIS_LINE(scan(Block(), {}, {}));
  EXPECT_ERROR_AT_THIS_LINE(assert_that(false, "never"));
  EXPECT_ERROR_AT_THIS_LINE(print("{}"));
  EXPECT_ERROR_AT_THIS_LINE(host_call(x, to_bool, x));
  EXPECT_ERROR_AT_THIS_LINE(gradients(same, vector({1, 2})));
  EXPECT_ERROR_AT_THIS_LINE(set_pass("dorp", true));
}

TEST(ErrorLocation, ForCAbiCallsIsTheLineThatCallsCheck) {
  tenon_tensor* out = nullptr;
  EXPECT_ERROR_AT_THIS_LINE(check(tenon_neg(current_scope(), nullptr, &out)));
}

TEST(ErrorLocation, IsTheLineOfTheInnermostCall) {
  const Tensor x = vector<float>({1, 2});
  int line = 0;
  const auto wrong = [&](const Tensor& y) {
    line = __LINE__ + 1;
    return y + vector<float>({1, 2, 3});
  };
  const auto outer = [&](const Tensor& y) { return gradients(wrong, y).value; };
  expect_at(line, [&] { wrong(x); });
  expect_at(line, [&] { outer(x); });
  expect_at(line, [&] { gradients(outer, x); });
  expect_at(line, [&] { function(outer)(x); });
  expect_at(line, [&] {
    cond(
        true, [&] { return wrong(x); }, [&] { return x; });
  });
}

TEST(ErrorLocation, ForErrorsThrownByCallbacksIsTheLineThatCreatedTheError) {
  int line = 0;
  const auto refuse = [&](const Tensor& y) -> Tensor {
    line = __LINE__ + 1;
    if (y.rank() == 1) throw Error(Code::kUnimplemented, "not for vectors");
    return y;
  };
  expect_at(line, [&] { gradients(refuse, vector<float>({1})); });
  expect_at(line, [&] { function(refuse)(vector<float>({1})); });
}

TEST(ErrorLocation, ForTracedOpsIsTheLineThatTracedThem) {
  int line = 0;
  const auto f = function([&](const Tensor& x, const Tensor& i) {
    const Tensor y = x + 1.f;
    line = __LINE__ + 1;
    const Tensor z = gather(y, i);
    return z * 2.f;
  });
  const Tensor x = vector<float>({1, 2});
  EXPECT_EQ(f(x, vector({0})).item<float>(), 4);
  expect_at(line, [&] { f(x, vector({2})); });
}

TEST(ErrorLocation, ForConversionsWhileTracingIsTheLineOfTheLastOp) {
  int line = 0;
  const auto f = function([&](const Tensor& x) {
    line = __LINE__ + 1;
    if (less(x, 0.f)) return -x;
    return x;
  });
  expect_at(line, [&] { f(1.f); });
}

TEST(ErrorLocation, IsClearedWhenTracingEnds) {
  const auto f = function([](const Tensor& x) { return x + x; });
  f(vector<float>({1}));
  EXPECT_ERROR_AT_THIS_LINE(gather(vector({1}), 5));
  EXPECT_EQ(location_of([&] {
              const Tensor x(1.f);
              if (vector({1, 2})) x.rank();  // A conversion has no line of its own.
            }),
            "");
}

TEST(ErrorLocation, SetByTheScopeOverridesTheLineOfTheCall) {
  const Scope scope = Scope::share(current_scope());
  const auto inner = function([&](const Tensor& x) {
    scope.set_location("inner:1");
    return gather(x, 5);
  });
  const auto wrong = [] { gather(vector({1}), 5); };
  scope.set_location("outer:1");
  EXPECT_EQ(location_of([&] { inner(vector({1})); }), "inner:1");
  EXPECT_EQ(location_of(wrong), "outer:1");
  scope.set_location({});
  EXPECT_NE(location_of(wrong), "outer:1");
}

TEST(ErrorLocation, IsNeverALineOfABindingHeader) {
  // The header of the binding calls exp, so the error reports the line of the call of gradients().
  EXPECT_ERROR_AT_THIS_LINE(gradients(exp, vector({true})));
}

Tensor dense(const Tensor& x, SourceLocation at = here()) { return matmul({x, at}, 2); }

TEST(ErrorLocation, IsForwardedByFunctionsWithALocationParameter) {
  EXPECT_ERROR_AT_THIS_LINE(dense(vector<float>({1})));
#ifdef __cpp_lib_source_location
  const auto at = std::source_location::current();
  expect_at(static_cast<int>(at.line()), [&] { dense(vector<float>({1}), at); });
#endif
}

TEST(ErrorLocation, SurvivesCopies) {
  std::optional<Error> kept;
  try {
    gather(vector({1}), 5);
  } catch (const Error& error) {
    kept = error;
  }
  const std::string what = kept->what();
  const Error copy = *kept;
  kept.reset();
  EXPECT_EQ(copy.what(), what);
  EXPECT_EQ(copy.at("").what(), what);
  EXPECT_EQ(copy.at("here:1").location(), "here:1");
  EXPECT_EQ(copy.message(), "gather: C2: index 5 is outside [0, 1)");
}

TEST(ErrorLocation, IsEmptyForErrorsCreatedByTheCAbi) {
  const Error error = Error::adopt(tenon_error_create(TENON_NOT_FOUND, tenon_str("no")));
  EXPECT_STREQ(error.what(), "no");
  EXPECT_EQ(error.location(), "");
}

}  // namespace
}  // namespace tenon
