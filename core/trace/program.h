// Code as a list of launches: what a call of it launched, to be launched again with other inputs of
// the same types and strides, without anything being dispatched, inferred or allocated one by one.
//
// Kernels, sizes, strides and constants are what they were. Memory is planned: what the code makes
// and uses up itself lies in one block, where values that are never there together share places;
// what it gives has memory of its own at each call.
//
// On an asynchronous device its launches are enqueued, or replayed as one where the device offers
// that. Any thread may run a program, also while another does.
//
// program_recorder.cc writes programs down, program_fuse.cc joins launches, program.cc plans the
// memory, program_run.cc and program_replay.cc run them.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/dispatch/profiler.h"
#include "core/dispatch/scope.h"
#include "core/ops/op.h"

namespace tenon {

// How many trips a loop may take.
class TripLimit {
 public:
  explicit TripLimit(int64_t most)  // 0: as many as there are.
      : most_(most), left_(most > 0 ? static_cast<uint64_t>(most) : ~uint64_t{0}) {}
  // One more; fails if it is one too many.
  void take() {
    if (left_-- == 0) fail();
  }

 private:
  [[noreturn]] void fail() const;

  int64_t most_;
  uint64_t left_;
};

class Program {
 public:
  // Runs the code now, eager, and writes it down. `program` is empty if that cannot be run again:
  // the host read a value on the way, or another device took part.
  struct Recorded {
    Tensors outputs;
    std::unique_ptr<const Program> program;
  };
  using Code = std::function<Tensors(TensorSpan inputs)>;
  static Recorded record(Scope& scope, Device& device, TensorSpan inputs, const Code& code);
  ~Program();

  // Whether inputs are like those that it was written down with.
  bool serves(TensorSpan inputs) const;
  // Outputs may be written where an input lies whose memory has as many owners as `spare` says: all
  // that there are if nobody will look at it again. 0, or none: never.
  Tensors run(Scope& scope, TensorSpan inputs, std::span<const uint8_t> spare = {}) const;

  // Runs again and again, as long as output `go`, a bool of rank 0, is true: what comes out takes
  // the place of an input, in memory of its own that is used in turn. At least once.
  struct Feedback {
    uint32_t output, input;  // kNone: of no input.
  };
  static constexpr uint32_t kNone = ~uint32_t{0};
  // Whether that is possible: these outputs are made anew each time, as the inputs are.
  bool can_repeat(uint32_t go, std::span<const Feedback> feedback) const;
  // The outputs fed back, when it is over.
  Tensors repeat(Scope& scope, TensorSpan inputs, uint32_t go, std::span<const Feedback> feedback,
                 TripLimit& limit) const;

  // Whether its launches are elementwise and reductions alone.
  bool is_light() const;
  // What the host wrote when it was written down no longer keeps the context, which has to outlast
  // the program. False, if somebody else has some of it.
  bool leave_to_context() const;

  size_t n_launches() const { return launches_.size(); }
  // Of the block in which values lie that the code uses up itself.
  uint64_t block_bytes() const { return block_bytes_; }

 private:
  class Recorder;

  // Where a value lies.
  struct Buffer {
    enum class Place : uint8_t { kInput, kScalar, kConstant, kOutput, kBlock };
    Place place = Place::kBlock;
    uint32_t index = 0;          // Of an input, a scalar that is one, or an output.
    DType dtype = DType::kNone;  // Of a scalar.
    uint64_t bytes = 0;
    uint64_t offset = 0;               // In the block.
    uint32_t first = kNone, last = 0;  // The launches between which it is needed; kNone: none.
    bool is_filled = false;            // Before the first launch, with a number that is an input.
    Ref<Storage> constant;
  };
  struct Launch {
    Ref<const PreparedKernel> kernel;
    const OpDef* op;
    std::string fused;             // The ops that it stands for, if it is not `op` alone.
    std::vector<int64_t> profile;  // Else the types of its inputs, for a profiler.
    std::string location;
    uint32_t first_view;
    uint32_t n_inputs, n_outputs;
    uint64_t workspace_bytes;
    int64_t took_ns;  // When it was written down.

    // Its views: inputs, outputs, the workspace.
    uint32_t first_output() const { return first_view + n_inputs; }
    uint32_t end_outputs() const { return first_output() + n_outputs; }
    uint32_t end_views() const { return end_outputs() + (workspace_bytes ? 1 : 0); }
  };
  // What a view shows: bytes of a buffer, or an inline scalar.
  struct Shown {
    uint32_t buffer = kNone;
    uint64_t offset = 0;
    uint32_t scalar = kNone;        // In scalars_.
    uint32_t scalar_input = kNone;  // Whose value that is at each call.
    DType dtype = DType::kNone;     // As which it is shown.
  };
  struct Input {
    TensorType type;
    Dims strides;
    Device* device;  // NULL for an inline scalar.
    // Where it begins, in bytes, modulo the size of the largest element that it is shown as.
    uint64_t alignment = 1, start = 0;
  };
  struct Output {
    Tensor scalar;           // An inline scalar.
    uint32_t input = kNone;  // An inline scalar that is an input.
    uint32_t buffer = kNone;
    TensorType type;
    Dims strides;
    int64_t offset = 0;  // In elements.
    bool dense = true;
  };

  // An output that may be written where an input lies.
  struct Reuse {
    uint32_t output, input;
    uint32_t launch;  // That writes it.
  };

  // A number that is an input, and is read as memory that kernels of the device see.
  struct Filled {
    uint32_t buffer, input;
    DType dtype;
  };

