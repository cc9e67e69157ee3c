#include "core/base/error_object.h"

#include <new>

namespace tenon {

tenon_error* out_of_memory_error() noexcept {
  static tenon_error error = {
      {.code = Code::kOutOfMemory, .message = "the host's memory is used up"}, true, nullptr};
  return &error;
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
  Error taken(error->info);
  release_error(error);
  return taken;
}

Code code_from_c(tenon_code code) {
  return code > TENON_OK && code <= TENON_INTERNAL ? static_cast<Code>(code) : Code::kInternal;
}

}  // namespace tenon
