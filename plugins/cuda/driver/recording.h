// Recorded launches as CUDA graphs (docs/design/0033-record-and-replay.md).
//
// A kernel turns a launch into dispatches with parameter words. A replay must replace the words
// that hold addresses of slots or values. To find them, the recording encodes each launch three
// times, each time with other addresses and values, and compares the words: a word that moves with
// the address of a slot holds this address plus a constant. If the words cannot be explained in
// this manner, the plugin refuses to record.
//
// Consecutive dispatches are one graph. A product of cuBLASLt is enqueued between two graphs,
// because the parameters of the library's kernels are unknown.

#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/cuda/driver/device.h"
#include "plugins/cuda/driver/graph.h"
#include "plugins/cuda/encoder.h"

namespace tenon_cuda {

// One dispatch, or one product of cuBLASLt.
struct RecordedStep {
  Function function = nullptr;
  uint32_t n_blocks = 0, block_size = 0;
  const LibraryProduct* product = nullptr;  // NULL for a dispatch.
  bool shares_a = false, shares_b = false;
  // The parameters of the dispatch, or the addresses a, b, d and the workspace of a product.
  std::vector<uint64_t> words;
};

// The memory and the values of a replay. The last slot is the error record. An address of 0 means
// that there is none.
struct RecordedOperands {
  std::vector<uint64_t> slots;
  std::vector<tenon_element> values;
};

class Recording {
 public:
  // Records the launches of the request. `made` is NULL if they cannot be recorded for the reason
  // in `reason`.
  static tenon_error* make(Device& device, const tenon_record_request& request,
                           std::unique_ptr<Recording>& made, tenon_string& reason);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  Device& device() const { return device_; }
  // Returns a description for profilers, such as "2 kernels".
  const std::string& name() const { return name_; }
  // Enqueues a replay. If it fails, `is_partly_enqueued` tells whether some of the work was
  // enqueued. The context of the device must be current.
  tenon_error* enqueue(CUstream stream, const tenon_replay& replay, bool& is_partly_enqueued);

 private:
  // A word that holds the address of a slot plus an offset.
  struct AddressUse {
    size_t step, word;
    uint64_t offset;
  };
  // A word that holds 8 bytes of a value, of which those outside `mask` are zero.
  struct ValueUse {
    size_t step, word, part;
    uint64_t mask;
  };
  // Consecutive steps: a graph, or one product if `graph` is NULL.
  struct Section {
    size_t begin, end;
    std::unique_ptr<Graph> graph;
  };
  // The encodings of a launch, which are compared.
  struct Trials;

  Recording(Device& device, size_t n_slots, size_t n_values)
      : device_(device), slot_uses_(n_slots + 1), value_uses_(n_values) {}
  // Adds the steps of a launch. Sets `is_explained` to false if a word depends on the operands in
  // an unknown manner.
  tenon_error* add(const tenon_recorded_launch& launch, const Trials& trials, bool& is_explained);
  // Finds out what word `word` of step `step` holds. Returns false if it is unknown.
  bool explain(const tenon_recorded_launch& launch, const Trials& trials, size_t step, size_t word,
               const uint64_t (&words)[3]);
  // Divides the steps into sections and builds the graphs.
  tenon_error* build_graphs();
  // Stores the operands in the words, and marks the steps whose words change as stale.
  void store_slot(size_t slot, uint64_t address);
  void store_value(size_t value, const tenon_element& element);
  GraphKernel kernel_of(size_t step) const;

  Device& device_;
  std::string name_;
  std::mutex mutex_;
  std::vector<RecordedStep> steps_;
  std::vector<bool> is_stale_;  // By step: whether the graph has other parameters than the step.
  std::vector<Section> sections_;
  std::vector<std::vector<AddressUse>> slot_uses_;  // By slot.
  std::vector<std::vector<ValueUse>> value_uses_;   // By value.
  RecordedOperands stored_;                         // The operands that the words hold.
};

// Returns the object of a handle of the plugin ABI.
inline Recording& from_c(tenon_recording_p* recording) {
  return *reinterpret_cast<Recording*>(recording);
}

}  // namespace tenon_cuda
