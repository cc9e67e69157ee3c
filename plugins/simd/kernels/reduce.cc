// sum, prod, max, min, mean, any and all over any axes, for any memory layout. reduce.h defines the
// order of operations.

#include "plugins/simd/kernels/reduce.h"

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/elementwise.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 64 * 1024;  // Minimum number of elements per task.
// Maximum numbers of columns per task. Columns of half types are converted first.
constexpr int64_t kDirectColumns = 2048, kPackedColumns = 64;
// Maximum number of partial results of a launch, in addition to one for each output. A broadcast
// operand may have far more elements than fit into memory.
constexpr int64_t kMaxPartials = 1 << 20;

// T is the type of the elements, which are combined as Accumulators. For half types, T is uint16_t
// and Accumulator is float.
template <class T, class Accumulator>
class Reduce final : public RowKernel {
 public:
  Reduce(const Request& request, const Reducer& reducer, List axes, bool is_mean)
      : pool_(pool_of(request)),
        reducer_(reducer),
        mask_(axes_mask(axes, request.input(0).rank)),
        dtype_(request.input(0).dtype),
        is_mean_(is_mean) {}

  bool widens() const override { return !std::is_same_v<T, Accumulator>; }

  void reduce(const void* x, int64_t n_rows, int64_t n, void* out, float* wide) const override {
    for (int64_t row = 0; row < n_rows; ++row) {
      const T* const from = static_cast<const T*>(x) + row * n;
      Accumulator result;
      if (n == 0) {
        reducer_.fill_identity(&result, 1);
      } else if (n <= kReduceBlock) {
        block(from, n, wide, &result);
      } else {
        BlockTree<Accumulator> tree(reducer_);
        for (int64_t first = 0; first < n; first += kReduceBlock) {
          block(from + first, std::min(n - first, kReduceBlock), wide, &result);
          tree.add(result);
        }
        result = tree.result();
      }
      store(result, n, static_cast<T*>(out) + row);
    }
  }

  std::unique_ptr<RowReduction> begin_row() const override {
    return std::make_unique<BlockByBlock>(*this);
  }

  tenon_error* launch(tenon_stream_p*, const tenon_launch& launch) const override {
    LoopAxes reduced, kept;
    split_axes(launch.inputs[0], mask_, reduced, kept);
    const T* x = data<const T>(launch.inputs[0]);
    const int64_t n_out = kept.count();
    const int64_t n = reduced.count();
    if (n_out == 0) return nullptr;
    if constexpr (std::is_same_v<T, Accumulator>) {
      run(x, reduced, kept, data<T>(launch.outputs[0]));
      divide(data<T>(launch.outputs[0]), n_out, n);
    } else {
      std::vector<Accumulator> out(static_cast<size_t>(n_out));
      run(x, reduced, kept, out.data());
      divide(out.data(), n_out, n);
      narrow_half(dtype_, out.data(), launch.outputs[0].data, static_cast<size_t>(n_out));
    }
    return nullptr;
  }

 private:
  class BlockByBlock final : public RowReduction {
   public:
    explicit BlockByBlock(const Reduce& kernel) : kernel_(kernel), tree_(kernel.reducer_) {}

    void add(const void* block, int64_t n, float* wide) override {
      Accumulator result;
      kernel_.block(static_cast<const T*>(block), n, wide, &result);
      tree_.add(result);
    }
    void finish(int64_t n, void* out) const override {
      kernel_.store(tree_.result(), n, static_cast<T*>(out));
    }

   private:
    const Reduce& kernel_;
    BlockTree<Accumulator> tree_;
  };

  // Stores the result for a row of `n` elements.
  void store(Accumulator result, int64_t n, T* to) const {
    divide(&result, 1, n);
    if constexpr (std::is_same_v<T, Accumulator>) {
      *to = result;
    } else {
      narrow_half(dtype_, &result, to, 1);
    }
  }

