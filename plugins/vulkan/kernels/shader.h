// Helpers for kernels with a single dispatch: from a SPIR-V module to a prepared kernel.

#pragma once

#include <algorithm>
#include <vector>

#include "plugins/vulkan/encoder.h"
#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan {

using Words = spirv::Words;

// Returns the number of groups for `n` items: one group per item, or the maximum number of groups
// if there are more items. Groups then process several items each.
inline std::array<uint32_t, 3> groups_up_to_limit(uint64_t n) {
  constexpr uint64_t kMaxGroups = 65535;
  return {static_cast<uint32_t>(std::min(n, kMaxGroups)), 1, 1};
}

// The groups of a dispatch that runs Code::for_each(). `iterations`: number of loop iterations of
// an invocation; 0 if it is small.
struct Rounds {
  std::array<uint32_t, 3> groups;
  uint64_t iterations = 0;
  uint64_t n = 0;                   // Number of indices; 0: unknown.
  bool offsets_fit_32_bits = true;  // False if offsets exceed what shaders can count with 32 bits.

  operator const std::array<uint32_t, 3>&() const { return groups; }
};

// Returns the groups for `n` indices. Each invocation processes one index, or several if there are
// more indices than a large device can process concurrently.
inline Rounds groups_for(uint64_t n) {
  constexpr uint64_t kFull = 4096, kRounds = 16;
  const uint64_t single = (n + kLocalSize - 1) / kLocalSize;
  return {groups_up_to_limit(std::max(std::min(single, kFull), single / kRounds)), 0, n};
}

// Number of loop iterations that is assumed for loops that are too short to count, such as loops
// over axes or over the words of an element.
inline constexpr uint64_t kFewIterations = 64;

// Returns the maximum number of indices that Code::for_each() assigns to an invocation, for `n`
// indices in total.
inline uint64_t rounds_of(uint64_t n, const std::array<uint32_t, 3>& groups) {
  const uint64_t all = uint64_t{groups[0]} * kLocalSize;
  return all == 0 ? 1 : (n + all - 1) / all;
}

// Returns how many steps an invocation may perform for each index in one dispatch, so that its loop
// iterations stay within kMaxIterations. `n`: total number of indices of Code::for_each().
// `iterations`: number of loop iterations of a step.
inline uint32_t max_steps_per_dispatch(uint64_t n, const std::array<uint32_t, 3>& groups,
                                       uint32_t iterations) {
  const uint64_t rounds = rounds_of(n, groups);
  return static_cast<uint32_t>(std::max<uint64_t>(1, kMaxIterations / (rounds * iterations)));
}

// Returns the groups and the iteration count for `n` indices of Code::for_each(). `iterations`:
// number of loop iterations per index or, if a group processes kLocalSize indices together, per
// kLocalSize indices.
inline Rounds rounds_for(uint64_t n, uint64_t iterations) {
  std::array<uint32_t, 3> groups = groups_for(n);
  if (rounds_of(n, groups) * iterations > kMaxIterations) {
    groups = groups_up_to_limit((n + kLocalSize - 1) / kLocalSize);
  }
  return {groups, rounds_of(n, groups) * (1 + iterations), n};
}

// Returns the groups and the iteration count for `n` items, each of which a whole group processes.
// `iterations`: number of loop iterations per item.
inline Rounds rounds_of_groups(uint64_t n, uint64_t iterations) {
  const std::array<uint32_t, 3> groups = groups_up_to_limit(n);
  return {groups, n == 0 ? 0 : (n + groups[0] - 1) / groups[0] * (1 + iterations)};
}

// Appends a parameter, truncated to 32 bits.
inline void push(Words& words, int64_t value) { words.push_back(static_cast<uint32_t>(value)); }

// A kernel with one dispatch and one pipeline, which is created when the kernel is prepared. `Fill`
// is a function that pushes the parameters and returns the groups or Rounds.
template <class Fill>
class OneDispatch final : public Kernel {
 public:
  OneDispatch(tenon_device_p* device, PipelineRef pipeline, Fill fill, bool has_record)
      : device_(device),
        pipeline_(std::move(pipeline)),
        fill_(std::move(fill)),
        has_record_(has_record) {}

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const uint32_t n = launch.n_inputs + launch.n_outputs;
    Operand operands[64];
    uint32_t n_operands = 0;
    for (uint32_t i = 0; i < n; ++i) {
      const tenon_view& view =
          i < launch.n_inputs ? launch.inputs[i] : launch.outputs[i - launch.n_inputs];
      if (view.dtype != TENON_DTYPE_NONE) operands[n_operands++] = operand_of(launch, i);
    }
    if (has_record_) operands[n_operands++] = error_record_of(launch);
    if (tenon_error* error = check_axes(device_, launch)) return error;
    Words words;
    const Rounds rounds = {fill_(launch, words)};
    if (rounds.groups[0] == 0) return nullptr;
    if (!rounds.offsets_fit_32_bits) {
      return make_error(device_, TENON_UNIMPLEMENTED,
                        "an operand has more elements than shaders can count with 32 bits");
    }
    if (tenon_error* error = check_iterations(device_, rounds.iterations)) return error;
    return encoder.dispatch({.pipeline = pipeline_.get(),
                             .operands = {operands, n_operands},
                             .words = words,
                             .groups = rounds.groups,
                             .iterations = std::max(rounds.iterations, kFewIterations),
                             .n = rounds.n});
  }

 private:
  tenon_device_p* const device_;
  const PipelineRef pipeline_;
  const Fill fill_;
  const bool has_record_;
};

// Prepares a kernel with one dispatch. Its operands are the operands of the launch and, if
// `has_record`, the error record.
template <class Fill>
tenon_sdk::Prepared prepare_one_dispatch(tenon_device_p* device, spirv::Code& code,
                                         uint32_t n_operands, uint32_t traits, Fill fill,
                                         bool has_record = false) {
  if (tenon_string reason = refusal_of_operands(device, n_operands); reason.size > 0) {
    return {.reason = reason};
  }
  PipelineRef pipeline;
  const Words module = code.finish();
  if (tenon_error* error = make_pipeline(device, module, n_operands, &pipeline)) {
    return {.error = error};
  }
  return {.kernel = std::make_unique<OneDispatch<Fill>>(device, std::move(pipeline),
                                                        std::move(fill), has_record),
          .traits = traits};
}

}  // namespace tenon_vulkan
