// Tests of the class Profiler.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <tenon/tenon.hpp>

namespace tenon {
namespace {

TEST(Profilers, RecordOpsInTheContextOfTheCurrentScope) {
  const Tensor x = matrix<float>({{1, 2}, {3, 4}});
  const Profiler profiler;
  for (int i = 0; i < 3; ++i) matmul(x, x);
  profiler.stop();
  matmul(x, x);

  const std::vector<ProfileRow> rows = profiler.rows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind, SpanKind::kOp);
  EXPECT_EQ(rows[0].name, "matmul");
  EXPECT_EQ(rows[0].inputs, "f32[2,2], f32[2,2]");
  EXPECT_EQ(rows[0].device, current_device().name());
  EXPECT_EQ(rows[0].c.count, 3u);
  EXPECT_EQ(rows[0].c.flops, 3u * 16);
  EXPECT_EQ(rows[0].time(), rows[0].c.device_total);
  EXPECT_NE(profiler.table().find("matmul"), std::string::npos);
}

TEST(Profilers, WriteAtMostMaxEvents) {
  const Tensor x = vector<float>({1, 2});
  const Profiler profiler(Context::adopt([] {
                            tenon_context* own = tenon_scope_context(current_scope());
                            tenon_context_retain(own);
                            return own;
                          }()),
                          1);
  for (int i = 0; i < 3; ++i) x + x;
  profiler.stop();
  EXPECT_EQ(profiler.dropped_events(), 2u);

  const std::string path = "profiler_binding_test.json";  // No other test writes this file.
  profiler.write_trace(path);
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  EXPECT_NE(line.find("\"events_not_kept\":2"), std::string::npos) << line;
  file.close();
  std::remove(path.c_str());
}

TEST(Profilers, ThrowIfAnotherOneRunsOrIfStoppedTwice) {
  const Profiler profiler;
  EXPECT_THROW(Profiler(), Error);  // Only one profiler may run at a time.
  EXPECT_THROW(profiler.table(), Error);
  EXPECT_TRUE(profiler.rows().empty());
  profiler.stop();
  try {
    profiler.stop();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kFailedPrecondition);
  }
  EXPECT_THROW(profiler.write_trace("no_such_folder/trace.json"), Error);
}

TEST(Profilers, StopWhenTheirLastCopyIsDestroyed) {
  { const Profiler forgotten; }
  const Profiler next;
  next.stop();
}

}  // namespace
}  // namespace tenon
