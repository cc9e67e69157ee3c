#include "conformance/kit/watched_launch.h"

#include <fmt/format.h>

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>

#include "conformance/device/failing_memory.h"
#include "plugins/sdk/dtype.h"
#include "plugins/sdk/view.h"

namespace tenon_kit::guard {

// The bytes that a view covers: in a buffer or, if `buffer` is NULL, in host memory at `host`.
struct Extent {
  tenon_place from = {};
  uint64_t size = 0;
};

namespace {

constexpr size_t kZone = 256;  // Guard bytes at each end.
constexpr unsigned char kGuardByte = 0xc3;

Extent extent_of(const tenon_view& view) {
  if ((!view.buffer && !view.data) || tenon_sdk::count(view) == 0) return {};
  int64_t low = 0, high = 0;
  for (size_t i = 0; i < view.rank; ++i) {
    const int64_t reach = (view.sizes[i] - 1) * view.strides[i];
    (reach < 0 ? low : high) += reach;
  }
  const auto element = static_cast<int64_t>(tenon_sdk::size_of(view.dtype));
  Extent extent = {.size = static_cast<uint64_t>((high - low + 1) * element)};
  extent.from.buffer = view.buffer;
  if (view.buffer) {
    extent.from.offset = view.byte_offset + static_cast<uint64_t>(low * element);
  } else {
    extent.from.host = static_cast<unsigned char*>(view.data) + low * element;
  }
  return extent;
}

bool is_overlapping(const Extent& a, const Extent& b) {
  if (!a.from.buffer || a.from.buffer != b.from.buffer) return false;
  return a.size && b.size && a.from.offset < b.from.offset + b.size &&
         b.from.offset < a.from.offset + a.size;
}

tenon_place host_place(void* at) { return {nullptr, at, 0, 0}; }

}  // namespace

tenon_error* wait_for_stream(const Inner& inner, tenon_stream_p* stream, tenon_features features) {
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
            const device::HostMemoryHolds holds;
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

// A buffer that replaces an output or the workspace, with a guard zone before and after it.
struct Watched::StandIn {
  const tenon_plugin_calls& calls;
  std::string name;
  tenon_buffer_p* buffer;
  uint64_t size;
  Extent real = {};                     // The memory of the original output.
  unsigned char guards[2][kZone] = {};  // The guard bytes, read after the launch.

  StandIn(const tenon_plugin_calls& own_calls, std::string own_name, tenon_buffer_p* own_buffer,
          uint64_t bytes)
      : calls(own_calls), name(std::move(own_name)), buffer(own_buffer), size(bytes) {}
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
  ~StandIn() { calls.release(buffer); }

  tenon_place at(uint64_t offset) const { return {buffer, nullptr, offset, 0}; }

  std::string fault() const {
    for (size_t i = 0; i < kZone; ++i) {
      for (const bool is_after : {false, true}) {
        if (guards[is_after][i] == kGuardByte) continue;
        const auto offset = static_cast<int64_t>(i) +
                            (is_after ? static_cast<int64_t>(size) : -static_cast<int64_t>(kZone));
        return fmt::format("{} was written outside its {} bytes, at {}", name, size, offset);
      }
    }
    return "";
  }
};

struct Watched::Input {
  size_t number;
  Extent extent;
  std::vector<unsigned char> before, after;
};

Watched::Watched(const Inner& inner, tenon_device_p* device, tenon_stream_p* stream,
                 bool is_visible, const tenon_launch& launch)
    : inner_(inner),
      device_(device),
      stream_(stream),
      launch_(launch),
      outputs_(launch.outputs, launch.outputs + launch.n_outputs),
      workspace_(launch.workspace) {
  std::vector<bool> in_place(launch.n_inputs, false);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Extent target = extent_of(outputs_[i]);
    bool aliased = false;
    for (size_t k = 0; k < launch.n_inputs; ++k) {
      if (!is_overlapping(target, extent_of(launch.inputs[k]))) continue;
      aliased = in_place[k] = true;
    }
    if (aliased || target.size == 0) continue;
    if (replace(outputs_[i], target.size, is_visible, fmt::format("output {}", i))) {
      stand_ins_.back()->real = target;
    }
  }
  if (launch.workspace_size)
    replace(workspace_, launch.workspace_size, is_visible, "the workspace");
  for (size_t k = 0; k < launch.n_inputs; ++k) {
    const Extent x = extent_of(launch.inputs[k]);
    if (!x.size || in_place[k]) continue;
    inputs_.push_back(std::make_unique<Input>(Input{k, x, {}, {}}));
    inputs_.back()->before.resize(x.size);
    inputs_.back()->after.resize(x.size);
  }
  looks_ = !stand_ins_.empty() || !inputs_.empty();
}

Watched::~Watched() = default;

// Makes `view` refer to new memory of `bytes` bytes between guard zones. Returns false and leaves
// the view unchanged if the device has no memory left.
bool Watched::replace(tenon_view& view, uint64_t bytes, bool is_visible, std::string name) {
  tenon_buffer_p* buffer = nullptr;
  if (tenon_error* error = inner_.calls.allocate(device_, bytes + 2 * kZone, &buffer)) {
    inner_.host.release_error(error);
    return false;
  }
  auto stand_in = std::make_unique<StandIn>(inner_.calls, std::move(name), buffer, bytes);
  void* const data = is_visible ? inner_.calls.map(buffer) : nullptr;
  if (is_visible && !data) return false;
  view.buffer = buffer;
  view.byte_offset = kZone;
  view.data = data ? static_cast<unsigned char*>(data) + kZone : nullptr;
  stand_ins_.push_back(std::move(stand_in));
  return true;
}

tenon_error* Watched::copy(const tenon_place& from, const tenon_place& to, uint64_t size) const {
  const tenon_copy_region region = {from, to, size, 0};
  return inner_.calls.copy(stream_, &region);
}

// Reads an input into `to`. An input passed by value is in host memory, which is valid only during
// the call, so it is copied immediately.
tenon_error* Watched::read(const Input& x, std::vector<unsigned char>& to) const {
  if (x.extent.from.buffer) return copy(x.extent.from, host_place(to.data()), x.extent.size);
  std::memcpy(to.data(), x.extent.from.host, x.extent.size);
  return nullptr;
}

// Enqueues the work before the launch: fills of the replaced operands, and copies of inputs.
tenon_error* Watched::prepare(Poison poison) {
  const auto fill = [&](const StandIn& own, uint64_t offset, uint64_t size, uint8_t byte) {
    const tenon_fill_region region = {own.buffer, offset, size, byte, 1, 0};
    return inner_.calls.fill(stream_, &region);
  };
  for (const auto& own : stand_ins_) {
    if (tenon_error* error = fill(*own, 0, own->size + 2 * kZone, kGuardByte)) return error;
    if (tenon_error* error = fill(*own, kZone, own->size, static_cast<uint8_t>(poison)))
      return error;
  }
  for (const auto& x : inputs_) {
    if (tenon_error* error = read(*x, x->before)) return error;
  }
  return nullptr;
}

tenon_launch Watched::redirected_launch() const {
  tenon_launch launch = launch_;
  launch.outputs = outputs_.data();
  launch.workspace = workspace_;
  return launch;
}

// Copies outputs back, and reads the guard bytes and the inputs again.
tenon_error* Watched::enqueue_copies_back() {
  for (const auto& own : stand_ins_) {
    for (const bool is_after : {false, true}) {
      const uint64_t offset = is_after ? kZone + own->size : 0;
      if (tenon_error* error = copy(own->at(offset), host_place(own->guards[is_after]), kZone))
        return error;
    }
    if (own->real.size == 0) continue;
    if (tenon_error* error = copy(own->at(kZone), own->real.from, own->size)) return error;
  }
  for (const auto& x : inputs_) {
    if (tenon_error* error = read(*x, x->after)) return error;
  }
  return nullptr;
}

std::vector<std::string> Watched::faults() const {
  std::vector<std::string> found;
  for (const auto& own : stand_ins_) {
    if (std::string fault = own->fault(); !fault.empty()) found.push_back(std::move(fault));
  }
  for (const auto& x : inputs_) {
    if (x->before != x->after) found.push_back(fmt::format("input {} was written to", x->number));
  }
  return found;
}

}  // namespace tenon_kit::guard
