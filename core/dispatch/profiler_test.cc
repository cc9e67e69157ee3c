#include "core/dispatch/profiler.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "core/testing/control.h"
#include "core/testing/folder.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::f32;
using testing::values_of;
using Json = nlohmann::json;

class Profiles : public testing::ControlTest {
 protected:
  void start(uint64_t max_events = Profiler::kMaxEvents) {
    profiler = Profiler::start(context(), max_events);
  }
  const Profile& stop() {
    profiler->stop();
    return profiler->profile();
  }
  // Sums the spans of that name over all inputs.
  SpanTimes times(const char* name, SpanKind kind = SpanKind::kOp) const {
    SpanTimes all;
    for (const Profile::Row& row : profiler->profile().rows) {
      if (row.name == name && row.kind == kind) all.add(row.times);
    }
    return all;
  }
  uint64_t count(const char* name, SpanKind kind = SpanKind::kOp) const {
    return times(name, kind).host.count;
  }
  Json trace() const {
    const testing::Folder folder;
    profiler->profile().write_trace(folder.file("trace.json"));
    return Json::parse(folder.read("trace.json"));
  }
  // A function that launches a matmul and fused elementwise work.
  Ref<Function> layer() {
    return function([](Scope&, TensorSpan in, const Statics&) {
      return Tensors{tanh(matmul(in[0], in[1]) * 2.0 + 1.0)};
    });
  }

  Ref<Profiler> profiler;
};

uint64_t ns(const Json& micros) {
  return static_cast<uint64_t>(std::llround(micros.get<double>() * 1000));
}

// Expects that the spans of a track are sorted by start, and that each ends before the span that
// encloses it.
void expect_nested(const Json& trace) {
  struct Track {
    uint64_t last = 0;           // When the last span began.
    std::vector<uint64_t> ends;  // Ends of the enclosing spans.
  };
  std::map<std::pair<int, int>, Track> tracks;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    auto& [last, ends] = tracks[{event["pid"], event["tid"]}];
    const uint64_t start = ns(event["ts"]), end = start + ns(event["dur"]);
    EXPECT_GE(start, last) << event;
    last = start;
    while (!ends.empty() && start >= ends.back()) ends.pop_back();
    EXPECT_TRUE(ends.empty() || end <= ends.back()) << event;
    ends.push_back(end);
  }
}

TEST_F(Profiles, HaveOneRowPerOpAndInputTypes) {
  const Tensor x = f32({1, 2}), row = f32({3});
  start();
  for (int i = 0; i < 3; ++i) add(x, x);
  add(x, row);
  const Profile& profile = stop();
  add(x, x);

  ASSERT_EQ(profile.rows.size(), 2u);
  const size_t pair = profile.rows[0].inputs == "f32[2], f32[2]" ? 0 : 1;
  EXPECT_EQ(profile.rows[pair].inputs, "f32[2], f32[2]");
  EXPECT_EQ(profile.rows[pair].device, device().name());
  EXPECT_EQ(profile.rows[pair].times.host.count, 3u);
  EXPECT_EQ(profile.rows[pair].times.device.count, 3u);
  EXPECT_EQ(profile.rows[pair].times.bytes, 3u * 3 * 2 * 4);
  EXPECT_EQ(profile.rows[pair].times.clock, DeviceClock::kLaunch);
  EXPECT_EQ(profile.rows[1 - pair].inputs, "f32[2], f32[1]");
  EXPECT_EQ(profile.rows[1 - pair].times.host.count, 1u);
  EXPECT_EQ(profile.rows[1 - pair].times.bytes, 2u * 4 + 4 + 2 * 4);
  EXPECT_GE(profile.rows[0].time().total, profile.rows[1].time().total);
  EXPECT_EQ(profile.events.size(), 4u);
}

