// The element types of tensors in kernels, the types in which they are computed, and views of
// memory. The source of every kernel begins with this file. It is compiled by NVRTC, which has no
// headers, and in tests by the host's compiler (testing/cuda_builtins.h).

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define DEVICE static __device__ __forceinline__
#if defined(TENON_CUDA_EMULATED)
#define PARAMETERS(type) const type&
#else
#define PARAMETERS(type) const __grid_constant__ type
#endif
#define KERNEL extern "C" __global__ void

DEVICE u32 bits_of(float x) { return __float_as_uint(x); }
DEVICE u64 bits_of(double x) { return (u64)__double_as_longlong(x); }
DEVICE float float_of(u32 bits) { return __uint_as_float(bits); }
DEVICE double double_of(u64 bits) { return __longlong_as_double((i64)bits); }

// ---- 16-bit floats: converting from float rounds once, ties to even; every NaN becomes quiet

DEVICE u16 half_bits(float x) {
#if defined(TENON_CUDA_EMULATED)
  const u32 bits = bits_of(x);
  const u32 sign = (bits >> 16) & 0x8000u;
  u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (u16)(sign | 0x7e00u);
  // For magnitudes of 65520 and more, the nearest half is infinity.
  if (magnitude >= 0x477ff000u) return (u16)(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Below 2^-14, halves are multiples of 2^-24. This is the spacing of floats near 0.5, so adding
    // 0.5 rounds correctly.
    return (u16)(sign | (bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u));
  }
  magnitude += 0xfffu + ((magnitude >> 13) & 1u);
  return (u16)(sign | ((magnitude - 0x38000000u) >> 13));
#else
  u16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
#endif
}

