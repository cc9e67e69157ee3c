// Dispatches whose pipelines are still being made, and those behind them: in their order, with all
// that they need once the call that wanted them has returned.

#pragma once

#include <deque>
#include <string>
#include <vector>

#include "plugins/vulkan/driver/batch.h"
#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

class HeldDispatches {
 public:
  // So many at most. They cost memory, and the device waits for them.
  static constexpr size_t kMost = 256;

  bool empty() const { return held_.empty(); }
  size_t size() const { return held_.size(); }

  // `name` is what the kernel is called, where names are shown.
  void push(const Dispatch& dispatch, const LaunchId& launch, const std::string& name);

  // The first one. What `dispatch` gives stays until it is popped.
  const Pipeline& pipeline() const { return *held_.front().pipeline; }
  const LaunchId& launch() const { return held_.front().launch; }
  const std::string& name() const { return held_.front().name; }
  Dispatch dispatch();
  void pop() { held_.pop_front(); }
  // It and those behind it that are of the same launch.
  void pop_launch();

 private:
  struct Held {
    PipelineRef pipeline;
    std::vector<Operand> operands;
    std::vector<std::byte> values;  // Of operands by value, one behind the other.
    std::vector<uint32_t> words;
    std::array<uint32_t, 3> groups;
    uint64_t products;
    LaunchId launch;
    std::string name;
  };
  std::deque<Held> held_;
};

}  // namespace tenon_vulkan
