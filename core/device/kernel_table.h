// The kernels of a device: selects the plugin's kernel entry for a call, prepares the kernel and
// caches it.

#pragma once

#include <tenon/plugin.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/attrs.h"
#include "core/base/lru_table.h"
#include "core/base/ref.h"
#include "core/base/shape.h"
#include "core/device/signature.h"

namespace tenon {

class Device;

// Part of the cache key of a prepared kernel. Each input contributes a word (dtype, rank, stride
// class). If any kernel entry of the op is marked SHAPED, input sizes are included.
using KernelWords = SmallVector<int64_t, 8>;

struct KernelKey {
  uint32_t op = 0;
  uint32_t flags = 0;  // Bits TENON_REQUEST_*.
  KernelWords words;
  AnyAttrs attrs;

  uint64_t hash() const {
    uint64_t h = detail::mix(op, flags);
    for (const int64_t word : words) h = detail::mix(h, static_cast<uint64_t>(word));
    return attrs.empty() ? h : detail::mix(h, attrs.hash());
  }
};

// Encodes the properties of an input in a word of the cache key.
inline int64_t kernel_word(DType dtype, size_t rank, tenon_stride_class strides) {
  return static_cast<int64_t>(dtype) | static_cast<int64_t>(rank) << 8 |
         static_cast<int64_t>(strides) << 16;
}

// An operand as passed to `prepare`.
struct OperandInfo {
  DType dtype = DType::kNone;  // kNone: absent.
  uint32_t rank = 0;
  const int64_t* sizes = nullptr;
  tenon_stride_class strides = TENON_STRIDES_DENSE;
};

// A kernel that is ready to launch, or the reason why there is none.
class PreparedKernel {
 public:
  // Takes ownership of the handle, even if this function throws. `loop_line` and `anchor_line` are
  // the kernel entry that prepared the kernel if it is marked LOOP or ANCHOR, and NULL otherwise.
  static Ref<const PreparedKernel> create(Device& device, tenon_kernel_p* handle, uint32_t traits,
                                          const tenon_kernel* loop_line,
                                          const tenon_kernel* anchor_line, std::string reason = {});
  ~PreparedKernel();  // Releases the handle after the work that uses it.
  PreparedKernel(const PreparedKernel&) = delete;

  // False if the object only holds the reason why there is no kernel.
  bool exists() const { return handle_ != nullptr; }
  tenon_kernel_p* handle() const { return handle_; }
  const tenon_kernel* loop_line() const { return loop_line_; }
  const tenon_kernel* anchor_line() const { return anchor_line_; }
  bool supports_strided_inputs() const { return traits_ & TENON_KERNEL_STRIDED_INPUTS; }
  // Whether an output may share memory with an input.
  bool may_alias(size_t output) const {
    if (traits_ & TENON_KERNEL_MAY_ALIAS) return true;
    return output == 0 && (traits_ & TENON_KERNEL_FIRST_MAY_ALIAS) != 0;
  }
  bool needs_workspace() const { return traits_ & TENON_KERNEL_WORKSPACE; }

  void retain() const { owners_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::string reason;  // If there is no kernel: why each kernel entry refused.

 private:
  PreparedKernel(Device& device, tenon_kernel_p* handle, uint32_t traits,
                 const tenon_kernel* loop_line, const tenon_kernel* anchor_line)
      : device_(device),
        handle_(handle),
        loop_line_(loop_line),
        anchor_line_(anchor_line),
        traits_(traits) {}

  mutable std::atomic<uint32_t> owners_{1};
  Device& device_;
  tenon_kernel_p* handle_;
  const tenon_kernel *loop_line_, *anchor_line_;
  uint32_t traits_;
};

// Converts a plugin's refusal to a string. Throws std::bad_alloc if the refusal is "out of memory",
// so that it is not cached: a later call may succeed.
std::string reason_of(const tenon_string& why);

class KernelTable {
 public:
  explicit KernelTable(Device& device) : device_(device) {}

  // Reads the plugin's kernel entries. Throws if a signature cannot be parsed.
  void load(const tenon_plugin& plugin);

  // Whether any kernel entry of the op is marked SHAPED, so that its cache keys include the input
  // sizes. A custom op is identified by `name`; other ops ignore it.
  bool is_shaped(uint32_t op, std::string_view name) const {
    if (is_custom(op)) [[unlikely]]
      return custom_shaped_.contains(name);
    return op < shaped_.size() && shaped_[op];
  }

  // Returns the cached kernel for `key`, or prepares and caches it. Callable from any thread.
  Ref<const PreparedKernel> find(const KernelKey& key, std::string_view custom_name,
                                 std::span<const OperandInfo> inputs,
                                 std::span<const TensorType> outputs);

  // Maximum numbers of cached kernels; users can pass any number of different attributes and sizes.
  // The least recently used kernel is evicted, and prepared again when needed. SHAPED kernels have
  // a separate cache, limited to kMaxShaped.
  static constexpr size_t kMaxKernels = 4096, kMaxShaped = 1024;
  // Number of cached kernels.
  size_t size();

  // Number of calls of the plugin's `prepare`, for tests and statistics.
  uint64_t n_prepared() const { return n_prepared_.load(std::memory_order_relaxed); }

  // Releases all kernels. Called before the device is closed.
  void clear();

 private:
  struct Line {
    const tenon_kernel* line;
    Signature signature;
  };
  struct Entry {
    KernelKey key;  // Its attrs point into `attrs`.
    OwnedAttrs attrs;
    Ref<const PreparedKernel> kernel;
  };

  static bool is_custom(uint32_t op) { return op >> 31; }
  Ref<const PreparedKernel> prepare(const KernelKey& key, std::string_view custom_name,
                                    std::span<const OperandInfo> inputs,
                                    std::span<const TensorType> outputs);

  Device& device_;
  std::unordered_map<uint32_t, std::vector<Line>> lines_;
  std::unordered_map<std::string, std::vector<Line>> custom_lines_;
  std::vector<bool> shaped_;
  std::set<std::string, std::less<>> custom_shaped_;
  std::mutex mutex_;
  LruTable<Entry> entries_{kMaxKernels}, shaped_entries_{kMaxShaped};
  std::atomic<uint64_t> n_prepared_{0};
};

}  // namespace tenon