TEST_F(Profiles, ExcludeNestedSpansFromOwnTime) {
  const Tensor x = f32(Dims{2, 2}, {1, 2, 3, 4});
  start();
  const Tensor y = softmax(x, 1);  // Decomposed, because the device has no kernel for softmax.
  add(reshape(x, Dims{4}), number(2));
  const Profile& profile = stop();

  EXPECT_EQ(count("softmax"), 1u);
  EXPECT_EQ(count("reshape"), 1u);
  EXPECT_EQ(times("reshape").device.count, 0u);
  for (const Profile::Row& row : profile.rows) {
    EXPECT_LE(row.times.own.total, row.times.host.total) << row.name;
    EXPECT_LE(row.times.device.total, row.times.own.total) << row.name;
    EXPECT_LE(row.times.host.least, row.times.host.most) << row.name;
    EXPECT_LE(row.times.host.total, profile.length) << row.name;
  }
  uint64_t own = 0;
  for (const Profile::Row& row : profile.rows) own += row.times.own.total;
  EXPECT_LE(own, profile.length);
}

TEST_F(Profiles, IncludeOpsOfTheBackwardPass) {
  const Tensor x = f32({1, 2});
  start();
  const Ref<Tape> t = tape();
  t->watch(x);
  const Tensor dx = t->gradient(x * x, x);
  stop();
  EXPECT_EQ(values_of(dx), (std::vector<double>{2, 4}));
  EXPECT_GE(count("mul"), 3u);  // The product, and its derivative with respect to each factor.
}

TEST_F(Profiles, CountEachLaunchOfALaunchPlan) {
  const Tensor a = f32(Dims{2, 3}, {1, 2, 3, 4, 5, 6}), b = f32(Dims{3, 2}, {1, 2, 3, 4, 5, 6});
  const auto f = layer();
  const Tensors in = {a, b};
  // The calls trace f, run it, and record a plan.
  for (int i = 0; i < 3; ++i) f->call(scope(), in, {});
  start();
  for (int i = 0; i < 5; ++i) f->call(scope(), in, {});
  const Profile& profile = stop();

  EXPECT_EQ(count("f", SpanKind::kFunction), 5u);
  EXPECT_EQ(count("f", SpanKind::kTracing), 0u);
  const char* const all = "fused(matmul, mul, add, tanh)";
  EXPECT_EQ(count(all, SpanKind::kFused), 5u);
  EXPECT_EQ(times(all, SpanKind::kFused).flops, 5u * 2 * 2 * 3 * 2);
  for (const Profile::Row& row : profile.rows) {
    EXPECT_TRUE(row.name != "matmul" || row.inputs == "f32[2,3], f32[3,2]") << row.inputs;
  }
  EXPECT_LT(times("f", SpanKind::kFunction).own.total, times("f", SpanKind::kFunction).host.total);
}

TEST_F(Profiles, CountEagerAndPlannedLaunchesInTheSameRow) {
  const auto f = function(
      [](Scope&, TensorSpan in, const Statics&) { return Tensors{matmul(in[0] + in[1], in[0])}; });
  const Tensors in = {f32(Dims{2, 2}, {1, 2, 3, 4}), f32({10, 20})};
  start();
  for (int i = 0; i < 5; ++i) f->call(scope(), in, {});  // The last calls use a launch plan.
  const Profile& profile = stop();
  size_t n_rows = 0;
  for (const Profile::Row& row : profile.rows) {
    if (row.name != "add") continue;
    ++n_rows;
    EXPECT_EQ(row.inputs, "f32[2,2], f32[2]");
    EXPECT_EQ(row.times.host.count, 5u);
  }
  EXPECT_EQ(n_rows, 1u);
}

TEST_F(Profiles, ShowTracingAndRunningAsSeparateSpans) {
  const Tensor a = f32(Dims{1, 1}, {1});
  start();
  const auto f = layer();
  const Tensors in = {a, a};
  f->call(scope(), in, {});
  stop();
  EXPECT_EQ(count("f", SpanKind::kTracing), 1u);
  EXPECT_EQ(count("f", SpanKind::kFunction), 1u);
  EXPECT_EQ(count("matmul"), 1u);  // Tracing computes nothing.
}

