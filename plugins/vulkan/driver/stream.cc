#include "plugins/vulkan/driver/stream.h"

#include <utility>

#include "plugins/vulkan/driver/block.h"
#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/driver/parameters.h"
#include "plugins/vulkan/driver/sequences.h"

namespace tenon_vulkan {
namespace {

constexpr uint64_t kParameterBytes = uint64_t{256} << 10;
constexpr uint64_t kStagingBytes = uint64_t{4} << 20;

}  // namespace

Stream::Stream(Device& device)
    : device_(device),
      driver_(device.driver()),
      queue_(device.queue()),
      serial_(driver_.next_serial()),
      commands_(driver_, kMaxAccesses),
      parameters_(driver_, device.memory_types().parameters, device.memory_types().upload,
                  kParameterBytes),
      uploads_(driver_, device.memory_types().upload, device.memory_types().upload, kStagingBytes),
      downloads_(driver_, device.memory_types().download, device.memory_types().upload,
                 kStagingBytes),
      sets_(std::make_shared<DescriptorSets>(driver_)),
      marks_(driver_) {}

tenon_error* Stream::open() {
  const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .pNext = nullptr,
                                        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                        .queueFamilyIndex = driver_.physical().queue_family};
  const VkResult result = driver_.vk().CreateCommandPool(driver_.device(), &info, nullptr, &pool_);
  if (result != VK_SUCCESS) return driver_.error(result, "cannot open a stream");
  queue_.add(*this);
  return nullptr;
}

Stream::~Stream() {
  uint64_t last;
  {
    const Lock lock(mutex_);
    encode_held_dispatches(Which::kAll);
    submit();
    last = last_number_;
  }
  queue_.remove(*this, last);
  for (const auto& [number, error] : failures_) driver_.host().release(error);
  for (const auto& batch : batches_) {
    batch->clear();
    if (batch->fence != VK_NULL_HANDLE) {
      driver_.vk().DestroyFence(driver_.device(), batch->fence, nullptr);
    }
  }
  if (pool_ != VK_NULL_HANDLE) driver_.vk().DestroyCommandPool(driver_.device(), pool_, nullptr);
}

// ---- batches

tenon_error* Stream::open_batch() {
  if (open_ != nullptr) return nullptr;
  if (driver_.is_lost()) return driver_.lost_error();
  if (free_.empty()) {
    if (tenon_error* error = add_batch()) return error;
  }
  if (n_batches_in_flight_ == 0) {
    parameters_.restart();
    uploads_.restart();
    downloads_.restart();
  }
  Batch& batch = *free_.back();
  batch.sets.push_back(sets_);
  if (tenon_error* error = commands_.begin(batch.commands)) {
    batch.clear();
    return error;
  }
  batch.opened = std::chrono::steady_clock::now();
  free_.pop_back();
  open_ = &batch;
  return nullptr;
}

tenon_error* Stream::add_batch() {
  auto made = std::make_unique<Batch>();
  made->stream = this;
  made->launches.reserve(kMaxCommands + 1);  // Each launch has at least one command.
  free_.reserve(batches_.size() + 1);
  batches_.reserve(batches_.size() + 1);
  const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .pNext = nullptr,
                                            .commandPool = pool_,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
  const DeviceFunctions& vk = driver_.vk();
  VkResult result = vk.AllocateCommandBuffers(driver_.device(), &info, &made->commands);
  if (result == VK_SUCCESS && !driver_.has_timeline()) {
    const VkFenceCreateInfo fence = {
        .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .pNext = nullptr, .flags = 0};
    result = vk.CreateFence(driver_.device(), &fence, nullptr, &made->fence);
  }
  if (result != VK_SUCCESS) {
    vk.FreeCommandBuffers(driver_.device(), pool_, 1, &made->commands);
    return driver_.error(result, "cannot record commands");
  }
  if (driver_.has_names()) {
    driver_.set_name(
        VK_OBJECT_TYPE_COMMAND_BUFFER, made->commands,
        "batch " + std::to_string(batches_.size()) + " of stream " + std::to_string(serial_));
  }
  free_.push_back(made.get());
  batches_.push_back(std::move(made));
  return nullptr;
}

