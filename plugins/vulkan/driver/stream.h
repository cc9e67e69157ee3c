// A stream gathers work into batches and submits them to the device's queue. It submits work
// immediately if no batch of the stream is in flight, and otherwise gathers larger batches. A
// dispatch whose pipeline is not created yet is held, as are the dispatches after it. Copies, fills
// and events first encode all held dispatches.
//
// Only one thread at a time may enqueue work. Meanwhile the queue's thread returns batches, and
// pool threads that created a pipeline encode held dispatches, so a mutex guards the state.

#pragma once

#include <atomic>
#include <mutex>

#include "plugins/vulkan/driver/commands.h"
#include "plugins/vulkan/driver/held_dispatches.h"
#include "plugins/vulkan/driver/queue.h"
#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

class Device;
class Recording;
class Sequence;
struct ParameterLocation;
struct BoundDispatch;

class Stream final : public Encoder {
 public:
  explicit Stream(Device& device);
  ~Stream() override;

  tenon_error* open();
  Device& device() const { return device_; }

  tenon_error* launch(const Kernel& kernel, const tenon_launch& launch);
  tenon_error* replay(Recording& recording, const tenon_replay& replay);
  // Copy between host and device memory, or fill device memory with a pattern.
  tenon_error* copy(const tenon_copy_region& region);
  tenon_error* fill(const tenon_fill_region& region);

  // Returns the number of the batch that contains the last work enqueued so far.
  tenon_error* record_event(uint64_t& number);
  // Makes later waits of this stream also wait for the batch with this number.
  tenon_error* wait_event(uint64_t number);
  // Calls `done` after all work enqueued so far has completed.
  tenon_error* notify(const tenon_done_callback& done);
  tenon_error* wait();
  // mark_time() enqueues a timestamp query; read_time() returns its result in nanoseconds.
  tenon_error* mark_time(uint64_t& mark);
  tenon_error* read_time(uint64_t mark, uint64_t& ns);

  // Called by a kernel from within `launch`, with the mutex locked.
  tenon_error* dispatch(const Dispatch& dispatch) override;

  // ---- for the queue
  // Makes a retired batch available for reuse.
  void recycle_batch(Batch& batch) noexcept;
  // Submits the open batch if it was opened before this time.
  void submit_if_old(std::chrono::steady_clock::time_point opened_before);
  // Encodes held dispatches whose pipelines are created.
  void encode_ready_dispatches();
  // Stores the error of a failed batch, which take_failure() returns.
  void add_failure(uint64_t number, tenon_error* error);
  // Returns the first unreported failure of a batch up to this number, or an error if the device is
  // lost.
  tenon_error* take_failure(uint64_t upto);

 private:
  using Lock = std::unique_lock<std::mutex>;

  static constexpr uint32_t kMaxCommands =
      64;  // Maximum number of commands of a batch that is gathered while another one is in flight.
  // Maximum number of accesses that Commands searches for conflicts. With more, the search would
  // cost more than the barriers that it avoids. The limit for cached commands is larger, because
  // they are encoded once and replayed many times.
  static constexpr size_t kMaxAccesses = 32;
  static constexpr size_t kMaxKeptAccesses = 1024;

  // A range of a device buffer.
  struct Span {
    const Buffer& buffer;
    uint64_t offset;  // Offset in the block.
    uint64_t size;

    std::byte* data() const { return buffer.block.data + offset; }
    Access access(bool is_written) const {
      return {buffer.block.serial, offset, offset + size, is_written};
    }
  };

  // Opens a batch unless one is open. add_batch() creates another batch for reuse.
  tenon_error* open_batch();
  tenon_error* add_batch();
  // Submits the open batch, if there is one.
  void submit() noexcept;
  void submit_if_due();
  // Whether the batch has reached the limit of commands or of multiplications.
  bool is_full(const Batch& batch) const;
  // Whether all earlier work of the stream, and all events that it waits for, have completed.
  bool is_idle() const;
  // Whether the host may access the buffer directly: the stream is idle and the host shares the
  // device's memory.
  bool is_host_accessible(const Buffer& buffer) const;

