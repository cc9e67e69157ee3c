#include "plugins/vulkan/driver/cache_file.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "files/atomic_file.h"

namespace tenon_vulkan {
namespace {

struct Header {
  char magic[8];
  CacheKey key;
  uint64_t size;
  uint64_t hash;
};
constexpr char kMagic[8] = {'t', 'e', 'n', 'o', 'n', 'v', 'k', '1'};
constexpr uint64_t kLargest = uint64_t{1} << 30;

// Returns the cache folder in the user's home folder. Other users must not be able to write to it,
// because drivers do not validate the cached data.
std::filesystem::path default_folder() {
  const char* const cache = trusted_environment_variable("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::filesystem::path(cache) / "tenon/vulkan";
  const char* const home = trusted_environment_variable("HOME");
  if (home != nullptr && home[0] == '/') {
    return std::filesystem::path(home) / ".cache/tenon/vulkan";
  }
  return {};
}

// Returns the bytes as hexadecimal digits.
std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += "0123456789abcdef"[static_cast<size_t>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<size_t>(byte) & 15];
  }
  return text;
}

}  // namespace

// FNV-1a hash over 8-byte words, with a final mix. It distinguishes files and shaders, but is not
// collision-resistant against attackers.
uint64_t hash_bytes(std::span<const std::byte> bytes) {
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t hash = 0xcbf29ce484222325 ^ bytes.size();
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t n = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), n);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 29;
    bytes = bytes.subspan(n);
  }
  return hash ^ hash >> 32;
}

CacheKey cache_key(const Driver& driver) {
  const VkPhysicalDeviceProperties& device = driver.physical().properties;
  CacheKey key = {device.vendorID, device.deviceID, device.driverVersion, sizeof(void*)};
  std::memcpy(&key[4], device.pipelineCacheUUID, VK_UUID_SIZE);
  return key;
}

std::string cache_path(const Driver& driver) {
  const std::optional<std::string>& option = driver.options().cache;
  const std::filesystem::path folder = option ? std::filesystem::path(*option) : default_folder();
  if (folder.empty()) return {};
  const CacheKey key = cache_key(driver);
  return (folder / (to_hex(std::as_bytes(std::span(key))) + ".pipelines")).string();
}

std::vector<std::byte> read_cache(const std::string& path, const CacheKey& key) {
  if (path.empty()) return {};
  std::ifstream file(path, std::ios::binary);
  Header header = {};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return {};
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key != key) return {};
  std::error_code failure;
  const uint64_t whole = std::filesystem::file_size(path, failure);
  if (failure || header.size > kLargest || whole != sizeof header + header.size) return {};
  std::vector<std::byte> data(header.size);
  if (!file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()))) {
    return {};
  }
  return hash_bytes(data) == header.hash ? data : std::vector<std::byte>();
}

bool write_whole(const std::filesystem::path& path,
                 std::initializer_list<std::span<const std::byte>> parts) {
  std::error_code failure;
  std::filesystem::create_directories(path.parent_path(), failure);
  tenon_files::AtomicFile file(path.string());
  for (const std::span<const std::byte> part : parts) file.write(part.data(), part.size());
  return file.finish();
}

void write_cache(const std::string& path, const CacheKey& key, std::span<const std::byte> data) {
  if (data.size() > kLargest) return;
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key = key;
  header.size = data.size();
  header.hash = hash_bytes(data);
  write_whole(path, {std::as_bytes(std::span(&header, 1)), data});
}

}  // namespace tenon_vulkan
