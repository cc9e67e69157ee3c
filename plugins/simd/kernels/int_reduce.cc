// Reductions of integers and bools. Their results do not depend on the order.

#include <limits>

#include "plugins/simd/kernels/reduce.h"

namespace tenon_simd {
namespace {

template <class T>
struct Sum {
  static constexpr T kIdentity = 0;
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};
template <class T>
struct Prod {
  static constexpr T kIdentity = 1;
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};
template <class T>
struct Max {
  static constexpr T kIdentity = std::numeric_limits<T>::min();
  static T apply(T a, T b) { return a < b ? b : a; }
};
template <class T>
struct Min {
  static constexpr T kIdentity = std::numeric_limits<T>::max();
  static T apply(T a, T b) { return b < a ? b : a; }
};
// Every byte except 0 is true.
struct Any {
  static constexpr uint8_t kIdentity = 0;
  static uint8_t apply(uint8_t a, uint8_t b) { return (a | b) != 0; }
  static uint8_t block(const uint8_t* x, size_t n) {
    uint8_t bits = 0;
    for (size_t i = 0; i < n; ++i) bits |= x[i];
    return bits != 0;
  }
};
struct All {
  static constexpr uint8_t kIdentity = 1;
  static uint8_t apply(uint8_t a, uint8_t b) { return a != 0 && b != 0; }
  static uint8_t block(const uint8_t* x, size_t n) {
    uint8_t zeros = 0;
    for (size_t i = 0; i < n; ++i) zeros |= static_cast<uint8_t>(x[i] == 0);
    return zeros == 0;
  }
};

// Returns the reducer that combines elements of type T by Op::apply().
template <class T, class Op>
constexpr Reducer reducer(uint32_t op, tenon_dtype dtype) {
  return {.op = op,
          .dtype = dtype,
          .block =
              [](const void* x, size_t n, void* out) {
                // The compiler vectorises a loop of apply(), but not for logical operations.
                if constexpr (requires { Op::block(nullptr, n); }) {
                  *static_cast<T*>(out) = Op::block(static_cast<const T*>(x), n);
                  return;
                }
                T result = Op::kIdentity;
                for (size_t i = 0; i < n; ++i) {
                  result = Op::apply(result, static_cast<const T*>(x)[i]);
                }
                *static_cast<T*>(out) = result;
              },
          .columns =
              [](const void* x, const int64_t* offsets, size_t n_rows, size_t width, void* out) {
                T* to = static_cast<T*>(out);
                std::fill_n(to, width, Op::kIdentity);
                for (size_t row = 0; row < n_rows; ++row) {
                  const T* from = static_cast<const T*>(x) + offsets[row];
                  for (size_t i = 0; i < width; ++i) to[i] = Op::apply(to[i], from[i]);
                }
              },
          .combine =
              [](void* to, const void* from, size_t n) {
                T* a = static_cast<T*>(to);
                const T* b = static_cast<const T*>(from);
                for (size_t i = 0; i < n; ++i) a[i] = Op::apply(a[i], b[i]);
              },
          .fill_identity = [](void* out,
                              size_t n) { std::fill_n(static_cast<T*>(out), n, Op::kIdentity); }};
}

// Sums and products wrap, so they are the same for signed integers.
template <class T, template <class> class Op>
constexpr Reducer wrapping_reducer(uint32_t op, tenon_dtype dtype) {
  using Unsigned = std::make_unsigned_t<T>;
  return reducer<Unsigned, Op<Unsigned>>(op, dtype);
}

#define TENON_CPU_REDUCERS(T, dtype)                                                              \
  wrapping_reducer<T, Sum>(TENON_OP_sum, dtype), wrapping_reducer<T, Prod>(TENON_OP_prod, dtype), \
      reducer<T, Max<T>>(TENON_OP_max, dtype), reducer<T, Min<T>>(TENON_OP_min, dtype)

constexpr Reducer kReducers[] = {
    TENON_CPU_REDUCERS(int8_t, TENON_INT8),
    TENON_CPU_REDUCERS(int16_t, TENON_INT16),
    TENON_CPU_REDUCERS(int32_t, TENON_INT32),
    TENON_CPU_REDUCERS(int64_t, TENON_INT64),
    TENON_CPU_REDUCERS(uint8_t, TENON_UINT8),
    TENON_CPU_REDUCERS(uint16_t, TENON_UINT16),
    TENON_CPU_REDUCERS(uint32_t, TENON_UINT32),
    TENON_CPU_REDUCERS(uint64_t, TENON_UINT64),
    reducer<uint8_t, Any>(TENON_OP_any, TENON_BOOL),
    reducer<uint8_t, All>(TENON_OP_all, TENON_BOOL),
};

}  // namespace

ReducerTable int_reducers() { return {kReducers, std::size(kReducers)}; }

}  // namespace tenon_simd
