// Elements of tensor dtypes, in registers and in memory.
//
// bool is a Bool. Integers of up to 32 bits are a word with their value, signed or unsigned; 64-bit
// integers are two words. float16, bfloat16 and float32 are computed in float32. The result of each
// instruction is rounded to its dtype, so a fused loop returns the same bits as separate calls.

#pragma once

#include <tenon/plugin.h>

#include <optional>
#include <span>
#include <vector>

#include "plugins/sdk/dtype.h"
#include "plugins/vulkan/spirv/wide.h"

namespace tenon_vulkan::spirv {

enum class Kind : uint8_t { kBool, kWord, kWide, kF32, kF64 };

Kind kind_of(tenon_dtype dtype);
bool is_signed_int(tenon_dtype dtype);
inline bool is_float(tenon_dtype dtype) {
  return kind_of(dtype) == Kind::kF32 || kind_of(dtype) == Kind::kF64;
}
inline bool is_int(tenon_dtype dtype) {
  return kind_of(dtype) == Kind::kWord || kind_of(dtype) == Kind::kWide;
}

class Element {
 public:
  Element() = default;
  explicit Element(Bool x) : dtype_(TENON_BOOL), code_(x.code), low_(x.id) {}
  Element(tenon_dtype dtype, U32 x) : dtype_(dtype), code_(x.code), low_(x.id) {}
  Element(tenon_dtype dtype, Wide x)
      : dtype_(dtype), code_(x.low.code), low_(x.low.id), high_(x.high.id) {}
  Element(tenon_dtype dtype, F32 x) : dtype_(dtype), code_(x.code), low_(x.id) {}
  explicit Element(F64 x) : dtype_(TENON_FLOAT64), code_(x.code), low_(x.id) {}

  tenon_dtype dtype() const { return dtype_; }
  Kind kind() const { return kind_of(dtype_); }
  Code& code() const { return *code_; }

  Bool boolean() const { return {code_, low_}; }
  U32 word() const { return {code_, low_}; }
  Wide wide() const { return {{code_, low_}, {code_, high_}}; }
  F32 f32() const { return {code_, low_}; }
  F64 f64() const { return {code_, low_}; }

 private:
  tenon_dtype dtype_ = TENON_DTYPE_NONE;
  Code* code_ = nullptr;
  Id low_ = 0, high_ = 0;
};

// Wraps an integer to its dtype.
U32 wrapped(tenon_dtype dtype, U32 x);
// The nearest value of the dtype, ties to even.
F32 rounded(tenon_dtype dtype, F32 x);

// Replaces subnormal numbers by zeros if the device may do so.
F32 without_subnormals(F32 x);

// Conversion of float16 and bfloat16 to and from their bits in memory.
U32 half_bits(tenon_dtype dtype, F32 x);
F32 half_value(tenon_dtype dtype, U32 bits);

// The bits of an element in memory: one word, or two.
struct Bits {
  U32 low, high;
};
Bits bits_of(const Element& x);
Element element_of(tenon_dtype dtype, const Bits& bits);

// A mutable variable of a dtype.
class ElementVar {
 public:
  explicit ElementVar(const Element& initial);
  Element get() const;
  void set(const Element& x) const;

 private:
  tenon_dtype dtype_;
  Code* code_;
  Id low_, high_;
};

// Elements in shared memory.
class SharedElements {
 public:
  SharedElements(Code& code, tenon_dtype dtype, uint32_t n);
  Element get(U32 index) const;
  void set(U32 index, const Element& x) const;

 private:
  tenon_dtype dtype_;
  Shared<U32> low_;
  std::optional<Shared<U32>> high_;
};

// The elements of an operand. Indices are in elements and wrap, so negative strides need no special
// case.
class Elements {
 public:
  Elements(Code& code, uint32_t operand, tenon_dtype dtype);

  tenon_dtype dtype() const { return dtype_; }
  Element load(U32 index) const;
  // Safe even if other invocations write to the same word.
  void store(U32 index, const Element& x) const;
  // Elements of this dtype per word; 1 if an element has a word or more.
  uint32_t per_word() const { return size_ >= 4 ? 1 : 4 / size_; }
  // Stores all elements of a word, from `index` on; those at `n` and beyond are not part of the
  // tensor. `index` is a multiple of their number.
  void store_word(U32 index, std::span<const Element> elements, U32 n) const;

  // Whether vectorised accesses need a binding of vectors: true for elements of a word or more.
  static bool needs_vectors(tenon_dtype dtype) { return tenon_sdk::size_of(dtype) >= 4; }
  // Four contiguous elements. The index is a multiple of four, and the operand begins at a multiple
  // of four elements, as its binding ends. Loads beyond the operand's end return unspecified
  // values; nothing is stored there.
  std::vector<Element> load_four(U32 index) const;
  void store_four(U32 index, std::span<const Element> elements) const;

 private:
  U32 first_of_four(U32 index) const;
  uint32_t mask() const { return (1u << (8 * size_)) - 1; }  // Of an element smaller than a word.

  tenon_dtype dtype_;
  uint32_t size_;
  Code* code_;
  Memory memory_;
  U32 byte_offset_, first_word_;
};

}  // namespace tenon_vulkan::spirv
