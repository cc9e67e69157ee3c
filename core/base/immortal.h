// A value that is constructed on first use and never destroyed. Destructors of a program's static
// and thread-local objects may call Tenon after Tenon's own statics would have been destroyed.
// Therefore each function-local static whose type has a destructor is an Immortal.

#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace tenon {

template <class T>
class Immortal {
 public:
  Immortal(T value) { ::new (static_cast<void*>(bytes_)) T(std::move(value)); }
  template <class... Args>
  explicit Immortal(std::in_place_t, Args&&... args) {
    ::new (static_cast<void*>(bytes_)) T(std::forward<Args>(args)...);
  }
  Immortal(const Immortal&) = delete;
  Immortal& operator=(const Immortal&) = delete;

  const T& get() const { return *std::launder(reinterpret_cast<const T*>(bytes_)); }
  operator const T&() const { return get(); }

 private:
  alignas(T) std::byte bytes_[sizeof(T)];
};

}  // namespace tenon
