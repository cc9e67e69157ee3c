// A reference-counted handle of C objects, and conversions of strings.

#pragma once

#include <tenon/tenon.h>

#include <string_view>
#include <utility>

namespace tenon {

// Owns one reference to a C object. Copies share the object; the last one releases it.
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
  // Checking for NULL lets compilers omit the call for handles that are empty or moved from.
  ~Handle() {
    if (object_) Release(object_);
  }

  // Takes ownership of the caller's reference.
  static Handle adopt(Object* object) {
    Handle handle;
    handle.object_ = object;
    return handle;
  }
  // Adds a reference to an object that the caller keeps.
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

// Returns a C string that refers to the memory of `text`.
inline tenon_string c_text(std::string_view text) { return {text.data(), text.size()}; }

// Returns a view of the text whose pointer is never NULL. It is empty if the pointer of `text` is.
inline std::string_view view(tenon_string text) {
  return text.data ? std::string_view(text.data, text.size) : std::string_view("");
}

}  // namespace detail
}  // namespace tenon
