// A stretch of calls, run as it was before: by a program for each form in which it comes.

#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/trace/program.h"

namespace tenon {

class Segment {
 public:
  // Runs the code of these inputs, eager, whose calls run on one device. Once it has run with such
  // sizes and such inputs, it is written down, and what is written down runs from then on.
  // `spare`: as for a program.
  Tensors run(Scope& scope, Device& device, std::span<const Size> sizes, TensorSpan inputs,
              const Program::Code& code, std::span<const uint8_t> spare = {});
  // What it would run for such inputs; NULL for what is not written down.
  std::shared_ptr<const Program> program(std::span<const Size> sizes, TensorSpan inputs);

 private:
  static constexpr size_t kForms = 16;

  struct Form {
    Sizes sizes;
    std::shared_ptr<const Program> program;  // NULL until it comes again.
    bool is_program = true;                  // Whether there can be one.
    uint64_t used = 0;
  };
  enum class Next : uint8_t { kRun, kRecord };
  Next look_up(std::span<const Size> sizes, TensorSpan inputs,
               std::shared_ptr<const Program>& program);
  void keep(std::span<const Size> sizes, std::shared_ptr<const Program> program);

  std::mutex mutex_;
  std::vector<Form> forms_;
  uint64_t uses_ = 0;
};

}  // namespace tenon