TEST_F(Profiles, CountEachIterationOfALoop) {
  const auto code = [&](const Tensor& x) { return power(x, testing::i64_scalar(10)); };
  const auto f = function(code);
  const Tensor x = testing::scalar64(2);
  for (int i = 0; i < 3; ++i) f->call(scope(), {&x, 1}, {});
  start();
  f->call(scope(), {&x, 1}, {});
  code(x);
  stop();
  EXPECT_EQ(count("while_loop"), 2u);
  uint64_t products = count("mul");
  for (const Profile::Row& row : profiler->profile().rows) {
    if (row.kind == SpanKind::kFused && row.name.find("mul") != std::string::npos) {
      products += row.times.host.count;
    }
  }
  EXPECT_EQ(products, 20u);
}

TEST_F(Profiles, CountCopiesWithTheirBytes) {
  start();
  const Tensor x = f32({1, 2, 3});
  values_of(x);
  stop();
  EXPECT_EQ(count("from_host", SpanKind::kCopy), 1u);
  EXPECT_EQ(times("from_host", SpanKind::kCopy).bytes, 12u);
  EXPECT_EQ(count("to_host", SpanKind::kCopy), 1u);
}

TEST_F(Profiles, WriteFilesWhoseSpansNest) {
  const Tensor a = f32(Dims{2, 2}, {1, 2, 3, 4});
  const auto f = layer();
  const Tensors in = {a, a};
  scope().set_location("a \"file\"\n.c:1");
  start();
  for (int i = 0; i < 4; ++i) f->call(scope(), in, {});
  softmax(a, 1);
  const Profile& profile = stop();
  const Json read = trace();

  expect_nested(read);
  size_t n_spans = 0, n_products = 0;
  for (const Json& event : read["traceEvents"]) {
    n_spans += event["ph"] == "X";
    if (event["name"] != "matmul") continue;
    ++n_products;
    EXPECT_EQ(event["cat"], "op");
    EXPECT_EQ(event["args"]["inputs"], "f32[2,2], f32[2,2]");
    EXPECT_EQ(event["args"]["device"], device().name());
    EXPECT_LE(ns(event["args"]["device_us"]), ns(event["dur"]));
    EXPECT_EQ(event["args"]["location"], "a \"file\"\n.c:1");
  }
  EXPECT_EQ(n_products, 2u);  // In later calls, the matmul is the anchor of a fused launch.
  EXPECT_EQ(n_spans, profile.events.size());
}

TEST_F(Profiles, IncludeEveryThreadOfTheContext) {
  start();
  const auto work = [&] {
    const Ref<Scope> own = Ref<Scope>::adopt(new Scope(context(), &device()));
    const Scope::Enter enter(*own);
    const Tensor x = f32({1, 2});
    for (int i = 0; i < 100; ++i) add(x, x);
  };
  std::thread one(work), two(work);
  one.join();
  two.join();
  const Profile& profile = stop();

  EXPECT_EQ(count("add"), 200u);
  ASSERT_EQ(profile.rows.size(), 2u);  // Equal calls share a row, on any thread.
  std::set<uint32_t> threads;
  for (const Profile::Event& event : profile.events) threads.insert(event.thread);
  EXPECT_EQ(threads.size(), 2u);
  expect_nested(trace());
}

TEST_F(Profiles, KeepAtMostTheGivenNumberOfEvents) {
  const Tensor x = f32({1});
  start(7);
  for (int i = 0; i < 10; ++i) add(x, x);
  const Profile& profile = stop();
  EXPECT_EQ(count("add"), 10u);
  EXPECT_EQ(profile.events.size(), 7u);
  EXPECT_EQ(profile.n_dropped, 3u);
  EXPECT_EQ(trace()["otherData"]["events_not_kept"], 3);
  EXPECT_NE(profile.table().find("3 events were not kept"), std::string::npos);
}

