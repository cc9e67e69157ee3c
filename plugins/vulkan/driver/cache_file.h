// The file that keeps a driver's pipeline cache between runs: a header with the device's identity
// and a checksum, followed by the driver's own bytes. Some drivers trust these bytes blindly, so an
// incomplete file or a file of another driver is not passed to them.

#pragma once

#include <array>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "plugins/vulkan/driver/driver.h"

namespace tenon_vulkan {

// Returns a hash of the bytes. It is not collision-resistant against attackers.
uint64_t hash_bytes(std::span<const std::byte> bytes);

// The identity of the driver and the device, as the driver reports it.
using CacheKey = std::array<uint32_t, 8>;
CacheKey cache_key(const Driver& driver);

// Returns the path of the cache file, or an empty string if the cache is disabled.
std::string cache_path(const Driver& driver);

// Returns the cached data, or an empty vector if the file does not exist, is incomplete or has
// another key.
std::vector<std::byte> read_cache(const std::string& path, const CacheKey& key);

// Replaces the file atomically: concurrent readers see the old file or the new one. Returns false
// if it could not be written.
bool write_whole(const std::filesystem::path& path,
                 std::initializer_list<std::span<const std::byte>> parts);

// Writes the cache file. Failures are ignored, because the next run can compile the pipelines
// again.
void write_cache(const std::string& path, const CacheKey& key, std::span<const std::byte> data);

}  // namespace tenon_vulkan
