// Loops of a device: calls over the same elements or rows of them as one kernel (tenon_loop_request
// in tenon/plugin.h), prepared once and kept.

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

// Values are numbered: first the inputs, then the head's, if there is one, then what the
// instructions give. Sizes are no part of it.
struct LoopSpec {
  struct Input {
    DType dtype;
    tenon_stride_class strides;
    friend bool operator==(const Input&, const Input&) = default;
  };
  struct Instruction {
    const tenon_kernel* line;  // Says LOOP.
    OwnedAttrs attrs;
    SmallVector<uint32_t, 3> inputs;
    DType dtype;
    uint32_t flags = 0;  // TENON_LOOP_*.
    friend bool operator==(const Instruction& a, const Instruction& b) {
      return a.line == b.line && a.attrs.view() == b.attrs.view() && a.inputs == b.inputs &&
             a.dtype == b.dtype && a.flags == b.flags;
    }
  };
  // The call that it goes behind.
  struct Head {
    struct Input {
      DType dtype;
      tenon_stride_class strides;
      uint16_t rank;
      friend bool operator==(const Input&, const Input&) = default;
    };
    const tenon_kernel* line = nullptr;  // Says HEAD; NULL: there is none.
    OwnedAttrs attrs;
    SmallVector<Input, 3> inputs;
    DType dtype = DType::kNone;
    friend bool operator==(const Head& a, const Head& b) {
      return a.line == b.line && a.attrs.view() == b.attrs.view() && a.inputs == b.inputs &&
             a.dtype == b.dtype;
    }
  };
  uint32_t flags = 0;  // TENON_REQUEST_*.
  Head head;
  uint32_t rank = 0;
  uint32_t row_axes = 0;      // A mask; 0: no rows.
  uint32_t n_row_inputs = 0;  // The last inputs, which are per row.
  std::vector<Input> inputs;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> outputs;

  friend bool operator==(const LoopSpec&, const LoopSpec&) = default;
  uint64_t hash() const;
};

class LoopTable {
 public:
  explicit LoopTable(Device& device) : device_(device) {}

  // Finds or prepares; one that does not exist was refused. From any thread.
  Ref<const PreparedKernel> find(const LoopSpec& loop);

  // Beyond this number of loops, the least recently used is released.
  static constexpr size_t kMaxLoops = 1024;
  size_t size();

  // How many loops the plugin was asked for so far.
  uint64_t n_prepared() const { return n_prepared_.load(std::memory_order_relaxed); }

  // Releases every kernel, before the device is closed.
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
