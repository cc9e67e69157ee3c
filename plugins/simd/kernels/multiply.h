// The matrix product that matmul, convolutions and recurrent cells share.
//
// A block of kBlockK terms a[i, k] b[k, j] is summed from 0 in ascending order of k, each by one
// fused multiply-add where the processor has it. The sums of up to kLongestChain terms are added to
// c[i, j] block by block; longer sums are added as a tree (pairwise.h). This order does not depend
// on packing, threads or vector widths, so every layout of the operands gives the same bits.
//
// The product is built around the register tile of vectors/multiply.cc. `b` is packed in blocks of
// kBlockK rows, which stay in the L2 cache. A block consists of panels that are as wide as the
// tile. `a` is packed into panels that are as high as the tile.

#pragma once

#include <new>

#include "plugins/simd/kernels.h"
#include "plugins/simd/kernels/pairwise.h"

namespace tenon_simd {

// Arguments of a tile function. It computes `m` x `n` elements of `c`, at most a whole tile, from
// `k` columns of a panel of `a` and `k` rows of a panel of `b`.
template <class T>
struct TileArgs {
  int64_t k;
  const T* a;
  int64_t a_row, a_k;  // Strides between rows and between columns of a's panel.
  const T* b;
  int64_t b_k;               // Stride between rows of b's panel, whose rows are contiguous.
  const int64_t* b_offsets;  // Only for `gathered`, instead of b_k: the offset of each row of b.
  int64_t b_pair, c_pair;    // Only for `paired`: the distance between a row's two vectors.
  T* c;
  int64_t c_row;
  int64_t m, n;
  bool add;  // Adds to c instead of overwriting it.
};

// A run of `n` consecutive elements of a row of patches. `from`: offset in the planes for the first
// tap. `to`: column in the panel.
struct PatchRun {
  int64_t from, to, n;
};

template <class T>
struct MultiplyTiles {
  int64_t rows, columns;                      // Numbers of rows and columns of a tile.
  void (*packed)(const TileArgs<T>& args);    // Packed a: a_row is 1, a_k is `rows`.
  void (*direct)(const TileArgs<T>& args);    // Any strides of a; m must be a whole panel.
  void (*gathered)(const TileArgs<T>& args);  // Like `packed`, but the rows of b are at b_offsets.
  // Like `gathered`, for rows that consist of two separate vectors of n elements. n is at most half
  // of `columns`.
  void (*paired)(const TileArgs<T>& args);
  // One row with any n. Does not read past the end of b's rows.
  void (*row)(const TileArgs<T>& args);
  // One row with any n, from a `b` whose columns are contiguous: b_k is the stride between them.
  void (*transposed_row)(const TileArgs<T>& args);
  // to[j * to_row + i] = from[i * from_row + j] for i in [0, rows), j in [0, columns).
  void (*transpose)(const T* from, int64_t from_row, T* to, int64_t to_row, int64_t rows,
                    int64_t columns);
  // to[i * to_row + j] = from[i * from_row + j] for i in [0, rows), j in [0, n).
  void (*copy_rows)(const T* from, int64_t from_row, T* to, int64_t to_row, int64_t rows,
                    int64_t n);

  // Copies rows of patches to a panel: row k consists of all runs, moved by offsets[k]. Reads and
  // writes whole vectors, which may extend up to one tile past the end of `from` and of a row of
  // `to`. Rows are written in order.
  void (*copy_patches)(const T* from, const int64_t* offsets, int64_t k, const PatchRun* runs,
                       int64_t n_runs, T* to, int64_t to_row);