  void run(const T* x, const LoopAxes& reduced, const LoopAxes& kept, Accumulator* out) const {
    const int64_t n_out = kept.count();
    const int64_t n = reduced.count();
    if (n == 0) return reducer_.fill_identity(out, static_cast<size_t>(n_out));
    const int64_t n_blocks = (n + kReduceBlock - 1) / kReduceBlock;
    // A task reduces a group of consecutive blocks, which form a complete subtree of the tree of
    // all blocks.
    int64_t group = 1;
    while ((n_blocks / group) * n_out > kMaxPartials && group < n_blocks) group *= 2;
    const int64_t n_groups = (n_blocks + group - 1) / group;
    // Reduces adjacent columns together if they are contiguous and the rows are not.
    const bool by_columns = kept.rank > 0 && kept.inner_stride() == 1 &&
                            (reduced.rank == 0 || reduced.inner_stride() != 1);
    const int64_t width = by_columns ? kept.inner_size() : 1;
    constexpr int64_t kColumns = std::is_same_v<T, Accumulator> ? kDirectColumns : kPackedColumns;

    // Partial results: [group][output]. Those of the first group are stored in the output.
    std::vector<Accumulator> partial(static_cast<size_t>((n_groups - 1) * n_out));
    const auto result = [&](int64_t number, int64_t at) {
      return number == 0 ? out + at : partial.data() + (number - 1) * n_out + at;
    };
    const int64_t chunks = (width + kColumns - 1) / kColumns;
    const int64_t tasks = n_out / width * chunks * n_groups;
    const int64_t task_size = std::min(n, group * kReduceBlock) * std::min(width, kColumns);
    pool_.parallel_tasks(
        tasks, std::max<int64_t>(1, kGrain / task_size), [&](int64_t begin, int64_t end) {
          Scratch scratch;
          std::vector<Accumulator> subtrees;
          for (int64_t task = begin; task < end; ++task) {
            const int64_t number = task % n_groups;
            const int64_t at =
                task / n_groups / chunks * width + task / n_groups % chunks * kColumns;
            const int64_t row_end = at / width * width + width;
            const int64_t n_columns = width > 1 ? std::min(kColumns, row_end - at) : 1;
            const auto reduce_block = [&](int64_t block, Accumulator* to) {
              const int64_t first = block * kReduceBlock;
              const int64_t last = std::min(first + kReduceBlock, n);
              const T* from = x + kept.offset(at);
              if (width > 1) {
                columns(from, reduced, first, last, n_columns, scratch, to);
              } else {
                rows(from, reduced, first, last, scratch, to);
              }
            };
            const int64_t end_block = std::min((number + 1) * group, n_blocks);
            if (group == 1) {
              reduce_block(number, result(number, at));
            } else {
              reduce_group(number * group, end_block, n_columns, reduce_block, subtrees,
                           result(number, at));
            }
          }
        });
    for (int64_t step = 1; step < n_groups; step *= 2) {
      for (int64_t number = 0; number + step < n_groups; number += 2 * step) {
        reducer_.combine(result(number, 0), result(number + step, 0), static_cast<size_t>(n_out));
      }
    }
  }

  // Combines blocks [begin, end) of `n` columns in the order of the tree. Each level of `subtrees`
  // holds the results of one subtree.
  template <class ReduceBlock>
  void reduce_group(int64_t begin, int64_t end, int64_t n, const ReduceBlock& reduce_block,
                    std::vector<Accumulator>& subtrees, Accumulator* out) const {
    const auto width = static_cast<size_t>(n);
    subtrees.resize(65 * width);
    const auto level = [&](size_t i) { return subtrees.data() + i * width; };
    size_t depth = 0;
    for (int64_t block = begin; block < end; ++block) {
      reduce_block(block, level(depth++));
      // Each trailing one bit of `i` stands for a subtree that this block completes.
      for (int64_t i = block - begin; (i & 1) != 0; i /= 2, --depth) {
        reducer_.combine(level(depth - 2), level(depth - 1), width);
      }
    }
    for (; depth > 1; --depth) reducer_.combine(level(depth - 2), level(depth - 1), width);
    std::copy_n(level(0), width, out);
  }

  struct Scratch {
    alignas(64) T packed[kReduceBlock];
    alignas(64) float widened[std::is_same_v<T, Accumulator> ? 1 : kReduceBlock];
    int64_t offsets[kReduceBlock];
    std::vector<Accumulator> columns;
  };

  void columns(const T* x, const LoopAxes& reduced, int64_t first, int64_t last, int64_t width,
               Scratch& scratch, Accumulator* out) const {
    if constexpr (!std::is_same_v<T, Accumulator>) {
      return packed_columns(x, reduced, first, last, width, scratch, out);
    }
    const int64_t stride = reduced.inner_stride();
    int64_t* to = scratch.offsets;
    reduced.runs(first, last, [&](int64_t offset, int64_t n) {
      for (int64_t i = 0; i < n; ++i) *to++ = offset + i * stride;
    });
    reducer_.columns(x, scratch.offsets, static_cast<size_t>(last - first),
                     static_cast<size_t>(width), out);
  }

