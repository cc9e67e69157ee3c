// The register tiles of the matrix product. A tile uses most vector registers as accumulators, so
// that each load of a column of `a` and a row of `b` is used in as many multiply-adds as possible.

#include "plugins/simd/kernels/multiply.h"

#include <pthread.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/multiply.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/kernels/elementwise.h"
#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

// Number of accumulators. Of 32 vector registers, 24 are accumulators, two hold a row of `b` and
// one holds an element of `a`. Of 16 registers, twelve are accumulators. WebAssembly uses ten,
// because products also need a register. With twelve, V8 spills some to memory (24 instead of 42
// GFLOP/s), and with eight, the loop's own instructions weigh more (38).
#if HWY_TARGET == HWY_AVX3
constexpr size_t kTileRows = 12;
#elif HWY_TARGET == HWY_AVX2
constexpr size_t kTileRows = 6;
#elif HWY_TARGET == HWY_WASM
constexpr size_t kTileRows = 5;
#else
constexpr size_t kTileRows = 8;
#endif
constexpr size_t kTileVectors = 2;

// How a tile reads its operands (MultiplyTiles describes the variants).
enum class Reads { kPacked, kDirect, kGathered, kPaired };

template <class T>
constexpr size_t kTileColumns = kTileVectors* hn::MaxLanes(hn::ScalableTag<T>());

// Computes a tile of kRows rows and kVectors vectors of columns.
template <class T, size_t kRows, size_t kVectors, Reads kReads>
void tile(const TileArgs<T>& args) {
  const hn::ScalableTag<T> d;
  constexpr size_t kStep = hn::MaxLanes(d);
  using V = hn::Vec<decltype(d)>;
  const size_t n = static_cast<size_t>(args.n);
  // Offsets of the vectors of a row, and the numbers of their valid elements.
  constexpr bool kPaired = kReads == Reads::kPaired;
  const auto b_at = [&](size_t v) {
    return kPaired ? static_cast<int64_t>(v) * args.b_pair : static_cast<int64_t>(v * kStep);
  };
  const auto c_at = [&](size_t v) {
    return kPaired ? static_cast<int64_t>(v) * args.c_pair : static_cast<int64_t>(v * kStep);
  };
  const size_t last = kPaired ? n : n - (kVectors - 1) * kStep;
  const auto is_whole = [&](size_t v) { return last >= kStep || (!kPaired && v + 1 < kVectors); };

  V sum[kRows][kVectors];
  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
  }

  const T* b = args.b;
  constexpr bool kGathers = kReads == Reads::kGathered || kPaired;
  const int64_t a_row = kReads == Reads::kDirect ? args.a_row : 1;
  const int64_t a_k = args.a_k;
  // Three rows share a pointer, so that all addresses fit into the general-purpose registers.
  constexpr size_t kGroups = (kRows + 2) / 3;
  const T* a[kGroups];
  HWY_UNROLL(16)
  for (size_t g = 0; g < kGroups; ++g) a[g] = args.a + static_cast<int64_t>(3 * g) * a_row;

  for (int64_t k = 0; k < args.k; ++k) {
    if constexpr (kGathers) b = args.b + args.b_offsets[k];
    V row[kVectors];
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + b_at(v));
    if constexpr (!kGathers) b += args.b_k;
    HWY_UNROLL(16)
    for (size_t i = 0; i < kRows; ++i) {
      const V left = hn::Set(d, a[i / 3][static_cast<int64_t>(i % 3) * a_row]);
      HWY_UNROLL(16)
      for (size_t v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(left, row[v], sum[i][v]);
    }
    HWY_UNROLL(16)
    for (size_t g = 0; g < kGroups; ++g) a[g] += a_k;
  }

  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; ++i) {
    if (static_cast<int64_t>(i) >= args.m) return;
    T* to = args.c + static_cast<int64_t>(i) * args.c_row;
    if (args.add) {
      HWY_UNROLL(16)
      for (size_t v = 0; v < kVectors; ++v) {
        const V before =
            is_whole(v) ? hn::LoadU(d, to + c_at(v)) : load_some(d, to + c_at(v), last);
        sum[i][v] = hn::Add(before, sum[i][v]);
      }
    }
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) {
      if (is_whole(v)) {
        hn::StoreU(sum[i][v], d, to + c_at(v));
      } else {
        store_some(sum[i][v], d, to + c_at(v), last);
      }
    }
  }
}

