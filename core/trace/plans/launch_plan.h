// A launch plan: the launches that a graph made in one call, replayed for other inputs of the same
// types and strides. A replay does no dispatch, no type inference and no allocation per launch.
//
// Kernels, sizes, strides and constants are fixed. Memory is planned when the plan is recorded:
// temporaries share one block, and values with disjoint lifetimes may have the same offset. Outputs
// get new memory in each call.
//
// On an asynchronous device the launches are enqueued, or replayed as one recording if the device
// supports that. Several threads may run one plan at the same time.
//
// plan_recorder.cc records plans, loop_groups.cc and loop_builder.cc fuse launches, plan_memory.cc
// plans the memory, and plan_run.cc and plan_replay.cc run plans.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/dispatch/profiler.h"
#include "core/dispatch/scope.h"
#include "core/ops/definition/op.h"

namespace tenon {

// Counts the trips of a loop, and fails if there are more than a maximum.
class TripLimit {
 public:
  explicit TripLimit(int64_t most)  // 0: no limit.
      : most_(most), left_(most > 0 ? static_cast<uint64_t>(most) : ~uint64_t{0}) {}
  // Counts a trip; fails if the limit is exceeded.
  void count_trip() {
    if (left_-- == 0) fail();
  }

 private:
  [[noreturn]] void fail() const;

  int64_t most_;
  uint64_t left_;
};

class LaunchPlan {
 public:
  // Runs `code` eagerly and records its launches. `program` is null if they cannot be replayed: the
  // host read a value during the call, or another device was used.
  struct Recorded {
    Tensors outputs;
    std::unique_ptr<const LaunchPlan> program;
  };
  using Code = std::function<Tensors(TensorSpan inputs)>;
  static Recorded record(Scope& scope, Device& device, TensorSpan inputs, const Code& code);
  ~LaunchPlan();

  // Whether the inputs have the types, strides, devices and alignment of the recorded ones.
  bool serves(TensorSpan inputs) const;
  // Runs the plan. It may write an output into the memory of input i if no later launch reads the
  // input and the memory has exactly spare[i] owners. The caller thus states how many owners the
  // memory has if nothing else uses it. If spare[i] is 0 or absent, the memory is not reused.
  Tensors run(Scope& scope, TensorSpan inputs, std::span<const uint8_t> spare = {}) const;

  // An output that repeat() feeds back to an input.
  struct Carry {
    uint32_t output, input;  // kNone: fed to no input.
  };
  static constexpr uint32_t kNone = ~uint32_t{0};
  // Whether repeat() can run: each call allocates memory for `go` and the fed-back outputs, and the
  // types and strides of fed-back outputs match those of the inputs.
  bool can_repeat(uint32_t go, std::span<const Carry> feedback) const;
  // Runs the plan as a do-while loop while output `go`, a bool of rank 0, is true. The outputs in
  // `feedback` are fed back to inputs and double-buffered.
  // Returns their values from the last trip.
  Tensors repeat(Scope& scope, TensorSpan inputs, uint32_t go, std::span<const Carry> feedback,
                 TripLimit& limit) const;

  // Whether all launches are elementwise or reductions.
  bool is_light() const;
  // Marks the plan's constants as owned by the context, so that they no longer retain it. The
  // context must then outlive the plan. Returns false, without any effect, if a constant has
  // further owners or is an output.
  bool make_context_owned() const;

  // Describes the plan: one line with the numbers of launches and bytes, and one line for each
  // launch.
  std::string text() const;

  size_t n_launches() const { return launches_.size(); }
  // Returns the size of the block that holds all temporaries of one call.
  uint64_t block_bytes() const { return block_bytes_; }

 private:
  class Recorder;

  // The memory of a value.
  struct Buffer {
    enum class Place : uint8_t { kInput, kScalar, kConstant, kOutput, kBlock };
    Place place = Place::kBlock;
    uint32_t index = 0;          // Index of the input, scalar input or output.
    DType dtype = DType::kNone;  // Dtype of a scalar.
    uint64_t bytes = 0;
    uint64_t offset = 0;               // Offset in the block.
    uint32_t first = kNone, last = 0;  // First and last launch that uses it; kNone: none.
    bool is_filled = false;            // Filled with a scalar input before the first launch.
    Ref<Storage> constant;
  };
  struct Launch {
    Ref<const PreparedKernel> kernel;
    const OpDef* op;
    std::string fused;             // Names of the fused ops, if it is not `op` alone.
    std::vector<int64_t> profile;  // Input types for a profiler, if `fused` is empty.
    std::string location;
    uint32_t first_view;
    uint32_t n_inputs, n_outputs;
    uint64_t workspace_bytes;
    int64_t duration_ns;  // Duration while recording.

