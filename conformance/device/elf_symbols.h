// Reads the names that a shared library exports and imports.

#pragma once

#include <string>
#include <vector>

namespace tenon_kit::device {

struct Symbols {
  std::vector<std::string> exported;
  std::vector<std::string> imported;
};

// Returns the names that a shared library exports and imports. Throws Unsupported if the file is
// not a 64-bit ELF file with this machine's byte order.
Symbols read_symbols(const std::string& file);

}  // namespace tenon_kit::device
