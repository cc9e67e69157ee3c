#include "core/trace/plans/segment.h"

#include <algorithm>

namespace tenon {
namespace {

bool are_identical(const Sizes& a, std::span<const Size> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Size x, Size y) { return identical(x, y); });
}

}  // namespace

// Decides whether a call runs or is recorded. Sets `program` to the plan that serves the inputs, if
// there is one.
Segment::Next Segment::look_up(std::span<const Size> sizes, TensorSpan inputs,
                               std::shared_ptr<const LaunchPlan>& program) {
  std::lock_guard guard(mutex_);
  ++uses_;
  Next next = Next::kRun;
  bool is_known = false;
  for (Variant& form : variants_) {
    if (!are_identical(form.sizes, sizes)) continue;
    is_known = true;
    if (!form.can_record) return Next::kRun;
    form.used = uses_;
    if (form.program && form.program->serves(inputs)) {
      program = form.program;
      return Next::kRun;
    }
    next = Next::kRecord;
  }
  if (!is_known) add_variant(sizes, nullptr);
  return next;
}

// Returns the recorded plan that these sizes and inputs can run; NULL if there is none.
std::shared_ptr<const LaunchPlan> Segment::program(std::span<const Size> sizes, TensorSpan inputs) {
  std::lock_guard guard(mutex_);
  for (const Variant& form : variants_) {
    if (form.program && are_identical(form.sizes, sizes) && form.program->serves(inputs)) {
      return form.program;
    }
  }
  return nullptr;
}

void Segment::add_variant(std::span<const Size> sizes, std::shared_ptr<const LaunchPlan> program) {
  const auto oldest = [](const Variant& a, const Variant& b) { return a.used < b.used; };
  auto at = std::find_if(variants_.begin(), variants_.end(), [&](const Variant& form) {
    return !form.program && are_identical(form.sizes, sizes);
  });
  if (at == variants_.end() && variants_.size() < kMaxVariants)
    at = variants_.emplace(variants_.end());
  if (at == variants_.end()) at = std::min_element(variants_.begin(), variants_.end(), oldest);
  *at = {Sizes(sizes), std::move(program), true, uses_};
}

Tensors Segment::run(Scope& scope, Device& device, std::span<const Size> sizes, TensorSpan inputs,
                     const LaunchPlan::Code& code, std::span<const uint8_t> spare) {
  std::shared_ptr<const LaunchPlan> program;
  const Next next = look_up(sizes, inputs, program);
  if (program) return program->run(scope, inputs, spare);
  if (next == Next::kRun) return code(inputs);
  LaunchPlan::Recorded recorded = LaunchPlan::record(scope, device, inputs, code);
  const bool can_record = recorded.program != nullptr;
  std::lock_guard guard(mutex_);
  add_variant(sizes, std::move(recorded.program));
  if (!can_record) {
    for (Variant& form : variants_) form.can_record = false;
  }
  return std::move(recorded.outputs);
}

}  // namespace tenon
