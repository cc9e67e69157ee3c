// Helpers for tests of launch plans, which are recorded on a device and rerun with other inputs.

#pragma once

#include <cmath>
#include <cstring>

#include "core/testing/test.h"
#include "core/trace/plans/launch_plan.h"

namespace tenon::testing {

// Returns the bytes of the elements of a tensor in host memory, in row-major order.
inline std::vector<std::byte> bytes_of(const Tensor& tensor) {
  const Tensor x = dense(current_scope(), tensor);
  const auto n = static_cast<size_t>(static_cast<int64_t>(count(x->shape())));
  std::vector<std::byte> bytes(n * size_of(x->type.dtype));
  if (!bytes.empty()) std::memcpy(bytes.data(), x->data(), bytes.size());
  return bytes;
}

// The test parameter is the name of the device.
class LaunchPlanTest : public CoreTest, public ::testing::WithParamInterface<const char*> {
 protected:
  // Creates a tensor of distinct values, which differ for each seed.
  static Tensor numbers(const Dims& shape, double seed, DType dtype = DType::kF32) {
    std::vector<double> values(static_cast<size_t>(static_cast<int64_t>(count(shape))));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = 3 * std::sin(seed + 1.7 * static_cast<double>(i));
    }
    return make(dtype, shape, values);
  }

  // Records the launches of `code` for these inputs.
  std::unique_ptr<const LaunchPlan> record(const LaunchPlan::Code& code, TensorSpan inputs) {
    return LaunchPlan::record(scope(), device(), inputs, code).program;
  }

  // Records a launch plan of `code` with inputs[0], and runs it with each element of `inputs`. The
  // results must be bitwise equal to those of `code`. Returns the number of launches in the plan.
  size_t expect_same(const LaunchPlan::Code& code, const std::vector<Tensors>& inputs) {
    const auto program = record(code, inputs[0]);
    for (const Tensors& in : inputs) {
      const Tensors want = code(in), got = program->run(scope(), in);
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_EQ(got[i]->type, want[i]->type);
        EXPECT_EQ(bytes_of(got[i]), bytes_of(want[i])) << "output " << i;
      }
    }
    return program->n_launches();
  }
  // As expect_same(code, inputs), for two calls whose inputs have these shapes.
  size_t expect_same(const LaunchPlan::Code& code, const std::vector<Dims>& shapes) {
    std::vector<Tensors> inputs(2);
    for (size_t call = 0; call < inputs.size(); ++call) {
      for (const Dims& shape : shapes) {
        inputs[call].push_back(numbers(shape, static_cast<double>(call + inputs[call].size())));
      }
    }
    return expect_same(code, inputs);
  }

 private:
  Scope::OnDevice on_{scope(), context().device(GetParam())};
};

}  // namespace tenon::testing
