// Elements of tensor dtypes, in registers and in memory.
//
// bool is represented as a Bool, integers of up to 32 bits as a word with the sign- or
// zero-extended value, and 64-bit integers as two words. float16, bfloat16 and float32 are
// represented in float32. The result of each op is rounded to its dtype, so a fused loop returns
// the same bits as separate kernels.

#pragma once

#include <tenon/plugin.h>

#include <optional>
#include <span>
#include <vector>

#include "plugins/sdk/dtype.h"
#include "plugins/vulkan/spirv/wide.h"

namespace tenon_vulkan::spirv {

enum class Kind : uint8_t { kBool, kWord, kWide, kF32, kF64 };

// Returns how shaders represent the elements of a dtype.
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

  // Return the value, for the kinds kBool, kWord, kWide, kF32 and kF64.
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

// Wraps an integer to the range of a dtype of at most 32 bits.
U32 wrap_to_dtype(tenon_dtype dtype, U32 x);
// Rounds to the nearest value of the dtype, ties to even.
F32 round_to_dtype(tenon_dtype dtype, F32 x);

// Replaces subnormal numbers by zeros if Code::may_flush_subnormals().
F32 flush_subnormals(F32 x);

// Converts a float to the bits of a half type (float16 or bfloat16).
U32 half_bits(tenon_dtype dtype, F32 x);
// Converts the bits of a half type (float16 or bfloat16) to a float.
F32 half_value(tenon_dtype dtype, U32 bits);

// The bits of an element in memory: one word, or two.
struct Bits {
  U32 low, high;
};
// Returns the bits of an element as they are stored in memory.
Bits bits_of(const Element& x);
// Returns the element of this dtype with these bits.
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
  // Stores an element. The store is atomic for elements smaller than a word, because other
  // invocations may write to the same word.
  void store(U32 index, const Element& x) const;
  // Returns the number of elements per word; 1 if an element is a word or larger.
  uint32_t per_word() const { return size_ >= 4 ? 1 : 4 / size_; }
  // Stores the elements of one word, beginning at `index`, which must be a multiple of per_word().
  // Elements at index `n` and beyond are not stored.
  void store_word(U32 index, std::span<const Element> elements, U32 n) const;

  // Whether load_four() and store_four() require that the operand is declared in Shape::vectors.
  static bool needs_vectors(tenon_dtype dtype) { return tenon_sdk::size_of(dtype) >= 4; }
  // Load and store four contiguous elements. `index` must be a multiple of four. The operand must
  // begin at a multiple of four elements, and its binding must end at one. Elements loaded beyond
  // the operand's end are unspecified; the caller must not store there.
  std::vector<Element> load_four(U32 index) const;
  void store_four(U32 index, std::span<const Element> elements) const;

 private:
  U32 first_vector_index(U32 index) const;
  // Returns the mask of the bits of an element that is smaller than a word.
  uint32_t mask() const { return (1u << (8 * size_)) - 1; }

  tenon_dtype dtype_;
  uint32_t size_;
  Code* code_;
  Memory memory_;
  U32 byte_offset_, first_word_;
};

}  // namespace tenon_vulkan::spirv
