// The functions of Stream that copy and fill memory.

#include <algorithm>
#include <cstring>

#include "plugins/cuda/driver/stream.h"

namespace tenon_cuda {
namespace {

std::byte* host_address(const tenon_place& place) {
  return static_cast<std::byte*>(place.host) + place.offset;
}
CUdeviceptr device_address(const tenon_place& place) {
  return from_c(place.buffer).data + place.offset;
}

}  // namespace

tenon_error* Stream::copy(const tenon_copy_region& region) {
  if (tenon_error* error = driver_.check_lost()) return error;
  if (region.size == 0) return nullptr;
  const Entered entered(driver_, device_.context());
  if (tenon_error* error = entered.error()) return error;
  const bool is_from_device = region.from.buffer != nullptr;
  const bool is_to_device = region.to.buffer != nullptr;
  if (is_from_device && is_to_device) {
    const CUdeviceptr from = device_address(region.from), to = device_address(region.to);
    const Memory& source = from_c(region.from.buffer).memory;
    if (&source != &device_.memory()) {
      if (tenon_error* error = device_.request_access_to(source)) return error;
      return driver_.check(driver_.cu.MemcpyPeerAsync(to, device_.context(), from, source.context(),
                                                      region.size, stream_),
                           "a copy between devices");
    }
    if (from == to) return nullptr;
    if (from < to + region.size && to < from + region.size) {
      return driver_.error(
          TENON_UNIMPLEMENTED,
          "cuda: copy: source and destination overlap in device memory, which is not supported");
    }
    return driver_.check(driver_.cu.MemcpyDtoDAsync(to, from, region.size, stream_), "a copy");
  }
  if (is_to_device)
    return upload(host_address(region.from), device_address(region.to), region.size);
  if (is_from_device)
    return download(device_address(region.from), host_address(region.to), region.size);
  return copy_on_host(host_address(region.from), host_address(region.to), region.size);
}

tenon_error* Stream::upload(const std::byte* from, CUdeviceptr to, uint64_t size) {
  if (tenon_error* error = wait_for_host_copies(from, size)) return error;
  const void* source = from;
  if (size <= Staging::kLargestCopy) {
    std::byte* staged = nullptr;
    if (tenon_error* error = reserve_staging(size, staged)) return error;
    std::memcpy(staged, from, size);
    source = staged;
  }
  return driver_.check(driver_.cu.MemcpyHtoDAsync(to, source, size, stream_),
                       "a copy to the device");
}

tenon_error* Stream::download(CUdeviceptr from, std::byte* to, uint64_t size) {
  if (size > Staging::kLargestCopy) {
    if (tenon_error* error = wait_for_host_copies(to, size)) return error;
    return driver_.check(driver_.cu.MemcpyDtoHAsync(to, from, size, stream_),
                         "a copy from the device");
  }
  std::byte* staged = nullptr;
  if (tenon_error* error = reserve_staging(size, staged)) return error;
  const CUresult result = driver_.cu.MemcpyDtoHAsync(staged, from, size, stream_);
  if (tenon_error* error = driver_.check(result, "a copy from the device")) return error;
  std::lock_guard guard(mutex_);
  next_.copies.push_back({staged, to, size});
  return nullptr;
}

tenon_error* Stream::copy_on_host(const std::byte* from, std::byte* to, uint64_t size) {
  std::lock_guard guard(mutex_);
  next_.copies.push_back({from, to, size});
  return nullptr;
}

tenon_error* Stream::reserve_staging(uint64_t size, std::byte*& staged) {
  {
    std::lock_guard guard(mutex_);
    staged = staging_.take(size);
  }
  if (staged != nullptr) return nullptr;
  uint64_t number;
  if (tenon_error* error = add_mark({}, number)) return error;
  if (tenon_error* error = wait_for_mark(number)) return error;
  std::lock_guard guard(mutex_);
  staged = staging_.take(size);
  if (staged != nullptr) return nullptr;
  return driver_.error(TENON_INTERNAL,
                       "cuda: no pinned memory is free although all earlier copies have completed");
}

tenon_error* Stream::wait_for_host_copies(const std::byte* begin, uint64_t size) {
  const auto overlaps = [&](const Mark& mark) {
    return std::any_of(mark.copies.begin(), mark.copies.end(), [&](const HostCopy& copy) {
      return copy.to < begin + size && begin < copy.to + copy.size;
    });
  };
  {
    std::lock_guard guard(mutex_);
    if (!overlaps(next_) && std::none_of(marks_.begin(), marks_.end(), overlaps)) {
      // If another thread holds the lock, it may be performing such a copy.
      if (passing_.try_lock()) {
        passing_.unlock();
        return nullptr;
      }
    }
  }
  uint64_t number;
  if (tenon_error* error = add_mark({}, number)) return error;
  return wait_for_mark(number);
}

// ---- fills

tenon_error* Stream::fill(const tenon_fill_region& region) {
  if (tenon_error* error = driver_.check_lost()) return error;
  if (region.size == 0) return nullptr;
  const Entered entered(driver_, device_.context());
  if (tenon_error* error = entered.error()) return error;
  return fill_pattern(from_c(region.buffer).data + region.offset, region);
}

tenon_error* Stream::fill_pattern(CUdeviceptr data, const tenon_fill_region& region) {
  std::byte pattern[8];
  for (uint32_t i = 0; i < sizeof pattern; ++i) {
    pattern[i] = reinterpret_cast<const std::byte*>(&region.pattern)[i % region.pattern_size];
  }
  // Whether the pattern repeats after `width` bytes, and address and size are multiples of
  // `width`.
  const auto repeats = [&](size_t width) {
    return std::memcmp(pattern, pattern + width, sizeof pattern - width) == 0 &&
           data % width == 0 && region.size % width == 0;
  };
  const auto as = [&]<class Value>(Value value) {
    std::memcpy(&value, pattern, sizeof value);
    return value;
  };
  if (repeats(1)) {
    return driver_.check(driver_.cu.MemsetD8Async(data, as(uint8_t{}), region.size, stream_),
                         "a fill");
  }
  if (repeats(4)) {
    return driver_.check(driver_.cu.MemsetD32Async(data, as(uint32_t{}), region.size / 4, stream_),
                         "a fill");
  }
  if (repeats(2)) {
    return driver_.check(driver_.cu.MemsetD16Async(data, as(uint16_t{}), region.size / 2, stream_),
                         "a fill");
  }
  // Other patterns are repeated in pinned memory and copied.
  for (uint64_t done = 0; done < region.size;) {
    const uint64_t size = std::min<uint64_t>(region.size - done, Staging::kLargestCopy);
    std::byte* staged = nullptr;
    if (tenon_error* error = reserve_staging(size, staged)) return error;
    for (uint64_t i = 0; i < size; ++i) staged[i] = pattern[(done + i) % sizeof pattern];
    const CUresult result = driver_.cu.MemcpyHtoDAsync(data + done, staged, size, stream_);
    if (tenon_error* error = driver_.check(result, "a fill")) return error;
    done += size;
  }
  return nullptr;
}

}  // namespace tenon_cuda
