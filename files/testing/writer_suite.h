// Tests of what writes a file: TENON_WRITER_TESTS(Suite, Writer) makes them. They are the same for
// all that Tenon writes: the file is whole while threads and processes replace it, while those are
// killed and while the disk is full; it keeps its permissions and stays behind symbolic links.
//
// A Writer has two members. `write(path, value)` writes a file of about kWriterBytes that shows
// `value` throughout, and throws if it cannot. `read(path)` gives the value of a file that is
// whole, and throws or gives -1 for any other.

#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace tenon_files {

inline constexpr size_t kWriterBytes = 1 << 16;

// A folder that goes with its tests.
class WriterFolder {
 public:
  WriterFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "tenon_writer_XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  ~WriterFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WriterFolder(const WriterFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  size_t n_files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                             std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

// A process that runs `body`, which gives its exit status.
template <class Body>
pid_t start_process(const Body& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 1;
  try {
    status = body();
  } catch (...) {
  }
  _exit(status);
}

// The exit status of a process; -1 if a signal ended it.
inline int end_of_process(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Writes while no file may grow beyond `most` bytes, as on a disk that is full: true if `write`
// throws.
template <class Writer>
bool fails_on_full_disk(const std::string& path, int value, rlim_t most) {
  const pid_t child = start_process([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {most, most};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      Writer().write(path, value);
    } catch (const std::exception&) {
      return 0;
    }
    return 2;
  });
  return end_of_process(child) == 0;
}

template <class Writer>
void test_threads_replace_it() {
  const WriterFolder folder;
  const std::string path = folder.file("x");
  Writer().write(path, 9);
  std::atomic<int> n_running{3};
  std::vector<std::thread> writers;
  for (int value = 0; value < 3; ++value) {
    writers.emplace_back([&, value] {
      Writer writer;
      for (int i = 0; i < 20; ++i) EXPECT_NO_THROW(writer.write(path, value));
      --n_running;
    });
  }
  Writer reader;
  while (n_running > 0) {
    int value = -1;
    EXPECT_NO_THROW(value = reader.read(path));
    EXPECT_TRUE(value == 9 || (value >= 0 && value < 3)) << value;
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(folder.n_files(), 1u);
}

template <class Writer>
void test_killed_processes_replace_it() {
  const WriterFolder folder;
  const std::string path = folder.file("x");
  Writer().write(path, 9);
  for (int round = 0; round < 20; ++round) {
    pid_t children[2];
    for (int i = 0; i < 2; ++i) {
      children[i] = start_process([&]() -> int {
        Writer writer;
        for (;;) writer.write(path, i);
      });
    }
    Writer reader;
    for (int i = 0; i < 5; ++i) EXPECT_GE(reader.read(path), 0);
    usleep(static_cast<useconds_t>(round * 300));
    for (const pid_t child : children) EXPECT_EQ(kill(child, SIGKILL), 0);
    for (const pid_t child : children) EXPECT_EQ(end_of_process(child), -1);  // It was writing.
    EXPECT_GE(reader.read(path), 0);
  }
}

template <class Writer>
void test_full_disk() {
  const WriterFolder folder;
  const std::string path = folder.file("x");
  Writer().write(path, 9);
  const auto size = static_cast<rlim_t>(std::filesystem::file_size(path));
  for (const rlim_t most : {rlim_t{0}, rlim_t{1}, size / 2, size - 1}) {
    EXPECT_TRUE(fails_on_full_disk<Writer>(path, 1, most)) << most;
    EXPECT_EQ(Writer().read(path), 9) << most;
    EXPECT_EQ(folder.n_files(), 1u) << most;
    EXPECT_TRUE(fails_on_full_disk<Writer>(folder.file("new"), 1, most)) << most;
    EXPECT_EQ(folder.n_files(), 1u) << most;
  }
}

template <class Writer>
void test_device_without_space() {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  EXPECT_ANY_THROW(Writer().write("/dev/full", 1));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

template <class Writer>
void test_permissions() {
  const WriterFolder folder;
  const std::string path = folder.file("x");
  Writer().write(path, 9);
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  Writer().write(path, 1);
  EXPECT_EQ(Writer().read(path), 1);
  EXPECT_EQ(static_cast<unsigned>(std::filesystem::status(path).permissions()), 0640u);
}

template <class Writer>
void test_symbolic_links() {
  const WriterFolder folder;
  std::filesystem::create_directory(folder.file("inner"));
  const std::string path = folder.file("inner/x");
  Writer().write(path, 9);
  std::filesystem::create_symlink("inner/second", folder.file("first"));
  std::filesystem::create_symlink("x", folder.file("inner/second"));
  Writer().write(folder.file("first"), 1);
  EXPECT_EQ(Writer().read(path), 1);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("inner/second")));
}

template <class Writer>
void test_dangling_link() {
  const WriterFolder folder;
  std::filesystem::create_symlink("missing", folder.file("link"));
  Writer().write(folder.file("link"), 1);
  EXPECT_EQ(Writer().read(folder.file("missing")), 1);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
}

template <class Writer>
void test_missing_folder() {
  const WriterFolder folder;
  EXPECT_ANY_THROW(Writer().write(folder.file("no/such/folder"), 1));
  EXPECT_EQ(folder.n_files(), 0u);
}

}  // namespace tenon_files

#define TENON_WRITER_TEST(Suite, Name, Writer, test) \
  TEST(Suite, Name) { tenon_files::test<Writer>(); }

#define TENON_WRITER_TESTS(Suite, Writer)                                                       \
  TENON_WRITER_TEST(Suite, IsWholeWhileThreadsReplaceIt, Writer, test_threads_replace_it)       \
  TENON_WRITER_TEST(Suite, IsWholeWhileProcessesThatReplaceItAreKilled, Writer,                 \
                    test_killed_processes_replace_it)                                           \
  TENON_WRITER_TEST(Suite, StaysAsItWasIfTheDiskIsFull, Writer, test_full_disk)                 \
  TENON_WRITER_TEST(Suite, ReportsADeviceWithoutSpace, Writer, test_device_without_space)       \
  TENON_WRITER_TEST(Suite, KeepsThePermissionsOfTheOneThatItReplaces, Writer, test_permissions) \
  TENON_WRITER_TEST(Suite, IsWrittenThroughSymbolicLinks, Writer, test_symbolic_links)          \
  TENON_WRITER_TEST(Suite, IsMadeWhereADanglingLinkPoints, Writer, test_dangling_link)          \
  TENON_WRITER_TEST(Suite, LeavesNothingWhereTheFolderIsMissing, Writer, test_missing_folder)
