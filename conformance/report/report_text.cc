#include "conformance/report/report_text.h"

#include <cstring>
#include <stdexcept>

#include "files/atomic_file.h"

namespace tenon_kit {

// Escapes special characters for HTML and XML.
std::string escape_xml(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

void write_file(const std::string& path, const std::string& text) {
  tenon_files::AtomicFile file(path);
  file.write(text);
  if (!file.finish()) {
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(file.error()));
  }
}

}  // namespace tenon_kit
