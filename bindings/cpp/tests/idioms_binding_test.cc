// Concise forms of the API that users of other tensor libraries expect.

#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

namespace tenon {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

TEST(FactoryTest, FillAndArangeReturnTheirValues) {
  EXPECT_EQ(zeros({2}).to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(ones({2}, kInt64).to_vector<int64_t>(), (Ints{1, 1}));
  EXPECT_EQ(full({2}, 1.5f).dtype(), kFloat32);
  EXPECT_EQ(full({1}, 2.5, kInt64).to_vector<int64_t>(), (Ints{2}));
  EXPECT_EQ(arange(3).to_vector<int64_t>(), (Ints{0, 1, 2}));
  EXPECT_EQ(arange(5, 0, -2).to_vector<int64_t>(), (Ints{5, 3, 1}));
  EXPECT_EQ(arange(0.f, 1.f, .5f).to_vector<float>(), (Floats{0, .5f}));
  EXPECT_EQ(arange(3, 1).count(), 0);
  EXPECT_THROW(arange(0, 3, 0), Error);
}

TEST(FactoryTest, ScalarsHaveTheGivenDtype) {
  for (const DType dtype : {kBool, kInt8, kInt16, kInt32, kInt64, kUint8, kUint16, kUint32, kUint64,
                            kFloat16, kBfloat16, kFloat32, kFloat64}) {
    const Tensor x = scalar(1, dtype);
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_EQ(x.rank(), 0u);
    EXPECT_EQ(x.item<double>(), 1);
  }
}

TEST(FactoryTest, ZerosLikeIgnoresNanAndWorksInFunctions) {
  const Tensor x = vector<float>({NAN, 2});
  const auto f = function([](const Tensor& y) { return zeros_like(y); });
  EXPECT_EQ(zeros_like(x).to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(f(x).to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(f(vector({1, 2})).to_vector<int>(), (std::vector<int>{0, 0}));
}

TEST(VariableTest, IsUpdatedInPlaceAndIndexedLikeATensor) {
  const Variable w(vector<float>({1, 2}));
  w.assign_add(1);
  w.assign_sub(vector<float>({0, 1}));
  w += 1;
  w *= 2;
  w -= 1;
  w /= 1;
  EXPECT_EQ(w.read().to_vector<float>(), (Floats{5, 5}));
  EXPECT_EQ(w[0].item<float>(), 5);
  EXPECT_EQ(w[vector({1, 0, 1})].count(), 3);
  Tensor x = 1.f;
  x += 2;
  EXPECT_EQ(x.item<float>(), 3);
}

TEST(IndexTest, TensorsSelectAlongTheFirstAxis) {
  const Tensor x = vector({10, 20, 30});
  EXPECT_EQ(x[vector({2, 0})].to_vector<int>(), (std::vector<int>{30, 10}));
  EXPECT_THROW(x[vector({3})], Error);
}

TEST(SplitTest, CountThatContradictsTheAttributesIsAnError) {
  const Tensor x = matrix<float>({{1, 2, 3, 4}});
  EXPECT_EQ(split(x, 2, {.axis = 1})[1].to_vector<float>(), (Floats{3, 4}));
  EXPECT_EQ(split(x, {.axis = 1, .num_outputs = 4}).size(), 4u);
  EXPECT_EQ(split(x, {.axis = 1, .split = {1, 1, 2}}).size(), 3u);
  EXPECT_EQ(unstack(x, {.axis = 1}).size(), 4u);
  for (const size_t n : {1, 2, 3, 5}) {
    EXPECT_THROW(split(x, n, {.axis = 1, .num_outputs = 4}), Error) << n;
  }
  for (const size_t n : {1, 2, 4}) {
    EXPECT_THROW(split(x, n, {.axis = 1, .split = {1, 1, 2}}), Error) << n;
  }
}

TEST(FunctionTest, LambdaBecomesAFunction) {
  const auto f = function([](const Tensor& x) { return x * x; }, {.name = "square"});
  EXPECT_EQ(f(3.f).item<float>(), 9);
  EXPECT_EQ(f.traces().size(), 1u);
  EXPECT_NE(f.explain().find("square"), std::string::npos) << f.explain();
  const Tensor x[] = {vector<float>({2})};
  EXPECT_EQ(f.gradient()(x)[0].to_vector<float>(), Floats{4});
}

TEST(FunctionTest, ReturnsArraysPairsAndTuples) {
  const auto array = function([](const Tensor& x) { return std::array{x, x + x}; });
  const auto tuple = function([](const Tensor& x) { return std::tuple(x, x + 1, x + 2); });
  const auto pair = function([](const Tensor& x) { return std::pair(x, x + 1); });
  const auto [a, b] = array(2.f);
  const auto [c, d, e] = tuple(2.f);
  EXPECT_EQ(b.item<float>(), 4);
  EXPECT_EQ(e.item<float>(), 4);
  EXPECT_EQ(pair(2.f).second.item<float>(), 3);
}

TEST(FunctionTest, ReturnsNumbersAndVariablesAsTensorsAndListsAsLists) {
  const Variable w(3.f);
  const auto f = function(
      [&](const Tensor& x) { return std::tuple(2.f, w, TensorList(kFloat32).push(x), x); });
  const auto [number, value, list, x] = f(5.f);
  EXPECT_EQ(number.item<float>(), 2);
  EXPECT_EQ(value.item<float>(), 3);
  EXPECT_EQ(list[0].item<float>(), 5);
  EXPECT_EQ(x.item<float>(), 5);
}

TEST(FunctionTest, PassesStaticArgumentsToLambdas) {
  int runs = 0;
  const auto f = function(
      [&](const Tensor& x, const Statics& statics) {
        ++runs;
        return x * statics.at("by").as_double();
      },
      {.defaults = {{"by", 3.0}}});
  EXPECT_EQ(f(2.f).item<float>(), 6);
  EXPECT_EQ(f(2.f, Statics{{"by", 5.0}}).item<float>(), 10);
  EXPECT_EQ(f(4.f, Statics{{"by", 5.0}}).item<float>(), 20);
  EXPECT_EQ(runs, 2);
  const auto nothing =
      function([](const Statics& statics) { return Tensor(static_cast<double>(statics.size())); });
  EXPECT_EQ(nothing().item<float>(), 0);
}

TEST(FunctionTest, TakesASignatureInBraces) {
  const auto f = function([](const Tensor& x) { return sum(x); },
                          {.signature = {{.name = "x", .shape = {TENON_SIZE_UNKNOWN}}}});
  for (const int64_t n : {1, 2, 3, 4, 5}) EXPECT_EQ(f(ones({n})).item<float>(), float(n));
  EXPECT_EQ(f.traces().size(), 1u);
  EXPECT_THROW(f(ones({1, 1})), Error);
  const auto none = function([] { return Tensor(1.f); }, {.signature = Signature{}});
  EXPECT_EQ(none().item<float>(), 1);
}

TEST(FunctionTest, OpsCanBePassedAsLambdas) {
  EXPECT_EQ(function(exp)(0.f).item<float>(), 1);
  EXPECT_EQ(gradients(exp, 0.f).by_argument[0].item<float>(), 1);
  const std::function<Tensor(const Tensor&)> activation = tanh;
  EXPECT_EQ(activation(0.f).item<float>(), 0);
}

TEST(FunctionTest, LambdaMayTakeNineTensors) {
  const auto f =
      function([](const Tensor& a, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                  const Tensor&, const Tensor&, const Tensor&, const Tensor& i) { return a + i; });
  EXPECT_EQ(f(1, 2, 3, 4, 5, 6, 7, 8, 9).item<int>(), 10);
}

TEST(CondTest, AcceptsLambdasThatReturnNothing) {
  const Variable w(0.f);
  const auto f = function([&](const Tensor& x) {
    cond(
        less(x, 0.f), [&] { w.assign(-1.f); }, [&] { w.assign(1.f); });
    return w.read();
  });
  EXPECT_EQ(f(-3.f).item<float>(), -1);
  EXPECT_EQ(f(3.f).item<float>(), 1);
  const auto [a, b] = cond(
      Tensor(true),
      [] {
        return std::array{Tensor(1), Tensor(2)};
      },
      [] {
        return std::array{Tensor(3), Tensor(4)};
      });
  EXPECT_EQ(b.item<int>(), 2);
}

TEST(WhileLoopTest, CarriesTuplesPairsAndVectors) {
  const auto below = [](const Tensor& i, const auto&...) { return less(i, 3); };
  const auto [i, list] = while_loop(
      below,
      [](const Tensor& i, const TensorList& list) { return std::tuple(i + 1, list.push(i)); }, 0,
      TensorList(kInt64));
  EXPECT_EQ(list.stack().to_vector<int64_t>(), (Ints{0, 1, 2}));
  const auto pair = while_loop(
      below, [](const Tensor& i, const Tensor& y) { return std::pair(i + 1, y * 2); }, 0, 1.f);
  EXPECT_EQ(pair.second.item<float>(), 8);
  const auto [j, y] = while_loop(
      below,
      [](const Tensor& i, const Tensor& y) {
        return std::vector<Tensor>{i + 1, y + 1};
      },
      0, 1.f);
  EXPECT_EQ(y.item<float>(), 4);
  const auto [only] = while_loop(
      below, [](const Tensor& i) { return std::array{i + 1}; }, 0);
  EXPECT_EQ(only.item<int>(), 3);
}

TEST(StaticTest, AcceptsEveryIntegerTypeAndStringViews) {
  EXPECT_EQ(Static(uint8_t{7}).as_int(), 7);
  EXPECT_EQ(Static(size_t{7}).as_int(), 7);
  EXPECT_EQ(Static(7L).as_int(), 7);
  EXPECT_EQ(Static(7LL).kind(), StaticKind::kInt);
  EXPECT_EQ(Static(1.5f).as_double(), 1.5);
  EXPECT_EQ(Static(std::string_view("up")).as_string(), "up");
  EXPECT_EQ(Static(true).kind(), StaticKind::kBool);
  EXPECT_THROW(Static(UINT64_MAX), Error);
}

TEST(StaticTest, KeepsObjectsAlive) {
  Statics statics;
  {
    const Variable w(vector<float>({2}));
    statics = {{"weight", w}, {"x", Tensor(vector<float>({3}))}, {"noise", Generator(1)}};
  }
  EXPECT_EQ(statics.at("weight").kind(), StaticKind::kHandle);
  EXPECT_EQ(statics.at("weight").as<Variable>().read().item<float>(), 2);
  EXPECT_EQ(statics.at("x").as<Tensor>().item<float>(), 3);
  EXPECT_EQ(statics.at("noise").as<Generator>().state().count(), 6);
  EXPECT_THROW(statics.at("weight").as<Tensor>(), Error);
  EXPECT_THROW(statics.at("x").as<Variable>(), Error);
  EXPECT_THROW(statics.at("x").as<Generator>(), Error);
  EXPECT_THROW(statics.at("noise").as<Function>(), Error);
  EXPECT_THROW(Static(1).as<Tensor>(), Error);
}

TEST(StaticTest, ObjectsArePartOfTheCacheKey) {
  int runs = 0;
  const auto scaled = function(
      [&](const Tensor& x, const Statics& statics) {
        ++runs;
        return x * statics.at("by").as<Variable>();
      },
      {.defaults = {{"by", Variable(5.f)}}});
  const Variable two(2.f), three(3.f);
  EXPECT_EQ(scaled(1.f, Statics{{"by", two}}).item<float>(), 2);
  two.assign(4.f);
  EXPECT_EQ(scaled(1.f, Statics{{"by", two}}).item<float>(), 4);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(scaled(1.f, Statics{{"by", three}}).item<float>(), 3);
  EXPECT_EQ(scaled(1.f).item<float>(), 5);
  EXPECT_EQ(runs, 3);

  const auto applied = function([](const Tensor& x, const Statics& statics) {
    return statics.at("f").as<Function>()(std::array{x})[0];
  });
  const auto twice = function([](const Tensor& x) { return x + x; });
  EXPECT_EQ(applied(3.f, Statics{{"f", twice}}).item<float>(), 6);
}

TEST(StaticTest, ListsAndMapsAreReadByIndexAndName) {
  const Static list = std::vector<Static>{1, "two"};
  const Static map = std::map<std::string, Static>{{"one", 1}, {"list", list}};
  EXPECT_EQ(list.at(1).as_string(), "two");
  EXPECT_EQ(map.at("list").at(0).as_int(), 1);
  for (const int64_t index : {-1, 2}) EXPECT_THROW(list.at(index), Error) << index;
  try {
    map.at("two");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "Static: the map has no item \"two\"; its items are list, one");
  }
}

TEST(StaticTest, WrongKindAndMissingNameAreErrors) {
  try {
    Static("up").as_int();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "Static::as_int: the static is a string, but must be an integer");
  }
  const Statics statics = {{"rate", 2.0}, {"mode", "up"}};
  try {
    statics.at("rat");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_EQ(error.message(),
              "statics: there is no static argument \"rat\"; the arguments are mode, rate");
  }
}

}  // namespace
}  // namespace tenon
