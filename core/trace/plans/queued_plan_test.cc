// Tests of launch plans on asynchronous devices and on devices whose memory the host cannot access.
// The launches are enqueued one by one, or recorded and replayed.

#ifdef TENON_FAKE_PLUGIN

#include <atomic>
#include <map>
#include <thread>

#include "core/base/error.h"
#include "core/dispatch/profiler.h"
#include "core/testing/counted_plugin.h"
#include "core/testing/functions.h"

namespace tenon {
namespace {

using testing::call_counts;
using testing::f32;
using testing::i32;
using testing::i64;
using testing::values_of;
using Doubles = std::vector<double>;
using Options = std::map<std::string, std::string>;

// A scope on a device of the plugin `fake`.
class OnFake {
 public:
  explicit OnFake(const Options& options)
      : context_(Ref<Context>::adopt(new Context(with(options)))) {
    context_->add_plugin("fake", testing::counted_plugin(TENON_FAKE_PLUGIN));
    scope_ = Ref<Scope>::adopt(new Scope(*context_, &context_->device("fake")));
    enter_ = std::make_unique<Scope::Enter>(*scope_);
  }

  Context& context() { return *context_; }
  Scope& scope() { return *scope_; }
  Device& device() { return scope_->device(); }
  // Simulates the end of a call into the library and the start of the next one.
  void enter_again() {
    enter_.reset();
    enter_ = std::make_unique<Scope::Enter>(*scope_);
  }

  using Owned = std::unique_ptr<const LaunchPlan>;
  Owned record(const LaunchPlan::Code& code, std::initializer_list<Tensor> inputs) {
    return LaunchPlan::record(scope(), device(), Tensors(inputs), code).program;
  }
  Tensors run(const Owned& program, std::initializer_list<Tensor> inputs,
              std::span<const uint8_t> spare = {}) {
    EXPECT_TRUE(program->serves(Tensors(inputs)));
    return program->run(scope(), Tensors(inputs), spare);
  }

 private:
  static ContextOptions with(const Options& options) {
    ContextOptions made;
    made.plugin_paths = {testing::plugin_folder()};
    for (const auto& [key, value] : options) made.plugin_options.push_back({"fake", key, value});
    made.log = [](int32_t, std::string_view) {};
    return made;
  }

  Ref<Context> context_;
  Ref<Scope> scope_;
  std::unique_ptr<Scope::Enter> enter_;
};

// Counts the calls of the plugin while it exists.
class Counting {
 public:
  uint64_t launches() const { return call_counts().launches - launches_; }
  uint64_t records() const { return call_counts().records - records_; }
  uint64_t replays() const { return call_counts().replays - replays_; }
  uint64_t allocations() const { return call_counts().allocations - allocations_; }