// Runs the smallest tile variant with at least args.m rows. Rows after m are zeros in the panel;
// they are computed but not written. Variants with fewer rows reduce this waste.
template <class T, size_t kVectors, Reads kReads>
void packed_rows(const TileArgs<T>& args) {
  if (args.m == 1) return tile<T, 1, kVectors, kReads>(args);
  if (args.m == 2) return tile<T, 2, kVectors, kReads>(args);
  if (args.m <= 4) return tile<T, 4, kVectors, kReads>(args);
  if constexpr (kTileRows > 8) {
    if (args.m <= 8) return tile<T, 8, kVectors, kReads>(args);
  }
  tile<T, kTileRows, kVectors, kReads>(args);
}

// Computes a tile from a packed panel of `a`. Uses a tile of one vector of columns if that
// suffices.
template <class T, Reads kReads>
void packed_tile(const TileArgs<T>& args) {
  const bool is_narrow = static_cast<size_t>(args.n) <= kTileColumns<T> / kTileVectors;
  return is_narrow ? packed_rows<T, 1, kReads>(args) : packed_rows<T, kTileVectors, kReads>(args);
}

// Runs the tile variant that has args.m rows and reads `a` in place.
template <class T, size_t kVectors>
void direct_rows(const TileArgs<T>& args) {
  if constexpr (kTileRows == 12) {
    if (args.m == 8) return tile<T, 8, kVectors, Reads::kDirect>(args);
  }
  if constexpr (kTileRows == 5) {
    if (args.m == 4) return tile<T, 4, kVectors, Reads::kDirect>(args);
  }
  tile<T, kTileRows, kVectors, Reads::kDirect>(args);
}

// Computes a tile that reads `a` in place. Uses a tile of one vector of columns if that suffices.
template <class T>
void direct_tile(const TileArgs<T>& args) {
  const bool is_narrow = static_cast<size_t>(args.n) <= kTileColumns<T> / kTileVectors;
  return is_narrow ? direct_rows<T, 1>(args) : direct_rows<T, kTileVectors>(args);
}

// Computes columns [j, j + n) of one row, where n is the size of kVectors vectors, or less than one
// vector. There are enough independent sums to hide the latency of the additions.
template <class T, size_t kVectors, bool kIsWhole>
HWY_INLINE void row_part(const TileArgs<T>& args, size_t j, size_t n) {
  const hn::ScalableTag<T> d;
  constexpr size_t kStep = hn::MaxLanes(d);
  const auto load = [&](const T* from, size_t v) {
    return kIsWhole ? hn::LoadU(d, from + v * kStep) : load_some(d, from, n);
  };
  T* const c = args.c + j;
  hn::Vec<decltype(d)> sum[kVectors];
  HWY_UNROLL(16)
  for (size_t v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  const T *a = args.a, *b = args.b + j;
  const auto add_term = [&] {
    const auto left = hn::Set(d, *a);
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) sum[v] = hn::MulAdd(left, load(b, v), sum[v]);
    a += args.a_k;
    b += args.b_k;
  };
  // Two terms per iteration, because V8 adds a check to each iteration.
  int64_t k = 0;
  for (; k + 2 <= args.k; k += 2) {
    add_term();
    add_term();
  }
  if (k < args.k) add_term();
  HWY_UNROLL(16)
  for (size_t v = 0; v < kVectors; ++v) {
    if (args.add) sum[v] = hn::Add(load(c, v), sum[v]);
    if (kIsWhole) {
      hn::StoreU(sum[v], d, c + v * kStep);
    } else {
      store_some(sum[v], d, c, n);
    }
  }
}

