// What a device check is about to test, so that a crash or a timeout can be attributed to it.

#pragma once

#include <functional>
#include <string>

namespace tenon_kit::device {

// The listener of this process.
void set_step_listener(std::function<void(const std::string&)> listener);
void begin_step(const std::string& name);

}  // namespace tenon_kit::device
