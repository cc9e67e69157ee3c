// Safetensors files with concurrent writers, a full disk, or killed processes.

#include <cstring>

#include "core/base/error.h"
#include "core/io/safetensors.h"
#include "files/testing/writer_suite.h"

namespace tenon {
namespace {

constexpr int64_t kSize = tenon_files::kWriterBytes;

struct SafetensorsWriter {
  void write(const std::string& path, int value) const {
    const TensorToStore x = {
        "x", TensorType(DType::kU8, Dims({kSize})),
        [=](void* to, uint64_t size) { std::memset(to, value, static_cast<size_t>(size)); }};
    save_safetensors(path, {x}, {});
  }
  int read(const std::string& path) const {
    const Ref<Safetensors> file = Safetensors::open(path);
    const std::vector<std::byte> bytes = file->read(file->find("x"));
    for (const std::byte byte : bytes) {
      if (byte != bytes[0]) return -1;
    }
    return static_cast<int>(bytes[0]);
  }
};

TENON_WRITER_TESTS(SafetensorsFile, SafetensorsWriter)

TEST(SafetensorsFile, ReportsTheCauseInTheErrorCode) {
  const tenon_files::WriterFolder folder;
  const auto code_of = [](const std::string& path) {
    try {
      SafetensorsWriter().write(path, 1);
    } catch (const Error& error) {
      return error.code();
    }
    return Code::kOk;
  };
  EXPECT_EQ(code_of(folder.file("no/such/folder")), Code::kNotFound);
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_EQ(code_of("/dev/full"), Code::kUnavailable);
  }
}

}  // namespace
}  // namespace tenon