 private:
  uint64_t launches_ = call_counts().launches, records_ = call_counts().records,
           replays_ = call_counts().replays, allocations_ = call_counts().allocations;
};

// ---- on each kind of device

const Options kQueue = {{"records", "0"}};
const Options kRecords = {};
const Options kSeen = {{"visible", "1"}, {"blocking", "0"}, {"delay_us", "50"}};
const Options kWall = {{"asynchronous", "0"}};

class QueuedPlans : public ::testing::TestWithParam<Options>, public OnFake {
 protected:
  QueuedPlans() : OnFake(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Each, QueuedPlans, ::testing::Values(kQueue, kRecords, kSeen, kWall));

TEST_P(QueuedPlans, ReplayMatchesTheFunction) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor y = matmul(in[0] * in[2] + 1.0, transpose(in[0]));
    return Tensors{y,
                   sum(y) + exp(in[2]),
                   gather(y, in[1], 0),
                   transpose(y),
                   in[2],
                   fill(in[2], Dims{2}, DType::kF32),
                   cast(in[2], DType::kF64)};
  };
  const Tensor first = f32({2, 2}, {1, 2, 3, 4});
  const auto program = record(code, {first, i64({1}), number(2)});
  ASSERT_NE(program, nullptr);
  for (int round = 0; round < 5; ++round) {
    const Tensor x = f32({2, 2}, {1, -2.0 - round, 3, 0.5}),
                 at = i64({static_cast<double>(round % 2)});
    const Tensor scale = number(round - 1.5);
    const Tensors got = run(program, {x, at, scale}), want = code(Tensors{x, at, scale});
    for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(values_of(got[i]), values_of(want[i])) << i;
  }
}

TEST_P(QueuedPlans, AllocateNoNewMemoryInSteadyState) {
  const auto program =
      record([](TensorSpan in) { return Tensors{cumsum(exp(in[0]) + in[1], {.axis = 0})}; },
             {f32({1, 2, 3}), f32({1, 1, 1})});
  const Tensor x = f32({1, 2, 3}), y = f32({4, 5, 6});
  for (int i = 0; i < 3; ++i) run(program, {x, y});
  const uint64_t live = device().allocator().statistics().live_bytes;
  const Counting counting;
  for (int i = 0; i < 10; ++i) run(program, {x, y});
  EXPECT_EQ(device().allocator().statistics().live_bytes, live);
  EXPECT_EQ(counting.allocations(), 0u);
  scope().wait();
}

TEST_P(QueuedPlans, ReportTheOpOfAValueError) {
  const auto program = record([](TensorSpan in) { return Tensors{gather(in[0], in[1], 0) + 1.0}; },
                              {f32({1, 2}), i32({1})});
  for (int round = 0; round < 3; ++round) {
    EXPECT_ERROR(values_of(run(program, {f32({1, 2}), i32({7})})[0]), Code::kOutOfRange,
                 "gather: C2: index 7 is outside [0, 2)");
    EXPECT_EQ(values_of(run(program, {f32({1, 2}), i32({0})})[0]), Doubles{2});
  }
}

TEST_P(QueuedPlans, ReuseMemoryOfDeadInputs) {
  const auto program = record(
      [](TensorSpan in) {
        return Tensors{cumsum(in[0], {.axis = 0}), -in[0]};
      },
      {f32({1, 1, 1})});
  const uint8_t one_owner[] = {1};
  Tensor x = f32({1, 1, 1});
  for (int round = 0; round < 5; ++round) {
    const double sign = round % 2 == 0 ? 1 : -1;
    const Storage* const memory = x->storage.get();
    Tensors inputs{std::move(x)};
    Tensors y = program->run(scope(), inputs, one_owner);
    inputs = {};
    EXPECT_EQ(y[1]->storage.get(), memory);
    EXPECT_EQ(values_of(y[0]), (Doubles{sign, 2 * sign, 3 * sign}));
    x = std::move(y[1]);
  }
  EXPECT_EQ(values_of(x), (Doubles{-1, -1, -1}));
}

TEST_P(QueuedPlans, RepeatWhileTheConditionHolds) {
  const auto f = [](double value) { return testing::make(DType::kF32, Dims{}, {value}); };
  const auto program = record(
      [](TensorSpan in) {
        const Tensor i = in[0] + 1.0;
        return Tensors{less(i, in[2]), i, cumsum(in[1], {.axis = 0})};
      },
      {f(0), f32({1, 1}), f(3)});
  const LaunchPlan::Carry feedback[] = {{1, 0}, {2, 1}};
  ASSERT_TRUE(program->can_repeat(0, feedback));
  for (const double n : {1, 3, 6}) {
    TripLimit limit(10);
    const Tensors y =
        program->repeat(scope(), Tensors{f(0), f32({1, 1}), f(n)}, 0, feedback, limit);
    EXPECT_EQ(values_of(y[0]), Doubles{n});
    EXPECT_EQ(values_of(y[1]), (Doubles{1, n + 1}));
  }
  TripLimit three(3);
  EXPECT_ERROR(program->repeat(scope(), Tensors{f(0), f32({1, 1}), f(6)}, 0, feedback, three),
               Code::kInvalidArgument, "exceeds its maximum of 3 trips");
}

TEST_P(QueuedPlans, CanBeCancelled) {
  const auto program =
      record([](TensorSpan in) { return Tensors{cumsum(exp(in[0]), {.axis = 0})}; }, {f32({0, 0})});
  const Tensor x = f32({0, 0});
  for (int round = 0; round < 3; ++round) {
    scope().cancel();
    EXPECT_ERROR(run(program, {x}), Code::kCancelled, "cancelled");
    enter_again();
    EXPECT_EQ(values_of(run(program, {x})[0]), (Doubles{1, 2}));
  }
}

TEST_P(QueuedPlans, AreProfiledLaunchByLaunch) {
  const auto program =
      record([](TensorSpan in) { return Tensors{cumsum(exp(in[0]), {.axis = 0})}; }, {f32({0, 0})});
  const Tensor x = f32({0, 0});
  for (int i = 0; i < 3; ++i) run(program, {x});
  const Ref<Profiler> profiler = Profiler::start(context());
  for (int i = 0; i < 5; ++i) run(program, {x});
  profiler->stop();
  std::map<std::string, uint64_t> counts;
  for (const Profile::Row& row : profiler->profile().rows) {
    counts[row.name + " " + row.inputs] = row.times.device.count;
  }
  EXPECT_EQ(counts, (std::map<std::string, uint64_t>{{"exp f32[2]", 5}, {"cumsum f32[2]", 5}}));
}

// ---- launches that fail

// Three launches: exp, its cumsum, and the cumsum of the other input.
Tensors two_chains(TensorSpan in) {
  return {cumsum(cumsum(in[0], {.axis = 0}), {.axis = 0}), cumsum(in[1], {.axis = 0})};
}

TEST(FailingQueuedPlans, PoisonOnlyDependentsOfALaunch) {
  OnFake on(Options{{"records", "0"}, {"delay_us", "2000"}, {"fail_launch", "5"}});
  const auto program = on.record(two_chains, {f32({1, 2}), f32({3, 4})});
  const Tensor a = f32({1, 2}), b = f32({3, 4});
  const Tensors y = on.run(program, {a, b});
  EXPECT_ERROR(values_of(y[0]), Code::kInternal, "launch 5 failed");
  EXPECT_EQ(values_of(y[1]), (Doubles{3, 7}));
  EXPECT_ERROR(on.run(program, {y[0], b}), Code::kInternal, "launch 5 failed");
  EXPECT_EQ(values_of(on.run(program, {a, y[1]})[0]), (Doubles{1, 4}));
}

TEST(FailingQueuedPlans, StopAtALaunchThatTheDeviceRejects) {
  OnFake on(Options{{"records", "0"}, {"fail_enqueue", "5"}});
  const auto program = on.record(two_chains, {f32({1, 2}), f32({3, 4})});
  const Tensor a = f32({1, 2}), b = f32({3, 4});
  EXPECT_ERROR(on.run(program, {a, b}), Code::kInternal, "cumsum: launch 5 was refused");
  EXPECT_EQ(values_of(on.run(program, {a, b})[0]), (Doubles{1, 4}));
}

TEST(FailingQueuedPlans, PoisonAllOutputsOfAReplay) {
  for (const char* silent : {"0", "1"}) {
    OnFake on(Options{{"delay_us", "2000"}, {"fail_launch", "8"}, {"silent", silent}});
    const auto program = on.record(two_chains, {f32({1, 2}), f32({3, 4})});
    const Tensor a = f32({1, 2}), b = f32({3, 4});
    EXPECT_EQ(values_of(on.run(program, {a, b})[0]), (Doubles{1, 4}));
    const Counting counting;
    const Tensors y = on.run(program, {a, b});
    EXPECT_EQ(counting.replays(), 1u);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_ERROR(values_of(y[i]), Code::kInternal, "launch 8 failed");
    }
    EXPECT_ERROR(on.run(program, {a, y[1]}), Code::kInternal, "launch 8 failed");
    EXPECT_EQ(values_of(on.run(program, {a, b})[1]), (Doubles{3, 7}));
  }
}

