// Tests of writing profiles to files: concurrent writers, a full disk, and killed processes.

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/dispatch/profiler.h"
#include "files/testing/writer_suite.h"

namespace tenon {
namespace {

struct TraceWriter {
  static constexpr size_t kEvents = tenon_files::kWriterBytes / 128;

  void write(const std::string& path, int value) const {
    Profile profile;
    profile.rows.push_back({SpanKind::kOp, "op", "f32[2]", "ref:0", {}});
    profile.n_dropped = static_cast<uint64_t>(value);
    for (size_t i = 0; i < kEvents; ++i) {
      profile.events.push_back({.start = 1000 * i, .length = 10, .thread = 1});
    }
    profile.write_trace(path);
  }
  int read(const std::string& path) const {
    const auto trace = nlohmann::json::parse(std::ifstream(path));
    size_t n_spans = 0;
    for (const auto& event : trace["traceEvents"]) n_spans += event["ph"] == "X" ? 1 : 0;
    return n_spans == kEvents ? trace["otherData"]["events_not_kept"].get<int>() : -1;
  }
};

TENON_WRITER_TESTS(TraceFile, TraceWriter)

}  // namespace
}  // namespace tenon
