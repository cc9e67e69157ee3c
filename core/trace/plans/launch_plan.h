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

// The maximum number of trips of a loop.
class TripLimit {
 public:
  explicit TripLimit(int64_t most)  // 0: no limit.
      : most_(most), left_(most > 0 ? static_cast<uint64_t>(most) : ~uint64_t{0}) {}
  // Counts a trip; fails if the limit is exceeded.
  void take() {
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
  // An output may be written into the memory of an input that is dead after the call. This happens
  // only if the memory of input i has at most spare[i] owners. 0 or absent: never.
  Tensors run(Scope& scope, TensorSpan inputs, std::span<const uint8_t> spare = {}) const;

  // repeat() runs the plan as a do-while loop while output `go`, a bool of rank 0, is true. Outputs
  // are fed back to inputs; carried values are double-buffered.
  struct Carry {
    uint32_t output, input;  // kNone: fed to no input.
  };
  static constexpr uint32_t kNone = ~uint32_t{0};
  // Whether repeat() can run: `go` and the fed-back outputs have memory of their own in each call,
  // and the types and strides of the latter match the inputs.
  bool can_repeat(uint32_t go, std::span<const Carry> feedback) const;
  // Returns the fed-back outputs of the last trip.
  Tensors repeat(Scope& scope, TensorSpan inputs, uint32_t go, std::span<const Carry> feedback,
                 TripLimit& limit) const;

  // Whether all launches are elementwise or reductions.
  bool is_light() const;
  // Makes the plan's constants, which the host wrote during recording, stop retaining the context.
  // The context must then outlive the plan. Returns false if a constant has another owner.
  bool make_context_owned() const;

  // Describes the plan: one line with the numbers of launches and bytes, and one line for each
  // launch.
  std::string text() const;

  size_t n_launches() const { return launches_.size(); }
  // Size of the block of temporaries.
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

    // Its views, in this order: inputs, outputs, workspace.
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
    // Start offset in bytes; must match modulo `alignment`, the size of the largest element type by
    // which any view reads the input.
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
    uint64_t offset = 0;  // Start, in bytes.
  };

  // The state of one call. A frame is used by one call at a time.
  struct Frame {
    std::vector<tenon_view> views;
    std::vector<tenon_launch> launches;
    std::vector<ElementBits> scalars;
    std::vector<ElementBits> fills;  // Scalars that are written to memory.
    std::vector<Slot> slots;
    std::vector<tenon_slot> shown;  // The slots that the views currently refer to.
    std::vector<tenon_slot> given;  // The slots for a replay.
    std::vector<uint64_t> tickets;  // Ticket of the last write, by buffer.
    bool is_shown = false;          // Whether the views refer to the current slots.
    std::unique_ptr<Frame> other;   // The frame for every second trip of repeat().

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
  void find_lifetimes();
  void require_alignment(const Buffer& buffer, DType dtype);
  void plan();
  void find_slot_views();
  // Whether the launch may write the output of view `to` into the memory that view `from` reads,
  // for buffers in the block and for inputs.
  bool can_overwrite(const Launch& launch, uint32_t to, uint32_t from) const;
  // Union-find of buffers that were merged by in-place reuse.
  class Aliases;
  // Whether another launch that uses the buffer may run in parallel with this one.
  bool is_used_in_parallel(uint32_t buffer, uint32_t launch, const Aliases& aliases) const;
  bool may_report_in_parallel(uint32_t launch) const;
  class LifetimeOverlap;
  void reuse_in_place();
  // Two algorithms for the layout of the block. The first needs less memory; the second takes O(n
  // log n) time.
  void allocate_largest_first(std::span<const uint32_t> buffers);
  void allocate_in_launch_order(std::span<const uint32_t> buffers);
  void find_reuses();
  using Storages = SmallVector<Ref<Storage>, 3>;

  // ---- a call
  size_t n_slots() const { return inputs_.size() + n_output_buffers_ + 1; }
  uint32_t slot_of(const Buffer& buffer) const;  // Returns kNone if the buffer has no slot.
  Ref<Storage> new_block() const;
  // Allocates the outputs, or reuses the memory of inputs. In the latter case, lowers `commits` to
  // the first launch that writes into the memory of an input.
  Storages find_outputs(TensorSpan inputs, std::span<const uint8_t> spare, size_t& commits) const;
  std::unique_ptr<Frame> new_frame() const;
  // Returns a frame with the inputs and the block bound.
  std::unique_ptr<Frame> begin(TensorSpan inputs, const Ref<Storage>& block) const;
  void put_inputs(Frame& frame, TensorSpan inputs, const Ref<Storage>& block) const;
  void put_outputs(Frame& frame, const Storages& made) const;
  void end(std::unique_ptr<Frame> frame) const;
  // Points the views of a frame at its slots.
  void show(Frame& frame) const;
  // Writes the scalar inputs that kernels read from memory.
  void fill(Scope& scope, const Frame& frame) const;
  // From launch `commits` on, the call cannot be cancelled.
  void launch(Scope& scope, Frame& frame, size_t commits) const;
  void launch_now(Scope& scope, Frame& frame, size_t commits) const;
  void launch_serially(Scope& scope, Frame& frame, size_t commits) const;
  // Throws `error` or, if it is NULL, the value error that the launch wrote to the scope's error
  // record.
  void fail(Scope& scope, const Launch& launch, tenon_error* error) const;
  void enqueue(Scope& scope, Frame& frame, size_t commits) const;
  LaunchSpan span_of(const Launch& launch) const;
  // Collects the tickets of earlier writes to the memory that a call reads.
  void find_tickets(Frame& frame) const;
  // Returns false if the launches must be enqueued one by one.
  bool replay(Scope& scope, Frame& frame) const;
  const Recording* find_recording(Scope& scope, Frame& frame) const;
  std::unique_ptr<const Recording> make_recording(Scope& scope, Frame& frame) const;
  bool continues(Scope& scope, const Output& go, const Storages& made) const;
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
  std::vector<uint32_t> scalar_views_;  // Views of scalar inputs.
  // The views of each slot, concatenated, and for each slot the end of its range.
  std::vector<uint32_t> slot_views_, slot_ends_;

  std::unique_ptr<const Chains> chains_;

  mutable std::atomic<Frame*> free_frame_{nullptr};  // Reusable frame of an earlier call.
  mutable std::mutex recording_mutex_;
  mutable std::unique_ptr<const Recording> recording_;
  // Number of calls so far. Not counted after the device has recorded the plan or refused to record
  // it.
  mutable uint32_t n_enqueued_ = 0;
};

}  // namespace tenon
