// The functions of Stream that copy and fill memory, through staging memory or on the device.

#include <algorithm>

#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/driver/stream.h"

namespace tenon_vulkan {
namespace {

constexpr uint64_t kPiece = uint64_t{4} << 20;  // Maximum number of bytes per staged copy.
constexpr uint64_t kMaxStagedBytes = uint64_t{64}
                                     << 20;  // Maximum number of staged bytes in flight.
constexpr uint64_t kScratch = uint64_t{16}
                              << 20;  // Maximum size of scratch memory for overlapping copies.
constexpr uint64_t kFilledByHost = uint64_t{64} << 10;
constexpr uint64_t kFilledAtOnce = uint64_t{1} << 20;
constexpr size_t kMaxRegions = 64;

bool is_inside(const Buffer& buffer, uint64_t offset, uint64_t size) {
  return offset <= buffer.size && size <= buffer.size - offset;
}

// A pattern of 1, 2, 4 or 8 bytes, repeated to 8 bytes. The lowest byte comes first, also on
// big-endian machines.
struct Pattern {
  std::byte bytes[8];

  explicit Pattern(const std::byte* eight) { std::memcpy(bytes, eight, sizeof bytes); }
  Pattern(uint64_t pattern, uint32_t n) {
    for (uint32_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(pattern >> (8 * (i % n)));
  }
  // Returns the pattern rotated by `n` bytes, which continues the fill after `n` bytes.
  Pattern rotated(uint64_t n) const {
    Pattern later = *this;
    for (uint64_t i = 0; i < 8; ++i) later.bytes[i] = bytes[(i + n) % 8];
    return later;
  }
  bool is_one_word() const { return std::memcmp(bytes, bytes + 4, 4) == 0; }
  uint32_t word() const {
    uint32_t result;
    std::memcpy(&result, bytes, sizeof result);
    return result;
  }
  void write(std::byte* to, uint64_t size) const {
    uint64_t at = 0;
    for (; at + 8 <= size; at += 8) std::memcpy(to + at, bytes, 8);
    std::memcpy(to + at, bytes, size - at);
  }
};

}  // namespace

tenon_error* Stream::copy(const tenon_copy_region& region) {
  if (region.size == 0) return nullptr;
  const tenon_place &from = region.from, &to = region.to;
  for (const tenon_place* place : {&from, &to}) {
    if (place->buffer && !is_inside(from_c(place->buffer), place->offset, region.size)) {
      return driver_.error(TENON_INVALID_ARGUMENT,
                           "copy: bytes " + std::to_string(place->offset) + " to " +
                               std::to_string(place->offset + region.size) +
                               " are outside a buffer of " +
                               std::to_string(from_c(place->buffer).size) + " bytes");
    }
  }
  const auto span = [&](const tenon_place& place) {
    const Buffer& buffer = from_c(place.buffer);
    return Span{buffer, buffer.offset + place.offset, region.size};
  };
  const auto host = [](const tenon_place& place) {
    return static_cast<std::byte*>(place.host) + place.offset;
  };
  Lock lock(mutex_);
  if (driver_.is_lost()) return driver_.lost_error();
  encode_held_dispatches(Which::kAll);
  tenon_error* error;
  if (from.buffer && to.buffer) {
    error = copy_on_device(span(from), span(to));
  } else if (to.buffer) {
    error = upload(lock, host(from), span(to));
  } else if (from.buffer) {
    error = download(lock, span(from), host(to));
  } else {
    error = copy_on_host(host(from), host(to), region.size);
  }
  if (error == nullptr) submit_if_due();
  return error;
}

bool Stream::is_host_accessible(const Buffer& buffer) const {
  return buffer.block.data != nullptr && is_idle();
}

// ---- with the host

void Stream::wait_for_host_copies(Lock& lock, const void* begin, uint64_t size) {
  if (!queue_.has_pending_host_copies()) return;
  if (open_ != nullptr &&
      std::any_of(open_->host_copies.begin(), open_->host_copies.end(),
                  [&](const HostCopy& copy) { return copy.writes(begin, size); })) {
    submit();
  }
  const uint64_t number = queue_.find_host_write(begin, size);
  if (number == 0) return;
  lock.unlock();
  queue_.wait(number);
  lock.lock();
}

// Opens a batch for a transfer. If the staged bytes in flight have reached the limit, first waits
// for the stream's enqueued transfers.
tenon_error* Stream::begin_transfer(Lock& lock, const Ring& ring) {
  if (ring.pending_bytes() >= kMaxStagedBytes) {
    submit();
    const uint64_t number = last_number_;
    lock.unlock();
    queue_.wait(number);
    lock.lock();
  }
  return open_batch();
}

tenon_error* Stream::upload(Lock& lock, const std::byte* from, Span to) {
  wait_for_host_copies(lock, from, to.size);
  if (is_host_accessible(to.buffer)) {
    std::memcpy(to.data(), from, to.size);
    return nullptr;
  }
  for (uint64_t at = 0; at < to.size; at += kPiece) {
    const uint64_t n = std::min(kPiece, to.size - at);
    if (tenon_error* error = begin_transfer(lock, uploads_)) return error;
    Piece piece;
    if (tenon_error* error = uploads_.allocate(n, open_->spent, piece)) return error;
    std::memcpy(piece.data(), from + at, n);
    encode_copy(*piece.block, piece.offset, to.buffer.block, to.offset + at, n);
  }
  return nullptr;
}

tenon_error* Stream::download(Lock& lock, Span from, std::byte* to) {
  if (is_host_accessible(from.buffer)) {
    std::memcpy(to, from.data(), from.size);
    return nullptr;
  }
  for (uint64_t at = 0; at < from.size; at += kPiece) {
    const uint64_t n = std::min(kPiece, from.size - at);
    if (tenon_error* error = begin_transfer(lock, downloads_)) return error;
    Piece piece;
    if (tenon_error* error = downloads_.allocate(n, open_->spent, piece)) return error;
    add_host_copy({piece.data(), to + at, n});
    encode_copy(from.buffer.block, from.offset + at, *piece.block, piece.offset, n);
  }
  return nullptr;
}

tenon_error* Stream::copy_on_host(const std::byte* from, std::byte* to, uint64_t size) {
  if (is_idle()) {
    std::memmove(to, from, size);
    return nullptr;
  }
  if (tenon_error* error = open_batch()) return error;
  add_host_copy({from, to, size});
  ++open_->n_commands;
  open_->has_transfers = true;
  return nullptr;
}

void Stream::add_host_copy(const HostCopy& copy) {
  open_->host_copies.push_back(copy);
  queue_.add_host_copy();
}

// ---- on the device

void Stream::encode_copy(const Block& from, uint64_t from_offset, const Block& to,
                         uint64_t to_offset, uint64_t size) {
  const Access accesses[] = {{from.serial, from_offset, from_offset + size, false},
                             {to.serial, to_offset, to_offset + size, true}};
  const VkBufferCopy region = {from_offset, to_offset, size};
  commands_.add_accesses(accesses);
  commands_.copy(from, to, {&region, 1});
  ++open_->n_commands;
  open_->has_transfers = true;
}

tenon_error* Stream::copy_on_device(Span from, Span to) {
  const bool overlaps = &from.buffer.block == &to.buffer.block &&
                        from.offset < to.offset + to.size && to.offset < from.offset + from.size;
  if (overlaps && from.offset == to.offset) return nullptr;
  if (tenon_error* error = open_batch()) return error;
  if (overlaps) return copy_overlapping(from, to);
  encode_copy(from.buffer.block, from.offset, to.buffer.block, to.offset, to.size);
  return nullptr;
}

// Copies between overlapping ranges of a buffer piece by piece through scratch memory. Begins at
// the end where writing a piece does not overwrite source bytes that are still to be read.
tenon_error* Stream::copy_overlapping(Span from, Span to) {
  const uint64_t step = std::min(from.size, kScratch);
  std::unique_ptr<Buffer> scratch;
  if (tenon_error* error = device_.memory().allocate(step, scratch)) return error;
  const Buffer& apart = *scratch;
  try {
    open_->scratch.push_back(nullptr);
  } catch (...) {
    device_.memory().release(std::move(scratch));
    throw;
  }
  open_->scratch.back() = std::move(scratch);
  const uint64_t n_pieces = (from.size + step - 1) / step;
  for (uint64_t i = 0; i < n_pieces; ++i) {
    const uint64_t at = step * (to.offset > from.offset ? n_pieces - 1 - i : i);
    const uint64_t n = std::min(step, from.size - at);
    encode_copy(from.buffer.block, from.offset + at, apart.block, apart.offset, n);
    encode_copy(apart.block, apart.offset, to.buffer.block, to.offset + at, n);
  }
  return nullptr;
}

// ---- fills

tenon_error* Stream::fill(const tenon_fill_region& region) {
  const uint32_t n = region.pattern_size;
  if (!(n == 1 || n == 2 || n == 4 || n == 8) || region.size % n != 0) {
    return driver_.error(TENON_INVALID_ARGUMENT,
                         "fill: pattern_size must be 1, 2, 4 or 8 and divide the size " +
                             std::to_string(region.size) + ", but is " + std::to_string(n));
  }
  const Buffer& buffer = from_c(region.buffer);
  if (!is_inside(buffer, region.offset, region.size)) {
    return driver_.error(TENON_INVALID_ARGUMENT,
                         "fill: bytes " + std::to_string(region.offset) + " to " +
                             std::to_string(region.offset + region.size) +
                             " are outside a buffer of " + std::to_string(buffer.size) + " bytes");
  }
  if (region.size == 0) return nullptr;
  Lock lock(mutex_);
  if (driver_.is_lost()) return driver_.lost_error();
  encode_held_dispatches(Which::kAll);
  const Pattern pattern(region.pattern, n);
  const Span to = {buffer, buffer.offset + region.offset, region.size};
  if (to.size <= kFilledByHost && is_host_accessible(buffer)) {
    pattern.write(to.data(), to.size);
    return nullptr;
  }
  if (tenon_error* error = begin_transfer(lock, uploads_)) return error;
  tenon_error* const error = fill_span(to, pattern.bytes);
  if (error == nullptr) submit_if_due();
  return error;
}

// Fills whole words by vkCmdFillBuffer. Copies the bytes before and after whole words, and patterns
// whose two words differ, from staging memory.
tenon_error* Stream::fill_span(Span to, const std::byte* bytes) {
  const Pattern pattern(bytes);
  const uint64_t end = to.offset + to.size;
  const uint64_t first = (to.offset + 3) / 4 * 4, last = end / 4 * 4;
  if (!pattern.is_one_word() || first >= last) return fill_bytes(to, bytes);
  if (first > to.offset) {
    const Span head = {to.buffer, to.offset, first - to.offset};
    if (tenon_error* error = fill_bytes(head, bytes)) return error;
  }
  fill_words({to.buffer, first, last - first}, pattern.rotated(first - to.offset).word());
  if (last == end) return nullptr;
  return fill_bytes({to.buffer, last, end - last}, pattern.rotated(last - to.offset).bytes);
}

void Stream::fill_words(Span to, uint32_t word) {
  const Access access = to.access(true);
  commands_.add_accesses({&access, 1});
  commands_.fill(to.buffer.block, to.offset, to.size, word);
  ++open_->n_commands;
  open_->has_transfers = true;
}

tenon_error* Stream::fill_bytes(Span to, const std::byte* bytes) {
  const uint64_t step = std::min(to.size, kFilledAtOnce);
  Piece piece;
  if (tenon_error* error = uploads_.allocate(step, open_->spent, piece)) return error;
  Pattern(bytes).write(piece.data(), step);
  const Access access = to.access(true);
  commands_.add_accesses({&access, 1});
  for (uint64_t at = 0; at < to.size;) {
    VkBufferCopy regions[kMaxRegions];
    size_t n = 0;
    for (; n < kMaxRegions && at < to.size; ++n, at += step) {
      regions[n] = {piece.offset, to.offset + at, std::min(step, to.size - at)};
    }
    commands_.copy(*piece.block, to.buffer.block, {regions, n});
  }
  ++open_->n_commands;
  open_->has_transfers = true;
  return nullptr;
}

}  // namespace tenon_vulkan
