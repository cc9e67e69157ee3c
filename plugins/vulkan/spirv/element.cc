#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan::spirv {
namespace {

constexpr uint32_t kMagnitude = 0x7fffffffu, kInfinity = 0x7f800000u;

}  // namespace

// Returns how shaders represent the elements of a dtype.
Kind kind_of(tenon_dtype dtype) {
  switch (dtype) {
    case TENON_BOOL:
      return Kind::kBool;
    case TENON_INT64:
    case TENON_UINT64:
      return Kind::kWide;
    case TENON_FLOAT16:
    case TENON_BFLOAT16:
    case TENON_FLOAT32:
      return Kind::kF32;
    case TENON_FLOAT64:
      return Kind::kF64;
    default:
      return Kind::kWord;
  }
}

bool is_signed_int(tenon_dtype dtype) {
  return dtype == TENON_INT8 || dtype == TENON_INT16 || dtype == TENON_INT32 ||
         dtype == TENON_INT64;
}

// Wraps an integer to the range of a dtype of at most 32 bits.
U32 wrap_to_dtype(tenon_dtype dtype, U32 x) {
  const uint32_t bits = 8 * static_cast<uint32_t>(tenon_sdk::size_of(dtype));
  if (bits == 32) return x;
  return is_signed_int(dtype) ? sign_extend(x, bits) : x & ((1u << bits) - 1);
}

// ---- half types

namespace {

U32 float16_bits(F32 x) {
  Code& code = *x.code;
  const U32 bits = bits_of(x);
  const U32 sign = (bits >> 16) & 0x8000u;
  const U32 magnitude = bits & kMagnitude;
  // For magnitudes of 65520 and more, the nearest float16 is infinity.
  const U32 large = select(magnitude > kInfinity, 0x7e00u, 0x7c00u);
  // Below 2^-14, float16 values are multiples of 2^-24. This is the spacing of floats near 0.5, so
  // adding 0.5 rounds correctly.
  const U32 small = bits_of(float_of(magnitude) + code.f32(0.5f)) - bits_of(code.f32(0.5f));
  const U32 normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1) - 0x38000000u) >> 13;
  const U32 half =
      select(magnitude >= 0x477ff000u, large, select(magnitude < 0x38800000u, small, normal));
  return sign | half;
}

F32 float16_value(U32 bits) {
  Code& code = *bits.code;
  const U32 sign = (bits & 0x8000u) << 16;
  const U32 exponent = (bits >> 10) & 0x1fu;
  const U32 fraction = bits & 0x3ffu;
  // The conversion is exact: floats represent every 10-bit integer and its product with a power of
  // two.
  const F32 converted = code.emit<F32>(spv::Op::OpConvertUToF, {fraction.id});
  const U32 small = bits_of(converted * code.f32(0x1p-24f));
  const U32 large = code.u32(kInfinity) | fraction << 13;
  const U32 normal = (exponent + 112) << 23 | fraction << 13;
  return float_of(sign | select(exponent == 0, small, select(exponent == 31, large, normal)));
}

U32 bfloat16_bits(F32 x) {
  const U32 bits = bits_of(x);
  const U32 near = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  return select((bits & kMagnitude) > kInfinity, bits >> 16 | x.code->u32(0x40u), near);
}

}  // namespace

// Replaces subnormal numbers by zeros if the device may do the same.
F32 flush_subnormals(F32 x) {
  if (!x.code->may_flush_subnormals()) return x;
  const U32 bits = bits_of(x);
  return select((bits & 0x7f800000u) == 0, float_of(bits & 0x80000000u), x);
}

// Converts a float to the bits of a half type (float16 or bfloat16).
U32 half_bits(tenon_dtype dtype, F32 x) {
  return dtype == TENON_FLOAT16 ? float16_bits(x) : bfloat16_bits(x);
}

// Converts the bits of a half type (float16 or bfloat16) to a float.
F32 half_value(tenon_dtype dtype, U32 bits) {
  return dtype == TENON_FLOAT16 ? float16_value(bits) : float_of(bits << 16);
}

// Rounds to the nearest value of the dtype, ties to even.
F32 round_to_dtype(tenon_dtype dtype, F32 x) {
  if (dtype == TENON_FLOAT32) return x;
  return half_value(dtype, half_bits(dtype, x));
}

