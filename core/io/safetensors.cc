#include "core/io/safetensors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/os_error.h"

namespace tenon {
namespace {

[[noreturn]] void rethrow_with_path(const Error& error, const std::string& path) {
  fail_because(error, error.code(), "{}: {}", {path, error.what()});
}

}  // namespace

Ref<Safetensors> Safetensors::open(const std::string& path) {
  auto file = Ref<Safetensors>::adopt(new Safetensors);
  file->path_ = path;
  errno = 0;
  file->file_.open(path, std::ios::binary | std::ios::ate);
  if (!file->file_) {
    const int error = errno;
    fail(code_of_errno(error), "{}: {}", {path, std::strerror(error)});
  }
  const std::streamoff size = file->file_.tellg();
  try {
    file->file_.seekg(0);  // A folder has a size but cannot be read.
    const bool readable = size == 0 || file->file_.peek() != std::ifstream::traits_type::eof();
    require_code(size >= 0 && readable, Code::kUnavailable, "cannot be read");
    file->header_ = SafetensorsHeader::parse(
        static_cast<uint64_t>(size),
        [&](uint64_t offset, void* to, uint64_t n) { file->read_bytes(offset, to, n); });
  } catch (const Error& error) {
    rethrow_with_path(error, path);
  }
  return file;
}

Ref<Safetensors> Safetensors::open_memory(std::string bytes) {
  auto file = Ref<Safetensors>::adopt(new Safetensors);
  file->bytes_ = std::move(bytes);
  file->header_ = SafetensorsHeader::parse(
      file->bytes_.size(),
      [&](uint64_t offset, void* to, uint64_t n) { file->read_bytes(offset, to, n); });
  return file;
}

const StoredTensor& Safetensors::find(std::string_view name) const {
  const auto at = header_.by_name.find(name);
  if (at != header_.by_name.end()) return header_.tensors[at->second];
  constexpr size_t kMaxNames = 50;  // The message lists at most this many names.
  std::string names;
  for (size_t i = 0; i < std::min(kMaxNames, header_.tensors.size()); ++i) {
    names += (names.empty() ? "" : ", ") + header_.tensors[i].name;
  }
  if (header_.tensors.size() > kMaxNames) {
    names += format(" and {} more", {header_.tensors.size() - kMaxNames});
  }
  fail(Code::kNotFound, "{}there is no tensor \"{}\"; there are: {}",
       {path_.empty() ? path_ : path_ + ": ", name, names});
}

std::vector<std::byte> Safetensors::read(const StoredTensor& tensor) const {
  try {
    return read_elements(
        tensor, [&](uint64_t offset, void* to, uint64_t size) { read_bytes(offset, to, size); });
  } catch (const Error& error) {
    rethrow_with_path(error, path_);
  }
}

void Safetensors::read_bytes(uint64_t offset, void* to, uint64_t size) const {
  if (size == 0) return;
  if (path_.empty()) {
    std::memcpy(to, bytes_.data() + offset, size);  // parse() checked the bounds.
    return;
  }
  std::lock_guard guard(mutex_);
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  file_.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
  require_code(file_.gcount() == static_cast<std::streamsize>(size), Code::kDataLoss,
               "bytes {} to {} cannot be read", offset, offset + size);
}

}  // namespace tenon
