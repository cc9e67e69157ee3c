// Formats text for a terminal: wrapped paragraphs, columns, sizes, progress bars.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::command {

// Wraps words to indented lines of at most 80 columns. A longer word gets a line of its own.
std::string wrapped(std::string_view words, size_t indent);

// Formats rows as aligned columns. The last column is wrapped.
std::string columns(const std::vector<std::vector<std::string>>& rows, size_t indent);

// Formats a number of bytes, such as "1.5 GiB".
std::string bytes_text(uint64_t bytes);

// Returns the edit distance: how many letters must be inserted, deleted or replaced to turn one
// word into the other. Returns `most` + 1 if it exceeds `most`. Takes O(most * n) time for words of
// n letters.
size_t edit_distance(std::string_view a, std::string_view b, size_t most);

// Shortens a user's input for a message: replaces the middle of a long text by "...".
std::string shortened(std::string_view text);

// A progress bar on standard error, which is erased at the end. It is not shown if standard error
// is not a terminal, or if the work ends quickly.
class Progress {
 public:
  Progress(std::string what, size_t steps);
  ~Progress() { end(); }
  Progress(const Progress&) = delete;

  // Counts one step as done, and redraws the bar from time to time.
  void step();
  // Erases the bar.
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  size_t steps_, done_ = 0;
  bool is_terminal_, is_drawn_ = false;
  Clock::time_point start_, drawn_;
};

}  // namespace tenon::command