TEST(FailingQueuedPlans, FailIfTheDeviceRejectsTheReplay) {
  OnFake on(Options{{"fail_enqueue", "8"}});
  const auto program = on.record(two_chains, {f32({1, 2}), f32({3, 4})});
  const Tensor a = f32({1, 2}), b = f32({3, 4});
  on.run(program, {a, b});
  EXPECT_ERROR(on.run(program, {a, b}), Code::kInternal, "launch 8 was refused");
  EXPECT_EQ(values_of(on.run(program, {a, b})[0]), (Doubles{1, 4}));
}

// Lets each plugin call fail in turn. The plan must either fail, too, or return correct results.
TEST(FailingQueuedPlans, FailOrReturnCorrectResults) {
  for (const char* asynchronous : {"0", "1"}) {
    int n_failed = 0, n_right = 0;
    for (int n = 1; n <= 90; ++n) {
      try {
        OnFake on(Options{{"asynchronous", asynchronous}, {"fail_call", std::to_string(n)}});
        const LaunchPlan::Code code = [](TensorSpan in) {
          return Tensors{gather(cumsum(in[0] * in[2], {.axis = 0}), in[1], 0) + exp(in[2])};
        };
        const Tensor x = f32({1, 2, 3}), at = i64({2, 0});
        const auto program = on.record(code, {x, at, number(0)});
        for (int round = 0; round < 5; ++round) {
          EXPECT_EQ(values_of(on.run(program, {x, at, number(0)})[0]), (Doubles{1, 1})) << n;
        }
        ++n_right;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("failed"), std::string::npos) << error.what();
        ++n_failed;
      }
    }
    EXPECT_GT(n_failed, 30);
    EXPECT_GT(n_right, 0);
  }
}

