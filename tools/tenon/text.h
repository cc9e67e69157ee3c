// Text for a terminal: wrapped paragraphs, columns, sizes.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::command {

// Words in lines of at most 80 columns, each line indented; a word that is longer stands alone.
std::string wrapped(std::string_view words, size_t indent);

// Rows as columns, as wide as they need to be; the last one is wrapped below itself.
std::string columns(const std::vector<std::vector<std::string>>& rows, size_t indent);

// "1.5 GiB".
std::string bytes_text(uint64_t bytes);

// How many letters must be added, dropped or replaced to make one word of the other; `most` + 1 if
// it is more than `most`. Takes O(most * n) time for words of n letters.
size_t edit_distance(std::string_view a, std::string_view b, size_t most);

// What a user typed, for a message: the middle of a long text becomes "...".
std::string shortened(std::string_view text);

// A bar on the terminal, on standard error, which goes away at its end. Where that is no terminal,
// and for what is done at once, nothing is printed.
class Progress {
 public:
  Progress(std::string what, size_t steps);
  ~Progress() { end(); }
  Progress(const Progress&) = delete;

  void step();
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  size_t steps_, done_ = 0;
  bool is_terminal_, is_drawn_ = false;
  Clock::time_point start_, drawn_;
};

}  // namespace tenon::command
