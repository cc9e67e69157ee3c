// Stable merge sort of lines. The sort moves the indices of elements, not the elements. Each pass
// merges pairs of runs of `width` elements. The new position of an element is its rank in its own
// run plus the number of elements of the other run that precede it.

struct Line {
  View x;
  i64 axis, n_lines;
  i64 line_sizes[16];  // The sizes of x, with 1 along the axis.
};

// Whether `a` sorts before `b`. NaN sorts last in ascending and in descending order. False for
// equal elements.
DEVICE bool precedes(T a, T b, bool is_descending) {
  const auto x = widen(a), y = widen(b);
  if (y != y) return x == x;
  return is_descending ? y < x : x < y;
}

struct Merge {
  Line line;
  i64 length, width;     // Number of elements of a line that are sorted, and length of the runs.
  i64 is_descending, by_index;
  u32 *from, *to;        // `from` is NULL for the identity permutation.
};
DEVICE bool comes_before(const Merge& p, const T* x, u32 a, u32 b) {
  if (p.by_index != 0) return a < b;
  const i64 stride = p.line.x.strides[p.line.axis];
  return precedes(x[a * stride], x[b * stride], p.is_descending != 0);
}
KERNEL merge(PARAMETERS(Merge) p) {
  const i64 n = p.line.x.sizes[p.line.axis];
  FOR_EACH(i, p.line.n_lines * p.length) {
    const i64 line = i / p.length, at = i - line * p.length;
    const T* x = data<const T>(p.line.x) +
                 offset_of(line, (int)p.line.x.rank, p.line.line_sizes, p.line.x.strides);
    const u32* from = p.from != nullptr ? p.from + line * n : nullptr;
    const i64 pair = at / (2 * p.width) * (2 * p.width), half = min(pair + p.width, p.length);
    const bool is_left = at < half;
    const u32 own = from != nullptr ? from[at] : (u32)at;
    i64 low = is_left ? half : pair, high = is_left ? min(half + p.width, p.length) : half;
    const i64 first = low;
#pragma unroll 1
    while (low < high) {
      const i64 middle = (low + high) / 2;
      const u32 other = from != nullptr ? from[middle] : (u32)middle;
      // Equal elements of the left run precede those of the right run.
      const bool is_before =
          is_left ? comes_before(p, x, other, own) : !comes_before(p, x, own, other);
      if (is_before) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const i64 own_rank = at - (is_left ? pair : half);
    p.to[line * n + pair + own_rank + (low - first)] = own;
  }
}

struct Place {
  Line line;
  i64 kept;  // Number of elements of a line that are output.
  u32* order;
  char *values, *indices;  // NULL: not an output.
  i64 strides[16];
};
KERNEL place(PARAMETERS(Place) p) {
  const i64 n = p.line.x.sizes[p.line.axis];
  FOR_EACH(i, p.line.n_lines * p.kept) {
    const i64 line = i / p.kept, at = i - line * p.kept;
    const i64 to = offset_of(line, (int)p.line.x.rank, p.line.line_sizes, p.strides) +
                   at * p.strides[p.line.axis];
    const i64 index = p.order != nullptr ? (i64)p.order[line * n + at] : at;
    if (p.values != nullptr) {
      ((T*)p.values)[to] =
          data<const T>(p.line.x)[offset_of(line, (int)p.line.x.rank, p.line.line_sizes,
                                            p.line.x.strides) +
                                  index * p.line.x.strides[p.line.axis]];
    }
    if (p.indices != nullptr) ((i64*)p.indices)[to] = index;
  }
}

// Parameters of searchsorted. The result is the number of elements that precede the value plus,
// with side `right`, the number of elements equal to the value.
struct SearchSorted {
  View sequence, x;
  i64 n, is_right;
  char* y;
};
KERNEL searchsorted(PARAMETERS(SearchSorted) p) {
  FOR_EACH(i, p.n) {
    const T value = data<const T>(p.x)[offset_of(p.x, i)];
    i64 low = 0, high = p.sequence.sizes[0];
#pragma unroll 1
    while (low < high) {
      const i64 middle = (low + high) / 2;
      const T element = data<const T>(p.sequence)[middle * p.sequence.strides[0]];
      const bool is_before =
          p.is_right != 0 ? !precedes(value, element, false) : precedes(element, value, false);
      if (is_before) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    ((i64*)p.y)[i] = low;
  }
}
