// The file in which a driver's pipelines are kept between runs: a header that says whose they are
// and what they sum up to, and the driver's own bytes. Drivers have been seen to trust such bytes,
// so a file that is torn or foreign is not shown to them.

#pragma once

#include <array>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "plugins/vulkan/driver/driver.h"

namespace tenon_vulkan {

uint64_t hash_bytes(std::span<const std::byte> bytes);

// The driver and the device, as the driver tells them apart.
using CacheKey = std::array<uint32_t, 8>;
CacheKey cache_key(const Driver& driver);

// Empty: nothing is to be kept.
std::string cache_path(const Driver& driver);

// Empty: there is no such file, or not a whole one of this key.
std::vector<std::byte> read_cache(const std::string& path, const CacheKey& key);

// Whoever reads the file meanwhile sees the old one or the new one. False: it could not be written.
bool write_whole(const std::filesystem::path& path,
                 std::initializer_list<std::span<const std::byte>> parts);

// What fails is not told: the next run compiles again.
void write_cache(const std::string& path, const CacheKey& key, std::span<const std::byte> data);

}  // namespace tenon_vulkan
