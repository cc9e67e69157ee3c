#include "tools/tenon/text.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tenon::command {
namespace {

constexpr size_t kWidth = 80;

// Appends words, wrapped to lines. The first line continues at column `column`; further lines begin
// with `indent` blanks.
void append_wrapped(std::string& text, std::string_view words, size_t column, size_t indent) {
  bool first = true;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (word.empty()) continue;
    if (!first && column + 1 + word.size() > kWidth) {
      text += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
    first = false;
  }
}

}  // namespace

// Wraps words to indented lines of at most 80 columns.
std::string wrapped(std::string_view words, size_t indent) {
  std::string text(indent, ' ');
  append_wrapped(text, words, indent, indent);
  return text + '\n';
}

// Formats rows as aligned columns. The last column is wrapped.
std::string columns(const std::vector<std::vector<std::string>>& rows, size_t indent) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    text += std::string(indent, ' ');
    size_t column = indent;
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      text += fmt::format("{:<{}}  ", row[i], widths[i]);
      column += widths[i] + 2;
    }
    if (!row.empty()) append_wrapped(text, row.back(), column, column);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

// Formats a number of bytes, such as "1.5 GiB".
std::string bytes_text(uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

// Computes the edit distance by dynamic programming over prefixes of a and b. Skips table entries
// that are more than `most` away from the diagonal. Returns `most` + 1 if the distance exceeds it.
size_t edit_distance(std::string_view a, std::string_view b, size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = std::min(j, most + 1);
  for (size_t i = 1; i <= a.size(); ++i) {
    const size_t first = i > most ? i - most : 1, last = std::min(b.size(), i + most);
    size_t diagonal = row[first - 1];
    row[first - 1] = first == 1 ? std::min(i, most + 1) : most + 1;
    for (size_t j = first; j <= last; ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1, most + 1});
    }
  }
  return row.back();
}

// Replaces the middle of a long text by "...".
std::string shortened(std::string_view text) {
  constexpr size_t kMax = 60, kEnd = 20;
  if (text.size() <= kMax) return std::string(text);
  return fmt::format("{}...{}", text.substr(0, kMax - kEnd - 3), text.substr(text.size() - kEnd));
}

Progress::Progress(std::string what, size_t steps)
    : what_(std::move(what)),
      steps_(std::max<size_t>(steps, 1)),
      is_terminal_(isatty(STDERR_FILENO)),
      start_(Clock::now()),
      drawn_(start_) {}

// Counts one step as done, and redraws the bar from time to time.
void Progress::step() {
  constexpr size_t kBar = 30;
  constexpr auto kOften = std::chrono::milliseconds(100);
  done_ = std::min(done_ + 1, steps_);
  const Clock::time_point now = Clock::now();
  if (!is_terminal_ || now - drawn_ < kOften) return;
  drawn_ = now;
  is_drawn_ = true;
  const size_t full = done_ * kBar / steps_;
  const double passed = std::chrono::duration<double>(now - start_).count();
  const double left = passed / static_cast<double>(done_) * static_cast<double>(steps_ - done_);
  fmt::print(stderr, "\r{} [{:#<{}}{:-<{}}] {}/{}  {:.0f} s left \033[K", what_, "", full, "",
             kBar - full, done_, steps_, left);
}

// Erases the bar.
void Progress::end() {
  if (std::exchange(is_drawn_, false)) fmt::print(stderr, "\r\033[K");
}

}  // namespace tenon::command