  // Reduces columns of a half type, which are converted to float32 first.
  void packed_columns(const T* x, const LoopAxes& reduced, int64_t first, int64_t last,
                      int64_t width, Scratch& scratch, Accumulator* out) const {
    if constexpr (!std::is_same_v<T, Accumulator>) {
      scratch.columns.resize(static_cast<size_t>(width * (last - first)));
      const int64_t stride = reduced.inner_stride();
      Accumulator* to = scratch.columns.data();
      int64_t row = 0;
      reduced.runs(first, last, [&](int64_t offset, int64_t n) {
        for (int64_t i = 0; i < n; ++i, ++row, to += width) {
          widen_half(dtype_, x + offset + i * stride, to, static_cast<size_t>(width));
          scratch.offsets[row] = row * width;
        }
      });
      reducer_.columns(scratch.columns.data(), scratch.offsets, static_cast<size_t>(last - first),
                       static_cast<size_t>(width), out);
    }
  }

  void rows(const T* x, const LoopAxes& reduced, int64_t first, int64_t last, Scratch& scratch,
            Accumulator* out) const {
    const T* from = x + first;
    if (reduced.rank > 1 || reduced.inner_stride() != 1) {
      pack(x, reduced, first, last, scratch.packed);
      from = scratch.packed;
    }
    block(from, last - first, scratch.widened, out);
  }

  // Reduces a block of `n` contiguous elements. `wide`: buffer for half types, which are converted
  // to float32.
  void block(const T* x, int64_t n, [[maybe_unused]] float* wide, Accumulator* out) const {
    if constexpr (std::is_same_v<T, Accumulator>) {
      reducer_.block(x, static_cast<size_t>(n), out);
    } else {
      widen_half(dtype_, x, wide, static_cast<size_t>(n));
      reducer_.block(wide, static_cast<size_t>(n), out);
    }
  }

  void divide(Accumulator* out, int64_t n_out, int64_t n) const {
    if (!is_mean_) return;
    for (int64_t i = 0; i < n_out; ++i)
      out[i] = static_cast<Accumulator>(out[i] / static_cast<Accumulator>(n));
  }

  const Pool& pool_;
  const Reducer& reducer_;
  uint32_t mask_;
  tenon_dtype dtype_;
  bool is_mean_;
};

// Prepares a reduction by `op`. `is_mean`: divides the result by the number of elements.
Prepared prepare_reduction(const Request& request, uint32_t op, bool is_mean) {
  // All reductions have attributes with this layout.
  const auto attrs = request.attrs<tenon_sum_attrs>();
  const tenon_dtype dtype = request.input(0).dtype;
  const Reducer* reducer = find_reducer(op, compute_dtype(dtype));
  if (reducer == nullptr) return refuse("does not support this reduction for this dtype");
  const auto make = [&]<class T, class Accumulator>(Type<T>, Type<Accumulator>) -> Prepared {
    return {.kernel = std::make_unique<Reduce<T, Accumulator>>(
                request, *reducer, list(attrs.axes, attrs.n_axes), is_mean),
            .traits = kTraits};
  };
  switch (dtype) {
    case TENON_FLOAT16:
    case TENON_BFLOAT16:
      return make(Type<uint16_t>(), Type<float>());
    case TENON_FLOAT32:
      return make(Type<float>(), Type<float>());
    case TENON_FLOAT64:
      return make(Type<double>(), Type<double>());
  }
  // For integers and bools, only the element size matters here, because the Reducer knows the
  // dtype.
  switch (size_of(dtype)) {
    case 1:
      return make(Type<uint8_t>(), Type<uint8_t>());
    case 2:
      return make(Type<uint16_t>(), Type<uint16_t>());
    case 4:
      return make(Type<uint32_t>(), Type<uint32_t>());
    default:
      return make(Type<uint64_t>(), Type<uint64_t>());
  }
}

}  // namespace

const Reducer* find_reducer(uint32_t op, tenon_dtype dtype) {
  for (const ReducerTable& table : {float_reducers(), int_reducers()}) {
    for (size_t i = 0; i < table.n; ++i) {
      if (table.entries[i].op == op && table.entries[i].dtype == dtype) return &table.entries[i];
    }
  }
  return nullptr;
}

Prepared prepare_reduce(const Request& request) {
  return prepare_reduction(request, request.op(), false);
}

Prepared prepare_mean(const Request& request) {
  return prepare_reduction(request, TENON_OP_sum, true);
}

}  // namespace tenon_simd
