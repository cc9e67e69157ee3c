// Malicious ONNX files for tests, and a fixture that requires that each is rejected: with an error
// that states the reason, when it is read or when the model is called, in less than 0.1 seconds of
// processor time and with less than 64 MiB of memory.

#pragma once

#include <ctime>
#include <fstream>

#include "core/io/program.h"
#include "core/testing/folder.h"
#include "core/testing/onnx_file.h"
#include "core/testing/test.h"

namespace tenon::testing {

struct Bad {
  const char* what;
  std::string file;
  const char* says;  // A substring of the expected error message.
};

inline WireWriter x_info() { return value_info("x"); }
inline WireWriter y_info() { return value_info("y"); }

// Returns a model of `nodes` with an input x of two floats and an output y.
inline std::string model_of(std::vector<WireWriter> nodes,
                            std::vector<WireWriter> initializers = {}, uint64_t version = 17) {
  return model(graph({.nodes = std::move(nodes),
                      .initializers = std::move(initializers),
                      .inputs = {x_info()},
                      .outputs = {y_info()}}),
               version);
}
// Returns a model of one node whose inputs are x and the int64 constant `ints`.
inline std::string with_ints(const std::string& op, const std::vector<int64_t>& ints,
                             std::vector<WireWriter> attributes = {}) {
  return model_of({node(op, {"x", "i"}, {"y"}, attributes)}, {int_tensor("i", ints)});
}
inline WireWriter tensor_of(const std::vector<uint64_t>& dims, uint64_t element) {
  WireWriter tensor;
  for (const uint64_t dim : dims) tensor.number(1, dim);
  return tensor.number(2, element).text(8, "w");
}
inline WireWriter shaped_info(const std::string& name, const std::vector<uint64_t>& dims) {
  WireWriter shape;
  for (const uint64_t dim : dims) shape.message(1, WireWriter().number(1, dim));
  const WireWriter type = WireWriter().number(1, kOnnxFloat).message(2, shape);
  return WireWriter().text(1, name).message(2, WireWriter().message(1, type));
}
class HostileFiles : public CoreTest {
 protected:
  HostileFiles()
      : CoreTest(
            {.log = [](int32_t, std::string_view) {}, .memory_limit_bytes = uint64_t{1} << 26}) {}

  // Reads the file and calls its function with two floats. Returns the error, or an empty string if
  // the call succeeds.
  std::string refusal(const std::string& path) {
    try {
      const Ref<SavedProgram> program = read_program(scope(), path);
      const Tensor x = f32({1, 2});
      program->functions()[0].function->call(scope(), {&x, 1}, {});
    } catch (const Error& error) {
      EXPECT_NE(error.code(), Code::kInternal) << error.what();
      return std::string(name_of(error.code())) + ": " + error.what();
    }
    return "";
  }

  // Requires that the file is rejected within the limits.
  void expect_refused(const Bad& bad) {
    if (!is_warm_) {  // Loads the device and its kernels.
      refusal(folder_.write("model.onnx", model_of({node("Neg", {"x"}, {"y"})})));
      is_warm_ = true;
    }
    const std::string path = folder_.write("model.onnx", bad.file);
    reset_peak_memory();
    const int64_t before = peak_memory();
    const double start = processor_seconds();
    const std::string why = refusal(path);
    const double seconds = processor_seconds() - start;
    EXPECT_NE(why, "") << bad.what << " was read and called";
    EXPECT_NE(why.find(bad.says), std::string::npos) << bad.what << ": " << why;
    if (!kHasLimits) return;
    EXPECT_LT(seconds, kMaxSeconds) << bad.what;
    EXPECT_LT(peak_memory() - before, kMaxBytes) << bad.what;
  }

  Folder folder_;

 private:
  static constexpr double kMaxSeconds = 0.1;
  static constexpr int64_t kMaxBytes = int64_t{1} << 26;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__linux__)
  static constexpr bool kHasLimits = false;  // Sanitizers take more of both.
#else
  static constexpr bool kHasLimits = true;
#endif

  // The time of all threads, which other processes do not lengthen.
  static double processor_seconds() {
    return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
  }
  // Sets the peak of the resident memory to the current size.
  static void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }
  // Returns the peak of the resident memory in bytes; 0 where the system does not report it.
  static int64_t peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
    }
    return 0;
  }

  bool is_warm_ = false;
};

}  // namespace tenon::testing
