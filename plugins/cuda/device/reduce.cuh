// Reductions. The order of operations depends only on the number of elements. One thread reduces a
// short row, from the first element to the last. A block reduces a longer row in chunks of kChunk
// elements: thread t takes elements t, t + kBlock, ... of a chunk, and the partial results of the
// threads are joined as a tree. The results of the chunks are then reduced in the same way: thread
// c % kBlock takes chunk c.

constexpr int kBlock = 256, kWarp = 32, kWarps = kBlock / kWarp;
constexpr i64 kChunk = 32 * kBlock;

// Sums and products of integers are computed in 64 bits and wrap at the end, which equals wrapping
// at every step.
template <class C, int size, bool is_signed>
struct AccumulatorOf {
  typedef C type;
};
template <class C>
struct AccumulatorOf<C, 1, true> {
  typedef i32 type;
};
template <class C>
struct AccumulatorOf<C, 2, true> {
  typedef i32 type;
};
template <class C>
struct AccumulatorOf<C, 1, false> {
  typedef u32 type;
};
template <class C>
struct AccumulatorOf<C, 2, false> {
  typedef u32 type;
};
template <class T>
using Accumulator =
    typename AccumulatorOf<Compute<T>, sizeof(Compute<T>), Traits<T>::is_signed>::type;

template <class T>
DEVICE Accumulator<T> lowest() {
  if constexpr (Traits<T>::is_float) {
    return (Accumulator<T>)-double_of(0x7ff0000000000000ull);
  } else if constexpr (Traits<T>::is_signed) {
    return (Accumulator<T>)(T)((u64)1 << (8 * sizeof(T) - 1));
  } else {
    return 0;
  }
}
template <class T>
DEVICE Accumulator<T> greatest() {
  if constexpr (Traits<T>::is_float) {
    return (Accumulator<T>)double_of(0x7ff0000000000000ull);
  } else if constexpr (Traits<T>::is_signed) {
    return (Accumulator<T>)(T)(((u64)1 << (8 * sizeof(T) - 1)) - 1);
  } else {
    return (Accumulator<T>)(T)~(u64)0;
  }
}

// A reduction defines identity(), of(), which converts an element to a partial result, and join(a,
// b), where partial result `b` consists of later elements than `a`.
template <class T>
struct Reduce_sum {
  typedef Accumulator<T> Partial;
  static __device__ __forceinline__ Partial identity() { return 0; }
  static __device__ __forceinline__ Partial of(T x, i64) { return (Partial)widen(x); }
  static __device__ __forceinline__ Partial join(Partial a, Partial b) { return add(a, b); }
  static __device__ __forceinline__ T result(Partial x) { return narrow<T>(x); }

  template <class A>
  static __device__ __forceinline__ A add(A a, A b) {
    if constexpr (Traits<A>::is_float) {
      return a + b;
    } else {
      return (A)(as_u64(a) + as_u64(b));
    }
  }
};
template <class T>
struct Reduce_prod : Reduce_sum<T> {
  typedef Accumulator<T> Partial;
  static __device__ __forceinline__ Partial identity() { return 1; }
  static __device__ __forceinline__ Partial join(Partial a, Partial b) {
    if constexpr (Traits<T>::is_float) {
      return a * b;
    } else {
      return (Partial)(as_u64(a) * as_u64(b));
    }
  }
};
template <class T>
struct Reduce_max : Reduce_sum<T> {
  typedef Accumulator<T> Partial;
  static __device__ __forceinline__ Partial identity() { return lowest<T>(); }
  static __device__ __forceinline__ Partial join(Partial a, Partial b) {
    return a != a || b < a ? a : b;
  }
};
template <class T>
struct Reduce_min : Reduce_sum<T> {
  typedef Accumulator<T> Partial;
  static __device__ __forceinline__ Partial identity() { return greatest<T>(); }
  static __device__ __forceinline__ Partial join(Partial a, Partial b) {
    return a != a || a < b ? a : b;
  }
};

// argmax and argmin: selects the first of equal elements, and the first NaN if there is one.
template <class A>
struct Found {
  A value;
  i64 index;
};
template <class T, bool is_max>
struct Search {
  typedef Found<Accumulator<T>> Partial;
  static __device__ __forceinline__ Partial identity() {
    return {is_max ? lowest<T>() : greatest<T>(), (i64)0x7fffffffffffffffll};
  }
  static __device__ __forceinline__ Partial of(T x, i64 index) {
    return {(Accumulator<T>)widen(x), index};
  }
  static __device__ __forceinline__ Partial join(Partial a, Partial b) {
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    const bool beats = (is_max ? a.value < b.value : b.value < a.value) || (b_nan && !a_nan);
    const bool is_equal = a.value == b.value || (a_nan && b_nan);
    return beats || (is_equal && b.index < a.index) ? b : a;
  }
  static __device__ __forceinline__ i64 result(Partial x) { return x.index; }
};
template <class T>
struct Reduce_argmax : Search<T, true> {};
template <class T>
struct Reduce_argmin : Search<T, false> {};

template <class A>
DEVICE A from_lane_below(A x, int by) {
  return __shfl_down_sync(0xffffffffu, x, by);
}
template <class A>
DEVICE Found<A> from_lane_below(Found<A> x, int by) {
  return {__shfl_down_sync(0xffffffffu, x.value, by), __shfl_down_sync(0xffffffffu, x.index, by)};
}

// Joins the partial results of all threads of a block, and returns the result to each of them.
// `shared` has kWarps elements.
template <class Reduce>
DEVICE typename Reduce::Partial join_block(typename Reduce::Partial own,
                                           typename Reduce::Partial* shared) {
  for (int by = kWarp / 2; by > 0; by /= 2) own = Reduce::join(own, from_lane_below(own, by));
  if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = own;
  __syncthreads();
  typename Reduce::Partial whole = shared[0];
  for (int warp = 1; warp < kWarps; ++warp) whole = Reduce::join(whole, shared[warp]);
  __syncthreads();
  return whole;
}
