// gather, gather_elements and gather_nd. For an index out of range, the result is zero and the
// index is reported.

struct Site {
  ErrorRecord* record;
  i64 number;
};
DEVICE i64 checked(const Site& site, i64 index, i64 bound) {
  const i64 found = wrap(index, bound);
  if (found < 0) report_value_error(site.record, site.number, index, bound);
  return found;
}

struct Gather {
  View x, indices;
  i64 n, axis, n_picks, n_inner;
  char* y;
  Site site;
};
KERNEL gather(PARAMETERS(Gather) p) {
  const int axis = (int)p.axis, after = axis + 1;
  FOR_EACH(i, p.n) {
    const i64 line = i / p.n_inner, outer = line / p.n_picks;
    const i64 pick = offset_of(p.indices, line - outer * p.n_picks);
    const i64 at = checked(p.site, (i64)data<const Index>(p.indices)[pick], p.x.sizes[axis]);
    T value = T();
    if (at >= 0) {
      const i64 inner = i - line * p.n_inner;
      value = data<const T>(
          p.x)[offset_of(outer, axis, p.x.sizes, p.x.strides) + at * p.x.strides[axis] +
               offset_of(inner, (int)p.x.rank - after, p.x.sizes + after, p.x.strides + after)];
    }
    ((T*)p.y)[i] = value;
  }
}

struct GatherElements {
  View x, indices;
  i64 n, axis;
  i64 others[16];  // The strides of x, with 0 along `axis`.
  char* y;
  Site site;
};
KERNEL gather_elements(PARAMETERS(GatherElements) p) {
  FOR_EACH(i, p.n) {
    const i64 at = checked(p.site, (i64)data<const Index>(p.indices)[offset_of(p.indices, i)],
                           p.x.sizes[p.axis]);
    const i64 from = offset_of(i, (int)p.indices.rank, p.indices.sizes, p.others);
    ((T*)p.y)[i] = at < 0 ? T() : data<const T>(p.x)[from + at * p.x.strides[p.axis]];
  }
}

struct GatherNd {
  View x, indices;
  i64 n, batch, tuple_size, n_inner;
  i64 in_batch[16];  // The strides of x along the batch axes, by axis of `indices`.
  char* y;
  Site site;
};
KERNEL gather_nd(PARAMETERS(GatherNd) p) {
  const int rank = (int)p.indices.rank - 1, whole = (int)(p.batch + p.tuple_size);
  FOR_EACH(i, p.n) {
    const i64 tuple = i / p.n_inner;
    const i64 at = offset_of(tuple, rank, p.indices.sizes, p.indices.strides);
    i64 from = offset_of(tuple, rank, p.indices.sizes, p.in_batch);
    bool is_inside = true;
#pragma unroll 1
    for (int j = 0; j < p.tuple_size && is_inside; ++j) {
      const i64 index = (i64)data<const Index>(p.indices)[at + j * p.indices.strides[rank]];
      const i64 found = checked(p.site, index, p.x.sizes[p.batch + j]);
      is_inside = found >= 0;
      from += found * p.x.strides[p.batch + j];
    }
    const i64 inner = offset_of(i - tuple * p.n_inner, (int)p.x.rank - whole, p.x.sizes + whole,
                                p.x.strides + whole);
    ((T*)p.y)[i] = is_inside ? data<const T>(p.x)[from + inner] : T();
  }
}
