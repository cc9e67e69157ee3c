// What a shared library exports and imports by name.

#pragma once

#include <string>
#include <vector>

namespace tenon_kit::device {

struct Symbols {
  std::vector<std::string> exported;
  std::vector<std::string> imported;
};

// Throws Unsupported for what is not a 64-bit ELF file of this machine.
Symbols read_symbols(const std::string& file);

}  // namespace tenon_kit::device
