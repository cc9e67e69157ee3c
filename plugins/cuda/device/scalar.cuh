// Elementwise functions: op_NAME takes elements and returns an element, rounded to its type.
// kernels/expansion_source.cc generates the transcendental functions that a kernel uses.

template <class T>
DEVICE T zero() {
  return narrow<T>(Compute<T>(0));
}
template <class T>
DEVICE bool is_nan(T x) {
  if constexpr (Traits<T>::is_float) {
    const auto value = widen(x);
    return value != value;
  } else {
    return false;
  }
}

// Converts an integer to an unsigned 64-bit integer, in which arithmetic wraps.
template <class T>
DEVICE u64 as_u64(T x) {
  if constexpr (Traits<T>::is_signed) {
    return (u64)(i64)widen(x);
  } else {
    return (u64)widen(x);
  }
}

#define BINARY_ARITHMETIC(name, symbol)                  \
  template <class T>                                     \
  DEVICE T op_##name(T a, T b) {                         \
    if constexpr (Traits<T>::is_float) {                 \
      return narrow<T>(widen(a) symbol widen(b));        \
    } else {                                             \
      return narrow<T>((T)(as_u64(a) symbol as_u64(b))); \
    }                                                    \
  }
BINARY_ARITHMETIC(add, +)
BINARY_ARITHMETIC(sub, -)
BINARY_ARITHMETIC(mul, *)

// ---- division: division by 0 returns 0, and the only quotient that overflows, minimum / -1, wraps

template <class T>
DEVICE T int_divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (Traits<T>::is_signed) {
    if (b == T(-1)) return (T)(0 - as_u64(a));
  }
  return (T)(a / b);
}
template <class T>
DEVICE T int_remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (Traits<T>::is_signed) {
    if (b == T(-1)) return 0;
  }
  return (T)(a % b);
}
// Whether the exact quotient is negative and not an integer, so that floor and truncation differ.
template <class T>
DEVICE bool floor_is_below(T a, T b) {
  return int_remainder(a, b) != 0 && (a < 0) != (b < 0);
}

template <class T>
DEVICE T op_div(T a, T b) {
  if constexpr (Traits<T>::is_float) {
    return narrow<T>(widen(a) / widen(b));
  } else {
    return int_divide(a, b);
  }
}

// Computes the floor of the exact quotient. float32 elements are divided in double, too: rounding
// their quotient to double may reach an integer, but never crosses one.
DEVICE double floor_divide(double a, double b) {
  const double quotient = a / b;
  if (b != 0 && isinf(a)) return double_of(0x7ff8000000000000ull);
  if (b == 0 || isnan(quotient) || isinf(quotient)) return quotient;
  double whole = rint(quotient);
  const double rest = isinf(b) ? a : fma(-whole, b, a);
  if (rest != 0 && (rest < 0) != (b < 0)) {
    whole -= 1;
  } else if (fabs(rest) >= fabs(b)) {
    whole += 1;
  }
  return whole == 0 ? copysign(whole, quotient) : whole;
}
template <class T>
DEVICE T op_floor_div(T a, T b) {
  if constexpr (Traits<T>::is_float) {
    return narrow<T>(floor_divide((double)widen(a), (double)widen(b)));
  } else {
    return (T)(int_divide(a, b) - (floor_is_below(a, b) ? 1 : 0));
  }
}
template <class T>
DEVICE T op_fmod(T a, T b) {
  if constexpr (Traits<T>::is_float) {
    return narrow<T>(fmod((double)widen(a), (double)widen(b)));
  } else {
    return int_remainder(a, b);
  }
}
template <class T>
DEVICE T op_mod(T a, T b) {
  if constexpr (Traits<T>::is_float) {
    const double divisor = (double)widen(b), rest = fmod((double)widen(a), divisor);
    if (rest == 0) return narrow<T>(copysign(rest, divisor));
    return narrow<T>((rest < 0) != (divisor < 0) ? rest + divisor : rest);
  } else {
    return (T)(int_remainder(a, b) + (floor_is_below(a, b) ? b : T(0)));
  }
}

// pow of integers; floats use an expansion. Negative exponents give 0, except for the bases 1 and
// -1.
template <class T>
DEVICE T int_pow(T base, T exponent) {
  if constexpr (Traits<T>::is_signed) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == T(-1)) return exponent % 2 == 0 ? T(1) : T(-1);
      return 0;
    }
  }
  u64 result = 1, square = as_u64(base);
  for (u64 rest = as_u64(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= square;
    square *= square;
  }
  return (T)result;
}

