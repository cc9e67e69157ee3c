// tenon_error: the error object that plugins create and users receive.

#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "core/base/error.h"

struct tenon_error {
  tenon::ErrorInfo info;
  // True only for out_of_memory_error(), which is never freed and whose message is a constant (see
  // message_of). Reporting that memory ran out must not allocate.
  bool is_static = false;
  tenon_error* cause = nullptr;  // An error object for info.cause.
  std::atomic<uint32_t> owners{1};
};

namespace tenon {

// Returns the text that a plugin passes; empty if it is NULL.
inline std::string_view view_of(const tenon_string& text) {
  return text.data ? std::string_view(text.data, text.size) : std::string_view();
}

// Creates an error object. Returns out_of_memory_error() if memory runs out.
tenon_error* make_error(const ErrorInfo& info) noexcept;
tenon_error* make_error(Code code, std::string_view message) noexcept;
tenon_error* out_of_memory_error() noexcept;
inline constexpr const char* kOutOfMemoryMessage = "the host is out of memory";
// Returns the error's message, which is valid as long as the error.
std::string_view message_of(const tenon_error& error) noexcept;
void release_error(tenon_error* error) noexcept;

// Converts `error` to an exception and releases it.
Error take_error(tenon_error* error);

// Converts an error code of the C ABI. Returns INTERNAL for an unknown code.
Code code_from_c(tenon_code code);

}  // namespace tenon
