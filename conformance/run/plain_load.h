// Loads a plugin without the guard, to run the core's own checks.

#pragma once

#include <string>

namespace tenon_kit {

// Loads the file and opens its devices like an application. Throws tenon::Error if the core refuses
// it: for a damaged file, a missing slot, or an invalid signature.
void load_plainly(const std::string& path);

}  // namespace tenon_kit
