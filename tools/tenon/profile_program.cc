// `tenon profile`: prints the time that each op, fused loop and copy of a function takes.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <tenon/profiler.hpp>

#include "tools/tenon/failure.h"
#include "tools/tenon/program_inputs.h"
#include "tools/tenon/text.h"

namespace tenon::command {
namespace {

using Json = nlohmann::ordered_json;

// Returns the name of a clock of the profiler, by its constant in the C ABI.
const char* name_of_clock(int32_t clock) {
  switch (clock) {
    case TENON_DEVICE_CLOCK_LAUNCH:
      return "launch";
    case TENON_DEVICE_CLOCK_COMPLETION:
      return "completion";
    case TENON_DEVICE_CLOCK_DEVICE:
      return "device";
    default:
      return "none";
  }
}

// Returns the profiler's rows as JSON.
Json profile_rows(const Profiler& profiler) {
  Json rows = Json::array();
  for (const ProfileRow& row : profiler.rows()) {
    rows.push_back({{"name", row.name},
                    {"kind", name_of(row.kind)},
                    {"inputs", row.inputs},
                    {"device", row.device},
                    {"count", row.c.count},
                    {"host_ns", row.c.host_total},
                    {"own_ns", row.c.own_total},
                    {"launches", row.c.launches},
                    {"device_ns", row.c.device_total},
                    {"device_clock", name_of_clock(row.c.device_clock)},
                    {"bytes", row.c.bytes},
                    {"flops", row.c.flops}});
  }
  return rows;
}

// Formats a time with a suitable unit.
std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.3g} ms", seconds * 1e3)
                         : fmt::format("{:.3g} us", seconds * 1e6);
}

}  // namespace

int profile_program(const ProfileOptions& options) {
  const OpenedProgram opened(options.path, options.device, options.strict);
  const ProgramFunction& function = opened.find(options.function);
  const Call call = CallInputs(opened, function, options).all();
  const Function code = opened.program().function(function.name);
  // The first calls trace, prepare kernels and plan memory, so they are not measured.
  constexpr int kWarmUp = 3;
  for (int i = 0; i < kWarmUp; ++i) code(call.inputs, call.statics);
  check(tenon_scope_wait(current_scope()));

  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  Progress progress("profiling", static_cast<size_t>(options.repeat));
  const Profiler profiler;
  for (int i = 0; i < options.repeat; ++i) {
    const Clock::time_point start = Clock::now();
    code(call.inputs, call.statics);
    check(tenon_scope_wait(current_scope()));
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    progress.step();
  }
  profiler.stop();
  progress.end();

  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  if (!options.trace.empty()) profiler.write_trace(options.trace);
  if (options.json) {
    const Json all = {{"function", function.name},
                      {"device", opened.device().name()},
                      {"repeat", options.repeat},
                      {"median_s", median},
                      {"least_s", seconds.front()},
                      {"most_s", seconds.back()},
                      {"dropped_events", profiler.dropped_events()},
                      {"rows", profile_rows(profiler)}};
    fmt::print("{}\n", all.dump(2));
    return kDone;
  }
  fmt::print("{} on {}: {} a call (the median of {}; {} to {})\n\n{}", function.name,
             opened.device().name(), time_text(median), options.repeat, time_text(seconds.front()),
             time_text(seconds.back()), profiler.table());
  if (!options.trace.empty()) {
    fmt::print("\n{} opens in https://ui.perfetto.dev\n", options.trace);
    if (profiler.dropped_events() > 0) {
      fmt::print("it lacks {} events, for want of room; fewer calls (--repeat) make fewer\n",
                 profiler.dropped_events());
    }
  }
  return kDone;
}

}  // namespace tenon::command
