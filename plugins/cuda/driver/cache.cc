#include "plugins/cuda/driver/cache.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "files/atomic_file.h"
#include "plugins/cuda/driver/loader.h"

namespace tenon_cuda {
namespace {

struct Header {
  char magic[8];
  uint64_t key_size, code_size;
  uint64_t checksum;  // Checksum of the code.
};
constexpr char kMagic[8] = {'t', 'e', 'n', 'o', 'n', 'c', 'u', '1'};
constexpr uint64_t kLargest = uint64_t{1} << 30;

// FNV-1a hash with a seed. It distinguishes sources, but is not collision-resistant against
// attackers.
uint64_t hash(std::string_view bytes, uint64_t seed) {
  uint64_t value = 0xcbf29ce484222325 ^ seed;
  for (const char byte : bytes) {
    value = (value ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    value ^= value >> 29;
  }
  return value;
}

void append_hex(std::string& text, uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
}

}  // namespace

std::string Cache::default_folder() {
  const char* const cache = trusted_environment_variable("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/tenon/cuda";
  const char* const home = trusted_environment_variable("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache/tenon/cuda";
  return {};
}

std::string Cache::file_path(std::string_view key) const {
  std::string path = folder_ + "/";
  append_hex(path, hash(key, 0));
  append_hex(path, hash(key, key.size() + 1));
  return path + ".cubin";
}

std::string Cache::read(std::string_view key) const {
  if (folder_.empty()) return {};
  std::ifstream file(file_path(key), std::ios::binary);
  Header header = {};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return {};
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key_size != key.size() ||
      header.code_size > kLargest) {
    return {};
  }
  std::string kept_key(header.key_size, 0), code(header.code_size, 0);
  if (!file.read(kept_key.data(), static_cast<std::streamsize>(kept_key.size())) ||
      !file.read(code.data(), static_cast<std::streamsize>(code.size()))) {
    return {};
  }
  return kept_key == key && hash(code, 0) == header.checksum ? code : std::string();
}

void Cache::write(std::string_view key, std::string_view code) const {
  if (folder_.empty() || code.size() > kLargest) return;
  Header header = {{}, key.size(), code.size(), hash(code, 0)};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  std::error_code failure;
  std::filesystem::create_directories(folder_, failure);
  tenon_files::AtomicFile file(file_path(key));
  file.write(&header, sizeof header);
  file.write(key.data(), key.size());
  file.write(code.data(), code.size());
  file.finish();
}

}  // namespace tenon_cuda
