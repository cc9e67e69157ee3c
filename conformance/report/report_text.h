// What the files of a report share.

#pragma once

#include <string>

namespace tenon_kit {

// As HTML and XML have it.
std::string escaped(const std::string& text);

// In one step: whoever reads the file, or interrupts, meets the old text or the new one.
void write_file(const std::string& path, const std::string& text);

}  // namespace tenon_kit
