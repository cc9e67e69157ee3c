#include "conformance/kit/plugin_log.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>
#include <vector>

namespace tenon_kit {
namespace {

constexpr size_t kKeptLines = 3;

struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;
  size_t n = 0;
};
Log& log() {
  static auto* const kept = new Log;  // Leaked on purpose: a plugin's threads may run until exit.
  return *kept;
}

}  // namespace

void note_plugin_log(int32_t level, tenon_string message) {
  if (level < TENON_LOG_WARNING) return;
  std::lock_guard lock(log().mutex);
  ++log().n;
  if (log().lines.size() < kKeptLines) log().lines.emplace_back(message.data, message.size);
}

std::string take_plugin_log() {
  std::lock_guard lock(log().mutex);
  const size_t n = std::exchange(log().n, 0);
  std::string text;
  for (const std::string& line : std::exchange(log().lines, {})) {
    text += (text.empty() ? "" : "; ") + line;
  }
  if (n > kKeptLines) text += fmt::format("; and {} more lines", n - kKeptLines);
  return text;
}

}  // namespace tenon_kit
