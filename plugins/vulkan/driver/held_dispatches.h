// A FIFO of held dispatches: those whose pipelines are not created yet, and all dispatches after
// them. It copies their operands and parameters, which the caller may release after enqueueing.

#pragma once

#include <deque>
#include <string>
#include <vector>

#include "plugins/vulkan/driver/batch.h"
#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

class HeldDispatches {
 public:
  // Maximum number of held dispatches. The number is limited because held dispatches occupy memory
  // and the device may idle until they are encoded.
  static constexpr size_t kMax = 256;

  bool empty() const { return held_.empty(); }
  size_t size() const { return held_.size(); }

  // Appends a dispatch. `name`: the kernel's name, or an empty string if no tool displays names.
  void push(const Dispatch& dispatch, const LaunchId& launch, const std::string& name);

  // Properties of the first held dispatch. The result of dispatch() is valid until that dispatch is
  // popped.
  const Pipeline& pipeline() const { return *held_.front().pipeline; }
  const LaunchId& launch() const { return held_.front().launch; }
  const std::string& name() const { return held_.front().name; }
  Dispatch dispatch();
  void pop() { held_.pop_front(); }
  // Pops the first dispatch and those after it that belong to the same launch.
  void pop_launch();

 private:
  struct Held {
    PipelineRef pipeline;
    std::vector<Operand> operands;
    std::vector<std::byte> values;  // Contents of the operands passed by value, concatenated.
    std::vector<uint32_t> words;
    std::array<uint32_t, 3> groups;
    uint64_t products;
    LaunchId launch;
    std::string name;
  };
  std::deque<Held> held_;
};

}  // namespace tenon_vulkan
