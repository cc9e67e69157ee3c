// Sizes, strides, and the type of a tensor. Copying one copies as many words as it has axes.

#pragma once

#include <tenon/types.h>

#include <cstdint>
#include <initializer_list>
#include <span>

#include "core/base/dtype.h"

namespace tenon {

inline constexpr size_t kMaxRank = TENON_MAX_RANK;

class Dims {
 public:
  Dims() {}  // NOLINT: the words beyond rank() are never read.
  Dims(std::initializer_list<int64_t> values) { assign(values.begin(), values.size()); }
  explicit Dims(std::span<const int64_t> values) { assign(values.data(), values.size()); }
  Dims(const Dims& other) { assign(other.data_, other.rank_); }
  Dims& operator=(const Dims& other) {
    if (this != &other) assign(other.data_, other.rank_);
    return *this;
  }

  size_t rank() const { return rank_; }
  size_t size() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  const int64_t* data() const { return data_; }
  int64_t* data() { return data_; }
  int64_t& operator[](size_t i) { return data_[i]; }
  int64_t operator[](size_t i) const { return data_[i]; }
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + rank_; }
  operator std::span<const int64_t>() const { return {data_, rank_}; }

  void set_rank(size_t rank) { rank_ = static_cast<uint32_t>(rank); }
  void push_back(int64_t value);
  void insert(size_t at, int64_t value);
  void erase(size_t at);

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.rank_ != b.rank_) return false;
    for (size_t i = 0; i < a.rank_; ++i) {
      if (a.data_[i] != b.data_[i]) return false;
    }
    return true;
  }

 private:
  void assign(const int64_t* values, size_t n);

  uint32_t rank_ = 0;
  int64_t data_[kMaxRank];
};

[[noreturn]] void fail_rank(size_t rank);

inline void Dims::assign(const int64_t* values, size_t n) {
  if (n > kMaxRank) [[unlikely]]
    fail_rank(n);
  rank_ = static_cast<uint32_t>(n);
  for (size_t i = 0; i < n; ++i) data_[i] = values[i];
}

// The number of elements; 1 for rank 0. Types are checked when they are made, so it cannot
// overflow.
inline int64_t count(const Dims& shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

// What is known of a value without reading it.
struct TensorType {
  DType dtype = DType::kNone;
  bool weak = false;  // Of an inline scalar: takes its partner's dtype.
  Dims shape;

  TensorType() = default;
  TensorType(DType dtype, const Dims& shape) : dtype(dtype), shape(shape) {}

  size_t rank() const { return shape.rank(); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// Fails unless every size is in [0, 2^62) and the bytes of the whole fit into int64.
void check_size(const TensorType& type);

// Row-major strides without gaps, in elements.
Dims dense_strides(const Dims& shape);

bool is_dense(const Dims& shape, const Dims& strides);

// True if one element stands for all: each stride is zero or its size is one.
bool is_uniform(const Dims& shape, const Dims& strides);

}  // namespace tenon