// ---- bits

// Returns the bits of an element as they are stored in memory.
Bits bits_of(const Element& x) {
  const U32 nothing = x.code().u32(0);
  switch (x.kind()) {
    case Kind::kBool:
      return {to_u32(x.boolean()), nothing};
    case Kind::kWord:
      return {x.word(), nothing};
    case Kind::kWide:
      return {x.wide().low, x.wide().high};
    case Kind::kF32:
      return {x.dtype() == TENON_FLOAT32 ? bits_of(x.f32()) : half_bits(x.dtype(), x.f32()),
              nothing};
    case Kind::kF64: {
      const auto [low, high] = x.code().words_of(x.f64());
      return {low, high};
    }
  }
  return {};
}

// Returns the element of this dtype with these bits.
Element element_of(tenon_dtype dtype, const Bits& bits) {
  switch (kind_of(dtype)) {
    case Kind::kBool:
      return Element((bits.low & 0xffu) != 0);
    case Kind::kWord:
      return {dtype, wrap_to_dtype(dtype, bits.low)};
    case Kind::kWide:
      return {dtype, Wide{bits.low, bits.high}};
    case Kind::kF32:
      return {dtype,
              dtype == TENON_FLOAT32 ? float_of(bits.low) : half_value(dtype, bits.low & 0xffffu)};
    case Kind::kF64:
      return Element(bits.low.code->as_f64(bits.low, bits.high));
  }
  return {};
}

// ---- variables

namespace {

// Returns the SPIR-V type that holds a value of this kind, or one of its two words.
Scalar scalar_of(Kind kind) {
  switch (kind) {
    case Kind::kBool:
      return Scalar::kBool;
    case Kind::kF32:
      return Scalar::kF32;
    case Kind::kF64:
      return Scalar::kF64;
    default:
      return Scalar::kU32;
  }
}

}  // namespace

ElementVar::ElementVar(const Element& initial)
    : dtype_(initial.dtype()),
      code_(&initial.code()),
      low_(code_->new_variable(scalar_of(initial.kind()))),
      high_(initial.kind() == Kind::kWide ? code_->new_variable(Scalar::kU32) : 0) {
  set(initial);
}

Element ElementVar::get() const {
  switch (kind_of(dtype_)) {
    case Kind::kBool:
      return Element(Var<Bool>(code_, low_).get());
    case Kind::kWord:
      return {dtype_, Var<U32>(code_, low_).get()};
    case Kind::kWide:
      return {dtype_, Wide{Var<U32>(code_, low_).get(), Var<U32>(code_, high_).get()}};
    case Kind::kF32:
      return {dtype_, Var<F32>(code_, low_).get()};
    case Kind::kF64:
      return Element(Var<F64>(code_, low_).get());
  }
  return {};
}

void ElementVar::set(const Element& x) const {
  code_->emit(spv::Op::OpStore, {low_, x.word().id});
  if (high_ != 0) code_->emit(spv::Op::OpStore, {high_, x.wide().high.id});
}

SharedElements::SharedElements(Code& code, tenon_dtype dtype, uint32_t n)
    : dtype_(dtype), low_(code.shared<U32>(n)) {
  if (tenon_sdk::size_of(dtype) == 8) high_ = code.shared<U32>(n);
}

Element SharedElements::get(U32 index) const {
  const U32 low = low_.get(index);
  return element_of(dtype_, {low, high_ ? high_->get(index) : low});
}

void SharedElements::set(U32 index, const Element& x) const {
  const Bits bits = bits_of(x);
  low_.set(index, bits.low);
  if (high_) high_->set(index, bits.high);
}

// ---- memory

Elements::Elements(Code& code, uint32_t operand, tenon_dtype dtype)
    : dtype_(dtype),
      size_(static_cast<uint32_t>(tenon_sdk::size_of(dtype))),
      code_(&code),
      memory_(code.operand(operand)),
      byte_offset_(code.operand_offset(operand)),
      first_word_(byte_offset_ >> 2) {}

