// Prints a profile as a table, and writes it to a file that Perfetto opens.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/json.h"
#include "core/base/os_error.h"
#include "core/dispatch/profiler.h"
#include "files/atomic_file.h"

namespace tenon {
namespace {

// ---- the table

constexpr size_t kMaxColumnWidth = 44;  // Maximum width of a text column.

// Truncates the text to the maximum width of a column.
std::string shorten(const std::string& text) {
  if (text.size() <= kMaxColumnWidth) return text;
  return text.substr(0, kMaxColumnWidth - 3) + "...";
}

// Formats a duration in a suitable unit.
std::string time_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

// Formats the operations or the bytes per second; empty if neither is known.
std::string rate_text(const Profile::Row& row) {
  const auto ns = static_cast<double>(row.time().total);
  if (ns <= 0) return "";
  if (row.times.flops > 0) {
    return fmt::format("{:.2f} GFLOP/s", static_cast<double>(row.times.flops) / ns);
  }
  if (row.times.bytes > 0) {
    return fmt::format("{:.2f} GB/s", static_cast<double>(row.times.bytes) / ns);
  }
  return "";
}

constexpr size_t kColumns = 11;
using Line = std::array<std::string, kColumns>;
constexpr size_t kTexts = 3;  // Number of text columns, which precede the columns of numbers.

// Formats a row. `whole`: the total time of all rows, in nanoseconds.
Line line_of(const Profile::Row& row, uint64_t whole) {
  const Times& time = row.time();
  const double mean =
      time.count ? static_cast<double>(time.total) / static_cast<double>(time.count) : 0;
  const double share =
      whole ? 100.0 * static_cast<double>(time.total) / static_cast<double>(whole) : 0;
  const bool is_op = row.kind == SpanKind::kOp || row.kind == SpanKind::kFused;
  const std::string name = is_op ? row.name : fmt::format("{} {}", name_of(row.kind), row.name);
  return {shorten(name),
          shorten(row.inputs),
          row.device,
          std::to_string(row.times.host.count),
          time_text(static_cast<double>(time.total)),
          time_text(mean),
          time_text(static_cast<double>(time.least)),
          time_text(static_cast<double>(time.most)),
          fmt::format("{:.1f}%", share),
          time_text(static_cast<double>(row.times.host.total)),
          rate_text(row)};
}

// Joins the lines and aligns their columns.
std::string text_of(const std::vector<Line>& lines) {
  std::array<size_t, kColumns> widths{};
  for (const Line& line : lines) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Line& line : lines) {
    std::string made;
    for (size_t i = 0; i < kColumns; ++i) {
      if (i > 0) made += "  ";
      made += i < kTexts ? fmt::format("{:<{}}", line[i], widths[i])
                         : fmt::format("{:>{}}", line[i], widths[i]);
    }
    made.erase(made.find_last_not_of(' ') + 1);
    text += made + '\n';
  }
  return text;
}

// ---- the file

// Formats a JSON string.
std::string json(const std::string& text) { return Json(text).dump(-1, Json::NotUtf8::kReplace); }

// Converts nanoseconds to microseconds, without loss of precision.
std::string micros(uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

constexpr int kHost = 1, kDevices = 2;  // Process ids in the trace file.

// Returns the event that names a process or a thread in the trace file.
std::string name_event(const char* what, int process, uint32_t thread, const std::string& name) {
  return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what,
                     process, thread, json(name));
}

// Returns the event of a span in the trace file.
std::string span_event(const Profile& profile, const Profile::Event& event) {
  const Profile::Row& row = profile.rows[event.row];
  const bool is_on_lane = event.thread & Profile::kLane;
  std::string args = fmt::format(R"("inputs":{})", json(row.inputs));
  if (!row.device.empty()) args += fmt::format(R"(,"device":{})", json(row.device));
  if (event.device_time) args += fmt::format(R"(,"device_us":{})", micros(event.device_time));
  if (is_on_lane) {
    const bool has_clock_bounds = row.times.clock == DeviceClock::kDevice;
    args += fmt::format(R"(,"clock":"{}")", has_clock_bounds ? "device" : "host");
  }
  if (event.location) {
    args += fmt::format(R"(,"location":{})", json(profile.locations[event.location]));
  }
  return fmt::format(
      R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
      json(row.name), name_of(row.kind), is_on_lane ? kDevices : kHost,
      event.thread & ~Profile::kLane, micros(event.start), micros(event.length), args);
}

// Describes how device times were measured.
std::string clocks_text(const std::vector<Profile::Row>& rows) {
  const auto has = [&](DeviceClock clock) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Profile::Row& row) { return row.times.clock == clock; });
  };
  std::string text = "Device time: around each launch";
  const bool by_device = has(DeviceClock::kDevice), by_host = has(DeviceClock::kCompletion);
  if (by_device || by_host) text += " of a synchronous device";
  if (by_device) text += "; of an asynchronous one by its own clock";
  if (by_host) {
    text += by_device ? "; of one without a clock" : "; of an asynchronous one";
    text += " by the host's clock, until the host was told that it had finished";
  }
  return text + ".\n";
}

}  // namespace

std::string Profile::table() const {
  std::vector<Line> lines = {{"op", "inputs", "device", "calls", "time", "mean", "min", "max",
                              "share", "host time", "rate"}};
  uint64_t whole = 0, n_calls = 0;
  for (const Row& row : rows) whole += row.time().total;
  for (const Row& row : rows) {
    lines.push_back(line_of(row, whole));
    n_calls += row.times.host.count;
  }
  std::string text = text_of(lines);
  text += fmt::format(
      "\n{} calls, {} of {}. Time is a device's where something was launched, else the host's own; "
      "host time counts what was called inside too.\n",
      n_calls, time_text(static_cast<double>(whole)), time_text(static_cast<double>(length)));
  text += clocks_text(rows);
  for (const auto& [device, driver] : drivers) text += fmt::format("{}: {}.\n", device, driver);
  if (n_dropped > 0) {
    text += fmt::format(
        "{} events were not kept, for want of room: the table counts them, the "
        "trace does not.\n",
        n_dropped);
  }
  return text;
}

void Profile::write_trace(const std::string& path) const {
  constexpr size_t kChunk = 1 << 16;
  std::string text;
  tenon_files::AtomicFile out(path);
  const auto check = [&] {
    const int error = out.error();
    if (error == 0) return;
    fail(code_of_errno(error), "{}: cannot be written: {}", {path, std::strerror(error)});
  };
  check();
  text += fmt::format(
      R"({{"displayTimeUnit":"ns","otherData":{{"profiled_us":{},"events_not_kept":{}}},)"
      R"("traceEvents":[)",
      micros(length), n_dropped);
  text += '\n' + name_event("process_name", kHost, 0, "host");
  if (!lanes.empty()) text += ",\n" + name_event("process_name", kDevices, 0, "devices");
  for (uint32_t i = 0; i < lanes.size(); ++i) {
    text += ",\n" + name_event("thread_name", kDevices, i, lanes[i]);
  }
  uint32_t thread = 0;
  for (const Event& event : events) {
    if (event.thread != thread && !(event.thread & kLane)) {
      thread = event.thread;
      text += ",\n" + name_event("thread_name", kHost, thread, fmt::format("thread {}", thread));
    }
    text += ",\n" + span_event(*this, event);
    if (text.size() > kChunk) {
      out.write(text);
      text.clear();
    }
  }
  text += "\n]}\n";
  out.write(text);
  out.finish();
  check();
}

}  // namespace tenon
