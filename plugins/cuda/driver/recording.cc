#include "plugins/cuda/driver/recording.h"

#include <algorithm>
#include <cstring>

#include "plugins/sdk/dtype.h"

namespace tenon_cuda {
namespace {

constexpr uint64_t kAlignment = 64;  // Slots keep their offset modulo kAlignment.
constexpr size_t kTrials = 3;
// Distance between the addresses of a slot in the first two trials, multiplied by the slot's
// number plus 1.
constexpr uint64_t kTrialDistance = uint64_t{1} << 36;

// A pseudorandom number (splitmix64).
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

size_t count_operands(const tenon_launch& launch) {
  return size_t{launch.n_inputs} + launch.n_outputs + (launch.workspace_size > 0 ? 1 : 0);
}
// Returns operand `i` of a launch: its inputs, its outputs, and its workspace.
const tenon_view& operand(const tenon_launch& launch, size_t i) {
  if (i < launch.n_inputs) return launch.inputs[i];
  i -= launch.n_inputs;
  return i < launch.n_outputs ? launch.outputs[i] : launch.workspace;
}

// Collects the steps of a launch.
class StepList final : public Encoder {
 public:
  explicit StepList(std::vector<RecordedStep>& steps) : steps_(steps) {}

  tenon_error* dispatch(const Dispatch& dispatch) override {
    if (dispatch.n_blocks == 0) return nullptr;
    steps_.push_back({.function = dispatch.function,
                      .n_blocks = dispatch.n_blocks,
                      .block_size = dispatch.block_size,
                      .words = {dispatch.parameters.begin(), dispatch.parameters.end()}});
    return nullptr;
  }
  tenon_error* multiply(const LibraryProduct& product, const LibraryCall& call) override {
    steps_.push_back({.product = &product,
                      .shares_a = call.shares_a,
                      .shares_b = call.shares_b,
                      .words = {call.a, call.b, call.d, call.workspace}});
    return nullptr;
  }

 private:
  std::vector<RecordedStep>& steps_;
};

// Encodes a launch with these operands instead of its own.
tenon_error* encode(Memory& memory, const tenon_recorded_launch& recorded,
                    const RecordedOperands& operands, std::vector<RecordedStep>& steps) {
  tenon_launch launch = *recorded.launch;
  const size_t n = count_operands(launch);
  std::vector<tenon_view> views;
  std::vector<Buffer> buffers;  // One for each operand, and one for the error record.
  buffers.reserve(n + 1);
  const auto buffer_at = [&](uint64_t address) {
    buffers.push_back({memory, address, 0});
    return reinterpret_cast<tenon_buffer_p*>(&buffers.back());
  };
  for (size_t i = 0; i < n; ++i) {
    const tenon_recorded_operand& where = recorded.operands[i];
    tenon_view& view = views.emplace_back(operand(launch, i));
    if (where.kind == TENON_OPERAND_IN_SLOT) {
      view.buffer = buffer_at(operands.slots[where.number]);
      view.byte_offset = where.offset;
    } else if (where.kind == TENON_OPERAND_BY_VALUE) {
      view.data = const_cast<tenon_element*>(&operands.values[where.number]);
    }
  }
  if (launch.workspace_size > 0) launch.workspace = views.back();
  launch.inputs = views.data();
  launch.outputs = views.data() + launch.n_inputs;
  if (launch.record_buffer != nullptr) {
    launch.record_buffer = buffer_at(operands.slots.back());
    launch.record_offset = 0;
  }
  StepList list(steps);
  const auto& kernel = static_cast<const Kernel&>(*tenon_sdk::from_c(recorded.kernel));
  return kernel.enqueue(list, launch);
}

// Whether the steps differ at most in their words.
bool have_same_form(const std::vector<RecordedStep>& a, const std::vector<RecordedStep>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const RecordedStep& x, const RecordedStep& y) {
        return x.function == y.function && x.n_blocks == y.n_blocks &&
               x.block_size == y.block_size && x.product == y.product && x.shares_a == y.shares_a &&
               x.shares_b == y.shares_b && x.words.size() == y.words.size();
      });
}

// Returns the memory and the values with which the launches of the request ran.
RecordedOperands current_operands(const tenon_record_request& request) {
  RecordedOperands now = {std::vector<uint64_t>(request.n_slots + 1),
                          std::vector<tenon_element>(request.n_values)};
  for (size_t k = 0; k < request.n_launches; ++k) {
    const tenon_recorded_launch& recorded = request.launches[k];
    const tenon_launch& launch = *recorded.launch;
    for (size_t i = 0; i < count_operands(launch); ++i) {
      const tenon_recorded_operand& where = recorded.operands[i];
      const tenon_view& view = operand(launch, i);
      if (where.kind == TENON_OPERAND_IN_SLOT) {
        now.slots[where.number] = address_of(view) - where.offset;
      } else if (where.kind == TENON_OPERAND_BY_VALUE) {
        std::memcpy(&now.values[where.number], view.data, tenon_sdk::size_of(view.dtype));
      }
    }
    if (const uint64_t record = error_record_address(launch)) now.slots.back() = record;
  }
  return now;
}

