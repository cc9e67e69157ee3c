#include "conformance/kit/watched_launch.h"

#include <fmt/format.h>

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>

#include "plugins/sdk/dtype.h"
#include "plugins/sdk/view.h"

namespace tenon_kit::guard {
namespace {

constexpr size_t kZone = 256;  // Guard bytes at each end.
constexpr unsigned char kGuardByte = 0xc3;

// The range of bytes that a view covers.
struct Extent {
  const unsigned char* from = nullptr;
  size_t size = 0;
};
Extent extent_of(const tenon_view& view) {
  if (!view.data || tenon_sdk::count(view) == 0) return {};
  int64_t low = 0, high = 0;
  for (size_t i = 0; i < view.rank; ++i) {
    const int64_t reach = (view.sizes[i] - 1) * view.strides[i];
    (reach < 0 ? low : high) += reach;
  }
  const auto element = static_cast<int64_t>(tenon_sdk::size_of(view.dtype));
  return {static_cast<const unsigned char*>(view.data) + low * element,
          static_cast<size_t>((high - low + 1) * element)};
}

bool overlap(const Extent& a, const Extent& b) {
  return a.size && b.size && a.from < b.from + b.size && b.from < a.from + a.size;
}

}  // namespace

tenon_error* finish(const Inner& inner, tenon_stream_p* stream, tenon_features features) {
  if ((features & TENON_FEATURE_SYNCHRONOUS) != 0) return nullptr;
  if ((features & TENON_FEATURE_HOST_BLOCKING) != 0) return inner.calls.wait(stream);
  struct Answer {
    const tenon_host& host;
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    tenon_error* failure = nullptr;
  };
  using Shared = std::shared_ptr<Answer>;
  const Shared answer(new Answer{inner.host});
  const tenon_done_callback callback = {
      .function =
          [](void* payload, const tenon_error* error) {
            if (!error) return;
            Answer& own = **static_cast<Shared*>(payload);
            own.failure =
                own.host.make_error(own.host.error_code(error), own.host.error_message(error));
          },
      .payload = new Shared(answer),
      .destroy =
          [](void* payload) {
            const std::unique_ptr<Shared> own(static_cast<Shared*>(payload));
            std::lock_guard lock((*own)->mutex);
            (*own)->done = true;
            (*own)->changed.notify_one();
          },
  };
  tenon_error* refused = inner.calls.notify(stream, callback);
  std::unique_lock lock(answer->mutex);
  answer->changed.wait(lock, [&] { return answer->done; });
  return refused ? refused : answer->failure;
}

// Replaces an output: a buffer of its exact size between two guard zones.
struct Watched::StandIn {
  const tenon_plugin_calls* calls = nullptr;
  tenon_buffer_p* buffer = nullptr;
  unsigned char* data = nullptr;
  size_t size = 0;

  bool open(const Inner& inner, tenon_device_p* device, size_t bytes, Poison poison) {
    size = bytes;
    calls = &inner.calls;
    tenon_error* error = calls->allocate(device, bytes + 2 * kZone, &buffer);
    if (error) {
      inner.host.release_error(error);
      return false;
    }
    data = static_cast<unsigned char*>(calls->map(buffer));
    if (!data) return false;
    std::memset(data, kGuardByte, bytes + 2 * kZone);
    std::memset(data + kZone, static_cast<int>(poison), bytes);
    return true;
  }

  // The offset of the first guard byte that was overwritten; below -kZone if none.
  int64_t broken() const {
    for (size_t i = 0; i < kZone; ++i) {
      if (data[i] != kGuardByte) return static_cast<int64_t>(i) - static_cast<int64_t>(kZone);
      if (data[kZone + size + i] != kGuardByte) return static_cast<int64_t>(size + i);
    }
    return -static_cast<int64_t>(kZone) - 1;
  }

  ~StandIn() {
    if (buffer) calls->release(buffer);
  }
};

Watched::Watched(const Inner& inner, tenon_device_p* device, const tenon_launch& launch,
                 Poison poison)
    : launch_(launch),
      outputs_(launch.outputs, launch.outputs + launch.n_outputs),
      stand_ins_(launch.n_outputs),
      before_(launch.n_inputs) {
  std::vector<bool> in_place(launch.n_inputs, false);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Extent target = extent_of(outputs_[i]);
    bool aliased = false;
    for (size_t k = 0; k < launch.n_inputs; ++k) {
      if (!overlap(target, extent_of(launch.inputs[k]))) continue;
      aliased = in_place[k] = true;
    }
    if (aliased || target.size == 0) continue;
    if (!stand_ins_[i].open(inner, device, target.size, poison)) continue;
    outputs_[i].buffer = stand_ins_[i].buffer;
    outputs_[i].byte_offset = kZone;
    outputs_[i].data = stand_ins_[i].data + kZone;
    looks_ = true;
  }
  for (size_t k = 0; k < launch.n_inputs; ++k) {
    const Extent x = extent_of(launch.inputs[k]);
    if (!x.size || in_place[k]) continue;
    before_[k].assign(x.from, x.from + x.size);
    looks_ = true;
  }
}

Watched::~Watched() = default;

tenon_launch Watched::handed() const {
  tenon_launch launch = launch_;
  launch.outputs = outputs_.data();
  return launch;
}

std::vector<std::string> Watched::look() const {
  std::vector<std::string> faults;
  for (size_t i = 0; i < stand_ins_.size(); ++i) {
    const StandIn& own = stand_ins_[i];
    if (!own.data) continue;
    const int64_t at = own.broken();
    if (at >= -static_cast<int64_t>(kZone)) {
      faults.push_back(
          fmt::format("output {} was written outside its {} bytes, at {}", i, own.size, at));
    }
    std::memcpy(launch_.outputs[i].data, own.data + kZone, own.size);
  }
  for (size_t k = 0; k < before_.size(); ++k) {
    const Extent x = extent_of(launch_.inputs[k]);
    if (before_[k].empty() || std::memcmp(x.from, before_[k].data(), x.size) == 0) continue;
    faults.push_back(fmt::format("input {} was written to", k));
  }
  return faults;
}

}  // namespace tenon_kit::guard
