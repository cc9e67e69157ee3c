// Text functions that the report's source files share.

#pragma once

#include <string>

namespace tenon_kit {

// Escapes special characters for HTML and XML.
std::string escape_xml(const std::string& text);

// Replaces the file atomically, so that readers see either the old or the new text.
void write_file(const std::string& path, const std::string& text);

}  // namespace tenon_kit
