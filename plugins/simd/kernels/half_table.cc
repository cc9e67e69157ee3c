#include "plugins/simd/kernels/half_table.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "plugins/sdk/view.h"

namespace tenon_simd {

constexpr int64_t kTableEntries = int64_t{1} << 16;

// The results of a span, indexed by the bits of the argument.
class HalfTable {
 public:
  // Computes the results on the first call. Does not use std::call_once(): it needs thread-local
  // storage of the C++ library, for which a process may have no room when it loads a plugin.
  void fill(Span span, tenon_dtype half) {
    if (is_filled_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    if (is_filled_.load(std::memory_order_relaxed)) return;
    constexpr size_t kTile = 1024;
    values_.resize(kTableEntries);
    float in[kTile], out[kTile];
    uint16_t bits[kTile];
    for (size_t first = 0; first < kTableEntries; first += kTile) {
      for (size_t i = 0; i < kTile; ++i) bits[i] = static_cast<uint16_t>(first + i);
      widen_half(half, bits, in, kTile);
      const void* const from = in;
      const size_t step = 1;
      span(&from, &step, out, kTile, {});
      narrow_half(half, out, values_.data() + first, kTile);
    }
    is_filled_.store(true, std::memory_order_release);
  }

  // The results, once they are computed.
  const uint16_t* values() const { return values_.data(); }

 private:
  std::mutex mutex_;
  std::atomic<bool> is_filled_ = false;
  std::vector<uint16_t> values_;
};

namespace {

// Returns the table of a span and a dtype. Tables are never destroyed, because kernels may run
// while the process destroys its static objects.
HalfTable& table_of(Span span, tenon_dtype half) {
  using Tables = std::map<std::pair<Span, tenon_dtype>, HalfTable>;
  static std::mutex mutex;
  static Tables& tables = *new Tables;
  const std::lock_guard lock(mutex);
  return tables[{span, half}];
}

// A span that returns the table's entries.
void look_up(const void* const* in, const size_t* step, void* out, size_t n,
             const SpanParams& params) {
  const uint16_t* const from = static_cast<const uint16_t*>(in[0]);
  const uint16_t* const table = params.table->values();
  uint16_t* const to = static_cast<uint16_t*>(out);
  if (step[0] == 0) {
    std::fill_n(to, n, table[*from]);
    return;
  }
  for (size_t i = 0; i < n; ++i) to[i] = table[from[i]];
}

class Tabled final : public SpanKernel {
 public:
  Tabled(const Request& request, const SpanEntry& entry, std::unique_ptr<tenon_sdk::Kernel> small)
      : SpanKernel(entry.span, entry.cost, {}, true),
        half_(request.input(0).dtype),
        table_(table_of(entry.span, half_)),
        small_(std::move(small)),
        large_(make_without_conversion(request, look_up, entry.cost, {.table = &table_}).kernel) {}

  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const override {
    if (tenon_sdk::count(launch.outputs[0]) < kTableEntries) return small_->launch(stream, launch);
    table_.fill(span_, half_);
    return large_->launch(stream, launch);
  }

 private:
  tenon_dtype half_;
  HalfTable& table_;
  std::unique_ptr<tenon_sdk::Kernel> small_, large_;
};

}  // namespace

Prepared make_tabled(const Request& request, const SpanEntry& entry) {
  Prepared prepared = make_elementwise(request, entry.span, entry.cost);
  prepared.kernel = std::make_unique<Tabled>(request, entry, std::move(prepared.kernel));
  return prepared;
}

}  // namespace tenon_simd
