// Elements of the dtypes of tensors, in registers and in memory.
//
// bool is a Bool. Integers of up to 32 bits are a word that holds their value, with or without
// sign; those of 64 are two. float16, bfloat16 and float32 are computed in float32, and what an
// instruction gives is rounded to its dtype (rounded), so that a loop has the bits of single calls.

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

// The integer within its dtype: it wraps.
U32 wrapped(tenon_dtype dtype, U32 x);
// The nearest value of the dtype, ties to even.
F32 rounded(tenon_dtype dtype, F32 x);

// Where subnormal numbers may count as zeros they do.
F32 without_subnormals(F32 x);

// The bits that memory holds of float16 and bfloat16, and back.
U32 half_bits(tenon_dtype dtype, F32 x);
F32 half_value(tenon_dtype dtype, U32 bits);

// The bits of an element as memory has them: one word, or two.
struct Bits {
  U32 low, high;
};
Bits bits_of(const Element& x);
Element element_of(tenon_dtype dtype, const Bits& bits);

// An element that changes.
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

// Elements that the invocations of a group share.
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

// The elements of an operand. Indices are counted in elements and wrap, so that negative strides
// are numbers like others.
class Elements {
 public:
  Elements(Code& code, uint32_t operand, tenon_dtype dtype);

  tenon_dtype dtype() const { return dtype_; }
  Element load(U32 index) const;
  // Also where other invocations write the same word.
  void store(U32 index, const Element& x) const;
  // How many elements of this dtype make a word; 1 where one is a word or more.
  uint32_t per_word() const { return size_ >= 4 ? 1 : 4 / size_; }
  // All elements of a word, from `index` on, of which those below `n` are there. An index is a
  // multiple of how many are given.
  void store_word(U32 index, std::span<const Element> elements, U32 n) const;

  // Elements of a word and more go in vectors, when they go by four.
  static bool needs_vectors(tenon_dtype dtype) { return tenon_sdk::size_of(dtype) >= 4; }
  // Four elements side by side. The index is a multiple of four, and the operand begins at a
  // multiple of four elements, as its block ends. Beyond the operand's end anything is read;
  // nothing is written at `n` and above.
  std::vector<Element> load_four(U32 index) const;
  void store_four(U32 index, std::span<const Element> elements) const;

 private:
  U32 first_of_four(U32 index) const;
  uint32_t mask() const { return (1u << (8 * size_)) - 1; }  // Of an element below a word.

  tenon_dtype dtype_;
  uint32_t size_;
  Code* code_;
  Memory memory_;
  U32 place_, first_word_;
};

}  // namespace tenon_vulkan::spirv