    // The views of a launch are consecutive, in this order: inputs, outputs, workspace.
    uint32_t first_output() const { return first_view + n_inputs; }
    uint32_t end_outputs() const { return first_output() + n_outputs; }
    uint32_t end_views() const { return end_outputs() + (workspace_bytes ? 1 : 0); }
  };
  // What a view refers to: bytes of a buffer, or an inline scalar.
  struct ViewSource {
    uint32_t buffer = kNone;
    uint64_t offset = 0;
    uint32_t scalar = kNone;        // Index in scalars_.
    uint32_t scalar_input = kNone;  // Input that provides its value in each call.
    DType dtype = DType::kNone;     // The dtype in which the view reads it.
  };
  struct Input {
    TensorType type;
    Dims strides;
    Device* device;  // NULL for an inline scalar.
    // `start` is the start offset of the recorded input in bytes. Later inputs must have the same
    // offset modulo `alignment`, the size of the largest element type by which a view reads it.
    uint64_t alignment = 1, start = 0;
  };
  struct Output {
    Tensor scalar;  // The value, if the output is an inline scalar.
    // Index of the input, if the output is an inline scalar passed through from an input.
    uint32_t input = kNone;
    uint32_t buffer = kNone;
    TensorType type;
    Dims strides;
    int64_t offset = 0;  // Offset in elements.
    bool dense = true;
  };

  // An output that may be written into the memory of an input.
  struct Reuse {
    uint32_t output, input;
    uint32_t launch;  // The launch that writes the output.
  };

  // A scalar input that kernels read from device memory.
  struct Filled {
    uint32_t buffer, input;
    DType dtype;
  };

  // Memory that differs between calls. Slots are numbered: the inputs, then the outputs, then the
  // block.
  struct Slot {
    Storage* storage = nullptr;
    uint64_t offset = 0;   // Start, in bytes.
    uint64_t content = 0;  // tenon_view.content of inputs.
  };

  // The state of one call. A frame is used by one call at a time.
  struct Frame {
    std::vector<tenon_view> views;
    std::vector<tenon_launch> launches;
    std::vector<ElementBits> scalars;
    std::vector<ElementBits> fills;  // Values that fill() writes to device memory.
    std::vector<Slot> slots;
    std::vector<tenon_slot> shown;   // The slots that the views currently refer to.
    std::vector<uint64_t> contents;  // The content numbers that the views currently have, by slot.
    std::vector<tenon_slot> given;   // The slots that a replay passes to the device.
    std::vector<uint64_t> tickets;   // Ticket of the last write, by buffer.
    // The memory that a call on an asynchronous device uses.
    std::vector<const Storage*> reads, writes;
    bool is_shown = false;         // Whether the views refer to the current slots.
    std::unique_ptr<Frame> other;  // The frame for every second trip of repeat().

    void put(size_t slot, Slot at) {
      slots[slot] = at;
      is_shown = false;
    }
  };

  // The device's recording of the launches (plan_replay.cc).
  class Recording;
  // Independent chains that run in parallel (plan_chains.h).
  class Chains;

  explicit LaunchPlan(Device& device);
  // Fuses launches over the same iteration space if the device supports loop kernels.
  class LoopFuser;
  void fuse(uint32_t flags, std::span<const OwnedAttrs> attrs);
  // Finds the first and the last launch that uses each buffer.
  void find_lifetimes();
  // Raises the required alignment of an input that a view reads as elements of `dtype`.
  void require_alignment(const Buffer& buffer, DType dtype);
  // Plans the memory of the recorded launches.
  void plan();
  // Finds the views of the memory in each slot.
  void find_slot_views();
  // Whether the launch may write its output view `to` into the memory that its input view `from`
  // reads, which is in the block or belongs to an input of the plan.
  bool can_overwrite(const Launch& launch, uint32_t to, uint32_t from) const;
  // Union-find of buffers that were merged by in-place reuse.
  class Aliases;
  // Whether another launch that uses the buffer may run in parallel with this one.
  bool is_used_in_parallel(uint32_t buffer, uint32_t launch, const Aliases& aliases) const;
  // Whether a launch that may report a value error may run in parallel with this one.
  bool may_report_in_parallel(uint32_t launch) const;
  class LifetimeOverlap;
  // Lets launches write outputs into the memory of temporaries that are dead afterwards.
  void reuse_in_place();
  // Lays out the block in O(n^2) time. The block is smaller than with allocate_in_launch_order().
  void allocate_largest_first(std::span<const uint32_t> buffers);
  // Lays out the block in O(n log n) time.
  void allocate_in_launch_order(std::span<const uint32_t> buffers);
  // Finds outputs that may be written into the memory of the plan's inputs.
  void find_reuses();
  using Storages = SmallVector<Ref<Storage>, 3>;

