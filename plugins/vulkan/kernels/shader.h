// Helpers for kernels with a single dispatch: from a SPIR-V module to a prepared kernel.

#pragma once

#include <algorithm>
#include <vector>

#include "plugins/vulkan/encoder.h"
#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan {

using Words = spirv::Words;

// One group per item; beyond the device's limit, groups process several.
inline std::array<uint32_t, 3> groups_up_to_limit(uint64_t n) {
  constexpr uint64_t kMaxGroups = 65535;
  return {static_cast<uint32_t>(std::min(n, kMaxGroups)), 1, 1};
}

// The groups of a loop over indices (Code::for_each), and the number of loop iterations of an
// invocation, if that may be large.
struct Rounds {
  std::array<uint32_t, 3> groups;
  uint64_t iterations = 0;
  uint64_t n = 0;           // Number of indices; 0: unknown.
  bool are_counted = true;  // False: offsets exceed what shaders can count.

  operator const std::array<uint32_t, 3>&() const { return groups; }
};

// The number of groups for `n` indices. Up to a number that fills a large device, each invocation
// has one index; beyond that, several.
inline Rounds groups_for(uint64_t n) {
  constexpr uint64_t kFull = 4096, kRounds = 16;
  const uint64_t single = (n + kLocalSize - 1) / kLocalSize;
  return {groups_up_to_limit(std::max(std::min(single, kFull), single / kRounds)), 0, n};
}

// Loops that are too short to count: over axes, or over a few words of an element.
inline constexpr uint64_t kFewIterations = 64;

// The number of indices that for_each assigns to an invocation, of n in all.
inline uint64_t rounds_of(uint64_t n, const std::array<uint32_t, 3>& groups) {
  const uint64_t all = uint64_t{groups[0]} * kLocalSize;
  return all == 0 ? 1 : (n + all - 1) / all;
}

// The maximum number of steps in one dispatch for each index that for_each assigns to an
// invocation, of n in all, if a step costs this many iterations.
inline uint32_t steps_at_once(uint64_t n, const std::array<uint32_t, 3>& groups,
                              uint32_t iterations) {
  const uint64_t rounds = rounds_of(n, groups);
  return static_cast<uint32_t>(std::max<uint64_t>(1, kMaxIterations / (rounds * iterations)));
}

// Rounds for n indices (Code::for_each). `iterations`: loop iterations per index, or per kLocalSize
// indices that a group processes together.
inline Rounds rounds_for(uint64_t n, uint64_t iterations) {
  std::array<uint32_t, 3> groups = groups_for(n);
  if (rounds_of(n, groups) * iterations > kMaxIterations) {
    groups = groups_up_to_limit((n + kLocalSize - 1) / kLocalSize);
  }
  return {groups, rounds_of(n, groups) * (1 + iterations), n};
}

// Rounds for n items, one per group.
inline Rounds rounds_of_groups(uint64_t n, uint64_t iterations) {
  const std::array<uint32_t, 3> groups = groups_up_to_limit(n);
  return {groups, n == 0 ? 0 : (n + groups[0] - 1) / groups[0] * (1 + iterations)};
}

inline void push(Words& words, int64_t value) { words.push_back(static_cast<uint32_t>(value)); }

// A kernel of one dispatch with a pipeline that is already made. A function pushes its parameters
// and returns the groups, or Rounds.
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
    if (has_record_) operands[n_operands++] = record_of(launch);
    if (tenon_error* error = check_axes(device_, launch)) return error;
    Words words;
    const Rounds rounds = {fill_(launch, words)};
    if (rounds.groups[0] == 0) return nullptr;
    if (!rounds.are_counted) {
      return make_error(device_, TENON_UNIMPLEMENTED,
                        "an operand has more elements than shaders can count");
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

// Prepares a kernel of one dispatch. Its operands are the launch's and, with `has_record`, the
// error record.
template <class Fill>
tenon_sdk::Prepared one_dispatch(tenon_device_p* device, spirv::Code& code, uint32_t n_operands,
                                 uint32_t traits, Fill fill, bool has_record = false) {
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
