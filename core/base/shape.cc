#include "core/base/shape.h"

#include "core/base/error.h"

namespace tenon {

void fail_rank(size_t rank) {
  fail(Code::kInvalidArgument, "rank {} exceeds the maximum rank of a tensor, {}",
       {rank, kMaxRank});
}

// Makes the shapes equal, by guards if necessary. Returns false if they cannot be equal.
bool ShapeTest::hold() const {
  if (a.rank() != b.rank()) return false;
  for (size_t i = 0; i < a.rank(); ++i) {
    if (!(a[i] == b[i]).hold()) return false;
  }
  return true;
}

Dims::Dims(std::span<const int64_t> values) {
  if (values.size() > kMaxRank) fail_rank(values.size());
  set_rank(values.size());
  for (size_t i = 0; i < values.size(); ++i) data_[i] = Size::number(values[i]);
}

void Dims::push_back(Size value) { insert(rank_, value); }

void Dims::insert(size_t at, Size value) {
  if (rank_ == kMaxRank) fail_rank(rank_ + 1);
  for (size_t i = rank_; i > at; --i) data_[i] = data_[i - 1];
  data_[at] = value;
  ++rank_;
}

void Dims::erase(size_t at) {
  for (size_t i = at; i + 1 < rank_; ++i) data_[i] = data_[i + 1];
  --rank_;
}

void check_size(const TensorType& type) {
  constexpr int64_t kLimit = int64_t{1} << 62;
  int64_t bytes = static_cast<int64_t>(size_of(type.dtype));
  for (const Size size : type.shape) {
    require(size >= 0, "{} has a negative size", type);
  }
  for (const Size size : type.shape) {
    if (!size.known()) continue;  // Symbolic sizes are checked in each call.
    // The other sizes of an empty tensor are checked too, because dense_strides() multiplies them.
    if (identical(size, 0)) continue;
    require(size <= kLimit / bytes, "{} has a size in bytes that exceeds int64", type);
    bytes *= size;
  }
}

Dims dense_strides(const Dims& shape) {
  Dims strides;
  strides.set_rank(shape.rank());
  Size step = 1;
  for (size_t i = shape.rank(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

bool is_dense(const Dims& shape, const Dims& strides) {
  Size step = 1;
  for (size_t i = shape.rank(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

// Whether all indices refer to the same element: each axis has stride 0 or size 1.
bool is_uniform(const Dims& shape, const Dims& strides) {
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (strides[i] != 0 && shape[i] != 1) return false;
  }
  return true;
}

}  // namespace tenon
