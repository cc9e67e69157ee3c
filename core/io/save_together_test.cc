// Several processes save programs in the same folder at the same time, and some of them are killed.

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/dispatch/dispatch.h"
#include "core/io/program.h"
#include "core/io/save_program.h"
#include "core/testing/folder.h"
#include "core/testing/functions.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using testing::f32;

const InputSpec kX = {.name = "x", .dtype = DType::kF32, .sizes = {2}};

class SaveTogether : public testing::FunctionTest {
 protected:
  std::string path() const { return folder_.file("program"); }
  std::string file(const char* name) const { return path() + "/" + name; }

  // Returns a trace of x * factor + c, where the captured tensor c holds `factor`. If the files
  // came from two saves, the two factors would differ.
  Ref<Trace> program_of(double factor) {
    const auto f = static_cast<float>(factor);
    const Tensor held = f32({f, f});
    return function([=](TensorSpan in) { return Tensors{in[0] * number(factor) + held}; })
        ->trace(scope(), std::vector<InputSpec>{kX}, {});
  }
  void save(const Ref<Trace>& trace) {
    const FunctionToSave one = {"f", trace};
    save_program(scope(), path(), {&one, 1});
  }
  // Returns the factor of the saved program, or -1 if its files come from different saves.
  float factor_saved() {
    const Ref<SavedProgram> program = read_program(scope(), path());
    const Tensors y = program->find("f").function->call(scope(), Tensors{f32({1, 1})}, {});
    float values[2];
    to_host(scope(), y[0], values, sizeof values);
    const float value = values[0];
    return value == 2.0f * 3 || value == 2.0f * 5 || value == 2.0f * 7 ? value / 2 : -1;
  }
  // Starts a process that saves the program repeatedly until it is killed.
  pid_t saver(const Ref<Trace>& trace) {
    const pid_t child = fork();
    if (child != 0) return child;
    try {
      for (;;) save(trace);
    } catch (...) {
    }
    _exit(1);
  }

 private:
  testing::Folder folder_;
};

TEST_F(SaveTogether, AReaderNeverMixesTheFilesOfTwoSaves) {
  const auto a = program_of(3), b = program_of(5), c = program_of(7);
  save(a);
  const pid_t children[] = {saver(b), saver(c)};
  for (int i = 0; i < 100; ++i) EXPECT_GT(factor_saved(), 0);
  for (const pid_t child : children) {
    EXPECT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));  // It did not end before it was killed.
  }
}

TEST_F(SaveTogether, KilledSaversLeaveACompleteProgram) {
  const auto a = program_of(3), b = program_of(5);
  save(a);
  for (int round = 0; round < 40; ++round) {
    const pid_t child = saver(b);
    usleep(static_cast<useconds_t>(1000 + round * 337));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_GT(factor_saved(), 0);
  }
  save(a);
  EXPECT_EQ(factor_saved(), 3);
}

// Simulates a save whose process was killed while it renamed files.
TEST_F(SaveTogether, ReadersRestoreTheProgramBeforeAnInterruptedSave) {
  save(program_of(3));
  fs::rename(file("tenon.json"), file("tenon.json.tenon-old"));
  fs::rename(file("weights.safetensors"), file("weights.safetensors.tenon-old"));
  fs::rename(file("f.onnx"), file("f.onnx.tenon-old"));
  std::ofstream(file("f.onnx")) << "of the save that was killed";

  EXPECT_EQ(factor_saved(), 3);
  EXPECT_FALSE(fs::exists(file("tenon.json.tenon-old")));
}

// A save that is killed after all its new files were renamed leaves earlier files as .tenon-old.
TEST_F(SaveTogether, FilesLeftByAKilledSaveAreNotRestored) {
  save(program_of(3));
  fs::copy(file("f.onnx"), file("f.onnx.tenon-old"));
  save(program_of(5));
  EXPECT_FALSE(fs::exists(file("f.onnx.tenon-old")));
  EXPECT_EQ(factor_saved(), 5);
}

TEST_F(SaveTogether, ReplacedFilesKeepTheirPermissions) {
  save(program_of(3));
  for (const char* name : {"tenon.json", "weights.safetensors", "f.onnx"}) {
    fs::permissions(file(name), fs::perms(0640));
  }
  save(program_of(5));
  EXPECT_EQ(factor_saved(), 5);
  for (const char* name : {"tenon.json", "weights.safetensors", "f.onnx"}) {
    EXPECT_EQ(fs::status(file(name)).permissions(), fs::perms(0640)) << name;
  }
}

TEST_F(SaveTogether, WritesToTheTargetsOfSymbolicLinks) {
  save(program_of(3));
  fs::create_directory(path() + "/../elsewhere");
  for (const char* name : {"tenon.json", "weights.safetensors"}) {
    fs::rename(file(name), path() + "/../elsewhere/" + name);
    fs::create_symlink(std::string("../elsewhere/") + name, file(name));
  }
  save(program_of(5));
  // Program folders with symbolic links are rejected, because a link may refer to any file of the
  // machine.
  EXPECT_ERROR(factor_saved(), Code::kDataLoss, "without symbolic links");
  for (const char* name : {"tenon.json", "weights.safetensors"}) {
    EXPECT_TRUE(fs::is_symlink(file(name))) << name;
    fs::remove(file(name));
    fs::copy(path() + "/../elsewhere/" + name, file(name));
  }
  EXPECT_EQ(factor_saved(), 5);
  size_t n = 0;
  for (const auto& entry : fs::directory_iterator(path() + "/../elsewhere")) n += entry.exists();
  EXPECT_EQ(n, 2u);
}

// The targets of symbolic links are restored after an interrupted save, as ordinary files are.
TEST_F(SaveTogether, RestoresTheTargetsOfSymbolicLinks) {
  save(program_of(3));
  const std::string target = path() + "/../the.json";
  fs::rename(file("tenon.json"), target + ".tenon-old");
  fs::create_symlink("../the.json", file("tenon.json"));
  fs::rename(file("f.onnx"), file("f.onnx.tenon-old"));
  EXPECT_ERROR(factor_saved(), Code::kDataLoss, "without symbolic links");
  EXPECT_TRUE(fs::is_regular_file(target));
  EXPECT_FALSE(fs::exists(target + ".tenon-old"));
}

TEST_F(SaveTogether, AFullDiskLeavesTheProgramUnchanged) {
  const auto a = program_of(3), b = program_of(5);
  save(a);
  for (const rlim_t most : {0, 64, 200, 400}) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit = {most, most};
      setrlimit(RLIMIT_FSIZE, &limit);
      try {
        save(b);
      } catch (const Error& error) {
        _exit(error.code() == Code::kUnavailable ? 0 : 2);
      }
      _exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << most << ": " << status;
    EXPECT_EQ(factor_saved(), 3);
  }
  size_t n = 0;
  for (const auto& entry : fs::directory_iterator(path())) n += entry.exists() ? 1 : 0;
  EXPECT_EQ(n, 3u);
}

}  // namespace
}  // namespace tenon
