// A tensor: a type, strides, and a reference to a storage; or an inline scalar. Its value never
// changes. The core passes tensors as `Tensor`, a counted reference.

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

// The donation state of a tensor. A call that receives a donated tensor may write into its storage.
// If the call succeeds, the tensor is consumed.
enum class Donation : uint8_t { kNone, kDonated, kConsumed };

class TensorImpl final : public Object, public Pooled<TensorImpl> {
 public:
  TensorImpl() : Object(Kind::kTensor) {}

  void release() const {
    if (drop()) delete this;
  }

  const Dims& shape() const { return type.shape; }
  size_t rank() const { return type.shape.rank(); }
  // Whether this is an inline scalar.
  bool is_scalar_value() const { return !storage; }
  std::byte* data() const {  // The first element; the storage must be host-visible.
    return storage->data + offset * static_cast<int64_t>(size_of(type.dtype));
  }

  TensorType type;
  Dims strides;        // Strides, in elements.
  int64_t offset = 0;  // Offset of the first element, in elements.
  Ref<Storage> storage;
  // The value of a tensor without storage: int64 or double, depending on the weak dtype.
  union {
    int64_t int_value = 0;
    double float_value;
  };
  // The first tape that records this tensor, and the number of its node on that tape; see
  // core/autograd/tape.h. Written only before other code has a handle of the tensor.
  uint64_t tape_serial = 0;
  uint32_t tape_node = 0;
  // For an inline scalar that is an input of a launch plan (core/trace/plans/launch_plan.h): the
  // number of the input, from 1.
  uint32_t plan_input = 0;
  // Identifies the tensor in the tables of tapes. 0 until assign_identity() assigns it. Never
  // reused.
  uint64_t identity() const { return identity_.load(std::memory_order_acquire); }
  // Assigns an identity if the tensor has none, and returns it.
  uint64_t assign_identity() const;
  Donation donation = Donation::kNone;
  bool dense = true;  // Whether the elements are row-major without gaps.

 private:
  mutable std::atomic<uint64_t> identity_{0};
};

using Tensor = Ref<TensorImpl>;
using Tensors = SmallVector<Tensor, 3>;
extern template class SmallVector<Tensor, 3>;

// The inputs of an op, borrowed. An omitted optional input is NULL.
using Inputs = std::span<TensorImpl* const>;

// Tensors passed between C++ functions of the core.
using TensorSpan = std::span<const Tensor>;

// Creates 0-d tensors with an inline value and a weak dtype.
Tensor make_scalar(double value);
Tensor make_scalar(int64_t value);
Tensor make_scalar_bool(bool value);
// Memory for one element of any dtype.
struct alignas(16) ElementBits {
  uint64_t words[2];
};

// Writes the inline value as one element of `dtype`, the dtype that it adopts.
void write_scalar(const TensorImpl& scalar, DType dtype, ElementBits* to);

// Creates a view of the same storage with other sizes and strides.
Tensor make_view(const TensorImpl& base, const TensorType& type, const Dims& strides,
                 int64_t offset);
// Creates an alias: a tensor with the same value, which tapes distinguish from `x`.
Tensor alias_of(const TensorImpl& x);

// Converts between half types and float, rounding ties to even.
float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
float bfloat16_to_float(uint16_t bits);
uint16_t float_to_bfloat16(float value);
// Converts from double with a single rounding.
uint16_t double_to_half(double value);
uint16_t double_to_bfloat16(double value);

// Converts float128 in its bit representation. The conversion to double rounds once, ties to even,
// unless the result is subnormal.
ElementBits double_to_quad(double value);
double quad_to_double(ElementBits bits);

}  // namespace tenon
