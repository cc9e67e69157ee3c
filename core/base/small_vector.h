// A vector that stores up to N elements inline. Eager calls use it to keep their data on the stack.

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "core/base/size.h"

namespace tenon {

template <class T, size_t N>
class SmallVector {
 public:
  using value_type = T;

  SmallVector() : data_(inline_data()) {}
  SmallVector(std::initializer_list<T> values) : SmallVector() { assign(values); }
  explicit SmallVector(std::span<const T> values) : SmallVector() { assign(values); }
  SmallVector(size_t n, const T& value) : SmallVector() { resize(n, value); }
  SmallVector(const SmallVector& other) : SmallVector() { assign(other.span()); }
  SmallVector(SmallVector&& other) noexcept : SmallVector() { take(std::move(other)); }
  ~SmallVector() { destroy(); }

  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      assign(other.span());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      destroy();
      data_ = inline_data();
      size_ = 0;
      capacity_ = N;
      take(std::move(other));
    }
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<const T> span() const { return {data_, size_}; }
  operator std::span<const T>() const { return span(); }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) grow();
    T* at = ::new (static_cast<void*>(data_ + size_)) T(std::forward<Args>(args)...);
    ++size_;
    return *at;
  }
  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  void pop_back() { data_[--size_].~T(); }
  void clear() {
    std::destroy_n(data_, size_);
    size_ = 0;
  }
  void resize(size_t n, const T& value = T()) {
    while (size_ > n) pop_back();
    while (size_ < n) emplace_back(value);
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i) {
      if (!(a.data_[i] == b.data_[i])) return false;
    }
    return true;
  }

 private:
  T* inline_data() { return std::launder(reinterpret_cast<T*>(inline_)); }
  bool is_inline() const { return static_cast<const void*>(data_) == inline_; }

  template <class Values>
  void assign(const Values& values) {
    for (const T& value : values) emplace_back(value);
  }

  // Moves the elements of `other` to this vector, which is empty.
  void take(SmallVector&& other) {
    if (other.is_inline()) {
      for (T& value : other) emplace_back(std::move(value));
      other.clear();
      return;
    }
    data_ = other.data_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.data_ = other.inline_data();
    other.size_ = 0;
    other.capacity_ = N;
  }

  void grow() {
    const size_t capacity = capacity_ * 2;
    T* larger = std::allocator<T>().allocate(capacity);
    std::uninitialized_move_n(data_, size_, larger);
    const size_t size = size_;
    destroy();
    data_ = larger;
    size_ = size;
    capacity_ = capacity;
  }

  void destroy() {
    std::destroy_n(data_, size_);
    if (!is_inline()) std::allocator<T>().deallocate(data_, capacity_);
  }

  T* data_;
  size_t size_ = 0;
  size_t capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

// A list of integers in an attribute: axes, pads, strides.
using Ints = SmallVector<int64_t, 6>;
extern template class SmallVector<int64_t, 6>;

// Like Ints, for sizes and for bounds along axes.
using Sizes = SmallVector<Size, 6>;

}  // namespace tenon
