// Announces what a device check is about to test, so that a crash or a timeout can be attributed to
// that step.

#pragma once

#include <functional>
#include <string>

namespace tenon_kit::device {

// Sets the function of this process that begin_step() calls with the name of each step.
void set_step_listener(std::function<void(const std::string&)> listener);
// Announces that the step `name` of a check begins.
void begin_step(const std::string& name);

}  // namespace tenon_kit::device
