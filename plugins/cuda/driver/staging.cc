#include "plugins/cuda/driver/staging.h"

namespace tenon_cuda {

constexpr uint64_t kAlignment = 64;

tenon_error* Staging::allocate() {
  if (data_ != nullptr) return nullptr;
  void* data = nullptr;
  const CUresult result = driver_.cu.MemHostAlloc(&data, kBytes, 0);
  data_ = static_cast<std::byte*>(data);
  return driver_.check(result, "allocating pinned memory");
}

Staging::~Staging() {
  if (data_ == nullptr) return;
  const Entered entered(driver_, context_);
  driver_.cu.MemFreeHost(data_);
}

// Returns space for a copy; NULL if the space of earlier copies must be released first.
std::byte* Staging::take(uint64_t size) {
  const uint64_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  uint64_t begin = taken_;
  if (begin % kBytes + rounded > kBytes)
    begin +=
        kBytes -
        begin %
            kBytes;  // Skips the end of the ring, because the space for a copy must be contiguous.
  if (begin + rounded - released_ > kBytes) return nullptr;
  taken_ = begin + rounded;
  return data_ + begin % kBytes;
}

}  // namespace tenon_cuda