void Stream::submit() noexcept {
  if (open_ == nullptr) return;
  Batch& batch = *std::exchange(open_, nullptr);
  batch.result = commands_.end();
  ++n_batches_in_flight_;
  last_number_ = queue_.submit(batch);
  if (batch.result == VK_SUCCESS) return;
  if (!batch.launches.empty()) failed_ = batch.launches.back();
  for (const auto& kept : batch.kept) kept->mark_all_stale();
  if (batch.has_marks) marks_.declare_lost();
}

// Submits the open batch if it is full or if the stream has no batch in flight. Otherwise the batch
// gathers more work. A batch with time marks is submitted only when it is full or a caller waits
// for it, so that the device receives the work between the marks as a whole.
void Stream::submit_if_due() {
  if (open_ == nullptr) return;
  if (is_full(*open_) || (n_batches_in_flight_ == 0 && !open_->has_marks)) submit();
}

bool Stream::is_full(const Batch& batch) const {
  return batch.n_commands >= kMaxCommands ||
         batch.n_products >= driver_.physical().capabilities.max_products_per_submission;
}

void Stream::submit_if_old(std::chrono::steady_clock::time_point opened_before) {
  // A thread that has locked the mutex submits the batch itself.
  const Lock lock(mutex_, std::try_to_lock);
  if (lock && open_ != nullptr && open_->opened <= opened_before) submit();
}

void Stream::recycle_batch(Batch& batch) noexcept {
  const Lock lock(mutex_);
  for (Chunk* chunk : batch.spent) chunk->ring.give_back(*chunk);
  for (auto& scratch : batch.scratch) device_.memory().release(std::move(scratch));
  batch.clear();
  free_.push_back(&batch);
  if (--n_batches_in_flight_ == 0 && open_ != nullptr && !open_->has_marks) submit();
}

bool Stream::is_idle() const {
  return held_.empty() && open_ == nullptr && n_batches_in_flight_ == 0 &&
         queue_.has_ended(last_number_);
}

// ---- order

tenon_error* Stream::record_event(uint64_t& number) {
  const Lock lock(mutex_);
  if (driver_.is_lost()) return driver_.lost_error();
  encode_held_dispatches(Which::kAll);
  submit();
  number = last_number_;
  return nullptr;
}

// record_event() has already submitted the event's work, and batches execute in submission order.
// So the device needs no wait; only the batch number is stored, for later waits by the host.
tenon_error* Stream::wait_event(uint64_t number) {
  const Lock lock(mutex_);
  if (driver_.is_lost()) return driver_.lost_error();
  last_number_ = std::max(last_number_, number);
  return nullptr;
}

tenon_error* Stream::notify(const tenon_done_callback& done) {
  uint64_t number;
  {
    const Lock lock(mutex_);
    encode_held_dispatches(Which::kAll);
    submit();
    number = last_number_;
  }
  queue_.notify(*this, number, done);
  return nullptr;
}

tenon_error* Stream::wait() {
  uint64_t number;
  {
    const Lock lock(mutex_);
    encode_held_dispatches(Which::kAll);
    submit();
    number = last_number_;
  }
  queue_.wait(number);
  return take_failure(number);
}

// ---- time

tenon_error* Stream::mark_time(uint64_t& mark) {
  if (!device_.clock().is_supported()) {
    return driver_.error(TENON_UNIMPLEMENTED, "the queue of the device has no timestamps");
  }
  const Lock lock(mutex_);
  encode_held_dispatches(Which::kAll);
  if (tenon_error* error = open_batch()) return error;
  Query query;
  if (tenon_error* error = marks_.allocate(mark, query)) return error;
  commands_.write_time(query);
  open_->has_marks = true;
  ++open_->n_commands;
  submit_if_due();
  return nullptr;
}

tenon_error* Stream::read_time(uint64_t mark, uint64_t& ns) {
  uint64_t ticks = 0;
  if (tenon_error* error = marks_.read(mark, ticks)) return error;
  ns = device_.clock().ns_of(ticks);
  return nullptr;
}

// ---- failures

void Stream::add_failure(uint64_t number, tenon_error* error) {
  std::lock_guard guard(failure_mutex_);
  failures_.push_back({number, error});
}

tenon_error* Stream::take_failure(uint64_t upto) {
  std::lock_guard guard(failure_mutex_);
  tenon_error* first = nullptr;
  std::erase_if(failures_, [&](const std::pair<uint64_t, tenon_error*>& failure) {
    if (failure.first > upto) return false;
    if (first != nullptr) driver_.host().release(failure.second);
    if (first == nullptr) first = failure.second;
    return true;
  });
  if (first == nullptr && driver_.is_lost()) return driver_.lost_error();
  return first;
}