TEST_F(Profiles, LeaveOutFailedAndUnfinishedCalls) {
  start();
  EXPECT_ERROR(f32({1, 2}) + f32({1, 2, 3}), Code::kInvalidArgument, "add");
  const auto f = function([&](const Tensor& x) {
    profiler->stop();
    return -x;
  });
  context().run_functions_eagerly(true);
  const Tensor x = f32({1});
  f->call(scope(), {&x, 1}, {});
  EXPECT_EQ(count("add"), 0u);
  EXPECT_EQ(count("f", SpanKind::kFunction), 0u);
  EXPECT_EQ(count("neg"), 0u);
  EXPECT_EQ(count("from_host", SpanKind::kCopy), 3u);
}

TEST_F(Profiles, CanBeStoppedAndStartedAgainInsideACall) {
  start();
  const auto f = function([&](const Tensor& x) {
    profiler->stop();
    start();
    return -x;
  });
  context().run_functions_eagerly(true);
  const Tensor x = f32({1});
  f->call(scope(), {&x, 1}, {});
  stop();
  EXPECT_EQ(count("neg"), 1u);
  EXPECT_EQ(count("f", SpanKind::kFunction), 0u);  // The call of f began under the other profiler.
}

TEST_F(Profiles, CannotOverlapAndCannotBeStoppedTwice) {
  start();
  EXPECT_ERROR(Profiler::start(context()), Code::kFailedPrecondition, "already being profiled");
  EXPECT_ERROR(profiler->profile(), Code::kFailedPrecondition, "is still running");
  stop();
  EXPECT_ERROR(profiler->stop(), Code::kFailedPrecondition, "already stopped");
  start();
  profiler.reset();
  EXPECT_FALSE(scope().is_profiled());
}

