// Checks recordings: a replay must repeat the recorded launches with the memory and values that the
// replay supplies.

#include <cstring>

#include "conformance/device/device_check.h"
#include "conformance/device/launching.h"

namespace tenon_kit::device {
namespace {

constexpr int64_t kN = 50;  // Number of elements of a vector.
constexpr uint64_t kSite = 77;

// Throws Unsupported if the host never records launches of this device.
void require_recordings(const Bench& bench) {
  if (!bench.calls().record) throw Unsupported("the device does not support recordings");
  if (bench.has(TENON_FEATURE_SYNCHRONOUS)) {
    throw Unsupported("the host records nothing for a SYNCHRONOUS device");
  }
}

// An operand of a recorded launch: in a slot, passed by value, or in fixed memory.
struct Operand {
  Arg arg;
  uint32_t kind = TENON_OPERAND_IN_SLOT;
  uint32_t number = 0;
  const Buffer* fixed = nullptr;
};

struct Step {
  const Prepared& kernel;
  std::vector<Operand> inputs, outputs;
};

// The buffers and offsets of the slots, the values, and the error record of one replay.
struct Place {
  std::vector<const Buffer*> slots;
  std::vector<uint64_t> offsets;
  std::vector<tenon_element> values;
  const Buffer* record = nullptr;
};

// Returns the host address of a byte in a buffer; NULL if the memory is not host-visible.
void* host_address_or_null(const Bench& bench, const Buffer& buffer, uint64_t offset) {
  if (!bench.has(TENON_FEATURE_HOST_VISIBLE)) return nullptr;
  return static_cast<std::byte*>(bench.calls().map(buffer.get())) + offset;
}

// A recording of the launches `steps`. While it is made, its slots have the memory `now`.
// Overwrites the arguments right after each call, because the plugin may read them only during the
// call.
class Recording {
 public:
  Recording(const Bench& bench, const std::vector<Step>& steps, const Place& now) : bench_(bench) {
    std::vector<std::vector<int64_t>> dims;
    std::vector<std::vector<tenon_view>> views;
    std::vector<std::vector<tenon_recorded_operand>> operands;
    std::vector<tenon_launch> launches;
    std::vector<Place> values(1, now);
    for (const Step& step : steps) {
      auto& own = views.emplace_back();
      auto& where = operands.emplace_back();
      for (const auto* side : {&step.inputs, &step.outputs}) {
        for (const Operand& operand : *side) {
          own.push_back(view_of(operand, values[0], dims));
          where.push_back({operand.kind, operand.number, 0});
        }
      }
      tenon_launch launch = {};
      launch.struct_size = sizeof launch;
      launch.site = kSite;
      launch.n_inputs = static_cast<uint32_t>(step.inputs.size());
      launch.n_outputs = static_cast<uint32_t>(step.outputs.size());
      launch.inputs = own.data();
      launch.outputs = own.data() + step.inputs.size();
      launch.record_buffer = now.record->get();
      launch.record = static_cast<tenon_error_record*>(host_address_or_null(bench, *now.record, 0));
      launches.push_back(launch);
    }
    std::vector<tenon_recorded_launch> recorded;
    for (size_t i = 0; i < steps.size(); ++i) {
      recorded.push_back({steps[i].kernel.get(), &launches[i], operands[i].data(), 0});
    }
    const tenon_record_request request = {
        sizeof request, 0, steps.size(), now.slots.size(), now.values.size(), recorded.data()};
    tenon_string reason = {nullptr, 0};
    expect_success(bench.calls().record(bench.device(), &request, &handle_, &reason), "record");
    if (!handle_) {
      throw Unsupported("the device refuses to record: " + std::string(reason.data, reason.size));
    }
    for (auto& list : dims) std::fill(list.begin(), list.end(), int64_t{1} << 40);
    for (auto& own : views) {
      std::memset(static_cast<void*>(own.data()), 0xc3, own.size() * sizeof(tenon_view));
    }
    for (auto& where : operands)
      std::fill(where.begin(), where.end(), tenon_recorded_operand{9, 9, 9});
    std::memset(static_cast<void*>(launches.data()), 0xc3, launches.size() * sizeof(tenon_launch));
    std::fill(values[0].values.begin(), values[0].values.end(), tenon_element{{~0u, ~0u}});
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { bench_.calls().release_recording(handle_); }

  void replay(const Stream& stream, const Place& place, uint64_t ticket) {
    std::vector<tenon_slot> slots;
    for (size_t i = 0; i < place.slots.size(); ++i) {
      const Buffer& buffer = *place.slots[i];
      slots.push_back({buffer.get(), place.offsets[i],
                       host_address_or_null(bench_, buffer, place.offsets[i]), 0});
    }
    std::vector<tenon_element> values = place.values;
    tenon_replay replay = {};
    replay.struct_size = sizeof replay;
    replay.n_slots = slots.size();
    replay.n_values = values.size();
    replay.slots = slots.data();
    replay.values = values.data();
    replay.record_buffer = place.record->get();
    replay.record =
        static_cast<tenon_error_record*>(host_address_or_null(bench_, *place.record, 0));
    replay.work = this;
    replay.ticket = ticket;
    expect_success(bench_.calls().replay(handle_, stream.get(), &replay), "replay");
    std::memset(static_cast<void*>(slots.data()), 0xc3, slots.size() * sizeof(tenon_slot));
    std::fill(values.begin(), values.end(), tenon_element{{~0u, ~0u}});
    std::memset(static_cast<void*>(&replay), 0xc3, sizeof replay);
  }

 private:
  tenon_view view_of(const Operand& operand, const Place& now,
                     std::vector<std::vector<int64_t>>& dims) const {
    const Arg& arg = operand.arg;
    const bool by_value = operand.kind == TENON_OPERAND_BY_VALUE;
    tenon_view view = {};
    view.dtype = arg.dtype;
    view.rank = static_cast<uint16_t>(arg.sizes.size());
    view.strides_class = by_value ? TENON_STRIDES_UNIFORM : TENON_STRIDES_DENSE;
    view.sizes = dims.emplace_back(arg.sizes).data();
    view.strides = dims.emplace_back(arg.sizes.size(), 1).data();
    if (by_value) {
      view.data = const_cast<tenon_element*>(&now.values[operand.number]);
      return view;
    }
    const bool is_fixed = operand.kind == TENON_OPERAND_FIXED;
    const Buffer& buffer = is_fixed ? *operand.fixed : *now.slots[operand.number];
    view.buffer = buffer.get();
    view.byte_offset = is_fixed ? 0 : now.offsets[operand.number];
    view.data = host_address_or_null(bench_, buffer, view.byte_offset);
    return view;
  }

  const Bench& bench_;
  tenon_recording_p* handle_ = nullptr;
};

// Returns an operand with `n` elements and no content.
Arg vector_of(tenon_dtype dtype, int64_t n = kN) { return {dtype, {n}, {}, false}; }

// Prepares a kernel for these operands; throws Unsupported if there is none.
std::unique_ptr<Prepared> prepare(const Bench& bench, uint32_t op, const char* name,
                                  const std::vector<tenon_dtype>& dtypes, const void* attrs,
                                  const std::vector<Arg>& in, const std::vector<Arg>& out) {
  const std::optional<size_t> line = line_of(bench.plugin(), op, dtypes);
  if (!line) throw Unsupported(fmt::format("the plugin does not claim {}", name));
  auto made = std::make_unique<Prepared>(bench, *line, attrs, in, out);
  if (!made->get()) throw Unsupported(fmt::format("the plugin refuses {}", name));
  return made;
}

// Checks replays of a recording with three commands: a copy, a copy of its result, and a fill with
// a scalar that each replay supplies. All replays are in flight at the same time.
void test_replays(const Subject& subject) {
  const Bench bench(subject);
  require_recordings(bench);
  const Stream stream(bench);
  const Arg x = vector_of(TENON_FLOAT32), value = {TENON_FLOAT32, {}, {}, true};
  const auto copy =
      prepare(bench, TENON_OP_copy, "copy of f32", {TENON_FLOAT32}, nullptr, {x}, {x});
  tenon_fill_attrs attrs = {};
  attrs.struct_size = sizeof attrs;
  attrs.shape = x.sizes.data();
  attrs.n_shape = 1;
  const auto fill =
      prepare(bench, TENON_OP_fill, "fill of f32", {TENON_FLOAT32}, &attrs, {value}, {x});

  constexpr uint64_t kMargin = 192;
  const uint64_t bytes = x.size();
  constexpr size_t kReplays = 5;
  const Buffer record(bench, 64), middle(bench, bytes), constant(bench, bytes);
  stream.fill(record, 0);
  stream.write_now(constant, 0, pseudorandom_bytes(bytes, 99));
  std::vector<Buffer> memory;  // For each replay: an input and three outputs.
  std::vector<Place> places;
  for (size_t i = 0; i < 4 * kReplays; ++i) {
    memory.emplace_back(bench, bytes + 2 * kMargin);
    stream.fill(memory.back(), 0xc3);
  }
  for (size_t i = 0; i < kReplays; ++i) {
    const Buffer* own = &memory[4 * i];
    const uint64_t offset = 64 * (i % 3);
    stream.write_now(own[0], offset, pseudorandom_bytes(bytes, static_cast<uint32_t>(i)));
    const Bytes number = pseudorandom_bytes(4, static_cast<uint32_t>(100 + i));
    Place& place = places.emplace_back();
    place.slots = {&own[0], &own[1], &own[2], &own[3], &middle};
    place.offsets = {offset, 64, 128, offset, 0};
    place.values.resize(1);
    std::memcpy(&place.values[0], number.data(), number.size());
    place.record = &record;
  }
  Recording recording(
      bench,
      {{*copy, {{x, TENON_OPERAND_IN_SLOT, 0}}, {{x, TENON_OPERAND_IN_SLOT, 4}}},
       {*copy, {{x, TENON_OPERAND_IN_SLOT, 4}}, {{x, TENON_OPERAND_IN_SLOT, 1}}},
       {*fill, {{value, TENON_OPERAND_BY_VALUE, 0}}, {{x, TENON_OPERAND_IN_SLOT, 2}}},
       {*copy, {{x, TENON_OPERAND_FIXED, 0, &constant}}, {{x, TENON_OPERAND_IN_SLOT, 3}}}},
      places[0]);
  for (size_t i = 0; i < kReplays; ++i) recording.replay(stream, places[i], i + 1);
  const Failure reported = stream.wait_with_notify();
  expect_none_failed("replay");
  require(reported.code == TENON_OK, "a replay failed: {}", reported.message);
  for (size_t i = 0; i < kReplays; ++i) {
    const auto expect = [&](size_t slot, const Bytes& want, const char* what) {
      Bytes all(bytes + 2 * kMargin, 0xc3);
      std::copy(want.begin(), want.end(),
                all.begin() + static_cast<ptrdiff_t>(places[i].offsets[slot]));
      expect_bytes(stream.read_now(memory[4 * i + slot], 0, all.size()), all,
                   fmt::format("replay {} of {}: {}", i + 1, kReplays, what));
    };
    const Bytes input = pseudorandom_bytes(bytes, static_cast<uint32_t>(i));
    const Bytes number = pseudorandom_bytes(4, static_cast<uint32_t>(100 + i));
    Bytes filled;
    for (int64_t k = 0; k < kN; ++k) filled.insert(filled.end(), number.begin(), number.end());
    expect(0, input, "the input of a replay, which must not change");
    expect(1, input, "the output of a replayed copy of a copy");
    expect(2, filled, "the output of a replayed `fill` with the replay's value");
    expect(3, pseudorandom_bytes(bytes, 99), "the output of a replayed copy of fixed memory");
  }
}

// Checks that each replay records an index out of range in its own error record.
void test_error_records_of_replays(const Subject& subject) {
  const Bench bench(subject);
  require_recordings(bench);
  const Stream stream(bench);
  const Arg x = vector_of(TENON_FLOAT32, 3), at = vector_of(TENON_INT64, 1),
            y = vector_of(TENON_FLOAT32, 1);
  tenon_gather_attrs attrs = TENON_GATHER_ATTRS_DEFAULT;
  const auto gather = prepare(bench, TENON_OP_gather, "gather of f32 by i64",
                              {TENON_FLOAT32, TENON_INT64}, &attrs, {x, at}, {y});
  const Buffer values(bench, 64), sound(bench, 64), wrong(bench, 64), out(bench, 64);
  const Buffer records[] = {{bench, 64}, {bench, 64}};
  stream.write_now(values, 0, pseudorandom_bytes(x.size(), 1));
  const auto index = [](int64_t i) {
    Bytes bytes(sizeof i);
    std::memcpy(bytes.data(), &i, sizeof i);
    return bytes;
  };
  stream.write_now(sound, 0, index(2));
  stream.write_now(wrong, 0, index(5));
  for (const Buffer& record : records) stream.fill(record, 0);
  const auto place = [&](const Buffer& indices, const Buffer& record) {
    return Place{{&values, &indices, &out}, {0, 0, 0}, {}, &record};
  };
  Recording recording(bench,
                      {{*gather,
                        {{x, TENON_OPERAND_IN_SLOT, 0}, {at, TENON_OPERAND_IN_SLOT, 1}},
                        {{y, TENON_OPERAND_IN_SLOT, 2}}}},
                      place(sound, records[0]));
  recording.replay(stream, place(sound, records[0]), 1);
  recording.replay(stream, place(wrong, records[1]), 2);
  stream.finish();
  const auto read = [&](const Buffer& from) {
    tenon_error_record record;
    const Bytes bytes = stream.read_now(from, 0, sizeof record);
    std::memcpy(&record, bytes.data(), sizeof record);
    return record;
  };
  require(read(records[0]).state == 0,
          "a valid index was recorded as out of range, or another replay's record changed");
  const tenon_error_record record = read(records[1]);
  require(record.state == 1, "index 5 of 3 was not recorded: the record's state is {}",
          record.state);
  require(record.site == kSite && record.index == 5 && record.bound == 3,
          "the index 5 of 3 at site {} is recorded as {} of {} at site {}", kSite, record.index,
          record.bound, record.site);
  expect_none_failed("replay");
}

}  // namespace

std::vector<DeviceCheck> recording_checks() {
  return {
      {"recordings", "replays", 1,
       "A replay does what its launches do, with its own memory and values, while others are in "
       "flight.",
       test_replays},
      {"recordings", "replay_records", 1,
       "A replay writes an out-of-range index to its own record.", test_error_records_of_replays},
  };
}

}  // namespace tenon_kit::device
