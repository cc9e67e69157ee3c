// Tests of ops with data-dependent output sizes: results, explain(), and memory use.

#include "core/dispatch/explain.h"
#include "core/ops/definition/op_ids.h"
#include "core/testing/op_problem.h"

namespace tenon {
namespace {

using testing::CoreTest;
using testing::f32;
using testing::make;
using testing::OpProblem;
using testing::tensors_equal;

class DataDependentSizeOps : public CoreTest {
 protected:
  std::string explained(OpId id, AnyAttrs attrs, const Tensor& x) {
    TensorImpl* inputs[] = {x.get()};
    return explain(scope(), op_def(id), attrs, inputs);
  }
};

// Devices without a kernel use these decompositions. The tests' devices have kernels, so this test
// calls the decompositions directly.
TEST_F(DataDependentSizeOps, DecompositionsMatchKernels) {
  for (const OpId id : {OpId::k_nonzero, OpId::k_unique}) {
    const OpDef& op = op_def(id);
    for (const AnyCase& c : op.cases(op)) {
      if (!c.error.empty()) continue;
      SCOPED_TRACE(op.name + ", case " + c.name);
      const OpProblem problem(op, c);

      const Tensors parts = op.decompose(op, c.attrs.view().data, problem.inputs());

      const Tensors whole = problem.call();
      for (size_t i = 0; i < whole.size(); ++i) {
        EXPECT_TRUE(tensors_equal(parts[i], whole[i], 0, 0)) << "output " << i;
      }
    }
  }
}

TEST_F(DataDependentSizeOps, ExplainReportsThatTheHostWaitsForTheCount) {
  const Tensor x = f32({0, 1});
  const NonzeroAttrs open, sized{.size = 1};

  EXPECT_EQ(explained(OpId::k_nonzero, any_attrs(open), x),
            "nonzero -> i64[1,2], i64[] on " + device().name() +
                ": decomposed, because the device needs the attribute size, without which the "
                "output sizes depend on data");
  EXPECT_EQ(explained(OpId::k_nonzero, any_attrs(sized), x),
            "nonzero -> i64[1,1], i64[] on " + device().name() + ": a kernel of the device");
}

TEST_F(DataDependentSizeOps, UnusedCapacityIsFreed) {
  std::vector<double> values(10000, 0);
  values[1234] = 1;
  const Tensor x = make(DType::kI8, {10000}, values);
  const uint64_t before = live_bytes();

  const Tensor indices = nonzero(x, {})[0];

  EXPECT_TENSOR(indices, make(DType::kI64, {1, 1}, {1234}));
  EXPECT_LT(live_bytes() - before, 1000u);
}

TEST_F(DataDependentSizeOps, ReadsIntegersOfEveryWidth) {
  EXPECT_EQ(read_integer(make(DType::kI8, {}, {-3})), -3);
  EXPECT_EQ(read_integer(make(DType::kU32, {}, {4294967295})), 4294967295);
  EXPECT_EQ(read_integer(make(DType::kI64, {}, {-9007199254740992})), -9007199254740992);
  EXPECT_EQ(read_integer(integer(7)), 7);
}

}  // namespace
}  // namespace tenon