  // ---- a call
  size_t n_slots() const { return inputs_.size() + n_output_buffers_ + 1; }
  uint32_t slot_of(const Buffer& buffer) const;  // Returns kNone if the buffer has no slot.
  // Allocates the block of one call.
  Ref<Storage> new_block() const;
  // Returns the memory of each output, which is new or that of a reusable input. If an input is
  // reused, lowers `commits` to the first launch that writes into the memory of an input.
  Storages find_outputs(TensorSpan inputs, std::span<const uint8_t> spare, size_t& commits) const;
  std::unique_ptr<Frame> new_frame() const;
  // Returns a frame whose slots refer to the inputs and the block.
  std::unique_ptr<Frame> begin(TensorSpan inputs, const Ref<Storage>& block) const;
  // Sets the slots of the inputs and the block, and stores the scalar inputs.
  void put_inputs(Frame& frame, TensorSpan inputs, const Ref<Storage>& block) const;
  // Sets the slots of the outputs.
  void put_outputs(Frame& frame, const Storages& made) const;
  // Keeps the frame for a later call.
  void end(std::unique_ptr<Frame> frame) const;
  // Points the views of a frame at its slots.
  void point_views(Frame& frame) const;
  // Writes the scalar inputs that kernels read from memory.
  void fill(Scope& scope, const Frame& frame) const;
  // Runs or enqueues all launches. From launch `commits` on, the call cannot be cancelled.
  void launch(Scope& scope, Frame& frame, size_t commits) const;
  // Runs the launches on a synchronous device, in parallel chains if that is faster.
  void launch_now(Scope& scope, Frame& frame, size_t commits) const;
  // Runs the launches one after the other on a synchronous device.
  void launch_serially(Scope& scope, Frame& frame, size_t commits) const;
  // Throws `error`, with the op and the source line of the launch. If `error` is NULL, throws the
  // value error that the launch wrote to the scope's error record.
  void fail(Scope& scope, const Launch& launch, tenon_error* error) const;
  // Enqueues the launches one by one on an asynchronous device.
  void enqueue(Scope& scope, Frame& frame, size_t commits) const;
  // Returns the description of a launch for a profiler.
  LaunchSpan span_of(const Launch& launch) const;
  // Runs or enqueues all launches on an asynchronous device.
  void launch_later(Scope& scope, Frame& frame, size_t commits) const;
  // Collects the memory that a call reads and writes.
  void find_memory(Frame& frame) const;
  // Collects the tickets of earlier writes to the memory that a call reads.
  void find_tickets(Frame& frame) const;
  // Replays the device's recording. Returns false if the launches must be enqueued one by one.
  bool replay(Scope& scope, Frame& frame) const;
  // Returns the recording, which the second call makes; NULL if it cannot replay the frame's slots.
  const Recording* find_recording(Scope& scope, Frame& frame) const;
  // Records the launches on the device.
  std::unique_ptr<const Recording> make_recording(Scope& scope, Frame& frame) const;
  // Reads the value of output `go`.
  bool read_condition(Scope& scope, const Output& go, const Storages& made) const;
  // Creates the tensor of an output in the memory `made`.
  Tensor output(const Output& output, TensorSpan inputs, const Storages& made) const;

  Device& device_;
  std::vector<Input> inputs_;
  std::vector<Buffer> buffers_;
  std::vector<Launch> launches_;
  std::vector<ViewSource> shown_;  // One for each view.
  std::vector<tenon_view> views_;  // One for each view; memory is filled in by frames.
  std::vector<std::unique_ptr<int64_t[]>> words_;  // Sizes and strides of the views.
  std::vector<ElementBits> scalars_;
  std::vector<Output> outputs_;
  uint32_t n_output_buffers_ = 0;
  std::vector<uint64_t> output_bytes_;
  std::vector<Reuse> reuses_;  // Sorted by output.
  uint64_t block_bytes_ = 0;
  std::vector<Filled> filled_;
  std::vector<uint32_t> scalar_views_;  // Views that refer to scalar inputs.
  // slot_views_ holds the views of all slots, sorted by slot. slot_ends_[i] is the end of the range
  // of slot i in it.
  std::vector<uint32_t> slot_views_, slot_ends_;

  std::unique_ptr<const Chains> chains_;

  mutable std::atomic<Frame*> free_frame_{nullptr};  // Reusable frame of an earlier call.
  mutable std::mutex recording_mutex_;
  mutable std::unique_ptr<const Recording> recording_;
  // Number of calls before the device recorded the plan or refused to record it.
  mutable uint32_t n_enqueued_ = 0;
};

}  // namespace tenon