TEST_F(Profiles, PrintTablesSortedByTime) {
  const Tensor x = f32({1, 2});
  start();
  for (int i = 0; i < 3; ++i) add(x, x);
  EXPECT_EQ(stop().table().substr(0, 2), "op");
  const std::string text = profiler->profile().table();
  for (const char* part :
       {"inputs", "share", "add", "f32[2], f32[2]", "100.0%", "GB/s", "3 calls"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

#ifdef TENON_FAKE_PLUGIN
// Runs on a device `fake`, where each launch takes two milliseconds and the host does not wait.
class ProfilesOfAsynchronousDevices : public ::testing::TestWithParam<const char*> {
 protected:
  // Launches three additions. `clock`: speed of the device's clock, in percent.
  void profile_additions(const char* clock) {
    ContextOptions options;
    options.plugin_paths = {TENON_FAKE_PLUGIN};
    options.plugin_options = {
        {"fake", "delay_us", "2000"}, {"fake", "blocking", GetParam()}, {"fake", "clock", clock}};
    context = Ref<Context>::adopt(new Context(options));
    scope = Ref<Scope>::adopt(new Scope(*context, &context->device("fake")));
    const Scope::Enter enter(*scope);
    const Tensor x = f32({1, 2});
    profiler = Profiler::start(*context);
    for (int i = 0; i < 3; ++i) add(x, x);
    profiler->stop();
  }
  const Profile& profile() const { return profiler->profile(); }
  std::vector<Profile::Event> events_on_lane() const {
    std::vector<Profile::Event> events;
    for (const Profile::Event& event : profile().events) {
      if (event.thread & Profile::kLane) events.push_back(event);
    }
    return events;
  }
  bool says(const char* words) const { return profile().table().find(words) != std::string::npos; }
  void expect_three_in_turn() const {
    ASSERT_EQ(profile().rows.size(), 1u);
    EXPECT_EQ(profile().rows[0].times.host.count, 3u);
    EXPECT_EQ(profile().rows[0].times.device.count, 3u);
    EXPECT_EQ(profile().lanes, std::vector<std::string>{"fake:0"});
    EXPECT_EQ(events_on_lane().size(), 3u);
    uint64_t busy_until = 0;
    for (const Profile::Event& event : events_on_lane()) {
      EXPECT_GE(event.start, busy_until);
      busy_until = event.start + event.length;
    }
    EXPECT_LE(busy_until, profile().length);
  }

  Ref<Context> context;
  Ref<Scope> scope;
  Ref<Profiler> profiler;
};

TEST_P(ProfilesOfAsynchronousDevices, UseCompletionTimesWithoutADeviceClock) {
  profile_additions("0");
  expect_three_in_turn();
  const SpanTimes& times = profile().rows[0].times;
  EXPECT_EQ(times.clock, DeviceClock::kCompletion);
  EXPECT_GE(times.device.least, 1'900'000u);
  EXPECT_LE(times.device.total, profile().length);
  EXPECT_TRUE(says("of an asynchronous one by the host's clock")) << profile().table();
  EXPECT_FALSE(says("its own clock"));
}

TEST_P(ProfilesOfAsynchronousDevices, UseTheDevicesClockIfThereIsOne) {
  profile_additions("100");
  expect_three_in_turn();
  const SpanTimes& times = profile().rows[0].times;
  EXPECT_EQ(times.clock, DeviceClock::kDevice);
  EXPECT_GE(times.device.least, 1'900'000u);
  EXPECT_LE(times.device.total, profile().length);
  EXPECT_TRUE(says("of an asynchronous one by its own clock.")) << profile().table();
  EXPECT_FALSE(says("host was told"));
}

// Times of a device clock that runs faster than the host's are not rescaled.
TEST_P(ProfilesOfAsynchronousDevices, DoNotRescaleTheDevicesClock) {
  profile_additions("1000");
  const SpanTimes& times = profile().rows[0].times;
  EXPECT_EQ(times.clock, DeviceClock::kDevice);
  EXPECT_GE(times.device.least, 19'000'000u);
  EXPECT_GT(times.device.total, profile().length);
}

// The device's clock is an hour ahead. Each launch must begin after its call and after the
// notification of the previous launch, and end before profiling ends.
TEST_P(ProfilesOfAsynchronousDevices, MapLaunchesToTheHostsClock) {
  profile_additions("100");
  std::vector<uint64_t> calls;
  for (const Profile::Event& event : profile().events) {
    if (!(event.thread & Profile::kLane)) calls.push_back(event.start);
  }
  const std::vector<Profile::Event> launches = events_on_lane();
  ASSERT_EQ(calls.size(), 3u);
  ASSERT_EQ(launches.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_GE(launches[i].start, calls[i]);
    EXPECT_LE(launches[i].start + launches[i].length, profile().length);
  }
  const testing::Folder folder;
  profile().write_trace(folder.file("trace.json"));
  const Json trace = Json::parse(folder.read("trace.json"));
  size_t n_told = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["args"].contains("clock")) {
      n_told += event["args"]["clock"] == "device";
    }
  }
  EXPECT_EQ(n_told, 3u);
}

INSTANTIATE_TEST_SUITE_P(, ProfilesOfAsynchronousDevices, ::testing::Values("0", "1"));

TEST(ProfilesOfSeveralClocks, ReportTheLeastExactClock) {
  EXPECT_EQ(less_exact_clock(DeviceClock::kNone, DeviceClock::kDevice), DeviceClock::kDevice);
  EXPECT_EQ(less_exact_clock(DeviceClock::kDevice, DeviceClock::kCompletion),
            DeviceClock::kCompletion);
  EXPECT_EQ(less_exact_clock(DeviceClock::kCompletion, DeviceClock::kNone),
            DeviceClock::kCompletion);
}
#endif

}  // namespace
}  // namespace tenon