// ---- recordings

TEST(Recordings, AreReplayedAsOneSubmission) {
  OnFake on(Options{});
  const auto program = on.record(two_chains, {f32({1, 2}), f32({3, 4})});
  const Tensor a = f32({1, 2}), b = f32({3, 4});
  const Counting counting;
  on.run(program, {a, b});
  EXPECT_EQ(counting.launches(), 3u);
  EXPECT_EQ(counting.records(), 0u);
  for (int i = 0; i < 5; ++i) on.run(program, {a, b});
  EXPECT_EQ(counting.launches(), 3u);
  EXPECT_EQ(counting.records(), 1u);
  EXPECT_EQ(counting.replays(), 5u);
}

// A replay is still running when the next one starts with different memory and scalars.
TEST(Recordings, UseTheMemoryAndScalarsOfEachReplay) {
  OnFake on(Options{{"delay_us", "2000"}});
  const auto program = on.record(
      [](TensorSpan in) {
        return Tensors{cumsum(cumsum(in[0], {.axis = 0}) * in[1], {.axis = 0})};
      },
      {f32({1, 2}), number(1)});
  std::vector<Tensors> given;
  const Counting counting;
  for (int i = 0; i < 6; ++i) {
    given.push_back(on.run(program, {f32({1.0 + i, 2}), number(i)}));
  }
  EXPECT_EQ(counting.replays(), 5u);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(values_of(given[i][0]), (Doubles{i * (1.0 + i), i * (4.0 + 2 * i)}));
  }
}

TEST(Recordings, AreMadeOncePerSetOfSizes) {
  OnFake on(Options{});
  const auto f = Ref<Function>::adopt(new Function(
      on.context(), "f", [](Scope&, TensorSpan in, const Statics&) { return two_chains(in); }, {}));
  const auto call = [&](const Tensor& x) { return f->call(on.scope(), Tensors{x, x}, {})[0]; };
  const Tensor small = f32({1, 2}), large = f32({1, 2, 3});
  for (int i = 0; i < 3; ++i) call(small), call(large);
  const Counting counting;
  EXPECT_EQ(values_of(call(small)), (Doubles{1, 4}));
  EXPECT_EQ(values_of(call(large)), (Doubles{1, 4, 10}));
  EXPECT_EQ(counting.records(), 2u);
  for (int i = 0; i < 3; ++i) call(small), call(large);
  EXPECT_EQ(counting.records(), 2u);
  EXPECT_EQ(counting.replays(), 8u);
}

TEST(Recordings, AreNotReplayedForOtherAlignment) {
  OnFake on(Options{});
  const auto program = on.record(two_chains, {f32({1, 2}), f32({3, 4})});
  const Tensor all = f32({1, 2, 3, 4}), b = f32({3, 4});
  const auto part = [&](int64_t i) {
    return make_view(*all, TensorType(DType::kF32, Dims{2}), Dims{1}, i);
  };
  for (int i = 0; i < 2; ++i) on.run(program, {part(0), b});
  const Counting counting;
  EXPECT_EQ(values_of(on.run(program, {part(1), b})[0]), (Doubles{2, 7}));
  EXPECT_EQ(counting.replays(), 0u);
  EXPECT_EQ(values_of(on.run(program, {part(0), b})[0]), (Doubles{1, 4}));
  EXPECT_EQ(counting.replays(), 1u);
}