  // Encodes held dispatches: either up to the first one whose pipeline is not created (kMade), or
  // all (kAll). Reports failures to the host.
  enum class Which { kMade, kAll };
  void encode_held_dispatches(Which which);
  // Encodes a dispatch into the open batch. Requires that its pipeline is created.
  tenon_error* encode_now(const Dispatch& dispatch, const LaunchId& launch,
                          const std::string& name);
  tenon_error* check_operands(const Dispatch& dispatch) const;
  // Writes the parameters of a dispatch to `to`, and computes its bindings and accesses. `placed`
  // refers to `places`, which stores them.
  struct Places {
    std::array<Binding, kMaxOperands + 1> bindings;
    std::array<Access, kMaxOperands> accesses;
  };
  tenon_error* bind_dispatch(const Dispatch& dispatch, const ParameterLocation& to, Places& places,
                             BoundDispatch& placed) const;
  // Encodes a bound dispatch with the barrier that it needs. Appends new descriptor sets to `used`.
  tenon_error* encode_bound_dispatch(const BoundDispatch& placed, Commands& commands,
                                     std::vector<std::shared_ptr<DescriptorSets>>& used);
  // Computes the binding of operand `i` and the offset of its first element in that binding.
  tenon_error* bind_operand(const Dispatch& dispatch, size_t i, Binding& binding,
                            uint32_t& byte_offset) const;
  // Returns the descriptor set for the bindings in `set`. If the current DescriptorSets object is
  // full, starts another one and appends it to `used`.
  tenon_error* bind_set(const Layout& layout, std::span<const Binding> bindings,
                        std::vector<std::shared_ptr<DescriptorSets>>& used, VkDescriptorSet& set);

  std::shared_ptr<CachedCommands> find_cached_commands(Recording& recording,
                                                       const tenon_replay& replay);
  std::shared_ptr<CachedCommands> coalesce_cached_commands(
      Recording& recording, const tenon_replay& replay,
      const std::shared_ptr<CachedCommands>& kept);
  tenon_error* encode_cached_commands(const Recording& recording, const tenon_replay& replay,
                                      CachedCommands& kept, uint64_t n_replays);
  tenon_error* encode_sequence(const Sequence& sequence, const ParameterLocation& list,
                               Commands& commands, CachedCommands& kept);
  tenon_error* send_parameters(CachedCommands& kept);
  tenon_error* replay_one_by_one(const Recording& recording, const tenon_replay& replay);

  // Blocks until host copies in flight to this host memory range have completed.
  void wait_for_host_copies(Lock& lock, const void* begin, uint64_t size);
  tenon_error* begin_transfer(Lock& lock, const Ring& ring);
  // Copy from host memory to a device buffer, and back, through staging memory if necessary.
  tenon_error* upload(Lock& lock, const std::byte* from, Span to);
  tenon_error* download(Lock& lock, Span from, std::byte* to);
  // Copies host memory after the work enqueued before: immediately if the stream is idle, otherwise
  // when the batch is retired.
  tenon_error* copy_on_host(const std::byte* from, std::byte* to, uint64_t size);
  tenon_error* copy_on_device(Span from, Span to);
  tenon_error* copy_overlapping(Span from, Span to);
  void add_host_copy(const HostCopy& copy);
  // Encodes a copy between two blocks, with the barrier that it needs.
  void encode_copy(const Block& from, uint64_t from_offset, const Block& to, uint64_t to_offset,
                   uint64_t size);
  // Fill a range: fill_words() whole words, fill_bytes() any bytes, and fill_span() either.
  // `pattern` points to 8 bytes, which are repeated.
  tenon_error* fill_span(Span to, const std::byte* pattern);
  void fill_words(Span to, uint32_t word);
  tenon_error* fill_bytes(Span to, const std::byte* pattern);

  Device& device_;
  const Driver& driver_;
  Queue& queue_;
  // Identifies the stream. It differs from the serial numbers of all blocks and other streams.
  const uint32_t serial_;
  VkCommandPool pool_ = VK_NULL_HANDLE;

  mutable std::mutex mutex_;
  Commands commands_;  // The commands of the open batch.
  Ring parameters_, uploads_, downloads_;
  std::shared_ptr<DescriptorSets> sets_;
  std::vector<SlotLocation> slots_;  // Slot locations of the current replay.
  struct {                           // The current launch.
    LaunchId id;
    const std::string* name = nullptr;  // NULL during a replay, whose pipelines already have names.
  } launching_;
  HeldDispatches held_;
  std::atomic<bool> encodes_all_{false};  // True while encode_held_dispatches(kAll) runs.
  Marks marks_;
  std::vector<std::unique_ptr<Batch>> batches_;
  // Batches that can be reused. Has capacity for all batches, so that returning one does not
  // allocate.
  std::vector<Batch*> free_;
  Batch* open_ = nullptr;
  uint32_t n_batches_in_flight_ = 0;  // Number of batches in flight.
  uint64_t last_number_ = 0;  // Number of the last batch that the stream submitted or waits for.
  LaunchId failed_;           // The last launch with a failed dispatch.
  std::vector<std::pair<uint64_t, tenon_error*>> failures_;  // Sorted by batch number.
  std::mutex failure_mutex_;
};

inline Stream& from_c(tenon_stream_p* stream) { return *reinterpret_cast<Stream*>(stream); }

}  // namespace tenon_vulkan
