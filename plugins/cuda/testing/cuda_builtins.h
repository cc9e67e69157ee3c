// Implements the built-ins of CUDA C++ for the host's compiler. The emulated NVRTC inserts this
// file before each source. The emulated driver sets the pointer `tenon_emulated` when it loads the
// code, and updates the struct before each thread of a block runs.

#pragma once

#define TENON_CUDA_EMULATED 1
#define __device__
#define __host__
#define __global__ __attribute__((visibility("default")))
#define __forceinline__ inline __attribute__((always_inline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
// The emulated driver fills shared memory with a pattern before each block
// (EmulatedModule::poison_shared).
#define __shared__ static __attribute__((section("tenon_shared"), used))
#define __constant__ static const

struct uint3 {
  unsigned x, y, z;
};
struct TenonEmulatedThread {
  uint3 thread, block, block_size, grid_size;
  // Blocks the thread until all threads of the block have reached this barrier; `place` identifies
  // the barrier.
  void (*barrier)(void* place);
  // Exchanges a value among the lanes of `mask`. Returns the values of all lanes of the warp.
  const unsigned long long* (*exchange)(unsigned mask, unsigned long long value);
  // Stops the launch because of an operation that is undefined on a GPU.
  void (*fault)(const char* text);
};
extern "C" __attribute__((visibility("default"))) TenonEmulatedThread* tenon_emulated = nullptr;
extern "C" char __start_tenon_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_tenon_shared[] __attribute__((weak, visibility("hidden")));
extern "C" __attribute__((visibility("default"))) inline __attribute__((used)) void
tenon_emulated_shared(char** begin, char** end) {
  *begin = __start_tenon_shared;
  *end = __stop_tenon_shared;
}

#define threadIdx (tenon_emulated->thread)
#define blockIdx (tenon_emulated->block)
#define blockDim (tenon_emulated->block_size)
#define gridDim (tenon_emulated->grid_size)
#define warpSize 32

// ---- synchronisation

#define __syncthreads() tenon_emulated->barrier((void*)(unsigned long)__LINE__)
// Returns the lane of the current thread in its warp.
static inline int tenon_lane() {
  const TenonEmulatedThread& at = *tenon_emulated;
  return (int)((at.thread.x + at.block_size.x * (at.thread.y + at.block_size.y * at.thread.z)) %
               32);
}
static inline void __syncwarp(unsigned mask = ~0u) { tenon_emulated->exchange(mask, 0); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() {}

// Returns the value of another lane; the own value if there is no lane with this number.
template <class T>
static inline T tenon_from_lane(unsigned mask, T value, int lane) {
  unsigned long long word = 0;
  __builtin_memcpy(&word, &value, sizeof value);
  const unsigned long long* words = tenon_emulated->exchange(mask, word);
  if (lane < 0 || lane > 31) lane = tenon_lane();
  T result;
  __builtin_memcpy(&result, &words[lane], sizeof result);
  return result;
}
template <class T>
static inline T __shfl_sync(unsigned mask, T value, int lane) {
  return tenon_from_lane(mask, value, lane & 31);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned by) {
  return tenon_from_lane(mask, value, tenon_lane() + (int)by);
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned by) {
  return tenon_from_lane(mask, value, tenon_lane() - (int)by);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int bits) {
  return tenon_from_lane(mask, value, tenon_lane() ^ bits);
}
static inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const unsigned long long* words = tenon_emulated->exchange(mask, predicate != 0 ? 1 : 0);
  unsigned bits = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) != 0 && words[lane] != 0) bits |= 1u << lane;
  }
  return bits;
}
static inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
static inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) == mask;
}

// ---- atomics; other blocks may run on other threads of the host

template <class T>
static inline T atomicCAS(T* at, T expected, T value) {
  __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
template <class T>
static inline T atomicAdd(T* at, T value) {
  return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}
template <class T>
static inline T atomicExch(T* at, T value) {
  return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
}
template <class T>
static inline T atomicMax(T* at, T value) {
  T old = *at;
  while (old < value &&
         !__atomic_compare_exchange_n(at, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

// ---- numbers

static inline unsigned __float_as_uint(float x) {
  unsigned bits;
  __builtin_memcpy(&bits, &x, 4);
  return bits;
}
static inline float __uint_as_float(unsigned bits) {
  float x;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}
static inline long long __double_as_longlong(double x) {
  long long bits;
  __builtin_memcpy(&bits, &x, 8);
  return bits;
}
static inline double __longlong_as_double(long long bits) {
  double x;
  __builtin_memcpy(&x, &bits, 8);
  return x;
}
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}

static inline double fabs(double x) { return __builtin_fabs(x); }
static inline float fabs(float x) { return __builtin_fabsf(x); }
#define TENON_UNARY(name)                                                 \
  static inline float name##f(float x) { return __builtin_##name##f(x); } \
  static inline double name(double x) { return __builtin_##name(x); }
TENON_UNARY(sqrt)
TENON_UNARY(floor)
TENON_UNARY(ceil)
TENON_UNARY(rint)
TENON_UNARY(trunc)
#undef TENON_UNARY
static inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline double fmod(double x, double y) { return __builtin_fmod(x, y); }
static inline float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
static inline double copysign(double x, double y) { return __builtin_copysign(x, y); }
template <class T>
static inline bool isnan(T x) {
  return x != x;
}
static inline bool isinf(float x) { return __builtin_isinf(x); }
static inline bool isinf(double x) { return __builtin_isinf(x); }
template <class T>
static inline T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
static inline T max(T a, T b) {
  return a < b ? b : a;
}
