// Scatters into a copy of x. One thread applies all updates of an element, in order, so that the
// result does not depend on the scheduling of threads. An update with an index out of range is
// dropped and reported. Sums of half types, and sums of more than kChain updates, use a struct
// Chain in the workspace for each element of y.

struct Site {
  ErrorRecord* record;
  i64 number;
};
DEVICE i64 checked(const Site& site, i64 index, i64 bound) {
  const i64 found = wrap(index, bound);
  if (found < 0) report_value_error(site.record, site.number, index, bound);
  return found;
}

#if REDUCTION == 0
#define MEET(old, update) (update)
#elif REDUCTION == 1
#define MEET(old, update) op_add(old, update)
#elif REDUCTION == 2
#define MEET(old, update) op_mul(old, update)
#elif REDUCTION == 3
#define MEET(old, update) op_minimum(old, update)
#else
#define MEET(old, update) op_maximum(old, update)
#endif

#if REDUCTION == 1
// Accumulates the sum of an element and its updates. A new run begins after kChain updates.
constexpr u32 kChain = 4096;
struct Chain {
  Accumulator<T> total, run;
  u32 n, has_total;  // Number of updates in the run; whether there were earlier runs.

  __device__ __forceinline__ void begin(T x) {
    total = 0;
    run = (Accumulator<T>)widen(x);
    n = has_total = 0;
  }
  __device__ __forceinline__ void add(T x) {
    const Accumulator<T> update = (Accumulator<T>)widen(x);
    if (n < kChain) {
      run = Reduce_sum<T>::join(run, update);
      ++n;
      return;
    }
    total = has_total != 0 ? Reduce_sum<T>::join(total, run) : run;
    run = update;
    n = has_total = 1;
  }
  __device__ __forceinline__ T sum() const {
    return narrow<T>(has_total != 0 ? Reduce_sum<T>::join(total, run) : run);
  }
};
DEVICE void meet(Chain& chain, T update) { chain.add(update); }
#endif
DEVICE void meet(T& y, T update) { y = MEET(y, update); }

struct CopyFirst {
  View x;
  i64 n;
  char* y;
};
KERNEL copy_first(PARAMETERS(CopyFirst) p) {
  FOR_EACH(i, p.n)((T*)p.y)[i] = data<const T>(p.x)[offset_of(p.x, i)];
}
#if REDUCTION == 1
KERNEL begin_chains(PARAMETERS(CopyFirst) p) {
  FOR_EACH(i, p.n)((Chain*)p.y)[i].begin(data<const T>(p.x)[offset_of(p.x, i)]);
}
struct EndChains {
  i64 n;
  char *chains, *y;
};
KERNEL end_chains(PARAMETERS(EndChains) p) {
  FOR_EACH(i, p.n)((T*)p.y)[i] = ((const Chain*)p.chains)[i].sum();
}
#endif

// A thread processes a line of the indices along the axis.
struct ScatterElements {
  View indices, updates, y;
  i64 axis, n_lines;
  i64 line_sizes[16];  // The sizes of the indices, with 1 along the axis.
};
struct ScatterElementsAt {
  ScatterElements s;
  Site site;
};
// Entry is the type to which updates are added: T, or Chain if sums use chains.
template <class Entry>
DEVICE void scatter_lines(const ScatterElementsAt& at) {
  const ScatterElements& p = at.s;
  const int axis = (int)p.axis, rank = (int)p.indices.rank;
  FOR_EACH(line, p.n_lines) {
    const i64 index = offset_of(line, rank, p.line_sizes, p.indices.strides);
    const i64 update = offset_of(line, rank, p.line_sizes, p.updates.strides);
    Entry* y = data<Entry>(p.y) + offset_of(line, rank, p.line_sizes, p.y.strides);
#pragma unroll 1
    for (i64 j = 0; j < p.indices.sizes[axis]; ++j) {
      const i64 given = (i64)data<const Index>(p.indices)[index + j * p.indices.strides[axis]];
      const i64 found = checked(at.site, given, p.y.sizes[axis]);
      if (found < 0) continue;
      meet(y[found * p.y.strides[axis]],
           data<const T>(p.updates)[update + j * p.updates.strides[axis]]);
    }
  }
}
KERNEL scatter_elements(PARAMETERS(ScatterElementsAt) p) { scatter_lines<T>(p); }
#if REDUCTION == 1
KERNEL scatter_elements_in_chains(PARAMETERS(ScatterElementsAt) p) { scatter_lines<Chain>(p); }
#endif

// A tuple of indices selects a slice of y. A thread processes one element of the slice, for all
// tuples.
struct ScatterNd {
  View indices, updates, y;
  i64 tuple_size, n_tuples, n_inner;
  Site site;
};
template <class Entry>
DEVICE void scatter_tuples(const ScatterNd& p) {
  const int rank = (int)p.indices.rank - 1, whole = (int)p.tuple_size;
  FOR_EACH(inner, p.n_inner) {
    const int n_whole = (int)p.y.rank - whole;
    const i64 in_update = offset_of(inner, n_whole, p.y.sizes + whole, p.updates.strides + rank);
    Entry* y = data<Entry>(p.y) + offset_of(inner, n_whole, p.y.sizes + whole, p.y.strides + whole);
#pragma unroll 1
    for (i64 tuple = 0; tuple < p.n_tuples; ++tuple) {
      const i64 at = offset_of(tuple, rank, p.indices.sizes, p.indices.strides);
      i64 offset = 0;
      bool is_inside = true;
      for (int j = 0; j < whole && is_inside; ++j) {
        const i64 index = (i64)data<const Index>(p.indices)[at + j * p.indices.strides[rank]];
        const i64 found = checked(p.site, index, p.y.sizes[j]);
        is_inside = found >= 0;
        offset += found * p.y.strides[j];
      }
      if (!is_inside) continue;
      const i64 update = offset_of(tuple, rank, p.indices.sizes, p.updates.strides) + in_update;
      meet(y[offset], data<const T>(p.updates)[update]);
    }
  }
}
KERNEL scatter_nd(PARAMETERS(ScatterNd) p) { scatter_tuples<T>(p); }
#if REDUCTION == 1
KERNEL scatter_nd_in_chains(PARAMETERS(ScatterNd) p) { scatter_tuples<Chain>(p); }
#endif