// ---- launches

// If a dispatch of a launch fails, the earlier dispatches of the launch still run; they write only
// to the launch's outputs and workspace. The later dispatches are skipped, because they may read
// results of the failed dispatch.
tenon_error* Stream::launch(const Kernel& kernel, const tenon_launch& launch) {
  const Lock lock(mutex_);
  launching_ = {{launch.work, launch.ticket}, &kernel.name()};
  if (tenon_error* error = kernel.enqueue(*this, launch)) return error;
  submit_if_due();
  return nullptr;
}

tenon_error* Stream::dispatch(const Dispatch& dispatch) {
  if (dispatch.groups[0] == 0 || dispatch.groups[1] == 0 || dispatch.groups[2] == 0) return nullptr;
  static const std::string kNoName;
  const bool has_name = driver_.has_names() && launching_.name != nullptr;
  const std::string& name = has_name ? *launching_.name : kNoName;
  encode_held_dispatches(Which::kMade);
  if (held_.empty() && dispatch.pipeline->is_made()) {
    return encode_now(dispatch, launching_.id, name);
  }
  if (driver_.is_lost()) return driver_.lost_error();
  if (tenon_error* error = check_operands(dispatch)) return error;
  held_.push(dispatch, launching_.id, name);
  if (held_.size() > HeldDispatches::kMax) encode_held_dispatches(Which::kAll);
  return nullptr;
}

// Returns at once while another thread runs encode_held_dispatches(kAll), which waits for
// pipelines. If this pool thread waited for that thread, both could deadlock.
void Stream::encode_ready_dispatches() {
  if (encodes_all_) return;
  const Lock lock(mutex_);
  encode_held_dispatches(Which::kMade);
}

void Stream::encode_held_dispatches(Which which) {
  encodes_all_ = which == Which::kAll;
  while (!held_.empty()) {
    const Pipeline& pipeline = held_.pipeline();
    if (!pipeline.is_made() && which == Which::kMade) return;
    tenon_error* error;
    try {
      error = device_.pipelines().compiler().require(pipeline);
      if (error == nullptr) error = encode_now(held_.dispatch(), held_.launch(), held_.name());
    } catch (const std::exception& failure) {
      error = driver_.error(TENON_OUT_OF_MEMORY, failure.what());
    }
    if (error != nullptr) {
      const LaunchId& launch = held_.launch();
      driver_.host().launch_failed(launch.work, launch.ticket, error);
      failed_ = launch;
      held_.pop_launch();
      continue;
    }
    held_.pop();
    submit_if_due();
  }
  encodes_all_ = false;
}

tenon_error* Stream::encode_now(const Dispatch& dispatch, const LaunchId& launch,
                                const std::string& name) {
  if (launch == failed_ && launch.work != nullptr) [[unlikely]]
    return nullptr;
  if (driver_.has_names()) [[unlikely]]
    device_.pipelines().set_name(*dispatch.pipeline, name);
  if (tenon_error* error = open_batch()) return error;
  Piece piece;
  if (tenon_error* error =
          parameters_.allocate(ParameterLayout(dispatch).size, open_->spent, piece)) {
    return error;
  }
  Places places;
  BoundDispatch placed;
  const ParameterLocation parameters = {piece.data(), piece.block, piece.offset};
  if (tenon_error* error = bind_dispatch(dispatch, parameters, places, placed)) return error;
  if (tenon_error* error = encode_bound_dispatch(placed, commands_, open_->sets)) return error;
  ++open_->n_commands;
  open_->n_products += dispatch.products;
  std::vector<LaunchId>& launches = open_->launches;
  if (launches.empty() || launches.back() != launch) launches.push_back(launch);
  if (is_full(*open_)) submit();
  return nullptr;
}

// Returns an error if an operand cannot be bound, so that the caller gets it even if the dispatch
// is held.
tenon_error* Stream::check_operands(const Dispatch& dispatch) const {
  Binding binding;
  uint32_t byte_offset;
  for (size_t i = 0; i < dispatch.operands.size(); ++i) {
    if (dispatch.operands[i].buffer == nullptr) continue;
    if (tenon_error* error = bind_operand(dispatch, i, binding, byte_offset)) return error;
  }
  return nullptr;
}

