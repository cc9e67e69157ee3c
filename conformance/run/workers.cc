// The parent writes lines "CLAIM CHECK" to the child's standard input. The child answers on file
// descriptor 3, because a plugin may print to standard output. An answer that starts with "@" is
// the problem about to run; one that starts with "=" is the resulting row.

#include "conformance/run/workers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "conformance/kit/json.h"
#include "conformance/kit/plugin_log.h"
#include "conformance/run/answer_requests.h"

extern char** environ;

namespace tenon_kit {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kAnswers = 3;

#if defined(__has_feature)
#define TENON_KIT_HAS(feature) __has_feature(feature)
#else
#define TENON_KIT_HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||       \
    TENON_KIT_HAS(address_sanitizer) || TENON_KIT_HAS(thread_sanitizer) || \
    TENON_KIT_HAS(memory_sanitizer)
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif

class Child {
 public:
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { stop(); }

  bool is_running() const { return pid_ > 0; }
  bool is_busy() const { return busy_; }
  int answers() const { return answers_; }
  const Cell& cell() const { return cell_; }
  const std::string& problem() const { return problem_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  void start(const WorkerOptions& options) {
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
      throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], kAnswers);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (const std::string& word : options.command) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    const int status =
        posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    if (status != 0) throw std::runtime_error(std::string("posix_spawn: ") + std::strerror(status));
    requests_ = to[1];
    answers_ = from[0];
    buffer_.clear();
    if (options.memory_bytes && kLimitsMemory) {
      // Limits the data segment instead of the address space, because drivers reserve far more
      // address space than they use.
      const rlimit limit = {options.memory_bytes, options.memory_bytes};
      prlimit(pid_, RLIMIT_DATA, &limit, nullptr);
    }
  }

  void ask(const Cell& cell) {
    cell_ = cell;
    busy_ = true;
    problem_.clear();
    begun_ = Clock::now();
    const std::string line = fmt::format("{} {}\n", cell.claim, cell.check);
    // A failed write is ignored: if the child has died, reading its answers detects that.
    [[maybe_unused]] const ssize_t written = write(requests_, line.data(), line.size());
  }

  // Reads available output. Returns true if it completes a row. `ended`: the child has closed its
  // pipe.
  bool read_answer(std::string& row, bool& ended) {
    char chunk[65536];
    const ssize_t n = read(answers_, chunk, sizeof chunk);
    ended = n <= 0;
    if (n > 0) buffer_.append(chunk, static_cast<size_t>(n));
    size_t at = 0, end;
    bool found = false;
    while ((end = buffer_.find('\n', at)) != std::string::npos) {
      if (buffer_[at] == '@') {
        problem_ = buffer_.substr(at + 1, end - at - 1);
        begun_ = Clock::now();
      }
      if (buffer_[at] == '=') {
        row = buffer_.substr(at + 1, end - at - 1);
        found = true;
        busy_ = false;
      }
      at = end + 1;
    }
    buffer_.erase(0, at);
    return found;
  }

  // Waits for the child. Returns its exit status if it exits in time, else -1.
  int wait(double seconds) {
    begun_ = Clock::now();
    close(std::exchange(requests_, -1));
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(pid_, &status, WNOHANG)) == 0 && this->seconds() < seconds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (ended == 0) return stop(), -1;
    close(answers_);
    pid_ = -1;
    return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Ends the child process. Returns the signal that killed the child, or the negated exit status of
  // the child.
  int stop(bool force = true) {
    if (pid_ <= 0) return 0;
    close(requests_);
    if (force) kill(pid_, SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
    close(answers_);
    pid_ = -1;
    busy_ = false;
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
  }

 private:
  pid_t pid_ = -1;
  int requests_ = -1;
  int answers_ = -1;
  bool busy_ = false;
  Cell cell_ = {};
  std::string problem_;
  std::string buffer_;
  Clock::time_point begun_;
};

// Returns the row of a cell whose process ended before it answered.
Row ended_row(const Child& child, Row row, Status status, std::string message) {
  row.status = status;
  row.seconds = child.seconds();
  row.message = std::move(message);
  if (child.cell().claim != kDevice) {
    row.line = child.problem();
  } else if (!child.problem().empty()) {
    // For device checks, problem() is the name of a step.
    row.message = child.problem() + ": " + row.message;
  }
  return row;
}

}  // namespace

uint64_t default_memory_mib() { return kLimitsMemory ? 12288 : 0; }
int n_cores() { return static_cast<int>(std::thread::hardware_concurrency()); }
std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

void run_cells(const WorkerOptions& options, const std::vector<Cell>& cells,
               const std::function<Row(const Cell&)>& blank,
               const std::function<void(const Cell&, const Row&)>& done) {
  signal(SIGPIPE, SIG_IGN);
  std::vector<Child> children(static_cast<size_t>(std::max(options.jobs, 1)));
  size_t next = 0, finished = 0;
  const Clock::time_point begun = Clock::now();
  const auto is_over = [&] {
    return std::chrono::duration<double>(Clock::now() - begun).count() >= options.seconds;
  };
  while (finished < next || (next < cells.size() && !is_over())) {
    std::vector<pollfd> waits;
    for (Child& child : children) {
      if (!child.is_busy() && next < cells.size() && !is_over()) {
        if (!child.is_running()) child.start(options);
        child.ask(cells[next++]);
      }
      waits.push_back({child.is_busy() ? child.answers() : -1, POLLIN, 0});
    }
    poll(waits.data(), waits.size(), 1000);
    for (size_t i = 0; i < children.size(); ++i) {
      Child& child = children[i];
      if (!child.is_busy()) continue;
      if (waits[i].revents) {
        std::string row;
        bool ended = false;
        if (child.read_answer(row, ended)) {
          done(child.cell(), row_from_json(Json::parse(row)));
          ++finished;
          if (ended) child.stop(false);
        } else if (ended) {
          const Cell cell = child.cell();
          const int how = child.stop(false);
          const Row fault = ended_row(
              child, blank(cell), Status::kCrash,
              how > 0 ? fmt::format("the process was killed by the signal: {}", strsignal(how))
                      : fmt::format("the process exited with {}", -how));
          done(cell, fault);
          ++finished;
        }
      } else if (child.seconds() > options.problem_seconds) {
        const Cell cell = child.cell();
        const Row fault = ended_row(child, blank(cell), Status::kTimeout,
                                    fmt::format("no answer within {} s", options.problem_seconds));
        child.stop();
        done(cell, fault);
        ++finished;
      }
    }
  }
}

int run_silently(const std::vector<std::string>& command, double seconds) {
  Child child;
  child.start({.command = command});
  return child.wait(seconds);
}

int serve_cells(const RunCell& run) {
  const auto answer = [](char kind, const std::string& text) {
    const std::string line = kind + text + "\n";
    size_t at = 0;
    while (at < line.size()) {
      const ssize_t n = write(kAnswers, line.data() + at, line.size() - at);
      if (n <= 0) _exit(1);
      at += static_cast<size_t>(n);
    }
  };
  return answer_requests(run, answer);
}

}  // namespace tenon_kit
