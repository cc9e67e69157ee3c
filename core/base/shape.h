// Sizes, strides, and the type of a tensor. Copying Dims copies only rank() words.

#pragma once

#include <tenon/types.h>

#include <cstdint>
#include <initializer_list>
#include <span>

#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/base/size.h"

namespace tenon {

inline constexpr size_t kMaxRank = TENON_MAX_RANK;

class Dims;

// A comparison of two shapes that is not evaluated yet; see SizeTest.
struct ShapeTest {
  inline operator bool() const;
  // Makes the comparison true, by guards if necessary. Returns false if it cannot be true.
  bool hold() const;

  const Dims &a, &b;
};

class Dims {
 public:
  Dims() {}  // NOLINT: the words beyond rank() are never read.
  Dims(std::initializer_list<Size> values) { assign(values.begin(), values.size()); }
  explicit Dims(std::span<const Size> values) { assign(values.data(), values.size()); }
  explicit Dims(
      std::span<const int64_t> values);  // Fails if a value is near the reserved range of Size.
  Dims(const Dims& other) { assign(other.data_, other.rank_); }
  Dims& operator=(const Dims& other) {
    if (this != &other) assign(other.data_, other.rank_);
    return *this;
  }

  size_t rank() const { return rank_; }
  size_t size() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  Size& operator[](size_t i) { return data_[i]; }
  Size operator[](size_t i) const { return data_[i]; }
  const Size* begin() const { return data_; }
  const Size* end() const { return data_ + rank_; }
  operator std::span<const Size>() const { return {data_, rank_}; }
  // Returns the sizes as an array of int64_t, for kernels and the C ABI. Requires that every size
  // is a number, which holds for every tensor with memory.
  const int64_t* data() const { return reinterpret_cast<const int64_t*>(data_); }
  int64_t* data() { return reinterpret_cast<int64_t*>(data_); }

  void set_rank(size_t rank) { rank_ = static_cast<uint32_t>(rank); }
  void push_back(Size value);
  void insert(size_t at, Size value);
  void erase(size_t at);

  friend ShapeTest operator==(const Dims& a, const Dims& b) { return {a, b}; }
  friend bool operator!=(const Dims& a, const Dims& b) { return !(a == b); }

 private:
  void assign(const Size* values, size_t n);

  uint32_t rank_ = 0;
  Size data_[kMaxRank];
};
static_assert(sizeof(Size) == sizeof(int64_t));

ShapeTest::operator bool() const {
  if (a.rank() != b.rank()) return false;
  for (size_t i = 0; i < a.rank(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

template <class... Args>
inline void require(const ShapeTest& test, std::string_view pattern, const Args&... args) {
  if (!test.hold()) [[unlikely]]
    fail(Code::kInvalidArgument, pattern, {FormatArg(args)...});
}

[[noreturn]] void fail_rank(size_t rank);

inline void Dims::assign(const Size* values, size_t n) {
  if (n > kMaxRank) [[unlikely]]
    fail_rank(n);
  rank_ = static_cast<uint32_t>(n);
  for (size_t i = 0; i < n; ++i) data_[i] = values[i];
}

// Whether all sizes are equal numbers or identical formulas. Does not add a guard.
inline bool identical(const Dims& a, const Dims& b) {
  if (a.rank() != b.rank()) return false;
  for (size_t i = 0; i < a.rank(); ++i) {
    if (!identical(a[i], b[i])) return false;
  }
  return true;
}

// Whether every size of the shape is a number, not a formula.
inline bool known(const Dims& shape) {
  for (const Size size : shape) {
    if (!size.known()) return false;
  }
  return true;
}

// Returns the number of elements, which is 1 for rank 0. The product cannot overflow, because types
// are checked when they are created.
inline Size count(const Dims& shape) {
  Size n = 1;
  for (const Size size : shape) n *= size;
  return n;
}

// The properties of a value that are known without reading it.
struct TensorType {
  DType dtype = DType::kNone;
  bool weak = false;  // Whether it is an inline scalar, which adopts the dtype of other operands.
  uint8_t lists = 0;  // 1: a list of tensors (core/trace/control/lists.h); 2: a list of such lists.
  Dims shape;

  // Value of `lists` for an order token, which is not a tensor (core/trace/graph/order.h). Larger
  // values are lists of tokens.
  static constexpr uint8_t kToken = 128;

  TensorType() = default;
  TensorType(DType dtype, const Dims& shape) : dtype(dtype), shape(shape) {}

  size_t rank() const { return shape.rank(); }
  bool is_token() const { return lists == kToken; }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// Fails unless every size is in [0, 2^62) and the total number of bytes fits into int64.
void check_size(const TensorType& type);

// Returns the size of all elements in bytes.
inline uint64_t bytes_of(const TensorType& type) {
  return static_cast<uint64_t>(int64_t{count(type.shape)}) * size_of(type.dtype);
}

// Returns the strides of a row-major layout without gaps, in elements.
Dims dense_strides(const Dims& shape);

bool is_dense(const Dims& shape, const Dims& strides);

// Whether all indices refer to the same element: each axis has stride 0 or size 1.
bool is_uniform(const Dims& shape, const Dims& strides);

}  // namespace tenon
