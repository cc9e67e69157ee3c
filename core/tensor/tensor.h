// A tensor: a type, strides, and a share of some storage; or an inline scalar. Its value never
// changes. `Tensor` is the counted reference by which the core passes it around.

#pragma once

#include <cstdint>
#include <span>

#include "core/base/pool.h"
#include "core/base/ref.h"
#include "core/base/shape.h"
#include "core/base/small_vector.h"
#include "core/tensor/storage.h"

namespace tenon {

class Context;

// A tensor that its owner gives up: the next call may write into its storage.
enum class Donation : uint8_t { kNone, kOffered, kConsumed };

class TensorImpl final : public Object, public Pooled<TensorImpl> {
 public:
  TensorImpl() : Object(Kind::kTensor) {}

  void release() const {
    if (drop()) delete this;
  }

  const Dims& shape() const { return type.shape; }
  size_t rank() const { return type.shape.rank(); }
  bool is_scalar_value() const { return !storage; }
  std::byte* data() const {  // The first element, where the host sees the storage.
    return storage->data + offset * static_cast<int64_t>(size_of(type.dtype));
  }

  TensorType type;
  Dims strides;        // In elements.
  int64_t offset = 0;  // Of the first element, in elements.
  Ref<Storage> storage;
  // Without storage: the value, as an int64 or a double, whichever the weak dtype says.
  union {
    int64_t int_value = 0;
    double float_value;
  };
  // The node that the first tape to record this tensor gave it; see core/autograd/tape.h. Written
  // before anyone else can see the tensor, never after.
  uint64_t tape_serial = 0;
  uint32_t tape_node = 0;
  // Of an inline scalar that a program (core/trace/program.h) is given: its number there, from 1.
  uint32_t program_input = 0;
  // What further tapes know it by; 0 until one asks. Never used twice.
  uint64_t identity() const { return identity_.load(std::memory_order_acquire); }
  uint64_t give_identity() const;
  Donation donation = Donation::kNone;
  bool dense = true;  // Row-major without gaps.

 private:
  mutable std::atomic<uint64_t> identity_{0};
};

using Tensor = Ref<TensorImpl>;
using Tensors = SmallVector<Tensor, 3>;
extern template class SmallVector<Tensor, 3>;

// The inputs of an op, borrowed. An entry is NULL where an optional input was not given.
using Inputs = std::span<TensorImpl* const>;

// The inputs as formulas pass them.
using TensorSpan = std::span<const Tensor>;

// 0-d tensors with an inline value and a weak dtype.
Tensor make_scalar(double value);
Tensor make_scalar(int64_t value);
Tensor make_scalar_bool(bool value);
// Room for one element of any dtype.
struct alignas(16) ElementBits {
  uint64_t words[2];
};

// Writes the inline value as one element of `dtype`, which it adopts.
void write_scalar(const TensorImpl& scalar, DType dtype, ElementBits* to);

// A tensor with other sizes and strides over the same storage.
Tensor make_view(const TensorImpl& base, const TensorType& type, const Dims& strides,
                 int64_t offset);
// The same value under a new identity: tapes tell it from `x`.
Tensor renewed(const TensorImpl& x);

// Half types to float and back, ties to even.
float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
float bfloat16_to_float(uint16_t bits);
uint16_t float_to_bfloat16(float value);
// From double in one rounding.
uint16_t double_to_half(double value);
uint16_t double_to_bfloat16(double value);

// float128 by its bits. To double it rounds once, ties to even, unless that is subnormal.
ElementBits double_to_quad(double value);
double quad_to_double(ElementBits bits);

}  // namespace tenon