// Imported memory may start at any address. A replay requires aligned memory.
TEST(Recordings, AreReplayedForAlignedImportedMemory) {
  OnFake on(Options{{"visible", "1"}});
  const auto program = on.record(two_chains, {f32({1, 2}), f32({3, 4})});
  const Tensor b = f32({3, 4});
  for (int i = 0; i < 2; ++i) on.run(program, {f32({1, 2}), b});
  alignas(64) float memory[32] = {};
  for (const size_t at : {size_t{0}, size_t{1}, size_t{4}, size_t{16}}) {
    float* const lent = memory + at;
    lent[0] = 5, lent[1] = 6;
    std::atomic<bool> is_back = false;
    tenon_deleter deleter = {};
    deleter.payload = &is_back;
    deleter.function = [](void* payload) { *static_cast<std::atomic<bool>*>(payload) = true; };
    Tensor x = alias_of(*b);
    x->storage = on.device().allocator().import(lent, 2 * sizeof(float), deleter);
    const Counting counting;
    EXPECT_EQ(values_of(on.run(program, {x, b})[0]), (Doubles{5, 16})) << at;
    EXPECT_EQ(counting.replays(), at % 16 == 0 ? 1u : 0u) << at;
    x.reset();
    while (!is_back) std::this_thread::yield();
  }
}

// Operands of row loops and of epilogues must be addressable by kernels as a whole.
TEST(FusedPlans, ExcludeOperandsTooLargeForKernels) {
  const auto n_launches = [](const LaunchPlan::Code& code, uint64_t max_operand_bytes) {
    OnFake on(Options{{"max_operand_bytes", std::to_string(max_operand_bytes)}});
    const Tensor column = f32({4, 1}, {1, 2, 3, 4}), row = f32({1, 4}, {5, 6, 7, 8});
    const Tensors want = code(Tensors{column, row});
    const auto program = on.record(code, {column, row});
    const Tensors got = on.run(program, {column, row});
    for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(values_of(got[i]), values_of(want[i]));
    return program->n_launches();
  };
  const LaunchPlan::Code layer = [](TensorSpan in) {
    return Tensors{cast(matmul(in[0], in[1]), DType::kF64)};
  };
  EXPECT_EQ(n_launches(layer, 0), 1u);
  EXPECT_EQ(n_launches(layer, 128), 1u);
  EXPECT_EQ(n_launches(layer, 127), 2u);
  // Rows with a stride of 32 bytes.
  const LaunchPlan::Code apart = [](TensorSpan in) {
    const Tensor wide = concat(Tensors{in[0] * in[1], in[0] - in[1]}, 1);
    return Tensors{matmul(in[0], in[1]) + slice(wide, {.starts = {0}, .ends = {4}, .axes = {1}})};
  };
  EXPECT_EQ(n_launches(apart, 112), 3u);
  EXPECT_EQ(n_launches(apart, 111), 4u);
  const LaunchPlan::Code rows = [](TensorSpan in) {
    const Tensor y = in[0] * in[1];
    return Tensors{sum(y), cast(y, DType::kF64)};
  };
  EXPECT_EQ(n_launches(rows, 128), 1u);
  EXPECT_EQ(n_launches(rows, 127), 3u);
  const LaunchPlan::Code elements = [](TensorSpan in) {
    return Tensors{cast(in[0] * in[1], DType::kF64)};
  };
  EXPECT_EQ(n_launches(elements, 16), 1u);
}

TEST(Recordings, AreReleasedAfterTheirWorkIsDone) {
  OnFake on(Options{{"delay_us", "5000"}});
  auto program = on.record(two_chains, {f32({1, 2}), f32({3, 4})});
  const Tensor a = f32({1, 2}), b = f32({3, 4});
  for (int i = 0; i < 2; ++i) on.run(program, {a, b});
  const Tensors y = on.run(program, {a, b});
  program.reset();
  // The count may include a recording of another test's device that is still being destroyed.
  const uint64_t held = call_counts().recordings;
  EXPECT_GE(held, 1u);
  EXPECT_EQ(values_of(y[1]), (Doubles{3, 7}));
  on.scope().wait();
  EXPECT_LT(call_counts().recordings, held);
}

}  // namespace
}  // namespace tenon

#endif  // TENON_FAKE_PLUGIN
