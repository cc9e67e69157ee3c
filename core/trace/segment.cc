#include "core/trace/segment.h"

#include <algorithm>

namespace tenon {
namespace {

bool same(const Sizes& a, std::span<const Size> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Size x, Size y) { return identical(x, y); });
}

}  // namespace

Segment::Next Segment::look_up(std::span<const Size> sizes, TensorSpan inputs,
                               std::shared_ptr<const Program>& program) {
  std::lock_guard guard(mutex_);
  ++uses_;
  Next next = Next::kRun;
  bool is_known = false;
  for (Form& form : forms_) {
    if (!same(form.sizes, sizes)) continue;
    is_known = true;
    if (!form.is_program) return Next::kRun;
    form.used = uses_;
    if (form.program && form.program->serves(inputs)) {
      program = form.program;
      return Next::kRun;
    }
    next = Next::kRecord;
  }
  if (!is_known) keep(sizes, nullptr);
  return next;
}

std::shared_ptr<const Program> Segment::program(std::span<const Size> sizes, TensorSpan inputs) {
  std::lock_guard guard(mutex_);
  for (const Form& form : forms_) {
    if (form.program && same(form.sizes, sizes) && form.program->serves(inputs)) {
      return form.program;
    }
  }
  return nullptr;
}

void Segment::keep(std::span<const Size> sizes, std::shared_ptr<const Program> program) {
  const auto oldest = [](const Form& a, const Form& b) { return a.used < b.used; };
  auto at = std::find_if(forms_.begin(), forms_.end(), [&](const Form& form) {
    return !form.program && same(form.sizes, sizes);
  });
  if (at == forms_.end() && forms_.size() < kForms) at = forms_.emplace(forms_.end());
  if (at == forms_.end()) at = std::min_element(forms_.begin(), forms_.end(), oldest);
  *at = {Sizes(sizes), std::move(program), true, uses_};
}

Tensors Segment::run(Scope& scope, Device& device, std::span<const Size> sizes, TensorSpan inputs,
                     const Program::Code& code, std::span<const uint8_t> spare) {
  std::shared_ptr<const Program> program;
  const Next next = look_up(sizes, inputs, program);
  if (program) return program->run(scope, inputs, spare);
  if (next == Next::kRun) return code(inputs);
  Program::Recorded recorded = Program::record(scope, device, inputs, code);
  const bool is_program = recorded.program != nullptr;
  std::lock_guard guard(mutex_);
  keep(sizes, std::move(recorded.program));
  if (!is_program) {
    for (Form& form : forms_) form.is_program = false;
  }
  return std::move(recorded.outputs);
}

}  // namespace tenon
