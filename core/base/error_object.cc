#include "core/base/error_object.h"

#include <cstddef>
#include <new>

namespace tenon {

// Constructed without allocation and never destroyed. It may be the first error of a process (out
// of memory) or be used last, in the destructor of a static object.
tenon_error* out_of_memory_error() noexcept {
  alignas(tenon_error) static std::byte memory[sizeof(tenon_error)];
  static tenon_error* const error =
      new (memory) tenon_error{{.code = Code::kOutOfMemory}, true, nullptr};
  return error;
}

std::string_view message_of(const tenon_error& error) noexcept {
  return error.is_static ? std::string_view(kOutOfMemoryMessage) : error.info.message;
}

tenon_error* make_error(const ErrorInfo& info) noexcept {
  try {
    auto* error = new tenon_error{info};
    if (info.cause) error->cause = make_error(*info.cause);
    return error;
  } catch (...) {
    return out_of_memory_error();
  }
}

tenon_error* make_error(Code code, std::string_view message) noexcept {
  try {
    return new tenon_error{{.code = code, .message = std::string(message)}};
  } catch (...) {
    return out_of_memory_error();
  }
}

void release_error(tenon_error* error) noexcept {
  if (!error || error->is_static) return;
  if (error->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  release_error(error->cause);
  delete error;
}

Error take_error(tenon_error* error) {
  struct Release {
    ~Release() { release_error(error); }
    tenon_error* error;
  } const release{error};
  Error taken(error->info);
  if (error->is_static) taken = Error(Code::kOutOfMemory, std::string(message_of(*error)));
  return taken;
}

Code code_from_c(tenon_code code) {
  return code > TENON_OK && code <= TENON_INTERNAL ? static_cast<Code>(code) : Code::kInternal;
}

}  // namespace tenon
