// Scatters into a copy of x. Updates that meet at one element are taken in their order by one
// thread, so that the result does not depend on how threads run. An index outside its axis scatters
// nothing and is reported.

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

struct CopyFirst {
  View x;
  i64 n;
  char* y;
};
KERNEL copy_first(PARAMETERS(CopyFirst) p) {
  FOR_EACH(i, p.n) ((T*)p.y)[i] = data<const T>(p.x)[offset_of(p.x, i)];
}

// A thread has a line of the indices along the axis.
struct ScatterElements {
  View indices, updates, y;
  i64 axis, n_lines;
  i64 line_sizes[16];  // Those of the indices, with 1 along the axis.
};
struct ScatterElementsAt {
  ScatterElements s;
  Site site;
};
KERNEL scatter_elements(PARAMETERS(ScatterElementsAt) at) {
  const ScatterElements& p = at.s;
  const int axis = (int)p.axis, rank = (int)p.indices.rank;
  FOR_EACH(line, p.n_lines) {
    const i64 index = offset_of(line, rank, p.line_sizes, p.indices.strides);
    const i64 update = offset_of(line, rank, p.line_sizes, p.updates.strides);
    T* y = data<T>(p.y) + offset_of(line, rank, p.line_sizes, p.y.strides);
#pragma unroll 1
    for (i64 j = 0; j < p.indices.sizes[axis]; ++j) {
      const i64 given = (i64)data<const Index>(p.indices)[index + j * p.indices.strides[axis]];
      const i64 found = checked(at.site, given, p.y.sizes[axis]);
      if (found < 0) continue;
      T& to = y[found * p.y.strides[axis]];
      to = MEET(to, data<const T>(p.updates)[update + j * p.updates.strides[axis]]);
    }
  }
}

// A thread has an element of the axes that are taken whole, for all tuples of indices.
struct ScatterNd {
  View indices, updates, y;
  i64 tuple_size, n_tuples, n_inner;
  Site site;
};
KERNEL scatter_nd(PARAMETERS(ScatterNd) p) {
  const int rank = (int)p.indices.rank - 1, whole = (int)p.tuple_size;
  FOR_EACH(inner, p.n_inner) {
    const int n_whole = (int)p.y.rank - whole;
    const i64 in_update =
        offset_of(inner, n_whole, p.y.sizes + whole, p.updates.strides + rank);
    T* y = data<T>(p.y) + offset_of(inner, n_whole, p.y.sizes + whole, p.y.strides + whole);
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
      y[offset] = MEET(y[offset], data<const T>(p.updates)[update]);
    }
  }
}
