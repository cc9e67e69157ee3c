#include "core/io/onnx/external_data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/os_error.h"
#include "core/base/storage_dtype.h"

namespace tenon::onnx {
namespace {

// O_NONBLOCK is set, because opening a named pipe would otherwise wait for a writer.
constexpr int kReading = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

// Returns the status of an open file.
struct stat status_of(int descriptor) {
  struct stat status = {};
  require_code(::fstat(descriptor, &status) == 0, Code::kNotFound, "a file cannot be read: {}",
               std::strerror(errno));
  return status;
}

// Splits a location at slashes: the folders, then the file.
std::vector<std::string> parts_of(const std::string& location) {
  std::vector<std::string> parts = {""};
  for (const char c : location) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
    require_code(c != '\0' && c != '\\', Code::kDataLoss,
                 "the location of external data contains a character that is not allowed in paths");
  }
  for (const std::string& part : parts) {
    require_code(!part.empty() && part != "." && part != "..", Code::kDataLoss,
                 "\"{}\" must be a plain relative path within the model's folder", location);
  }
  return parts;
}

}  // namespace

OpenFile::~OpenFile() {
  if (is_open()) ::close(descriptor_);
}
OpenFile::OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

uint64_t OpenFile::size() const { return static_cast<uint64_t>(status_of(descriptor_).st_size); }

void OpenFile::read(uint64_t offset, void* to, uint64_t n) const {
  auto* at = static_cast<char*>(to);
  while (n > 0) {
    const ssize_t got = ::pread(descriptor_, at, n, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    require_code(got > 0, Code::kDataLoss, "a file ends before byte {}, or cannot be read",
                 offset + n);
    at += got;
    offset += static_cast<uint64_t>(got);
    n -= static_cast<uint64_t>(got);
  }
}

std::string read_whole(const OpenFile& file, uint64_t most, std::string_view name) {
  const uint64_t size = file.size();
  require_code(size <= most, Code::kDataLoss, "\"{}\" has {} bytes, more than the maximum of {}",
               name, size, most);
  std::string bytes(size, '\0');
  file.read(0, bytes.data(), size);
  return bytes;
}

std::string read_whole_file(const std::string& path, uint64_t most) {
  const OpenFile file(::open(path.c_str(), kReading));
  const int error = errno;
  require_code(file.is_open(), code_of_errno(error), "\"{}\" cannot be opened: {}", path,
               std::strerror(error));
  require_code(S_ISREG(status_of(file.descriptor()).st_mode), Code::kInvalidArgument,
               "\"{}\" is not a file", path);
  return read_whole(file, most, path);
}

// Opens a file by its path relative to the folder, or returns it if it was opened last.
const OpenFile& ModelFolder::open(const std::string& location) {
  if (file_.is_open() && location == location_) return file_;
  const std::vector<std::string> parts = parts_of(location);
  require_code(
      !path_.empty(), Code::kInvalidArgument,
      "external data must be in the model's folder, but this model was not read from a folder");
  if (!folder_.is_open()) folder_ = OpenFile(::open(path_.c_str(), kReading | O_DIRECTORY));
  OpenFile inner;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int from = i == 0 ? folder_.descriptor() : inner.descriptor();
    const int folder = i + 1 < parts.size() ? O_DIRECTORY : 0;
    OpenFile next(::openat(from, parts[i].c_str(), kReading | O_NOFOLLOW | folder));
    const int error = errno;
    require_code(
        next.is_open(),
        error == ENOENT || error == EACCES || error == ENOMEM ? code_of_errno(error)
                                                              : Code::kDataLoss,
        "\"{}\" cannot be opened as a file of the model's folder without symbolic links: {}",
        location, std::strerror(error));
    inner = std::move(next);
  }
  const struct stat status = status_of(inner.descriptor());
  require_code(
      S_ISREG(status.st_mode) && status.st_nlink == 1, Code::kDataLoss,
      "\"{}\" is not a regular file with a single link, so it could be outside the model's folder",
      location);
  file_ = std::move(inner);
  location_ = location;
  return file_;
}

// Reads the elements of a tensor from its external file into `data`.
void ModelFolder::load(TensorData& data) {
  const ExternalData external = *data.external;
  const OpenFile& file = open(external.location);
  const uint64_t size = file.size(), needed = packed_bytes_of(data.type);
  require_code(
      external.offset <= size && needed <= size - external.offset, Code::kDataLoss,
      "tensor \"{}\" is {} and has {} bytes at offset {} of \"{}\", which has only {} bytes",
      data.name, data.type, needed, external.offset, external.location, size);
  const uint64_t length = external.length.value_or(needed);
  require_code(length == needed, Code::kDataLoss,
               "tensor \"{}\" is {} and needs {} bytes, but has {} bytes", data.name, data.type,
               needed, length);
  data.converted.resize(needed);
  file.read(external.offset, data.converted.data(), needed);
  data.unreadable.clear();
  data.external.reset();
  normalise(data);
}

}  // namespace tenon::onnx