// Computes one row of any length.
template <class T>
void row(const TileArgs<T>& args) {
  constexpr size_t kStep = hn::MaxLanes(hn::ScalableTag<T>());
  const size_t n = static_cast<size_t>(args.n);
  size_t j = 0;
  for (; j + 8 * kStep <= n; j += 8 * kStep) row_part<T, 8, true>(args, j, 8 * kStep);
  for (; j + 2 * kStep <= n; j += 2 * kStep) row_part<T, 2, true>(args, j, 2 * kStep);
  for (; j + kStep <= n; j += kStep) row_part<T, 1, true>(args, j, kStep);
  if (j < n) row_part<T, 1, false>(args, j, n - j);
}

// The vectors of 16 bytes that transpose a square.
template <class T>
using Lane = hn::Full128<T>;
template <class T>
constexpr int64_t kSide = 16 / sizeof(T);

// Loads a square of kSide vectors and transposes it in registers.
HWY_INLINE void load_square(const float* from, int64_t from_row, hn::Vec<Lane<float>>* to) {
  const Lane<float> d;
  const Lane<double> pairs;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_row);
  const auto r2 = hn::LoadU(d, from + 2 * from_row), r3 = hn::LoadU(d, from + 3 * from_row);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  to[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
  to[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
  to[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
  to[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
}
HWY_INLINE void load_square(const double* from, int64_t from_row, hn::Vec<Lane<double>>* to) {
  const Lane<double> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_row);
  to[0] = hn::InterleaveLower(d, r0, r1);
  to[1] = hn::InterleaveUpper(d, r0, r1);
}

// Computes kSquares * kSide elements of one row. The columns of `b` are contiguous.
template <class T, int64_t kSquares>
HWY_INLINE void transposed_row_part(const TileArgs<T>& args, const T* b, T* c) {
  const Lane<T> d;
  using V = hn::Vec<decltype(d)>;
  V sum[kSquares];
  HWY_UNROLL(8)
  for (int64_t g = 0; g < kSquares; ++g) sum[g] = hn::Zero(d);
  const T* a = args.a;
  int64_t k = 0;
  for (; k + kSide<T> <= args.k; k += kSide<T>) {
    V left[kSide<T>];
    HWY_UNROLL(4)
    for (int64_t i = 0; i < kSide<T>; ++i) left[i] = hn::Set(d, a[i * args.a_k]);
    a += kSide<T> * args.a_k;
    HWY_UNROLL(8)
    for (int64_t g = 0; g < kSquares; ++g) {
      V row[kSide<T>];
      load_square(b + g * kSide<T> * args.b_k + k, args.b_k, row);
      HWY_UNROLL(4)
      for (int64_t i = 0; i < kSide<T>; ++i) sum[g] = hn::MulAdd(left[i], row[i], sum[g]);
    }
  }
  for (; k < args.k; ++k, a += args.a_k) {
    const V left = hn::Set(d, *a);
    HWY_UNROLL(8)
    for (int64_t g = 0; g < kSquares; ++g) {
      T row[kSide<T>];
      for (int64_t i = 0; i < kSide<T>; ++i) row[i] = b[(g * kSide<T> + i) * args.b_k + k];
      sum[g] = hn::MulAdd(left, hn::LoadU(d, row), sum[g]);
    }
  }
  HWY_UNROLL(8)
  for (int64_t g = 0; g < kSquares; ++g) {
    T* const to = c + g * kSide<T>;
    hn::StoreU(args.add ? hn::Add(hn::LoadU(d, to), sum[g]) : sum[g], d, to);
  }
}

// Implements MultiplyTiles::transposed_row.
template <class T>
void transposed_row(const TileArgs<T>& args) {
  constexpr int64_t kSquares = 4;
  int64_t j = 0;
  const auto part = [&]<int64_t kCount>() {
    for (; j + kCount * kSide<T> <= args.n; j += kCount * kSide<T>) {
      transposed_row_part<T, kCount>(args, args.b + j * args.b_k, args.c + j);
    }
  };
  part.template operator()<kSquares>();
  part.template operator()<1>();
  const Lane<T> d;
  for (; j < args.n; ++j) {
    auto sum = hn::Zero(d);
    const T* const b = args.b + j * args.b_k;
    for (int64_t k = 0; k < args.k; ++k) {
      sum = hn::MulAdd(hn::Set(d, args.a[k * args.a_k]), hn::Set(d, b[k]), sum);
    }
    T copies[kSide<T>];
    hn::StoreU(args.add ? hn::Add(hn::Set(d, args.c[j]), sum) : sum, d, copies);
    args.c[j] = copies[0];
  }
}

// Transposes a square of 16-byte vectors in registers.
template <class T>
HWY_INLINE void transpose_square(const T* from, int64_t from_row, T* to, int64_t to_row) {
  hn::Vec<Lane<T>> rows[kSide<T>];
  load_square(from, from_row, rows);
  HWY_UNROLL(4)
  for (int64_t i = 0; i < kSide<T>; ++i) hn::StoreU(rows[i], Lane<T>(), to + i * to_row);
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// Transposes eight rows and eight columns.
HWY_INLINE void transpose_eight(const float* from, int64_t from_row, float* to, int64_t to_row) {
  const hn::CappedTag<float, 8> d;
  const hn::CappedTag<double, 4> pairs;
  using V = hn::Vec<decltype(d)>;
  V half[2][4];  // Each 16-byte half has column j or 4 + j of four rows.
  HWY_UNROLL(2)
  for (int h = 0; h < 2; ++h) {
    const float* const at = from + 4 * h * from_row;
    const auto r0 = hn::LoadU(d, at), r1 = hn::LoadU(d, at + from_row);
    const auto r2 = hn::LoadU(d, at + 2 * from_row), r3 = hn::LoadU(d, at + 3 * from_row);
    const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
    const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
    const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
    const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
    half[h][0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
    half[h][1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
    half[h][2] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
    half[h][3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
  }
  HWY_UNROLL(4)
  for (int j = 0; j < 4; ++j) {
    hn::StoreU(hn::ConcatLowerLower(d, half[1][j], half[0][j]), d, to + j * to_row);
    hn::StoreU(hn::ConcatUpperUpper(d, half[1][j], half[0][j]), d, to + (j + 4) * to_row);
  }
}
#endif

// Transposes all complete groups of eight rows and columns. Returns the number of processed rows.
template <class T>
int64_t transpose_eights([[maybe_unused]] const T* from, [[maybe_unused]] int64_t from_row,
                         [[maybe_unused]] T* to, [[maybe_unused]] int64_t to_row,
                         [[maybe_unused]] int64_t rows, [[maybe_unused]] int64_t columns) {
  int64_t i = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if constexpr (std::is_same_v<T, float>) {
    for (; i + 8 <= rows; i += 8) {
      int64_t j = 0;
      for (; j + 8 <= columns; j += 8) {
        transpose_eight(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
      }
      for (; j < columns; ++j) {
        for (int64_t r = i; r < i + 8; ++r) to[j * to_row + r] = from[r * from_row + j];
      }
    }
  }
#endif
  return i;
}

// Implements MultiplyTiles::transpose.
template <class T>
void transpose(const T* from, int64_t from_row, T* to, int64_t to_row, int64_t rows,
               int64_t columns) {
  int64_t i = transpose_eights(from, from_row, to, to_row, rows, columns);
  for (; i + kSide<T> <= rows; i += kSide<T>) {
    int64_t j = 0;
    for (; j + kSide<T> <= columns; j += kSide<T>) {
      transpose_square(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
    }
    for (; j < columns; ++j) {
      for (int64_t r = i; r < i + kSide<T>; ++r) to[j * to_row + r] = from[r * from_row + j];
    }
  }
  for (; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[j * to_row + i] = from[i * from_row + j];
  }
}

// Copies rows of n elements in vectors of up to kLanes elements. The last vector of a row is
// aligned to the end of the row, so it may overlap the one before.
template <class T, size_t kLanes>
void copy_vectors(const T* from, int64_t from_row, T* to, int64_t to_row, int64_t rows, int64_t n) {
  const hn::CappedTag<T, kLanes> d;
  constexpr int64_t kStep = hn::MaxLanes(d);
  for (; rows > 0; --rows, from += from_row, to += to_row) {
    int64_t i = 0;
    for (; i + kStep < n; i += kStep) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    hn::StoreU(hn::LoadU(d, from + n - kStep), d, to + n - kStep);
  }
}

// Copies rows of an image. They are too short for calling memcpy() for each row.
template <class T>
void copy_rows(const T* from, int64_t from_row, T* to, int64_t to_row, int64_t rows, int64_t n) {
  if (n >= 16) return copy_vectors<T, 16>(from, from_row, to, to_row, rows, n);
  if (n >= 8) return copy_vectors<T, 8>(from, from_row, to, to_row, rows, n);
  if (n >= 4) return copy_vectors<T, 4>(from, from_row, to, to_row, rows, n);
  for (; rows > 0; --rows, from += from_row, to += to_row) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

// Implements MultiplyTiles::copy_patches.
template <class T>
void copy_patches(const T* from, const int64_t* offsets, int64_t k, const PatchRun* runs,
                  int64_t n_runs, T* to, int64_t to_row) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kStep = hn::MaxLanes(d);
  for (int64_t i = 0; i < k; ++i, to += to_row) {
    const T* const row = from + offsets[i];
    for (int64_t r = 0; r < n_runs; ++r) {
      const PatchRun& run = runs[r];
      for (int64_t j = 0; j < run.n; j += kStep) {
        hn::StoreU(hn::LoadU(d, row + run.from + j), d, to + run.to + j);
      }
    }
  }
}

template <class T>
constexpr MultiplyTiles<T> kTiles = {
    .rows = kTileRows,
    .columns = kTileColumns<T>,
    .packed = packed_tile<T, Reads::kPacked>,
    .direct = direct_tile<T>,
    .gathered = packed_tile<T, Reads::kGathered>,
    .paired = packed_rows<T, 2, Reads::kPaired>,
    .row = row<T>,
    .transposed_row = transposed_row<T>,
    .transpose = transpose<T>,
    .copy_rows = copy_rows<T>,
    .copy_patches = copy_patches<T>,
};

template <class T>
const MultiplyTiles<T>& tiles() {
  return kTiles<T>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

template <>
const MultiplyTiles<float>& multiply_tiles<float>() {
  return TENON_SIMD_CHOOSE(tiles<float>());
}
template <>
const MultiplyTiles<double>& multiply_tiles<double>() {
  return TENON_SIMD_CHOOSE(tiles<double>());
}

namespace {

// A memory block of a thread. The class is trivially destructible, because destructors of other
// thread_local objects may run kernels later.
struct ScratchBlock {
  std::byte* data;
  size_t size;

  void reset() {
    ::operator delete (data, std::align_val_t{64});
    data = nullptr;
    size = 0;
  }
};
constinit thread_local ScratchBlock scratch_blocks[kScratchSlots] = {};

// Frees all scratch blocks of a thread.
void free_scratch(void* blocks) {
  for (int i = 0; i < kScratchSlots; ++i) static_cast<ScratchBlock*>(blocks)[i].reset();
}

// Frees a thread's blocks when the thread ends, after the destructors of its thread_local objects.
struct ScratchKey {
  pthread_key_t key = 0;
  bool is_made = false;

  ScratchKey() { is_made = pthread_key_create(&key, free_scratch) == 0; }
};

}  // namespace

std::byte* thread_scratch(int slot, size_t size) {
  ScratchBlock& block = scratch_blocks[slot];
  if (block.size < size) {
    static const ScratchKey scratch_key;
    block.reset();
    block.data = static_cast<std::byte*>(::operator new (size, std::align_val_t{64}));
    block.size = size;
    if (scratch_key.is_made) pthread_setspecific(scratch_key.key, scratch_blocks);
  }
  return block.data;
}

}  // namespace tenon_simd
#endif