  // Returns the height of panels for a matrix of `m` rows. With a small remainder, most of the last
  // tile would be idle. Panels of eight rows are as fast as panels of twelve rows if they leave no
  // remainder. Four rows need not be packed if they are a whole panel.
  int64_t panel_rows(int64_t m) const {
    if (rows == 5 && m == 4) return 4;
    return rows == 12 && m % 8 == 0 && m % 12 != 0 && m % 12 <= 4 ? 8 : rows;
  }
};

template <class T>
const MultiplyTiles<T>& multiply_tiles();
template <>
const MultiplyTiles<float>& multiply_tiles<float>();
template <>
const MultiplyTiles<double>& multiply_tiles<double>();

// Returns scratch memory of the calling thread, which later calls with the same `slot` reuse. A
// slot must have only one user at a time.
std::byte* thread_scratch(int slot, size_t size);

// Returns thread_scratch() for `n` elements of type T.
template <class T>
T* scratch_of(int slot, int64_t n) {
  return reinterpret_cast<T*>(thread_scratch(slot, static_cast<size_t>(n) * sizeof(T)));
}
enum ScratchSlot {
  kScratchA,
  kScratchB,
  kScratchC,
  kScratchConv,
  kScratchFilter,
  kScratchImage,
  kScratchSlots
};

// A matrix in memory.
template <class T>
struct Matrix {
  const T* data;
  int64_t row, column;  // Strides between rows and between columns, in elements.

