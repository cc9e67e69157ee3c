// Loads a plugin without the guard, to run the core's own checks.

#pragma once

#include <string>

#include "conformance/device/drive.h"

namespace tenon_kit {

// Loads the file and opens its devices like an application. Throws tenon::Error if the core refuses
// it: for a damaged file, a missing slot, or an invalid signature.
void load_plainly(const std::string& path);

// Whether the plugin itself returns UNAVAILABLE when it is queried or its device is opened. False
// if a host refuses it for another reason, whatever the code of that error is.
bool is_unavailable(const device::Subject& subject);

}  // namespace tenon_kit
