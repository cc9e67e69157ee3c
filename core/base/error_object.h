// tenon_error: an error as a plugin makes it and a user gets it.

#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "core/base/error.h"

struct tenon_error {
  tenon::ErrorInfo info;
  // Never freed, and without a message of its own (see message_of): reporting that memory ran out
  // must not allocate.
  bool is_static = false;
  tenon_error* cause = nullptr;  // The handle of info.cause.
  std::atomic<uint32_t> owners{1};
};

namespace tenon {

// Never throws: where memory runs out, gives the static error.
tenon_error* make_error(const ErrorInfo& info) noexcept;
tenon_error* make_error(Code code, std::string_view message) noexcept;
tenon_error* out_of_memory_error() noexcept;
inline constexpr const char* kOutOfMemoryMessage = "the host's memory is used up";
// Lives as long as the error.
std::string_view message_of(const tenon_error& error) noexcept;
void release_error(tenon_error* error) noexcept;

// The exception that stands for `error`, which it releases.
Error take_error(tenon_error* error);

// The code if it is one that is known here, else INTERNAL.
Code code_from_c(tenon_code code);

}  // namespace tenon