// ---- order: NaN propagates

template <class T>
DEVICE T op_maximum(T a, T b) {
  return is_nan(a) || widen(b) < widen(a) ? a : b;
}
template <class T>
DEVICE T op_minimum(T a, T b) {
  return is_nan(a) || widen(a) < widen(b) ? a : b;
}
// clip applies the lower bound before the upper one.
template <class T>
DEVICE T op_clip(T x, T low, T high) {
  if (is_nan(x)) return x;
  if (is_nan(low) || widen(x) < widen(low)) x = low;
  return is_nan(high) || widen(high) < widen(x) ? high : x;
}
#define COMPARISON(name, symbol)                         \
  template <class T>                                     \
  DEVICE Bool op_##name(T a, T b) {                      \
    return Bool{(u8)(widen(a) symbol widen(b) ? 1 : 0)}; \
  }
COMPARISON(equal, ==)
COMPARISON(not_equal, !=)
COMPARISON(less, <)
COMPARISON(less_equal, <=)
COMPARISON(greater, >)
COMPARISON(greater_equal, >=)

template <class T>
DEVICE T op_where(Bool condition, T a, T b) {
  return condition.byte != 0 ? a : b;
}

// ---- logic and bits

DEVICE Bool op_logical_not(Bool x) { return Bool{(u8)(widen(x) ^ 1)}; }
#define BITWISE(name, symbol)                                 \
  template <class T>                                          \
  DEVICE T op_bitwise_##name(T a, T b) {                      \
    return narrow<T>((Compute<T>)(widen(a) symbol widen(b))); \
  }                                                           \
  DEVICE Bool op_logical_##name(Bool a, Bool b) { return op_bitwise_##name(a, b); }
BITWISE(and, &)
BITWISE(or, |)
BITWISE(xor, ^)
template <class T>
DEVICE T op_bitwise_not(T x) {
  if constexpr (Traits<T>::is_bool) {
    return op_logical_not(x);
  } else {
    return (T)~x;
  }
}
// A shift count that is negative or exceeds the width shifts all bits out.
template <class T>
DEVICE T op_shift_left(T a, T b) {
  const u64 distance = as_u64(b);
  return (T)(distance > 63 ? 0 : as_u64(a) << distance);
}
template <class T>
DEVICE T op_shift_right(T a, T b) {
  const u64 distance = as_u64(b);
  if constexpr (Traits<T>::is_signed) {
    return (T)(distance > 63 ? (a < 0 ? -1 : 0) : (i64)a >> distance);
  } else {
    return (T)(distance > 63 ? 0 : (u64)a >> distance);
  }
}

// ---- functions of one element

template <class T>
DEVICE T op_neg(T x) {
  if constexpr (Traits<T>::is_float) {
    return narrow<T>(-widen(x));
  } else {
    return (T)(0 - as_u64(x));
  }
}
template <class T>
DEVICE T op_abs(T x) {
  if constexpr (Traits<T>::is_float) {
    return narrow<T>((Compute<T>)fabs(widen(x)));
  } else {
    return x < 0 ? (T)(0 - as_u64(x)) : x;
  }
}
template <class T>
DEVICE T op_sign(T x) {
  if (is_nan(x)) return x;
  const auto value = widen(x);
  return narrow<T>((Compute<T>)((value > 0) - (value < 0)));
}
template <class T>
DEVICE Bool op_isnan(T x) {
  return Bool{(u8)(is_nan(x) ? 1 : 0)};
}
template <class T>
DEVICE Bool op_isinf(T x) {
  return Bool{(u8)(isinf(widen(x)) ? 1 : 0)};
}
template <class T>
DEVICE T op_reciprocal(T x) {
  return narrow<T>((Compute<T>)1 / widen(x));
}
#define ROUNDED(name, function)           \
  template <class T>                      \
  DEVICE T op_##name(T x) {               \
    return narrow<T>(function(widen(x))); \
  }
