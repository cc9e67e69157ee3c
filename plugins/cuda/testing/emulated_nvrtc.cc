// Emulates libnvrtc for tests without a GPU: compiles CUDA sources with the host's compiler into a
// shared library, which the emulated driver loads. If TENON_EMULATED_CUDA_CACHE is set, that folder
// caches libraries by a hash of their source. The source is stored beside each library, for tests
// with the real NVRTC (cuda_nvrtc_test.cc).

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "files/atomic_file.h"
#include "plugins/cuda/driver/cuda_abi.h"
#include "plugins/cuda/testing/emulated_abi.h"
#include "plugins/cuda/testing/emulated_faults.h"

using namespace tenon_cuda;
using tenon_emulated::injected;

extern char** environ;

namespace {

namespace fs = std::filesystem;

constexpr nvrtcResult kOutOfRange = 3;       // NVRTC_ERROR_INVALID_INPUT
constexpr nvrtcResult kBadProgram = 4;       // NVRTC_ERROR_INVALID_PROGRAM
constexpr nvrtcResult kFailedToCompile = 6;  // NVRTC_ERROR_COMPILATION

struct Program {
  std::string source, log, code;
};
Program& from_c(nvrtcProgram program) { return *reinterpret_cast<Program*>(program); }

// Returns an environment variable, or `otherwise` if it is unset or empty.
std::string environment_variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && value[0] != 0 ? value : otherwise;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const fs::path& path, const std::string& bytes) {
  tenon_files::AtomicFile file(path.string());
  file.write(bytes.data(), bytes.size());
  file.finish();
}

// Returns the index after the closing brace of the first block at or after `begin`.
size_t end_of_body(const std::string& source, size_t begin) {
  size_t depth = 0;
  for (size_t i = source.find('{', begin); i < source.size(); ++i) {
    if (source[i] == '{') ++depth;
    if (source[i] == '}' && --depth == 0) return i + 1;
  }
  return source.size();
}

// Reads an identifier at `at`, such as the name in "merge(", and advances `at` past it and `end`.
// Returns an empty string if there is no identifier, or if `end` does not follow it.
std::string read_identifier(const std::string& source, size_t& at, std::string_view end) {
  const size_t begin = at;
  while (at < source.size() && (std::isalnum(source[at]) != 0 || source[at] == '_')) ++at;
  if (source.compare(at, end.size(), end) != 0) return {};
  const std::string name = source.substr(begin, at - begin);
  at += end.size();
  return name;
}

// Inserts after each kernel a function that the emulated driver calls, and a constant with the size
// of the parameters. They are inserted directly after the kernel, so that an #if around the kernel
// also covers them. A kernel begins with "KERNEL name(PARAMETERS(type)".
std::string add_call_functions(const std::string& source) {
  constexpr std::string_view kKernel = "KERNEL ";
  std::string text;
  size_t copied = 0;
  for (size_t at = 0; (at = source.find(kKernel, at)) != std::string::npos;) {
    at += kKernel.size();
    const std::string name = read_identifier(source, at, "(PARAMETERS(");
    const std::string type = name.empty() ? "" : read_identifier(source, at, ")");
    if (type.empty()) continue;
    const size_t after = end_of_body(source, at);
    text += source.substr(copied, after - copied);
    copied = after;
    text += "\nKERNEL tenon_call_" + name + "(const void* p) { " + name + "(*(const " + type +
            "*)p); }\n" + "extern \"C\" __global__ const unsigned long long tenon_size_" + name +
            ";\nconst unsigned long long tenon_size_" + name + " = sizeof(" + type + ");\n";
  }
  return text + source.substr(copied) + "\n";
}

