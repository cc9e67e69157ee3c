// Loads a plugin without the guard, so that the core's own checks of plugins run.

#pragma once

#include <string>

#include "conformance/device/drive.h"

namespace tenon_kit {

// Loads the file and opens its devices like an application. Throws tenon::Error if the core refuses
// the plugin, for example for a damaged file, a missing slot, or an invalid signature.
void load_plainly(const std::string& path);

// Whether the plugin itself returns UNAVAILABLE when it is queried or its device is opened. False
// if a host refuses the plugin for any other reason, whatever that error's code.
bool is_unavailable(const device::Subject& subject);

}  // namespace tenon_kit
