// Tests that .npy files are never incomplete, even if several processes write a file concurrently,
// the disk is full or a writing process is killed.

#include "files/testing/writer_suite.h"
#include "tools/tenon/npy.h"

namespace tenon::command {
namespace {

struct NpyWriter {
  void write(const std::string& path, int value) const {
    constexpr size_t kSize = tenon_files::kWriterBytes;
    write_npy(path, kUint8, Shape{kSize}, std::string(kSize, static_cast<char>(value)));
  }
  int read(const std::string& path) const {
    const std::string bytes = read_npy(path).bytes;
    const bool is_whole = bytes.size() == tenon_files::kWriterBytes &&
                          bytes.find_first_not_of(bytes[0]) == std::string::npos;
    return is_whole ? bytes[0] : -1;
  }
};

TENON_WRITER_TESTS(NpyFile, NpyWriter)

}  // namespace
}  // namespace tenon::command