// Runs a command, with its standard error written to a file. Returns its exit status as waitpid()
// does, or -1 if it cannot be started.
int run(const std::vector<std::string>& command, const fs::path& output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

uint64_t hash(const std::string& bytes) {
  uint64_t value = 0xcbf29ce484222325;
  for (const char byte : bytes) value = (value ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return value;
}

// Stores the source in a file beside the compiled library.
void keep_source(fs::path library, const std::string& source) {
  std::error_code failure;
  library.replace_extension(".cu");
  if (!fs::exists(library, failure)) write_file(library, source);
}

// Compiles a program or finds its code in the cache. If that fails, returns false and sets
// program.log.
bool compile(Program& program) {
  const std::string compiler =
      environment_variable("TENON_EMULATED_CUDA_COMPILER", TENON_EMULATED_COMPILER);
  const std::string builtins = TENON_EMULATED_BUILTINS;
  const std::vector<std::string> flags = {
      "-c", "-std=c++17", "-O1",      "-fPIC",  "-w",
      "-x", "c++",        "-include", builtins, "-ffp-contract=off"};
  static const std::string builtins_text = read_file(builtins);
  const std::string text = add_call_functions(program.source);
  std::string key = compiler + "\n" + builtins_text + text;
  for (const std::string& flag : flags) key += "\n" + flag;
  const std::string cache = environment_variable("TENON_EMULATED_CUDA_CACHE", "");
  std::stringstream name;
  name << std::hex << hash(key) << "-" << key.size() << ".so";
  const fs::path kept = fs::path(cache) / name.str();
  std::error_code failure;
  if (!cache.empty()) {
    fs::create_directories(cache, failure);
    program.code = read_file(kept);
    if (!program.code.empty()) {
      keep_source(kept, program.source);
      return true;
    }
  }

  const char* const base = std::getenv("TMPDIR");
  std::string folder = std::string(base != nullptr ? base : "/tmp") + "/tenon_nvrtc_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    program.log = "cannot make a folder under " + folder;
    return false;
  }
  const fs::path in = fs::path(folder) / "kernel.cu", object = fs::path(folder) / "kernel.o",
                 out = fs::path(folder) / "kernel.so", log = fs::path(folder) / "log";
  std::ofstream(in) << text;
  std::vector<std::string> command = {compiler};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {in.string(), "-o", object.string()});
  // The linker is run directly: the compiler's driver would take as long to start as to compile,
  // and the linker twice as long with the C library. The emulated driver provides its functions.
  const std::vector<std::string> link = {TENON_EMULATED_LINKER, "-shared", object.string(), "-o",
                                         out.string()};
  const std::vector<std::string>* const steps[] = {&command, &link};
  int status = 0;
  for (const auto* const step : steps) {
    if (status == 0) status = run(*step, log);
    if (status != 0 && program.log.empty()) {
      program.log = status == -1 ? step->front() + " cannot be run" : read_file(log);
    }
  }
  if (status == 0) program.code = read_file(out);
  fs::remove_all(folder, failure);
  if (program.code.empty()) return false;
  if (!cache.empty()) {
    write_file(kept, program.code);
    keep_source(kept, program.source);
  }
  return true;
}

}  // namespace

#define ENTRY extern "C" __attribute__((visibility("default"))) nvrtcResult

ENTRY nvrtcVersion(int* major, int* minor) {
  if (const int result = injected("nvrtcVersion")) return result;
  *major = 12;
  *minor = 0;
  return 0;
}

ENTRY nvrtcGetNumSupportedArchs(int* n) {
  if (const int result = injected("nvrtcGetNumSupportedArchs")) return result;
  *n = 3;
  return 0;
}

ENTRY nvrtcGetSupportedArchs(int* architectures) {
  if (const int result = injected("nvrtcGetSupportedArchs")) return result;
  architectures[0] = 80;
  architectures[1] = 90;
  architectures[2] = 100;
  return 0;
}

ENTRY nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char*, int,
                         const char* const*, const char* const*) {
  if (const int result = injected("nvrtcCreateProgram")) return result;
  if (source == nullptr) return kOutOfRange;
  *program = reinterpret_cast<nvrtcProgram>(new Program{source, {}, {}});
  return 0;
}

ENTRY nvrtcDestroyProgram(nvrtcProgram* program) {
  delete &from_c(*program);
  *program = nullptr;
  return injected("nvrtcDestroyProgram");
}

ENTRY nvrtcCompileProgram(nvrtcProgram program, int, const char* const*) {
  if (const int result = injected("nvrtcCompileProgram")) return result;
  return compile(from_c(program)) ? 0 : kFailedToCompile;
}

ENTRY nvrtcGetProgramLogSize(nvrtcProgram program, size_t* size) {
  if (const int result = injected("nvrtcGetProgramLogSize")) return result;
  *size = from_c(program).log.size() + 1;
  return 0;
}

ENTRY nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  if (const int result = injected("nvrtcGetProgramLog")) return result;
  std::strcpy(log, from_c(program).log.c_str());
  return 0;
}

ENTRY nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) {
  if (const int result = injected("nvrtcGetCUBINSize")) return result;
  if (from_c(program).code.empty()) return kBadProgram;
  *size = sizeof(TenonEmulatedCode) + from_c(program).code.size();
  return 0;
}

ENTRY nvrtcGetCUBIN(nvrtcProgram program, char* to) {
  if (const int result = injected("nvrtcGetCUBIN")) return result;
  const std::string& code = from_c(program).code;
  TenonEmulatedCode header = {{}, code.size()};
  std::memcpy(header.magic, kTenonEmulatedMagic, sizeof header.magic);
  std::memcpy(to, &header, sizeof header);
  std::memcpy(to + sizeof header, code.data(), code.size());
  return 0;
}

extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(
    nvrtcResult result) {
  switch (result) {
    case 0:
      return "NVRTC_SUCCESS";
    case kFailedToCompile:
      return "NVRTC_ERROR_COMPILATION";
    default:
      return "NVRTC_ERROR_INTERNAL_ERROR";
  }
}
