// Caches recorded launch plans for a segment: a run of consecutive calls on one device. Keyed by
// symbol values and input layouts.

#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/trace/plans/launch_plan.h"

namespace tenon {

class Segment {
 public:
  // Runs `code`, whose calls run on `device`, on the inputs. The first call with given sizes runs
  // eagerly. The second records a plan, which later calls replay. `spare`: as for LaunchPlan::run.
  Tensors run(Scope& scope, Device& device, std::span<const Size> sizes, TensorSpan inputs,
              const LaunchPlan::Code& code, std::span<const uint8_t> spare = {});
  // Returns the recorded plan that these sizes and inputs can run; NULL if there is none.
  std::shared_ptr<const LaunchPlan> program(std::span<const Size> sizes, TensorSpan inputs);
  // Describes the launch plan for each set of sizes (stages.h).
  std::string stages() const;

 private:
  static constexpr size_t kMaxVariants = 16;

  struct Variant {
    Sizes sizes;
    std::shared_ptr<const LaunchPlan> program;  // NULL until a second call has these sizes.
    // False if recording a plan for these sizes has failed.
    bool can_record = true;
    uint64_t used = 0;
  };
  enum class Next : uint8_t { kRun, kRecord };
  // Decides whether a call runs or is recorded. Sets `program` to the plan that serves the inputs,
  // if there is one.
  Next look_up(std::span<const Size> sizes, TensorSpan inputs,
               std::shared_ptr<const LaunchPlan>& program);
  // Adds a variant for these sizes. If there are too many, replaces the least recently used one.
  void add_variant(std::span<const Size> sizes, std::shared_ptr<const LaunchPlan> program);

  mutable std::mutex mutex_;
  std::vector<Variant> variants_;
  uint64_t uses_ = 0;
};

}  // namespace tenon
