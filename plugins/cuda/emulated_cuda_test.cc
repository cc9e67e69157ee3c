// Tests of the emulated driver: barriers, shuffles and atomics of the threads of a block, and error
// reports.

#include "plugins/cuda/driver/stream.h"
#include "plugins/cuda/kernels/device_code.h"
#include "plugins/cuda/kernels/parameters.h"
#include "plugins/cuda/testing/cuda_testing.h"

namespace tenon_cuda::testing {
namespace {

// Runs one kernel over a buffer of `n` ints, each initialised with its index.
class EmulatedCuda : public ::testing::Test {
 protected:
  Failure run(const std::string& body, uint32_t n_threads, uint32_t n_blocks = 1, size_t n = 64) {
    const std::string source = std::string(device_file("types.cuh")) +
                               "struct P { i32* x; };\nKERNEL test(PARAMETERS(P) p) {\n"
                               "  const int t = (int)threadIdx.x;\n" +
                               body + "\n}\n";
    const tenon_plugin_calls& calls = bench_.calls();
    tenon_buffer_p* buffer = nullptr;
    Failure failure = take(calls.allocate(bench_.device(), 4 * n, &buffer));
    if (failure.code != TENON_OK) return failure;
    values.resize(n);
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<int32_t>(i);
    const tenon_place on_host = {nullptr, values.data(), 0, 0}, on_device = {buffer, nullptr, 0, 0};
    const tenon_copy_region up = {on_host, on_device, 4 * n, 0},
                            down = {on_device, on_host, 4 * n, 0};
    take(calls.copy(bench_.stream(), &up));
    failure = take(launch(source, buffer, n_threads, n_blocks));
    take(calls.copy(bench_.stream(), &down));
    const Failure waited = take(calls.wait(bench_.stream()));
    calls.release(buffer);
    return failure.code != TENON_OK ? failure : waited;
  }

  Bench bench_;
  std::vector<int32_t> values;

 private:
  class TestKernel final : public Kernel {
   public:
    TestKernel(Function function, uint64_t address, uint32_t n_threads, uint32_t n_blocks)
        : function_(function), address_(address), n_threads_(n_threads), n_blocks_(n_blocks) {
      set_name("test");
    }
    tenon_error* enqueue(Encoder& encoder, const tenon_launch&) const override {
      return encoder.dispatch({function_, n_blocks_, n_threads_, {&address_, 1}});
    }

   private:
    const Function function_;
    const uint64_t address_;
    const uint32_t n_threads_, n_blocks_;
  };

  tenon_error* launch(const std::string& source, tenon_buffer_p* buffer, uint32_t n_threads,
                      uint32_t n_blocks) {
    const char* const names[] = {"test"};
    Function function = nullptr;
    if (tenon_error* error = make_functions(bench_.device(), "test", source, names, &function)) {
      return error;
    }
    const TestKernel kernel(function, from_c(buffer).data, n_threads, n_blocks);
    return kernel.launch(bench_.stream(), tenon_launch{});
  }
};

TEST_F(EmulatedCuda, BarriersOrderTheThreadsOfABlock) {
  EXPECT_EQ(
      run("__shared__ i32 s[64]; s[63 - t] = p.x[t]; __syncthreads(); p.x[t] = s[t];", 64).message,
      "");
  for (int i = 0; i < 64; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], 63 - i);
}

TEST_F(EmulatedCuda, ShufflesExchangeValuesWithinAWarp) {
  EXPECT_EQ(
      run("p.x[t] = __shfl_down_sync(~0u, p.x[t], 1) * 1000 + __shfl_xor_sync(~0u, t, 3);", 64)
          .message,
      "");
  EXPECT_EQ(values[0], 1003);
  EXPECT_EQ(values[31], 31028);  // The last lane has no next lane and keeps its own value.
  EXPECT_EQ(values[32], 33035);
}

TEST_F(EmulatedCuda, VotesReturnTheMaskOfLanesThatVoteTrue) {
  EXPECT_EQ(run("p.x[t] = (int)__ballot_sync(~0u, t % 2) + (__any_sync(~0u, t == 5) ? 1 : 0);", 32)
                .message,
            "");
  EXPECT_EQ(static_cast<uint32_t>(values[7]), 0xaaaaaaabu);
}

TEST_F(EmulatedCuda, AtomicsAddAcrossBlocks) {
  EXPECT_EQ(run("atomicAdd(&p.x[0], 1);", 96, 10).message, "");
  EXPECT_EQ(values[0], 960);
}

TEST_F(EmulatedCuda, ReportsBarriersThatNotAllThreadsReach) {
  EXPECT_EQ(run("if (t < 5) __syncthreads();", 32).code, TENON_DEVICE_LOST);
}

TEST_F(EmulatedCuda, ReportsThreadsAtDifferentBarriers) {
  EXPECT_EQ(run("if (t < 5) {\n__syncthreads();\n} else {\n__syncthreads();\n}", 32).code,
            TENON_DEVICE_LOST);
}

TEST_F(EmulatedCuda, ReportsWritesPastTheEndOfAnAllocation) {
  EXPECT_EQ(run("p.x[64 + t] = 1;", 1).code, TENON_DEVICE_LOST);
}

TEST_F(EmulatedCuda, ReportsWritesBeforeTheStartOfAnAllocation) {
  EXPECT_EQ(run("p.x[-1] = 1;", 1).code, TENON_DEVICE_LOST);
}

TEST_F(EmulatedCuda, SharedMemoryIsPoisonedBeforeEachBlock) {
  EXPECT_EQ(run("__shared__ i32 s[2]; p.x[blockIdx.x] = s[0]; s[0] = 1;", 1, 2).message, "");
  EXPECT_EQ(values[0], 0x7f7f7f7f);
  EXPECT_EQ(values[1], 0x7f7f7f7f);
}

TEST_F(EmulatedCuda, BlockWithTooManyThreadsIsRefused) {
  EXPECT_EQ(run("p.x[0] = 1;", 1025).code, TENON_INTERNAL);
}

TEST_F(EmulatedCuda, CompilerErrorNamesTheLine) {
  const Failure failure = run("p.x[0] = nothing;", 1);
  EXPECT_EQ(failure.code, TENON_INTERNAL);
  EXPECT_NE(failure.message.find("nothing"), std::string::npos) << failure.message;
}

}  // namespace
}  // namespace tenon_cuda::testing