Element Elements::load(U32 index) const {
  const U32 nothing = code_->u32(0);
  if (size_ == 8) {
    const U32 at = first_word_ + (index << 1);
    return element_of(dtype_, {memory_.load(at), memory_.load(at + 1)});
  }
  if (size_ == 4) return element_of(dtype_, {memory_.load(first_word_ + index), nothing});
  const U32 byte = byte_offset_ + index * size_;
  const U32 word = memory_.load(byte >> 2);
  return element_of(dtype_, {word >> ((byte & 3) << 3), nothing});
}

void Elements::store(U32 index, const Element& x) const {
  const Bits bits = bits_of(x);
  if (size_ == 8) {
    const U32 at = first_word_ + (index << 1);
    memory_.store(at, bits.low);
    memory_.store(at + 1, bits.high);
    return;
  }
  if (size_ == 4) {
    memory_.store(first_word_ + index, bits.low);
    return;
  }
  // Clears the element's bits, then sets them. No other invocation accesses these bits meanwhile.
  const U32 byte = byte_offset_ + index * size_;
  const U32 shift = (byte & 3) << 3;
  memory_.atomic(spv::Op::OpAtomicAnd, byte >> 2, ~(code_->u32(mask()) << shift));
  memory_.atomic(spv::Op::OpAtomicOr, byte >> 2, (bits.low & mask()) << shift);
}

// Stores the elements of one word, the first at index `index`. Elements at index `n` and beyond are
// not stored.
void Elements::store_word(U32 index, std::span<const Element> elements, U32 n) const {
  const auto per_word = static_cast<uint32_t>(elements.size());
  const Bool is_whole = ((byte_offset_ & 3) == 0) & (index + per_word <= n);
  code_->if_(
      is_whole,
      [&] {
        U32 word = bits_of(elements[0]).low & mask();
        for (uint32_t i = 1; i < per_word; ++i) {
          word = word | (bits_of(elements[i]).low & mask()) << (8 * size_ * i);
        }
        memory_.store((byte_offset_ + index * size_) >> 2, word);
      },
      [&] {
        for (uint32_t i = 0; i < per_word; ++i) {
          code_->if_(index + i < n, [&] { store(index + i, elements[i]); });
        }
      });
}

// Returns the index of the vector that contains the first of four elements. If elements are smaller
// than a word, returns the index of the word instead.
U32 Elements::first_vector_index(U32 index) const {
  return (size_ >= 4 ? byte_offset_ >> 4 : first_word_) +
         (index >> (size_ == 1 || size_ == 4 ? 2 : 1));
}

std::vector<Element> Elements::load_four(U32 index) const {
  const U32 nothing = code_->u32(0), first = first_vector_index(index);
  std::vector<U32> words;  // As many words as an element has bytes.
  if (size_ < 4) {
    for (uint32_t i = 0; i < size_; ++i) words.push_back(memory_.load(first + i));
  } else {
    for (uint32_t i = 0; i < size_ / 4; ++i) {
      const std::array<U32, 4> vector = memory_.load_vector(first + i);
      words.insert(words.end(), vector.begin(), vector.end());
    }
  }
  std::vector<Element> elements;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t byte = i * size_;
    const U32 low = words[byte / 4];
    const U32 high = size_ == 8 ? words[byte / 4 + 1] : nothing;
    elements.push_back(element_of(dtype_, {byte % 4 == 0 ? low : low >> (8 * (byte % 4)), high}));
  }
  return elements;
}

void Elements::store_four(U32 index, std::span<const Element> elements) const {
  std::vector<U32> words;
  for (uint32_t i = 0; i < 4; ++i) {
    const Bits bits = bits_of(elements[i]);
    const uint32_t byte = i * size_ % 4;
    if (byte == 0) {
      words.push_back(size_ < 4 ? bits.low & mask() : bits.low);
    } else {
      words.back() = words.back() | (bits.low & mask()) << (8 * byte);
    }
    if (size_ == 8) words.push_back(bits.high);
  }
  const U32 first = first_vector_index(index);
  if (size_ < 4) {
    for (uint32_t i = 0; i < size_; ++i) memory_.store(first + i, words[i]);
  } else {
    for (uint32_t i = 0; i < size_ / 4; ++i) {
      memory_.store_vector(first + i, std::span<const U32, 4>(&words[4 * i], 4));
    }
  }
}

}  // namespace tenon_vulkan::spirv