// Returns the bytes of part `part` (8 bytes) of a value that an element of `size` bytes occupies.
uint64_t mask_of(size_t part, size_t size) {
  const size_t n = size > 8 * part ? std::min<size_t>(size - 8 * part, 8) : 0;
  return n == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * n) - 1;
}

}  // namespace

struct Recording::Trials {
  explicit Trials(const RecordedOperands& now) {
    for (size_t t = 0; t < kTrials; ++t) {
      for (size_t slot = 0; slot < now.slots.size(); ++slot) {
        const uint64_t moved =
            t < 2 ? (slot + 1) * kTrialDistance << t : ((mix(slot) >> 20) + 1) * kAlignment;
        operands[t].slots.push_back(moved + now.slots[slot] % kAlignment);
      }
      for (size_t value = 0; value < now.values.size(); ++value) {
        // Every byte differs between the first two trials.
        tenon_element& element = operands[t].values.emplace_back();
        for (size_t part = 0; part < 2; ++part) {
          const uint64_t bits = mix(2 * value + part);
          element.words[part] = t == 0 ? bits : t == 1 ? ~bits : mix(bits);
        }
      }
    }
  }

  RecordedOperands operands[kTrials];
};

tenon_error* Recording::make(Device& device, const tenon_record_request& request,
                             std::unique_ptr<Recording>& made, tenon_string& reason) {
  if (tenon_error* error = device.driver().check_lost()) return error;
  const Entered entered(device.driver(), device.context());
  if (tenon_error* error = entered.error()) return error;
  std::unique_ptr<Recording> self(new Recording(device, request.n_slots, request.n_values));
  const RecordedOperands now = current_operands(request);
  const Trials trials(now);
  for (size_t k = 0; k < request.n_launches; ++k) {
    bool is_explained = true;
    if (tenon_error* error = self->add(request.launches[k], trials, is_explained)) return error;
    if (is_explained) continue;
    reason = TENON_STR("does not record kernels whose dispatches depend on addresses or values");
    return nullptr;
  }
  self->name_ = std::to_string(self->steps_.size()) + " kernels";
  self->is_stale_.assign(self->steps_.size(), false);
  self->stored_ = trials.operands[0];
  for (size_t i = 0; i < now.slots.size(); ++i) self->store_slot(i, now.slots[i]);
  for (size_t i = 0; i < now.values.size(); ++i) self->store_value(i, now.values[i]);
  if (tenon_error* error = self->build_graphs()) return error;
  made = std::move(self);
  return nullptr;
}

Recording::~Recording() {
  const Entered entered(device_.driver(), device_.context());
  sections_.clear();
}

tenon_error* Recording::add(const tenon_recorded_launch& launch, const Trials& trials,
                            bool& is_explained) {
  std::vector<RecordedStep> encoded[kTrials];
  for (size_t t = 0; t < kTrials; ++t) {
    if (tenon_error* error = encode(device_.memory(), launch, trials.operands[t], encoded[t])) {
      return error;
    }
  }
  is_explained = have_same_form(encoded[0], encoded[1]) && have_same_form(encoded[0], encoded[2]);
  for (size_t i = 0; is_explained && i < encoded[0].size(); ++i) {
    const size_t step = steps_.size() + i;
    for (size_t word = 0; is_explained && word < encoded[0][i].words.size(); ++word) {
      const uint64_t words[] = {encoded[0][i].words[word], encoded[1][i].words[word],
                                encoded[2][i].words[word]};
      is_explained = explain(launch, trials, step, word, words);
    }
  }
  steps_.insert(steps_.end(), encoded[0].begin(), encoded[0].end());
  return nullptr;
}

