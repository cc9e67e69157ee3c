// The core's own look at a plugin, before the guard stands between them.

#pragma once

#include <string>

namespace tenon_kit {

// Loads the file and opens its devices as a program does. Throws tenon::Error with what the core
// refuses: a damaged file, a missing slot, a signature that cannot be read.
void load_plainly(const std::string& path);

}  // namespace tenon_kit
