// The table of functions that the host provides to plugins, and helpers for structs with a field
// struct_size.

#pragma once

#include <tenon/plugin.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace tenon_sdk {

// Whether a struct that begins with struct_size is long enough to contain `field`.
#define TENON_SDK_HAS(object, field) \
  ((object).struct_size >=           \
   (offsetof(std::decay_t<decltype(object)>, field) + sizeof((object).field)))

// Returns a C struct that refers to the same characters.
inline tenon_string to_c(std::string_view text) { return {text.data(), text.size()}; }
// Returns a view of the characters of a C string struct.
inline std::string_view text(tenon_string string) { return {string.data, string.size}; }

// Copies `filled` to a caller whose version of the struct may be shorter. Writes at most
// out->struct_size bytes, and sets struct_size to the number of bytes written.
template <class Struct>
void fill_struct(Struct* out, Struct filled) {
  const size_t size = std::min<size_t>(out->struct_size, sizeof(Struct));
  filled.struct_size = static_cast<uint32_t>(size);
  std::memcpy(static_cast<void*>(out), &filled, size);
}

// The host's table of functions. Copying a Host is cheap. The table outlives the instances of the
// plugin.
class Host {
 public:
  explicit Host(const tenon_host* table) : table_(table) {}

  // Creates an error. The result is never NULL, so `return host.error(...)` always reports a
  // failure. Every host provides make_error.
  tenon_error* error(tenon_code code, std::string_view message) const {
    return table_->make_error(code, to_c(message));
  }
  void release(tenon_error* error) const {
    if (TENON_SDK_HAS(*table_, release_error)) table_->release_error(error);
  }
  // Returns the code of an error.
  tenon_code code(const tenon_error* error) const {
    return TENON_SDK_HAS(*table_, error_code) ? table_->error_code(error) : TENON_INTERNAL;
  }
  void log(void* log_context, int32_t level, std::string_view message) const {
    if (TENON_SDK_HAS(*table_, log)) table_->log(log_context, level, to_c(message));
  }
  // Reports that an enqueued launch has failed; takes ownership of the error.
  void launch_failed(void* work, uint64_t ticket, tenon_error* error) const {
    if (TENON_SDK_HAS(*table_, launch_failed)) {
      table_->launch_failed(work, ticket, error);
    } else {
      release(error);
    }
  }

 private:
  const tenon_host* table_;
};

}  // namespace tenon_sdk