bool Recording::explain(const tenon_recorded_launch& launch, const Trials& trials, size_t step,
                        size_t word, const uint64_t (&words)[kTrials]) {
  if (words[0] == words[1] && words[0] == words[2]) return true;
  const uint64_t distance = words[1] - words[0];
  const uint64_t slot = distance / kTrialDistance - 1;
  if (distance % kTrialDistance == 0 && slot < slot_uses_.size()) {
    const uint64_t offset = words[0] - trials.operands[0].slots[slot];
    if (words[2] == trials.operands[2].slots[slot] + offset) {
      slot_uses_[slot].push_back({step, word, offset});
      return true;
    }
  }
  const auto explains = [&](size_t value, size_t part, uint64_t mask) {
    if (mask == 0) return false;
    for (size_t t = 0; t < kTrials; ++t) {
      if (words[t] != (trials.operands[t].values[value].words[part] & mask)) return false;
    }
    return true;
  };
  std::vector<std::pair<size_t, ValueUse>> found;
  for (size_t i = 0; i < count_operands(*launch.launch); ++i) {
    const tenon_recorded_operand& where = launch.operands[i];
    if (where.kind != TENON_OPERAND_BY_VALUE) continue;
    for (size_t part = 0; part < 2; ++part) {
      const uint64_t mask = mask_of(part, tenon_sdk::size_of(operand(*launch.launch, i).dtype));
      const bool is_new = found.empty() || found.back().first != where.number;
      if (explains(where.number, part, mask) && is_new) {
        found.push_back({where.number, {step, word, part, mask}});
      }
    }
  }
  if (found.size() != 1) return false;
  value_uses_[found[0].first].push_back(found[0].second);
  return true;
}

GraphKernel Recording::kernel_of(size_t step) const {
  const RecordedStep& recorded = steps_[step];
  return {recorded.function, recorded.n_blocks, recorded.block_size, recorded.words};
}

tenon_error* Recording::build_graphs() {
  const auto is_product = [&](size_t step) { return steps_[step].product != nullptr; };
  for (size_t begin = 0, end; begin < steps_.size(); begin = end) {
    end = begin + 1;
    Section& section = sections_.emplace_back();
    section.begin = begin;
    if (!is_product(begin)) {
      while (end < steps_.size() && !is_product(end)) ++end;
      section.graph = std::make_unique<Graph>(device_.driver());
      for (size_t step = begin; step < end; ++step) {
        if (tenon_error* error = section.graph->add(kernel_of(step))) return error;
        is_stale_[step] = false;
      }
      if (tenon_error* error = section.graph->instantiate()) return error;
    }
    section.end = end;
  }
  return nullptr;
}

void Recording::store_slot(size_t slot, uint64_t address) {
  if (stored_.slots[slot] == address) return;
  stored_.slots[slot] = address;
  for (const AddressUse& use : slot_uses_[slot]) {
    steps_[use.step].words[use.word] = address != 0 ? address + use.offset : 0;
    is_stale_[use.step] = true;
  }
}

void Recording::store_value(size_t value, const tenon_element& element) {
  if (std::memcmp(&stored_.values[value], &element, sizeof element) == 0) return;
  stored_.values[value] = element;
  for (const ValueUse& use : value_uses_[value]) {
    steps_[use.step].words[use.word] = element.words[use.part] & use.mask;
    is_stale_[use.step] = true;
  }
}

tenon_error* Recording::enqueue(CUstream stream, const tenon_replay& replay,
                                bool& is_partly_enqueued) {
  // Graphs are not thread-safe. The driver runs the launches of one graph one after another, also
  // if they are in different streams.
  const std::lock_guard guard(mutex_);
  const auto address = [](tenon_buffer_p* buffer, uint64_t offset) {
    return buffer != nullptr ? from_c(buffer).data + offset : 0;
  };
  for (size_t i = 0; i < replay.n_slots; ++i) {
    store_slot(i, address(replay.slots[i].buffer, replay.slots[i].byte_offset));
  }
  store_slot(replay.n_slots, address(replay.record_buffer, replay.record_offset));
  for (size_t i = 0; i < replay.n_values; ++i) store_value(i, replay.values[i]);
  // Updates all graphs before the first launch, so that a failure has no effect.
  for (const Section& section : sections_) {
    for (size_t step = section.begin; section.graph != nullptr && step < section.end; ++step) {
      if (!is_stale_[step]) continue;
      if (tenon_error* error = section.graph->update(step - section.begin, kernel_of(step))) {
        return error;
      }
      is_stale_[step] = false;
    }
  }
  for (const Section& section : sections_) {
    tenon_error* error = nullptr;
    if (section.graph != nullptr) {
      error = section.graph->launch(stream);
    } else {
      const RecordedStep& step = steps_[section.begin];
      const std::vector<uint64_t>& words = step.words;
      error = step.product->run(stream, {.a = words[0],
                                         .b = words[1],
                                         .d = words[2],
                                         .workspace = words[3],
                                         .shares_a = step.shares_a,
                                         .shares_b = step.shares_b});
    }
    if (error != nullptr) return error;
    is_partly_enqueued = true;
  }
  return nullptr;
}

}  // namespace tenon_cuda
