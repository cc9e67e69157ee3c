// Memory shared with other libraries without copies, and non-blocking reads.

#include <gtest/gtest.h>

#include <chrono>
#include <tenon/async.hpp>
#include <tenon/tenon.hpp>

namespace tenon {
namespace {

TEST(ImportedMemory, IsUsedInPlaceAndReleasedOnce) {
  int returned = 0;
  std::vector<float> memory = {1, 2, 3, 4};
  {
    const Tensor x = Tensor::from_host(std::span(memory), Shape{2, 2}, [&] { ++returned; });
    EXPECT_EQ((x + 1).to_vector<float>(), (std::vector<float>{2, 3, 4, 5}));
    EXPECT_THROW(x.donate(), Error);
  }
  EXPECT_EQ(returned, 1);
}

TEST(ImportedMemory, MayHaveStrides) {
  std::vector<float> memory = {1, 2, 3, 4};
  const Tensor x = Tensor::from_host(std::span(memory), Shape{2}, nullptr, Shape{2});
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 3}));
}

TEST(ImportedMemory, IsReleasedIfTheCallFails) {
  int returned = 0;
  std::vector<float> memory = {1, 2};
  EXPECT_THROW(Tensor::from_host(std::span(memory), Shape{3}, [&] { ++returned; }), Error);
  EXPECT_EQ(returned, 1);
}

TEST(ImportedMemory, IsReleasedIfTheNumberOfStridesIsWrong) {
  int returned = 0;
  std::vector<float> memory = {1, 2, 3, 4};
  try {
    Tensor::from_host(
        std::span(memory), Shape{2, 2}, [&] { ++returned; }, Shape{1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_EQ(error.message(),
              "from_host: strides must have one entry for each axis, but has 1 entries for rank 2");
  }
  EXPECT_EQ(returned, 1);
  EXPECT_THROW(Tensor::from_host(std::span(memory), Shape{2}, nullptr, Shape{1, 1}), Error);
}

TEST(Tensors, DataIsAViewOfTheElements) {
  const DeviceGuard on("ref");
  const Tensor x = vector<float>({1, 2, 3});
  const std::span<const float> elements = x.data<float>();
  EXPECT_EQ(std::vector<float>(elements.begin(), elements.end()), (std::vector<float>{1, 2, 3}));
  EXPECT_TRUE(flip(x, {.axes = {0}}).data<float>().empty());
  EXPECT_THROW(x.data<int>(), Error);
}

TEST(Futures, ToVectorAsyncReturnsElements) {
  const Tensor x = vector<float>({1, 2}) * 2;
  EXPECT_EQ(to_vector_async<float>(x).get(), (std::vector<float>{2, 4}));
  EXPECT_THROW(to_vector_async<int>(x), Error);
}

TEST(Futures, WaitAsyncIsReadyWhenTheScopeHasFinished) {
  const Scope scope = Scope::share(current_scope());
  const Tensor x = vector<float>({1, 2}) * 2;
  std::future<void> finished = wait_async(scope);
  ASSERT_EQ(finished.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  finished.get();
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 4}));
}

#ifdef TENON_FAKE_PLUGIN
// Creates a scope on the asynchronous device of the plugin `fake`, in a new context with one
// option.
Scope fake_scope(const std::string& option, const std::string& value) {
  const Context context(
      {.plugin_paths = {TENON_FAKE_PLUGIN}, .plugin_options = {{"fake", option, value}}});
  return Scope(context, "fake");
}

template <class T>
void expect_failed_launch(std::future<T> future) {
  try {
    future.get();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInternal);
    EXPECT_NE(error.message().find("launch 1 failed"), std::string_view::npos) << error.what();
  }
}

TEST(Futures, WaitAsyncIsNotReadyBeforeTheScopeHasFinished) {
  const Scope scope = fake_scope("delay_us", "20000");  // Delays each task by 20 ms.
  const ScopeGuard in(scope);
  const Tensor x = vector<float>({1, 2});
  scope.wait();

  const auto start = std::chrono::steady_clock::now();
  const Tensor y = -x;
  wait_async(scope).get();

  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
}

TEST(Futures, ToVectorAsyncThrowsLaunchErrors) {
  const ScopeGuard in(fake_scope("fail_launch", "1"));
  const Tensor y = -vector<float>({1, 2});
  expect_failed_launch(to_vector_async<float>(y));
}

TEST(Futures, WaitAsyncThrowsLaunchErrors) {
  const Scope scope = fake_scope("fail_launch", "1");
  const ScopeGuard in(scope);
  const Tensor y = -vector<float>({1, 2});
  expect_failed_launch(wait_async(scope));
}
#endif

TEST(Dlpack, ExportsATensorInPlace) {
  const DeviceGuard on("ref");
  const Tensor x = matrix<float>({{1, 2}, {3, 4}});
  const Dlpack loan = to_dlpack(x);
  EXPECT_EQ(loan->tensor.data, x.data<float>().data());
  EXPECT_EQ(loan->tensor.rank, 2);
  EXPECT_NE(loan->flags & TENON_DLPACK_READ_ONLY, 0u);
}

TEST(Dlpack, ImportsATensorInPlace) {
  const DeviceGuard on("ref");
  const Tensor lent = vector<float>({1, 2});
  const Tensor same = from_dlpack(to_dlpack(lent));
  EXPECT_EQ(same.data<float>().data(), lent.data<float>().data());
  EXPECT_EQ(same.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Dlpack, ImportCopiesIfRequested) {
  const DeviceGuard on("ref");
  const Tensor lent = vector<float>({1, 2});
  const Tensor copy = from_dlpack(to_dlpack(lent), true);
  EXPECT_NE(copy.data<float>().data(), lent.data<float>().data());
}

TEST(SafetensorsTest, AreWrittenToMemory) {
  const std::string bytes =
      write_safetensors({{"a", vector({1, 2})}, {"b", matrix({{0.5f}})}}, {{"made", "here"}});
  const Safetensors file = Safetensors::from_memory(bytes);
  EXPECT_EQ(file.load("a").to_vector<int>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(file.metadata().at("made"), "here");
  EXPECT_THROW(Safetensors::from_memory(std::string_view(bytes).substr(0, 20)), Error);
}

TEST(SafetensorsTest, ListTheTypesOfTheirTensors) {
  const Safetensors file =
      Safetensors::from_memory(write_safetensors({{"b", matrix<float>({{0.5f, 1}})}}));
  const std::vector<StoredTensor> tensors = file.tensors();
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(tensors[0].name, "b");
  EXPECT_EQ(tensors[0].dtype, kFloat32);
  EXPECT_EQ(tensors[0].shape, (Shape{1, 2}));
}

TEST(ScopeTest, SetLocationIsReportedByErrors) {
  const Scope scope = Scope::share(current_scope());
  scope.set_location("train.cc:12");
  try {
    vector<float>({1, 2}) + vector<float>({1, 2, 3});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.location(), "train.cc:12");
  }
  scope.set_location("");
}

TEST(VersionTest, NumberMatchesTheHeaders) {
  EXPECT_EQ(version_number(), unsigned{TENON_VERSION_NUMBER});
}

}  // namespace
}  // namespace tenon
