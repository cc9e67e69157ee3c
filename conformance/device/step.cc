#include "conformance/device/step.h"

#include <utility>

namespace tenon_kit::device {

static std::function<void(const std::string&)> step_listener;

void set_step_listener(std::function<void(const std::string&)> listener) {
  step_listener = std::move(listener);
}

void begin_step(const std::string& name) {
  if (step_listener) step_listener(name);
}

}  // namespace tenon_kit::device
