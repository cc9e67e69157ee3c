// A smart pointer for handles of the C ABI, and conversions of strings.

#pragma once

#include <tenon/tenon.h>

#include <string_view>
#include <utility>

namespace tenon {

// Copies share the object; the last one frees it.
template <class Object, void (*Retain)(Object*), void (*Release)(Object*)>
class Handle {
 public:
  Handle() = default;
  Handle(const Handle& other) : object_(other.object_) {
    if (object_) Retain(object_);
  }
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  // The check lets compilers remove the call for handles that are moved from or never set.
  ~Handle() {
    if (object_) Release(object_);
  }

  // Takes ownership of the caller's reference.
  static Handle adopt(Object* object) {
    Handle handle;
    handle.object_ = object;
    return handle;
  }
  // Adds a reference.
  static Handle share(Object* object) {
    Retain(object);
    return adopt(object);
  }

  Object* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object* object_ = nullptr;
};

namespace detail {

inline tenon_string c_text(std::string_view text) { return {text.data(), text.size()}; }

// Never returns a view with a NULL pointer: without text, the view is empty.
inline std::string_view view(tenon_string text) {
  return text.data ? std::string_view(text.data, text.size) : std::string_view("");
}

}  // namespace detail
}  // namespace tenon