DEVICE float half_value(u16 half) {
#if defined(TENON_CUDA_EMULATED)
  const u32 sign = (u32)(half & 0x8000u) << 16;
  const u32 exponent = (half >> 10) & 31u, fraction = half & 0x3ffu;
  if (exponent == 31) return float_of(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return float_of(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = (float)fraction * 5.9604644775390625e-8f;  // 2^-24.
  return sign != 0 ? -magnitude : magnitude;
#else
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
  return x;
#endif
}

DEVICE u16 bfloat16_bits(float x) {
  const u32 bits = bits_of(x);
  if (x != x) return (u16)((bits >> 16) | 0x40u);
  return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
DEVICE float bfloat16_value(u16 bits) { return float_of((u32)bits << 16); }

// Rounds to odd: if inexact, returns the neighbouring float whose last bit is 1. Rounding that to a
// type with at least two bits less equals rounding `x` directly.
DEVICE float round_to_odd(double x) {
  const float nearest = (float)x;
  const u32 bits = bits_of(nearest);
  if ((double)nearest == x || x != x || (bits & 1u) != 0) return nearest;
  const bool is_above = fabs((double)nearest) > fabs(x);
  return float_of(is_above ? bits - 1 : bits + 1);
}
// Rounds an integer to float, to odd: if inexact, the last bit of the result is 1.
DEVICE float round_to_odd(u64 magnitude) {
  const int shift = 40 - (magnitude == 0 ? 64 : __clzll((i64)magnitude));
  if (shift <= 0) return (float)magnitude;
  const u64 kept = magnitude >> shift;
  return (float)((kept | ((kept << shift) != magnitude ? 1u : 0u)) << shift);
}

struct Half {
  u16 bits;
};
struct BFloat16 {
  u16 bits;
};
struct Bool {
  u8 byte;  // Every value except 0 is true.
};
struct alignas(16) Wide16 {
  u64 words[2];
};

// ---- traits

template <class T>
struct Traits {  // The general template is for integers.
  typedef T Compute;
  static constexpr bool is_float = false, is_bool = false;
  static constexpr bool is_signed = T(-1) < T(0);
};
template <class C>
struct FloatTraits {
  typedef C Compute;
  static constexpr bool is_float = true, is_bool = false, is_signed = true;
};
template <>
struct Traits<Half> : FloatTraits<float> {};
template <>
struct Traits<BFloat16> : FloatTraits<float> {};
template <>
struct Traits<float> : FloatTraits<float> {};
template <>
struct Traits<double> : FloatTraits<double> {};
template <>
struct Traits<Bool> {
  typedef u8 Compute;
  static constexpr bool is_float = false, is_bool = true, is_signed = false;
};
// Converts an element to the type in which it is computed: float for halves, 0 or 1 for bool,
// otherwise its own type.
template <class T>
using Compute = typename Traits<T>::Compute;

template <class T>
DEVICE T widen(T x) {
  return x;
}
DEVICE float widen(Half x) { return half_value(x.bits); }
DEVICE float widen(BFloat16 x) { return bfloat16_value(x.bits); }
DEVICE u8 widen(Bool x) { return x.byte != 0 ? 1 : 0; }

template <class T>
struct Narrow {
  template <class C>
  static __device__ __forceinline__ T of(C x) {
    return (T)x;
  }
};
template <>
struct Narrow<Bool> {
  template <class C>
  static __device__ __forceinline__ Bool of(C x) {
    return Bool{(u8)(x != 0 ? 1 : 0)};
  }
};
// Conversions to 16-bit floats from float, double and integers round once.
DEVICE float to_float_for_half(float x) { return x; }
DEVICE float to_float_for_half(double x) { return round_to_odd(x); }
DEVICE float to_float_for_half(i64 x) {
  return x < 0 ? -round_to_odd((u64)0 - (u64)x) : round_to_odd((u64)x);
}
DEVICE float to_float_for_half(u64 x) { return round_to_odd(x); }
template <class C>
DEVICE float to_float_for_half(C x) {
  return (float)x;  // Integers of at most 32 bits are exact in double.
}
DEVICE float to_float_for_half(i32 x) { return to_float_for_half((i64)x); }
DEVICE float to_float_for_half(u32 x) { return to_float_for_half((u64)x); }
template <>
struct Narrow<Half> {
  template <class C>
  static __device__ __forceinline__ Half of(C x) {
    return Half{half_bits(to_float_for_half(x))};
  }
};
template <>
struct Narrow<BFloat16> {
  template <class C>
  static __device__ __forceinline__ BFloat16 of(C x) {
    return BFloat16{bfloat16_bits(to_float_for_half(x))};
  }
};
template <class T, class C>
DEVICE T narrow(C x) {
  return Narrow<T>::of(x);
}

// ---- views, as Parameters::push_view writes them (kernels/parameters.h)

struct View {
  char* memory;  // NULL: the operand is passed by value.
  u64 value[2];
  i64 rank;
  i64 sizes[16];
  i64 strides[16];  // In elements; 0 along broadcast axes.
};

template <class T>
DEVICE T* data(const View& view) {
  return (T*)(view.memory != nullptr ? view.memory : (char*)view.value);
}
DEVICE i64 count(const View& view) {
  i64 n = 1;
  for (int i = 0; i < view.rank; ++i) n *= view.sizes[i];
  return n;
}
// Offset of the element with this row-major index, for the given sizes and strides.
DEVICE i64 offset_of(i64 number, int rank, const i64* sizes, const i64* strides) {
  i64 offset = 0;
#pragma unroll 1  // Not unrolled, because 64-bit divisions take many instructions.
  for (int axis = rank - 1; axis >= 0; --axis) {
    const i64 rest = number / sizes[axis];
    offset += (number - rest * sizes[axis]) * strides[axis];
    number = rest;
  }
  return offset;
}
DEVICE i64 offset_of(const View& view, i64 number) {
  return offset_of(number, (int)view.rank, view.sizes, view.strides);
}

// ---- loops over elements, in which each thread processes several elements

DEVICE i64 first_number() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
DEVICE i64 number_step() { return (i64)gridDim.x * blockDim.x; }
#define FOR_EACH(i, n) _Pragma("unroll 1") for (i64 i = first_number(); i < (n); i += number_step())

// ---- errors and indices

struct ErrorRecord {
  u32 state, site;
  i64 index, bound;
};
// Reports an index out of range. Only the first report is recorded.
DEVICE void report_value_error(ErrorRecord* record, i64 site, i64 index, i64 bound) {
  if (record == nullptr || atomicCAS(&record->state, 0u, 1u) != 0u) return;
  record->site = (u32)site;
  record->index = index;
  record->bound = bound;
}
// Converts an index to one that counts from the front; returns -1 if it is outside [-bound, bound).
DEVICE i64 wrap(i64 index, i64 bound) {
  if (index < 0) index += bound;
  return index >= 0 && index < bound ? index : -1;
}