  // Packs rows [k0, k1) of columns [n0, n1) into panels of `width` columns. The last panel is
  // padded with zeros.
  void pack(const MultiplyTiles<T>& tiles, int64_t k0, int64_t k1, int64_t n0, int64_t n1,
            T* to) const {
    const int64_t width = tiles.columns;
    for (int64_t n = n0; n < n1; n += width, to += width * (k1 - k0)) {
      const int64_t used = std::min(width, n1 - n);
      const T* from = data + k0 * row + n * column;
      if (used < width) std::fill_n(to, width * (k1 - k0), T{0});
      if (row == 1 && column != 1) {
        tiles.transpose(from, column, to, width, used, k1 - k0);
        continue;
      }
      if (column == 1) {
        tiles.copy_rows(from, row, to, width, k1 - k0, used);
        continue;
      }
      for (int64_t k = 0; k < k1 - k0; ++k) {
        for (int64_t j = 0; j < used; ++j) to[k * width + j] = from[k * row + j * column];
      }
    }
  }
  // Whether tiles can read the matrix in place, that is, its rows are contiguous.
  bool is_readable_in_place() const { return column == 1; }
  bool has_contiguous_columns() const { return row == 1; }
  // Returns the address of element (k, n). Requires that the rows are contiguous.
  const T* at(int64_t k, int64_t n) const { return data + k * row + n; }
  int64_t row_stride() const { return row; }
};

// The left matrix of a product, packed into panels of `panel` rows in blocks of kBlockK columns, as
// pack_filter() packs it. Without `data`, it is not packed.
template <class T>
struct PackedRows {
  const T* data = nullptr;
  int64_t panel = 0, padded_rows = 0;
};

// The right matrix of a product, packed into panels of the width of a tile, in blocks of kBlockK
// rows. Without `data`, it is not packed.
template <class T>
struct PackedColumns {
  const T* data = nullptr;
  int64_t padded_columns = 0;
};

// The operands of a product that are packed already.
template <class T>
struct PackedPair {
  PackedRows<T> a;
  PackedColumns<T> b;
};

constexpr int64_t kBlockK = 256;
constexpr int64_t kBlockM = 120;  // A multiple of every tile's height.
constexpr int64_t kBlockN = 512;
template <class T>
constexpr int64_t kNearRow = 4096 / sizeof(T);

// Adds terms [k0, k1) to columns [n0, n1) of one row. The rows or the columns of `b` are
// contiguous. Nothing is packed, because no element of `b` is used twice.
template <class T>
void multiply_row(int64_t n0, int64_t n1, int64_t k0, int64_t k1, const T* a, int64_t a_k,
                  const Matrix<T>& b, T* c, bool add) {
  const MultiplyTiles<T>& tiles = multiply_tiles<T>();
  const bool has_rows = b.is_readable_in_place();
  for (int64_t kb = k0; kb < k1; kb += kBlockK) {
    const TileArgs<T> args{.k = std::min(kBlockK, k1 - kb),
                           .a = a + kb * a_k,
                           .a_k = a_k,
                           .b = b.data + kb * b.row + n0 * b.column,
                           .b_k = has_rows ? b.row : b.column,
                           .c = c + n0,
                           .m = 1,
                           .n = n1 - n0,
                           .add = add || kb > k0};
    has_rows ? tiles.row(args) : tiles.transposed_row(args);
  }
}

// Adds terms [k0, k1), at most kLongestChain, to rows [m0, m1) and columns [n0, n1) of c. If `a` or
// `b` is packed already, m0 or n0 is the start of a panel.
template <class T>
void multiply_chain(int64_t m0, int64_t m1, int64_t n0, int64_t n1, int64_t k0, int64_t k1,
                    const Matrix<T>& a, const Matrix<T>& b, const PackedPair<T>& ready, T* c,
                    int64_t c_row, bool add) {
  if (m1 - m0 == 1 && (b.is_readable_in_place() || b.has_contiguous_columns())) {
    return multiply_row(n0, n1, k0, k1, a.data + m0 * a.row, a.column, b, c + m0 * c_row, add);
  }
  const MultiplyTiles<T>& tiles = multiply_tiles<T>();
  const bool is_a_ready = ready.a.data != nullptr;
  const int64_t mr = is_a_ready ? ready.a.panel : tiles.panel_rows(m1 - m0), nr = tiles.columns;
  // Packing pays off if packed elements are used often enough.
  const bool packs_a = n1 - n0 > 4 * nr;
  const bool is_b_ready = ready.b.data != nullptr;
  // If rows are at most a page apart, the caches and the prefetcher work well without packing, too.
  const int64_t unpacked_rows = b.row_stride() <= kNearRow<T> ? 24 * mr : 4 * mr;
  const bool packs_b = !b.is_readable_in_place() || m1 - m0 > unpacked_rows;
  T* const packed_a = scratch_of<T>(kScratchA, kBlockM * std::min(k1 - k0, kBlockK));
  const int64_t block_n = std::min(kBlockN, (n1 - n0 + nr - 1) / nr * nr);
  T* const packed_b = scratch_of<T>(kScratchB, block_n * std::min(k1 - k0, kBlockK));

  for (int64_t nb = n0; nb < n1; nb += kBlockN) {
    const int64_t ne = std::min(nb + kBlockN, n1);
    for (int64_t kb = k0; kb < k1; kb += kBlockK) {
      const int64_t ke = std::min(kb + kBlockK, k1);
      const int64_t kn = ke - kb;
      // Tiles read whole panels, so an incomplete panel is always packed.
      const int64_t ready_end = packs_b ? nb : nb + (ne - nb) / nr * nr;
      if (!is_b_ready && ready_end < ne) {
        b.pack(tiles, kb, ke, ready_end, ne, packed_b + (ready_end - nb) * kn);
      }
      for (int64_t mb = m0; mb < m1; mb += kBlockM) {
        const int64_t me = std::min(mb + kBlockM, m1);
        const int64_t direct_end = packs_a ? mb : mb + (me - mb) / mr * mr;
        for (int64_t m = direct_end; !is_a_ready && m < me; m += mr) {
          T* to = packed_a + (m - mb) * kn;
          const T* from = a.data + m * a.row + kb * a.column;
          const int64_t used = std::min(mr, me - m);
          if (used < mr) std::fill_n(to, mr * kn, T{0});
          if (a.column == 1) {
            tiles.transpose(from, a.row, to, mr, used, kn);
          } else if (a.row == 1) {
            tiles.copy_rows(from, a.column, to, mr, kn, used);
          } else {
            for (int64_t j = 0; j < kn; ++j) {
              for (int64_t i = 0; i < used; ++i) to[j * mr + i] = from[i * a.row + j * a.column];
            }
          }
        }
        for (int64_t n = nb; n < ne; n += nr) {
          TileArgs<T> args{
              .k = kn, .c_row = c_row, .n = std::min(nr, ne - n), .add = add || kb > k0};
          if (is_b_ready) {
            args.b = ready.b.data + kb * ready.b.padded_columns + n * kn;
            args.b_k = nr;
          } else if (n < ready_end) {
            args.b = b.at(kb, n);
            args.b_k = b.row_stride();
          } else {
            args.b = packed_b + (n - nb) * kn;
            args.b_k = nr;
          }
          for (int64_t m = mb; m < me; m += mr) {
            args.c = c + m * c_row + n;
            args.m = std::min(mr, me - m);
            if (is_a_ready) {
              args.a = ready.a.data + kb * ready.a.padded_rows + m * kn;
              args.a_row = 1;
              args.a_k = mr;
              tiles.packed(args);
            } else if (m < direct_end) {
              args.a = a.data + m * a.row + kb * a.column;
              args.a_row = a.row;
              args.a_k = a.column;
              tiles.direct(args);
            } else {
              args.a = packed_a + (m - mb) * kn;
              args.a_row = 1;
              args.a_k = mr;
              tiles.packed(args);
            }
          }
        }
      }
    }
  }
}

// Computes rows [m0, m1) and columns [n0, n1) of c, with all k terms of each element.
template <class T>
void multiply_part(int64_t m0, int64_t m1, int64_t n0, int64_t n1, int64_t k, const Matrix<T>& a,
                   const Matrix<T>& b, T* c, int64_t c_row, bool add,
                   const PackedPair<T>& ready = {}) {
  if (k <= kLongestChain) {
    return multiply_chain(m0, m1, n0, n1, int64_t{0}, k, a, b, ready, c, c_row, add);
  }
  // Maximum size of the blocks of c that are computed at once. At each level, the tree of partial
  // sums takes the memory of one block.
  constexpr int64_t kRows = 4 * kBlockM, kColumns = kBlockN;
  const int64_t chains = (k + kLongestChain - 1) / kLongestChain;
  std::vector<T> sums(static_cast<size_t>(std::min(kRows, m1 - m0) * std::min(kColumns, n1 - n0)));
  for (int64_t n = n0; n < n1; n += kColumns) {
    const int64_t width = std::min(kColumns, n1 - n);
    for (int64_t m = m0; m < m1; m += kRows) {
      const int64_t height = std::min(kRows, m1 - m);
      const auto chain = [&](int64_t i, T* to) {
        const int64_t begin = i * kLongestChain, end = std::min(begin + kLongestChain, k);
        multiply_chain(m, m + height, n, n + width, begin, end, a, b, ready, to - m * width - n,
                       width, false);
      };
      sum_parts(int64_t{0}, chains, height * width, sums.data(), chain);
      for (int64_t i = 0; i < height; ++i) {
        const T* const from = sums.data() + i * width;
        T* const to = c + (m + i) * c_row + n;
        for (int64_t j = 0; j < width; ++j) to[j] = add ? to[j] + from[j] : from[j];
      }
    }
  }
}

// Computes c = a b or, with `add`, c += a b. Uses the pool's threads if that pays off. `ready`: the
// operands that are packed already.
template <class T>
void multiply(const Pool& pool, int64_t m, int64_t n, int64_t k, const Matrix<T>& a,
              const Matrix<T>& b, T* c, int64_t c_row, bool add, const PackedPair<T>& ready = {}) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (!add) {
      for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_row, n, T{0});
    }
    return;
  }
  const MultiplyTiles<T>& tiles = multiply_tiles<T>();
  // Minimum number of multiply-adds per task. Fewer take less time than waking a thread.
  constexpr double kWorthTwo = 1 << 20;
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  int64_t parts = pool.threads() == 1
                      ? 1
                      : static_cast<int64_t>(std::min(work / kWorthTwo, 2.0 * pool.threads()));
  if (parts <= 1) {
    return multiply_part(int64_t{0}, m, int64_t{0}, n, k, a, b, c, c_row, add, ready);
  }

  // Splits the longer side at multiples of the tile size.
  const bool cuts_rows = m > n;
  const int64_t height = ready.a.data != nullptr ? ready.a.panel : tiles.rows;
  const int64_t side = cuts_rows ? m : n, tile = cuts_rows ? height : tiles.columns;
  const int64_t step = std::max(tile, (side / parts + tile - 1) / tile * tile);
  pool.parallel_for((side + step - 1) / step, [&](int64_t part) {
    const int64_t begin = part * step, end = std::min(begin + step, side);
    if (cuts_rows) {
      multiply_part(begin, end, int64_t{0}, n, k, a, b, c, c_row, add, ready);
    } else {
      multiply_part(int64_t{0}, m, begin, end, k, a, b, c, c_row, add, ready);
    }
  });
}

}  // namespace tenon_simd
