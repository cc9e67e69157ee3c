// Files that several write at once, on disks that are full, by processes that are killed.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "core/base/error.h"
#include "core/io/safetensors.h"
#include "core/testing/folder.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSize = 1 << 18;

// A tensor whose bytes are all `value`.
std::vector<TensorToStore> filled(int value) {
  return {{"x", TensorType(DType::kU8, Dims({kSize})),
           [=](void* to, uint64_t size) { std::memset(to, value, size); }}};
}

// The value that all bytes of the file have.
int value_in(const std::string& path) {
  const Ref<Safetensors> file = Safetensors::open(path);
  std::vector<unsigned char> bytes(kSize);
  file->read(file->find("x"), bytes.data());
  for (const unsigned char byte : bytes) {
    if (byte != bytes[0]) return -1;
  }
  return bytes[0];
}

size_t n_files(const testing::Folder& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

// Runs `body` in a process of its own and gives that process's id.
template <class Body>
pid_t in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 1;
    try {
      status = body();
    } catch (...) {
    }
    _exit(status);
  }
  return child;
}

int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SafetensorsFile, IsWholeWhileThreadsReplaceIt) {
  const testing::Folder folder;
  const std::string path = folder.file("x.safetensors");
  save_safetensors(path, filled(9), {});
  std::atomic<int> n_running{3};
  std::vector<std::thread> writers;
  for (int value = 0; value < 3; ++value) {
    writers.emplace_back([&, value] {
      for (int i = 0; i < 20; ++i) save_safetensors(path, filled(value), {});
      --n_running;
    });
  }
  while (n_running > 0) EXPECT_GE(value_in(path), 0);
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(n_files(folder), 1u);
}

TEST(SafetensorsFile, IsWholeWhileProcessesReplaceItAndAreKilled) {
  const testing::Folder folder;
  const std::string path = folder.file("x.safetensors");
  save_safetensors(path, filled(9), {});
  for (int round = 0; round < 20; ++round) {
    pid_t children[2];
    for (int i = 0; i < 2; ++i) {
      children[i] = in_child([&]() -> int {
        for (;;) save_safetensors(path, filled(i), {});
      });
    }
    for (int i = 0; i < 5; ++i) EXPECT_GE(value_in(path), 0);
    usleep(static_cast<useconds_t>(round * 300));
    for (const pid_t child : children) kill(child, SIGKILL);
    for (const pid_t child : children) status_of(child);
    EXPECT_GE(value_in(path), 0);
  }
}

TEST(SafetensorsFile, StaysAsItWasIfTheDiskIsFull) {
  const testing::Folder folder;
  const std::string path = folder.file("x.safetensors");
  save_safetensors(path, filled(9), {});
  const pid_t child = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {kSize / 2, kSize / 2};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      save_safetensors(path, filled(1), {});
    } catch (const Error& error) {
      return error.code() == Code::kUnavailable ? 0 : 2;
    }
    return 3;
  });
  EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(value_in(path), 9);
  EXPECT_EQ(n_files(folder), 1u);
}

TEST(SafetensorsFile, ReportsADeviceWithoutSpace) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  try {
    save_safetensors("/dev/full", filled(1), {});
    FAIL() << "saved";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kUnavailable);
  }
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(SafetensorsFile, KeepsThePermissionsOfTheOneThatItReplaces) {
  const testing::Folder folder;
  const std::string path = folder.file("x.safetensors");
  save_safetensors(path, filled(9), {});
  chmod(path.c_str(), 0640);
  save_safetensors(path, filled(1), {});
  EXPECT_EQ(value_in(path), 1);
  EXPECT_EQ(static_cast<unsigned>(fs::status(path).permissions()), 0640u);
}

TEST(SafetensorsFile, IsWrittenThroughSymbolicLinks) {
  const testing::Folder folder;
  fs::create_directory(folder.path() / "inner");
  const std::string path = folder.file("inner/x.safetensors");
  save_safetensors(path, filled(9), {});
  fs::create_symlink("inner/second", folder.path() / "first");
  fs::create_symlink("x.safetensors", folder.path() / "inner/second");
  save_safetensors(folder.file("first"), filled(1), {});
  EXPECT_EQ(value_in(path), 1);
  EXPECT_TRUE(fs::is_symlink(folder.path() / "first"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "inner/second"));
}

TEST(SafetensorsFile, IsMadeWhereADanglingLinkPoints) {
  const testing::Folder folder;
  fs::create_symlink("missing", folder.path() / "link");
  save_safetensors(folder.file("link"), filled(1), {});
  EXPECT_EQ(value_in(folder.file("missing")), 1);
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
}

}  // namespace
}  // namespace tenon
