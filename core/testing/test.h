// Helpers for the core's tests: a scope on a device of the built plugins, tensors from literals,
// comparison of tensors, and checks of errors.

#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "core/autograd/tape.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"

namespace tenon::testing {

// Every test has its own context and runs on the device that TENON_TEST_DEVICE names, or `ref`.
class CoreTest : public ::testing::Test {
 protected:
  CoreTest() : CoreTest(ContextOptions()) {}
  explicit CoreTest(ContextOptions options);
  ~CoreTest() override;

  Context& context() { return *context_; }
  Scope& scope() { return *scope_; }
  Device& device() { return scope_->device(); }
  Ref<Tape> tape(TapeOptions options = {}) { return Ref<Tape>::adopt(new Tape(scope_, options)); }
  // Returns the number of bytes that live tensors hold on the device.
  uint64_t live_bytes() { return device().allocator().statistics().live_bytes; }

 private:
  Ref<Context> context_;
  Ref<Scope> scope_;
  std::unique_ptr<Scope::Enter> enter_;
};

// plugin_folder() returns the folder of the built plugins. has_plugin() returns whether it contains
// the plugin `name`.
std::string plugin_folder();
bool has_plugin(const std::string& name);

// Creates a row-major tensor in the current scope. The functions below create tensors of one dtype.
Tensor make(DType dtype, const Dims& shape, const std::vector<double>& values);
inline Tensor f32(std::initializer_list<double> v) {
  return make(DType::kF32, Dims{static_cast<int64_t>(v.size())}, v);
}
inline Tensor f32(const Dims& shape, std::initializer_list<double> v) {
  return make(DType::kF32, shape, v);
}
inline Tensor f64(std::initializer_list<double> v) {
  return make(DType::kF64, Dims{static_cast<int64_t>(v.size())}, v);
}
inline Tensor i32(std::initializer_list<double> v) {
  return make(DType::kI32, Dims{static_cast<int64_t>(v.size())}, v);
}
inline Tensor i64(std::initializer_list<double> v) {
  return make(DType::kI64, Dims{static_cast<int64_t>(v.size())}, v);
}

// Returns the elements in row-major order. int64 values beyond 2^53 are rounded.
std::vector<double> values_of(const Tensor& x);

// Succeeds if types are equal and elements differ by at most atol + rtol * |want|; NaN equals NaN.
::testing::AssertionResult tensors_equal(const Tensor& got, const Tensor& want, double rtol,
                                         double atol);

// Expect equal types, and equal or nearly equal elements; see tensors_equal().
#define EXPECT_TENSOR(got, want) EXPECT_TRUE(::tenon::testing::tensors_equal(got, want, 0, 0))
#define EXPECT_TENSOR_NEAR(got, want, rtol, atol) \
  EXPECT_TRUE(::tenon::testing::tensors_equal(got, want, rtol, atol))

// Expects the statement to throw an Error with this code and a message that contains this text.
#define EXPECT_ERROR(statement, expected_code, text)                                    \
  try {                                                                                 \
    statement;                                                                          \
    ADD_FAILURE() << #statement << " did not fail";                                     \
  } catch (const ::tenon::Error& error) {                                               \
    EXPECT_EQ(error.code(), expected_code) << error.what();                             \
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what(); \
  }

}  // namespace tenon::testing
