// Products of 64 x 64 tiles in shared memory, by a block of 256 threads. Panels hold kDepth columns
// of the left matrix or rows of the right one. Each thread keeps 16 sums. Half types are multiplied
// on tensor cores, with float32 sums; other types by ordinary instructions of each thread.

constexpr int kTile = 64, kDepth = 16, kEach = 4;

// Devices of compute capability 8.0 and later multiply both half types on tensor cores. The
// emulation implements the same instruction.
#if defined(TENON_CUDA_EMULATED) || __CUDA_ARCH__ >= 800
template <class E>
struct UsesTensorCores {
  static constexpr bool value = false;
};
template <>
struct UsesTensorCores<Half> {
  static constexpr bool value = true;
};
template <>
struct UsesTensorCores<BFloat16> {
  static constexpr bool value = true;
};
#else
template <class E>
struct UsesTensorCores {
  static constexpr bool value = false;
};
#endif

// ---- sums in registers of ordinary threads

template <class A>
struct WidePanel {
  A at[kDepth][kTile + 1];  // The odd row length spreads a column over the memory banks.
  template <class E>
  __device__ __forceinline__ void put(int depth, int i, E x) {
    at[depth][i] = (A)widen(x);
  }
};

template <class E, bool tensor_cores>
struct TileSums {
  typedef Accumulator<E> A;
  typedef WidePanel<A> Panel;
  A sums[kEach][kEach], run[kEach][kEach];

  __device__ __forceinline__ void clear() {
    for (int i = 0; i < kEach; ++i) {
      for (int j = 0; j < kEach; ++j) sums[i][j] = run[i][j] = A(0);
    }
  }
  __device__ __forceinline__ void multiply(const Panel& left, const Panel& right) {
    const int row = (int)threadIdx.x / 16 * kEach, column = (int)threadIdx.x % 16 * kEach;
    for (int depth = 0; depth < kDepth; ++depth) {
      for (int i = 0; i < kEach; ++i) {
        for (int j = 0; j < kEach; ++j) {
          run[i][j] = Reduce_sum<E>::join(
              run[i][j],
              Reduce_prod<E>::join(left.at[depth][row + i], right.at[depth][column + j]));
        }
      }
    }
  }
  // Calls f(row, column, sum, run) for each of the thread's 16 sums, with references to the sum and
  // to the sum of the current run.
  template <class F>
  __device__ __forceinline__ void each(F&& f) {
    const int row = (int)threadIdx.x / 16 * kEach, column = (int)threadIdx.x % 16 * kEach;
    for (int i = 0; i < kEach; ++i) {
      for (int j = 0; j < kEach; ++j) f(row + i, column + j, sums[i][j], run[i][j]);
    }
  }
};

// ---- sums on tensor cores

template <class E>
struct IsHalf {
  static constexpr bool value = false;
};
template <>
struct IsHalf<Half> {
  static constexpr bool value = true;
};
DEVICE float half_type_value(Half, u32 bits) { return half_value((u16)bits); }
DEVICE float half_type_value(BFloat16, u32 bits) { return bfloat16_value((u16)bits); }

// Adds the product of a 16 x 16 and a 16 x 8 matrix to the sums. The matrices are distributed over
// the lanes of a warp in the layout of mma.m16n8k16. Lane 4 g + t holds elements 2 t, 2 t + 1, 2 t
// + 8 and 2 t + 9 of rows g and g + 8 of the left matrix and of column g of the right matrix, two
// per register. It also holds columns 2 t and 2 t + 1 of rows g and g + 8 of the sums.
template <class E>
DEVICE void multiply_by_warp(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#if defined(TENON_CUDA_EMULATED)
  u64 of_lanes[3][32];
  const u64 own[3] = {a[0] | (u64)a[1] << 32, a[2] | (u64)a[3] << 32, b[0] | (u64)b[1] << 32};
  for (int i = 0; i < 3; ++i) {
    const unsigned long long* const all = tenon_emulated->exchange(0xffffffffu, own[i]);
    for (int lane = 0; lane < 32; ++lane) of_lanes[i][lane] = all[lane];
  }
  const int lane = (int)threadIdx.x % 32, group = lane / 4;
  for (int i = 0; i < 4; ++i) {
    const int column = lane % 4 * 2 + i % 2;
    for (int k = 0; k < 16; ++k) {
      const int pair = k % 8 / 2, half = k % 2 * 16;
      const u64 left = of_lanes[k / 8][group * 4 + pair] >> (i / 2 * 32 + half);
      const u64 right = of_lanes[2][column * 4 + pair] >> (k / 8 * 32 + half);
      d[i] += half_type_value(E(), (u32)left & 0xffffu) * half_type_value(E(), (u32)right & 0xffffu);
    }
  }
#else
#define MULTIPLY_BY_WARP(type)                                                                    \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                             \
               ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                       \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                   \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (IsHalf<E>::value) {
    MULTIPLY_BY_WARP("f16");
  } else {
    MULTIPLY_BY_WARP("bf16");
  }
#endif
}

// A panel of rows of the left matrix or columns of the right matrix. pair() loads two neighbours
// along k as one register. The padding of 8 elements puts the eight rows that a warp reads at once
// into different memory banks.
struct HalfPanel {
  alignas(4) u16 at[kTile][kDepth + 8];
  template <class E>
  __device__ __forceinline__ void put(int depth, int i, E x) {
    at[i][depth] = x.bits;
  }
  __device__ __forceinline__ u32 pair(int i, int depth) const {
    return *(const u32*)&at[i][depth];
  }
};

// Each warp computes 16 rows and 32 columns.
template <class E>
struct TileSums<E, true> {
  typedef float A;
  typedef HalfPanel Panel;
  float sums[4][4], run[4][4];

  __device__ __forceinline__ void clear() {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) sums[i][j] = run[i][j] = 0;
    }
  }
  __device__ __forceinline__ void multiply(const Panel& left, const Panel& right) {
    const int lane = (int)threadIdx.x % 32, row = first_row() + lane / 4, k = lane % 4 * 2;
    const u32 a[4] = {left.pair(row, k), left.pair(row + 8, k), left.pair(row, k + 8),
                      left.pair(row + 8, k + 8)};
    for (int j = 0; j < 4; ++j) {
      const int column = first_column() + 8 * j + lane / 4;
      const u32 b[2] = {right.pair(column, k), right.pair(column, k + 8)};
      multiply_by_warp<E>(run[j], a, b);
    }
  }
  template <class F>
  __device__ __forceinline__ void each(F&& f) {
    const int lane = (int)threadIdx.x % 32;
    for (int j = 0; j < 4; ++j) {
      for (int i = 0; i < 4; ++i) {
        f(first_row() + lane / 4 + i / 2 * 8, first_column() + 8 * j + lane % 4 * 2 + i % 2,
          sums[j][i], run[j][i]);
      }
    }
  }

 private:
  static __device__ __forceinline__ int first_row() { return (int)threadIdx.x / 32 % 4 * 16; }
  static __device__ __forceinline__ int first_column() { return (int)threadIdx.x / 128 * 32; }
};

typedef TileSums<T, UsesTensorCores<T>::value> Sums;
typedef Sums::Panel Panel;