DEVICE float sqrt_of(float x) { return sqrtf(x); }
DEVICE double sqrt_of(double x) { return sqrt(x); }
DEVICE float floor_of(float x) { return floorf(x); }
DEVICE double floor_of(double x) { return floor(x); }
DEVICE float ceil_of(float x) { return ceilf(x); }
DEVICE double ceil_of(double x) { return ceil(x); }
DEVICE float rint_of(float x) { return rintf(x); }
DEVICE double rint_of(double x) { return rint(x); }
DEVICE float trunc_of(float x) { return truncf(x); }
DEVICE double trunc_of(double x) { return trunc(x); }
ROUNDED(sqrt, sqrt_of)
ROUNDED(floor, floor_of)
ROUNDED(ceil, ceil_of)
ROUNDED(round, rint_of)
ROUNDED(trunc, trunc_of)

// ---- functions of several floats

template <class T>
DEVICE T op_copysign(T a, T b) {
  if constexpr (sizeof(Compute<T>) == 8) {
    return copysign(a, b);
  } else {
    return narrow<T>(copysignf(widen(a), widen(b)));
  }
}

// For half types, the product is exact in double and the sum is rounded to odd, so that narrowing
// it equals a single rounding.
DEVICE double fused_of_halves(double x, double y, double z) {
  const double product = x * y, sum = product + z;
  if (isinf(sum) || isnan(sum)) return sum;
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (z - part);
  const u64 bits = bits_of(sum);
  if (lost == 0 || (bits & 1) != 0) return sum;
  return double_of((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}
template <class T>
DEVICE T op_fma(T x, T y, T z) {
  if constexpr (sizeof(T) == 2) {
    return narrow<T>(fused_of_halves((double)widen(x), (double)widen(y), (double)widen(z)));
  } else if constexpr (sizeof(T) == 4) {
    return fmaf(x, y, z);
  } else {
    return fma(x, y, z);
  }
}

template <class T>
struct BitsOf;
template <>
struct BitsOf<Half> {
  typedef u16 type;
};
template <>
struct BitsOf<BFloat16> {
  typedef u16 type;
};
template <>
struct BitsOf<float> {
  typedef u32 type;
};
template <>
struct BitsOf<double> {
  typedef u64 type;
};
// nextafter. Without the sign bit, the bits of floats have the same order as their magnitudes.
template <class T>
DEVICE T op_nextafter(T a, T b) {
  typedef typename BitsOf<T>::type Bits;
  const auto from = widen(a), to = widen(b);
  if (is_nan(a) || is_nan(b)) return narrow<T>(from + to);
  if (from == to) return b;
  union {
    T value;
    Bits bits;
  } next;
  next.bits = 1;  // The successor of zero is the smallest subnormal number.
  if (from != 0) {
    next.value = a;
    next.bits = (Bits)((to > from) == (from > 0) ? next.bits + 1 : next.bits - 1);
  } else if (to < 0) {
    next.bits = (Bits)(next.bits | (Bits)1 << (8 * sizeof(Bits) - 1));
  }
  return next.value;
}

// ---- casts: floats are truncated and saturate, NaN becomes 0; integers wrap

template <class To, class From>
DEVICE To op_cast(From x) {
  if constexpr (Traits<From>::is_float && !Traits<To>::is_float && !Traits<To>::is_bool) {
    if (is_nan(x)) return 0;
    const double value = trunc((double)widen(x));
    constexpr int digits = 8 * sizeof(To) - (Traits<To>::is_signed ? 1 : 0);
    constexpr double limit =
        digits == 64 ? 18446744073709551616.0 : (double)((u64)1 << digits % 64);
    constexpr u64 greatest = digits == 64 ? ~(u64)0 : ((u64)1 << digits % 64) - 1;
    if (value >= limit) return (To)greatest;
    if (value < (Traits<To>::is_signed ? -limit : 0.0))
      return (To)(Traits<To>::is_signed ? ~greatest : 0);
    return (To)value;
  } else if constexpr (Traits<From>::is_float || Traits<To>::is_float) {
    return narrow<To>(widen(x));
  } else if constexpr (Traits<To>::is_bool) {
    return narrow<To>(widen(x));
  } else {
    return (To)as_u64(x);
  }
}

// ---- instructions of expansions

DEVICE float float_bits(u32 bits) { return float_of(bits); }
DEVICE double float_bits(u64 bits) { return double_of(bits); }
// Converts exactly if `x` is an integer in range; otherwise the result is unspecified.
DEVICE u32 to_bits(float x) { return x >= -2147483648.0f && x < 2147483648.0f ? (u32)(i32)x : 0u; }
DEVICE u64 to_bits(double x) {
  return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (u64)(i64)x : (u64)0;
}
