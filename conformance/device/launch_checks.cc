// Checks launches: order, operands, and reports of failures.

#include <cstring>

#include "conformance/device/device_check.h"
#include "conformance/device/launching.h"

namespace tenon_kit::device {
namespace {

constexpr tenon_dtype kDTypes[] = {TENON_FLOAT32, TENON_INT32, TENON_FLOAT16, TENON_UINT8};

Bytes bytes_of(const std::vector<int64_t>& values) {
  Bytes bytes(values.size() * sizeof(int64_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// A kernel of the op `copy`, which every plugin must have, prepared for vectors of `n` elements.
struct Copying {
  Copying(const Bench& bench, int64_t n) {
    for (const tenon_dtype dtype : kDTypes) {
      const std::optional<size_t> line = line_of(bench.plugin(), TENON_OP_copy, {dtype});
      if (!line) continue;
      in = {dtype, {n}, {}, false};
      in.bytes = pseudorandom_bytes(in.size(), static_cast<uint32_t>(n) + 1);
      out = {dtype, {n}, {}, false};
      kernel.emplace(bench, *line, nullptr, std::vector<Arg>{in}, std::vector<Arg>{out});
      if (kernel->get()) return;
    }
    throw Unsupported("the plugin has no copy kernel, which the host needs to make tensors dense");
  }

  Arg in, out;
  std::optional<Prepared> kernel;
};

// Checks that launches accept operands of any size, including empty ones.
void test_sizes(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  for (const int64_t n : {0, 1, 2, 3, 17, 1000, 70000}) {
    const Copying copying(bench, n);
    Launching launching(bench, stream, *copying.kernel, {copying.in}, {copying.out});
    expect_success(launching.launch(), "launch of copy");
    expect_bytes(launching.output(0), copying.in.bytes,
                 fmt::format("the output of `copy` for {} elements", n));
  }
  expect_none_failed("launch");
}

// Checks that no launch is lost without a report while many are in flight.
void test_reports(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  const Copying copying(bench, 100);
  std::vector<std::unique_ptr<Launching>> launches;
  for (uint64_t i = 0; i < 50; ++i) {
    Arg in = copying.in;
    in.bytes = pseudorandom_bytes(in.size(), static_cast<uint32_t>(i));
    launches.push_back(std::make_unique<Launching>(
        bench, stream, *copying.kernel, std::vector<Arg>{in}, std::vector<Arg>{copying.out}));
  }
  for (uint64_t i = 0; i < launches.size(); ++i) {
    if (tenon_error* error = launches[i]->launch(i + 1)) {
      const Failure failure = take_failure(error);
      throw Fault(fmt::format("launch {} of 50 was refused: {}", i + 1, failure.message));
    }
  }
  const Failure reported = stream.wait_with_notify();
  const std::vector<FailedLaunch> failed = take_failed_launches();
  for (const FailedLaunch& one : failed) {
    const bool known = one.ticket >= 1 && one.ticket <= launches.size() &&
                       one.work == launches[one.ticket - 1].get();
    require(known, "launch_failed was called with a work and ticket that no launch had");
    require(
        !bench.has(TENON_FEATURE_SYNCHRONOUS),
        "launch_failed was called on a SYNCHRONOUS device, whose `launch` must return the error");
  }
  if (!failed.empty()) throw Fault("a launch failed: " + failed[0].failure.message);
  require(reported.code == TENON_OK, "a launch failed, but launch_failed did not report which: {}",
          reported.message);
  for (size_t i = 0; i < launches.size(); ++i) {
    expect_bytes(
        launches[i]->output(0), pseudorandom_bytes(copying.in.size(), static_cast<uint32_t>(i)),
        fmt::format("the output of launch {} of 50, whose failure was not reported", i + 1));
  }
}

// Checks that an operand that is passed by value is read during the call.
void test_scalars_by_value(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  for (const tenon_dtype dtype : kDTypes) {
    const std::optional<size_t> line = line_of(bench.plugin(), TENON_OP_fill, {dtype});
    if (!line) continue;
    tenon_fill_attrs attrs = {};
    attrs.struct_size = sizeof attrs;
    const int64_t shape[] = {40};
    attrs.shape = shape;
    attrs.n_shape = 1;
    const Arg value = {dtype, {}, pseudorandom_bytes(Arg{dtype, {}, {}, false}.size(), 3), true};
    const Arg out = {dtype, {40}, {}, false};
    const Prepared kernel(bench, *line, &attrs, {value}, {out});
    if (!kernel.get()) continue;
    Launching launching(bench, stream, kernel, {value}, {out});
    expect_success(launching.launch(), "launch of fill");
    Bytes want;
    for (int i = 0; i < 40; ++i) want.insert(want.end(), value.bytes.begin(), value.bytes.end());
    expect_bytes(launching.output(0), want,
                 "the output of `fill`, whose value was changed after the call");
    return;
  }
  throw Unsupported("the plugin has no fill kernel");
}

// ---- indices out of range

// Checks that a launch records an index out of range and does not fail.
void test_error_records_of_launches(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  const std::optional<size_t> line =
      line_of(bench.plugin(), TENON_OP_gather, {TENON_FLOAT32, TENON_INT64});
  if (!line) throw Unsupported("the plugin does not claim gather for f32 with i64 indices");
  tenon_gather_attrs attrs = TENON_GATHER_ATTRS_DEFAULT;
  const Bytes x = pseudorandom_bytes(12, 1);
  const auto run = [&](const std::vector<int64_t>& indices, const tenon_error_record& before,
                       Bytes& y) {
    const auto n = static_cast<int64_t>(indices.size());
    const std::vector<Arg> in = {{TENON_FLOAT32, {3}, x, false},
                                 {TENON_INT64, {n}, bytes_of(indices), false}};
    const std::vector<Arg> out = {{TENON_FLOAT32, {n}, {}, false}};
    const Prepared kernel(bench, *line, &attrs, in, out);
    if (!kernel.get())
      throw Unsupported("the plugin refuses a gather kernel for f32 with i64 indices");
    Launching launching(bench, stream, kernel, in, out);
    launching.set_record(before);
    expect_success(launching.launch(), "launch of gather");
    y = launching.output(0);
    return launching.record();
  };
  Bytes y;
  const tenon_error_record sound = run({0, 2, -1}, {}, y);
  require(sound.state == 0, "valid indices were recorded as out of range");
  const tenon_error_record record = run({1, 5, 1}, {}, y);
  require(record.state == 1, "index 5 of 3 was not recorded: the record's state is {}",
          record.state);
  require(record.site == 77 && record.index == 5 && record.bound == 3,
          "the index 5 of 3 at site 77 is recorded as {} of {} at site {}", record.index,
          record.bound, record.site);
  expect_bytes(Bytes(y.begin() + 4, y.begin() + 8), Bytes(4, 0),
               "the element for an index out of range, which must be zero");
  expect_bytes(Bytes(y.begin(), y.begin() + 4), Bytes(x.begin() + 4, x.begin() + 8),
               "the element read by the valid index");
  const tenon_error_record first = run({-9}, {1, 5, 100, 50}, y);
  require(first.state == 1 && first.site == 5 && first.index == 100 && first.bound == 50,
          "the launch overwrote an error record that was already set");
  // launch_failed must not be called, because an index out of range is not a failed launch.
  expect_none_failed("launch");
}

}  // namespace

std::vector<DeviceCheck> launch_checks() {
  return {
      {"launches", "launch_sizes", 1, "Launches accept operands of any size, also empty ones.",
       test_sizes},
      {"launches", "launch_reports", 1, "Many launches in a row do not fail and report no failure.",
       test_reports},
      {"launches", "by_value", 1, "An operand by value is read during the call.",
       test_scalars_by_value},
      {"launches", "index_records", 1,
       "An out-of-range index is recorded once, and the launch does not fail.",
       test_error_records_of_launches},
  };
}

}  // namespace tenon_kit::device