  // Memory that differs from call to call, by numbers: that of the inputs, of the outputs, and then
  // the block.
  struct Slot {
    Storage* storage = nullptr;
    uint64_t offset = 0;  // Where it begins, in bytes.
  };

  // What one call at a time uses.
  struct Frame {
    std::vector<tenon_view> views;
    std::vector<tenon_launch> launches;
    std::vector<ElementBits> scalars;
    std::vector<ElementBits> fills;  // Numbers that are written to memory.
    std::vector<Slot> slots;
    std::vector<tenon_slot> shown;  // What the views show.
    std::vector<tenon_slot> given;  // The slots, for a replay.
    std::vector<uint64_t> tickets;  // Of an asynchronous device: what wrote each buffer last.
    bool is_shown = false;          // That the views show where the slots are.
    std::unique_ptr<Frame> other;   // That every second trip of `repeat` runs with.

    void put(size_t slot, Slot at) {
      slots[slot] = at;
      is_shown = false;
    }
  };

  // What the device made of the launches (program_replay.cc).
  class Recording;
  // Launches that run side by side (program_chains.h).
  class Chains;

  explicit Program(Device& device);
  // Makes one launch of those that go over the same elements, where the device has loops.
  class Fuser;
  void fuse(uint32_t flags, std::span<const OwnedAttrs> attrs);
  void find_lives();
  void show_as(const Buffer& buffer, DType dtype);
  void plan();
  void find_slot_views();
  // Whether a launch may write what a view shows where an input's view is, now or for good.
  bool can_write_on(const Launch& launch, uint32_t to, uint32_t from) const;
  // Which buffer stands for each one, once kernels write where an input lies.
  class Aliases;
  // Whether something else that uses a buffer may run while a launch does.
  bool is_used_beside(uint32_t buffer, uint32_t launch, const Aliases& aliases) const;
  bool may_report_beside(uint32_t launch) const;
  class Neighbours;
  void share_in_place();
  // Two ways to lay out the block: the first needs less memory, the second takes O(n log n) time.
  void place_largest_first(std::span<const uint32_t> buffers);
  void place_in_turn(std::span<const uint32_t> buffers);
  void find_reuses();
  using Storages = SmallVector<Ref<Storage>, 3>;

  // ---- a call
  size_t n_slots() const { return inputs_.size() + n_output_buffers_ + 1; }
  uint32_t slot_of(const Buffer& buffer) const;  // kNone: of none.
  Ref<Storage> new_block() const;
  // Some on inputs; `commits` becomes the launch that first writes there.
  Storages find_outputs(TensorSpan inputs, std::span<const uint8_t> spare, size_t& commits) const;
  std::unique_ptr<Frame> new_frame() const;
  // A frame with the inputs and the block in place.
  std::unique_ptr<Frame> begin(TensorSpan inputs, const Ref<Storage>& block) const;
  void put_inputs(Frame& frame, TensorSpan inputs, const Ref<Storage>& block) const;
  void put_outputs(Frame& frame, const Storages& made) const;
  void end(std::unique_ptr<Frame> frame) const;
  // Lets the views of a frame show its slots.
  void show(Frame& frame) const;
  // Writes the numbers that are read as memory.
  void fill(Scope& scope, const Frame& frame) const;
  // From launch `commits` on nothing stops it.
  void launch(Scope& scope, Frame& frame, size_t commits) const;
  void launch_now(Scope& scope, Frame& frame, size_t commits) const;
  void launch_in_turn(Scope& scope, Frame& frame, size_t commits) const;
  // Throws what a launch failed with, or wrote into the scope's error record.
  // Throws `error`, or, without one, reports what the launch found wrong with a value.
  void fail(Scope& scope, const Launch& launch, tenon_error* error) const;
  void enqueue(Scope& scope, Frame& frame, size_t commits) const;
  LaunchSpan span_of(const Launch& launch) const;
  // Collects the tickets of what wrote the memory that a call finds.
  void find_tickets(Frame& frame) const;
  // False: it has to be launched.
  bool replay(Scope& scope, Frame& frame) const;
  const Recording* find_recording(Scope& scope, Frame& frame) const;
  std::unique_ptr<const Recording> make_recording(Scope& scope, Frame& frame) const;
  bool goes_on(Scope& scope, const Output& go, const Storages& made) const;
  Tensor output(const Output& output, TensorSpan inputs, const Storages& made) const;

  Device& device_;
  std::vector<Input> inputs_;
  std::vector<Buffer> buffers_;
  std::vector<Launch> launches_;
  std::vector<Shown> shown_;                       // Of each view.
  std::vector<tenon_view> views_;                  // Without memory.
  std::vector<std::unique_ptr<int64_t[]>> words_;  // Their sizes and strides.
  std::vector<ElementBits> scalars_;
  std::vector<Output> outputs_;
  uint32_t n_output_buffers_ = 0;
  std::vector<uint64_t> output_bytes_;
  std::vector<Reuse> reuses_;  // By their outputs.
  uint64_t block_bytes_ = 0;
  std::vector<Filled> filled_;
  std::vector<uint32_t> scalar_views_;  // Those of numbers that are inputs.
  // The views of memory that differs from call to call: those of one slot after another, up to
  // these places.
  std::vector<uint32_t> slot_views_, slot_ends_;

  std::unique_ptr<const Chains> chains_;

  mutable std::atomic<Frame*> spare_{nullptr};  // Of an earlier call.
  mutable std::mutex recording_mutex_;
  mutable std::unique_ptr<const Recording> recording_;
  mutable uint32_t n_enqueued_ = 0;  // Calls, until it is recorded or known not to be.
};

}  // namespace tenon
