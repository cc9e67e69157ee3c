// The fused loops of a device: each is one kernel for several calls over the same elements or rows
// (tenon_loop_request in tenon/plugin.h). Loops are prepared once and cached.

#pragma once

#include <tenon/plugin.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "core/base/attrs.h"
#include "core/base/dtype.h"
#include "core/base/lru_table.h"
#include "core/base/ref.h"
#include "core/base/small_vector.h"

namespace tenon {

class Device;
class PreparedKernel;

// Describes a fused loop; also its cache key. Values have consecutive indices: the inputs, then the
// anchor's result if there is an anchor, then the results of the instructions. Sizes are not part
// of the description, so that one kernel serves all sizes.
struct LoopSpec {
  struct Input {
    DType dtype;
    tenon_stride_class strides;
    friend bool operator==(const Input&, const Input&) = default;
  };
  struct Instruction {
    const tenon_kernel* line;  // A kernel entry that is marked LOOP.
    OwnedAttrs attrs;
    SmallVector<uint32_t, 3> inputs;
    DType dtype;
    uint32_t flags = 0;  // Bits TENON_LOOP_*.
    friend bool operator==(const Instruction& a, const Instruction& b) {
      return a.line == b.line && a.attrs.view() == b.attrs.view() && a.inputs == b.inputs &&
             a.dtype == b.dtype && a.flags == b.flags;
    }
  };
  // The anchor: the kernel whose epilogue this loop is, such as a matmul.
  struct Anchor {
    struct Input {
      DType dtype;
      tenon_stride_class strides;
      uint16_t rank;
      friend bool operator==(const Input&, const Input&) = default;
    };
    const tenon_kernel* line = nullptr;  // A kernel entry that is marked ANCHOR; NULL: no anchor.
    OwnedAttrs attrs;
    SmallVector<Input, 3> inputs;
    DType dtype = DType::kNone;
    friend bool operator==(const Anchor& a, const Anchor& b) {
      return a.line == b.line && a.attrs.view() == b.attrs.view() && a.inputs == b.inputs &&
             a.dtype == b.dtype;
    }
  };
  uint32_t flags = 0;  // Bits TENON_REQUEST_*.
  Anchor anchor;
  uint32_t rank = 0;
  // Bit i is set if rows extend along axis i; 0 if the loop has no rows.
  uint32_t row_axes = 0;
  uint32_t n_row_inputs = 0;  // Number of inputs with one element per row; they come last.
  std::vector<Input> inputs;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> outputs;

  friend bool operator==(const LoopSpec&, const LoopSpec&) = default;
  uint64_t hash() const;
};

class LoopTable {
 public:
  explicit LoopTable(Device& device) : device_(device) {}

  // Returns the cached loop, or prepares and caches it. If the plugin refused the loop, exists() of
  // the result is false. Callable from any thread.
  Ref<const PreparedKernel> find(const LoopSpec& loop);

  // Maximum number of cached loops. The least recently used is evicted.
  static constexpr size_t kMaxLoops = 1024;
  // Number of cached loops.
  size_t size();

  // Number of calls of the plugin's `prepare_loop`, for tests and statistics.
  uint64_t n_prepared() const { return n_prepared_.load(std::memory_order_relaxed); }

  // Releases all loops. Called before the device is closed.
  void clear();

 private:
  struct Entry {
    LoopSpec loop;
    Ref<const PreparedKernel> kernel;
  };

  Ref<const PreparedKernel> prepare(const LoopSpec& loop);

  Device& device_;
  std::mutex mutex_;
  LruTable<Entry> entries_{kMaxLoops};
  std::atomic<uint64_t> n_prepared_{0};
};

}  // namespace tenon
