// Checks copies and fills at unaligned offsets.

#include <algorithm>

#include "conformance/device/device_check.h"

namespace tenon_kit::device {
namespace {

constexpr uint64_t kSizes[] = {0, 1, 2, 3, 7, 8, 31, 64, 65, 255, 4097};
constexpr uint64_t kOffsets[] = {0, 1, 3, 8, 63, 64, 100};
constexpr uint64_t kBuffer = 5000;

Bytes slice_bytes(const Bytes& all, uint64_t offset, uint64_t size) {
  const auto first = all.begin() + static_cast<ptrdiff_t>(offset);
  return Bytes(first, first + static_cast<ptrdiff_t>(size));
}

void overwrite_bytes(Bytes& all, uint64_t offset, const Bytes& some) {
  std::copy(some.begin(), some.end(), all.begin() + static_cast<ptrdiff_t>(offset));
}

// Returns a description of a copy for messages.
std::string describe_copy(const char* what, uint64_t size, uint64_t from, uint64_t to) {
  return fmt::format("{} of {} bytes from offset {} to offset {}", what, size, from, to);
}

// Checks that copies to the device and back work at any offset.
void test_roundtrip(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  const Buffer buffer(bench, kBuffer);
  Bytes model = pseudorandom_bytes(kBuffer, 1);
  stream.write_now(buffer, 0, model);
  uint32_t seed = 2;
  for (const uint64_t size : kSizes) {
    for (const uint64_t offset : kOffsets) {
      const Bytes bytes = pseudorandom_bytes(size, seed++);
      stream.write_now(buffer, offset, bytes);
      overwrite_bytes(model, offset, bytes);
      Bytes host(size + 200, 0xee), want = host;
      const tenon_copy_region read = {place_in(buffer, offset), host_place(host.data(), 100), size,
                                      0};
      expect_success(bench.calls().copy(stream.get(), &read), "copy to the host");
      stream.finish();
      overwrite_bytes(want, 100, bytes);
      expect_bytes(host, want, describe_copy("a copy to the device and back", size, offset, 100));
    }
    expect_bytes(stream.read_now(buffer, 0, kBuffer), model,
                 "the bytes of a buffer around a written range");
  }
}

// Checks that copies within the device work between any two offsets.
void test_device_copies(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  const Buffer a(bench, kBuffer), b(bench, kBuffer);
  const Bytes from = pseudorandom_bytes(kBuffer, 1);
  Bytes to = pseudorandom_bytes(kBuffer, 2);
  stream.write_now(a, 0, from);
  stream.write_now(b, 0, to);
  for (const uint64_t size : kSizes) {
    for (const uint64_t offset : kOffsets) {
      const uint64_t at = 163 - offset;
      stream.copy(a, offset, b, at, size);
      overwrite_bytes(to, at, slice_bytes(from, offset, size));
      expect_bytes(stream.read_now(b, 0, kBuffer), to, describe_copy("a copy", size, offset, at));
    }
  }
  expect_bytes(stream.read_now(a, 0, kBuffer), from, "the source of a copy, which must not change");
  // A copy between disjoint ranges of one buffer.
  stream.copy(a, 0, a, 2500, 2000);
  Bytes moved = from;
  overwrite_bytes(moved, 2500, slice_bytes(from, 0, 2000));
  expect_bytes(stream.read_now(a, 0, kBuffer), moved, "data that were copied within one buffer");
  // Copies between two host addresses.
  const Bytes source = pseudorandom_bytes(300, 7);
  Bytes target(300);
  const tenon_copy_region region = {host_place(source.data(), 1), host_place(target.data(), 2), 290,
                                    0};
  expect_success(bench.calls().copy(stream.get(), &region), "copy from host to host");
  stream.finish();
  expect_bytes(slice_bytes(target, 2, 290), slice_bytes(source, 1, 290),
               "data that were copied from host to host");
}

// Checks overlapping copies: the plugin refuses the copy, or copies as if through a temporary
// buffer. Bytes around the target must not change.
void test_overlap(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  const Buffer buffer(bench, kBuffer);
  for (const auto& [from, to] : {std::pair<uint64_t, uint64_t>{0, 100}, {100, 0}, {64, 65}}) {
    const Bytes before = pseudorandom_bytes(kBuffer, 3);
    stream.write_now(buffer, 0, before);
    const tenon_copy_region region = {place_in(buffer, from), place_in(buffer, to), 3000, 0};
    tenon_error* error = bench.calls().copy(stream.get(), &region);
    const bool refused = error != nullptr;
    if (refused) {
      const Failure failure = take_failure(error);
      require(failure.code == TENON_UNIMPLEMENTED, "an overlapping copy failed: {}",
              failure.message);
    }
    Bytes want = before;
    if (!refused) overwrite_bytes(want, to, slice_bytes(before, from, 3000));
    expect_bytes(
        stream.read_now(buffer, 0, kBuffer), want,
        describe_copy(refused ? "after a refused copy" : "an overlapping copy", 3000, from, to));
  }
}

// Checks that fills with patterns of 1, 2, 4 and 8 bytes write exactly their range.
void test_fill(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  const Buffer buffer(bench, kBuffer);
  Bytes model = pseudorandom_bytes(kBuffer, 1);
  stream.write_now(buffer, 0, model);
  constexpr uint64_t kPattern = 0x8877665544332211;
  for (const uint32_t n : {1u, 2u, 4u, 8u}) {
    for (const uint64_t count : {0, 1, 2, 3, 31, 129, 500}) {
      for (const uint64_t offset : {uint64_t{0}, uint64_t{n}, uint64_t{64} + n}) {
        tenon_fill_region region = {buffer.get(), offset, count * n, kPattern, n, 0};
        expect_success(bench.calls().fill(stream.get(), &region), "fill");
        region = {};  // The plugin may read it only during the call.
        // The fill pattern starts with its low byte on any machine.
        for (uint64_t i = 0; i < count * n; ++i) {
          model[offset + i] = static_cast<unsigned char>(kPattern >> (8 * (i % n)));
        }
        expect_bytes(
            stream.read_now(buffer, 0, kBuffer), model,
            fmt::format("after a fill of {} patterns of {} bytes at offset {}", count, n, offset));
      }
    }
  }
}

}  // namespace

std::vector<DeviceCheck> copy_checks() {
  return {
      {"memory", "roundtrip", 1, "Copies to the device and back work at any offset.",
       test_roundtrip},
      {"memory", "device_copies", 1, "Copies within the device work between any two offsets.",
       test_device_copies},
      {"memory", "overlap", 1, "Overlapping copies are rejected or correct.", test_overlap},
      {"memory", "fill_patterns", 1,
       "Fills with patterns of 1, 2, 4 and 8 bytes write exactly their range.", test_fill},
  };
}

}  // namespace tenon_kit::device