tenon_error* Stream::bind_dispatch(const Dispatch& dispatch, const ParameterLocation& to,
                                   Places& places, BoundDispatch& placed) const {
  const size_t n = dispatch.operands.size();
  if (n != dispatch.pipeline->layout().kinds.n_operands) {
    return driver_.error(TENON_INTERNAL,
                         "a dispatch has " + std::to_string(n) + " operands, but its shader has " +
                             std::to_string(dispatch.pipeline->layout().kinds.n_operands));
  }
  auto& [bindings, accesses] = places;
  std::array<uint32_t, kMaxOperands> offsets;
  bindings[0] = {to.block, 0, to.block->size};
  size_t n_accesses = 0;
  const ParameterLayout parameters(dispatch);
  uint64_t value_at = parameters.values;
  for (size_t i = 0; i < n; ++i) {
    const Operand& operand = dispatch.operands[i];
    if (operand.buffer == nullptr) {
      const uint64_t size = operand.end - operand.begin;
      if (size > 0) std::memcpy(to.data + value_at, operand.value, size);
      offsets[i] = static_cast<uint32_t>(to.offset + value_at);
      value_at += room_for_value(operand);
      bindings[i + 1] = bindings[0];
      continue;
    }
    if (tenon_error* error = bind_operand(dispatch, i, bindings[i + 1], offsets[i])) return error;
    // Rounds the range to whole words, which shaders access even for smaller elements.
    const Buffer& buffer = from_c(operand.buffer);
    accesses[n_accesses++] = {buffer.block.serial, (buffer.offset + operand.begin) & ~uint64_t{3},
                              round_up(buffer.offset + operand.end, 4), operand.is_written};
  }
  std::memcpy(to.data, offsets.data(), parameters.words);
  if (!dispatch.words.empty()) {
    std::memcpy(to.data + parameters.words, dispatch.words.data(), dispatch.words.size_bytes());
  }
  placed = {.pipeline = dispatch.pipeline,
            .bindings = {bindings.data(), n + 1},
            .accesses = {accesses.data(), n_accesses},
            .first_word = static_cast<uint32_t>(to.offset / sizeof(uint32_t)),
            .groups = dispatch.groups,
            .iterations = dispatch.iterations,
            .n = dispatch.n};
  return nullptr;
}

tenon_error* Stream::encode_bound_dispatch(const BoundDispatch& placed, Commands& commands,
                                           std::vector<std::shared_ptr<DescriptorSets>>& used) {
  const Pipeline& pipeline = *placed.pipeline;
  VkDescriptorSet set;
  if (tenon_error* error = bind_set(pipeline.layout(), placed.bindings, used, set)) return error;
  commands.add_accesses(placed.accesses);
  commands.dispatch(pipeline, set, placed.first_word, placed.groups,
                    driver_.has_names() ? device_.pipelines().name_of(pipeline) : nullptr);
  return nullptr;
}

tenon_error* Stream::bind_operand(const Dispatch& dispatch, size_t i, Binding& binding,
                                  uint32_t& byte_offset) const {
  const Operand& operand = dispatch.operands[i];
  const Buffer& buffer = from_c(operand.buffer);
  const uint64_t begin = buffer.offset + operand.begin, end = buffer.offset + operand.end;
  if (!find_binding(driver_, buffer.block, begin, end, binding)) {
    return driver_.error(TENON_UNIMPLEMENTED,
                         "an operand has " + std::to_string(end - begin) +
                             " bytes, but a shader can access at most " +
                             std::to_string(driver_.physical().capabilities.max_operand_bytes) +
                             " at once");
  }
  byte_offset = static_cast<uint32_t>(buffer.offset + operand.first - binding.offset);
  return nullptr;
}

tenon_error* Stream::bind_set(const Layout& layout, std::span<const Binding> bindings,
                              std::vector<std::shared_ptr<DescriptorSets>>& used,
                              VkDescriptorSet& set) {
  if (sets_->is_full()) {
    // Starts a new set; the old sets are destroyed after the last batch that uses them.
    sets_ = std::make_shared<DescriptorSets>(driver_);
    used.push_back(sets_);
    if (open_ != nullptr) open_->sets.push_back(sets_);
  }
  return sets_->get(layout, bindings, set);
}

}  // namespace tenon_vulkan
