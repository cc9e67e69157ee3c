#include "plugins/cuda/kernels/product.h"

#include <algorithm>
#include <cmath>

namespace tenon_cuda {
namespace {

constexpr int64_t kTile = 64;  // The tile size of device/tile.cuh.
// Minimum number of products in a run. The products of a run are added serially. The length of a
// run is about the square root of the sum's length, so that neither a run nor the sequence of runs
// is long.
constexpr int64_t kShortestRun = 256;
// k is split so that there are about kEnoughTiles tiles or kEnoughThreads threads. A split has at
// least kShortestSplit products. These constants are the same for all devices, so that results do
// not depend on the device.
constexpr int64_t kEnoughTiles = 512, kEnoughThreads = int64_t{1} << 16, kShortestSplit = 1024;
// Minimum number of rows and of columns for the tiled kernel. With fewer, most threads of a tile
// would be idle.
constexpr int64_t kFewest = 8;
// cuBLASLt is used for sizes from kFewestOfLibrary to kMaxOfLibrary. In strict mode, it is used
// only for sums of at most kLongestStrictSum products, which satisfy their error bound in any order
// (docs/numerics.md).
constexpr int64_t kFewestOfLibrary = 64, kMaxOfLibrary = int64_t{1} << 30, kLongestStrictSum = 4096;
constexpr uint64_t kLibraryAlignment = 256;
constexpr size_t kMaxFactorWords = 128;  // Maximum size in words of struct Factors in any file.
constexpr size_t kOwnWords = 10;

int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

class Product final : public Kernel {
 public:
  Product(const Request& request, ProductKind kind, std::optional<LoopPlan> epilogue)
      : device_(request.device()),
        n_inputs_(request.n_inputs()),
        dtype_(request.output(0).dtype),
        is_strict_(request.is_strict()),
        element_bytes_(tenon_sdk::size_of(dtype_)),
        accumulator_bytes_(tenon_sdk::size_of(dtype_) == 8 ? 8 : 4),
        kind_(std::move(kind)),
        epilogue_(std::move(epilogue)) {
    set_name(op_name(request.op()));
  }

  uint64_t workspace(const tenon_launch& launch) const override {
    const ProductShape shape = kind_.shape(launch);
    const LibraryProduct* product = nullptr;
    if (tenon_error* error = find_library(shape, &product)) {
      release_error(device_, error);  // The launch fails with the same error and reports it.
      return 0;
    }
    if (product != nullptr) return LibraryRoom(*product, shape, element_bytes_).end;
    const Plan plan(shape);
    if (plan.n_splits == 1) return 0;
    const int64_t n = shape.matrices * shape.rows * shape.columns;
    return static_cast<uint64_t>(plan.n_splits * n) * accumulator_bytes_;
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const ProductShape shape = kind_.shape(launch);
    const int64_t n = shape.matrices * shape.rows * shape.columns;
    if (n == 0) return nullptr;
    const Function* functions = nullptr;
    const auto source = [&] { return source_text(); };
    if (tenon_error* error = functions_.get(device_, name(), source, &functions)) return error;
    const LibraryProduct* product = nullptr;
    if (tenon_error* error = find_library(shape, &product)) return error;
    const Dispatcher dispatcher(encoder, device_, functions);
    if (product != nullptr) return multiply(encoder, dispatcher, launch, shape, *product);
    const Plan plan(shape);
    const uint64_t partial = plan.n_splits > 1 ? address_of(launch.workspace) : 0;
    const Parameters parameters = parameters_of(launch, shape, plan, partial);
    tenon_error* const error =
        plan.by_thread
            ? dispatcher.run_over(1, n * plan.n_splits, parameters)
            : dispatcher.run(0, blocks_for(device_, plan.n_tiles * plan.n_splits, 1), parameters);
    if (error != nullptr || plan.n_splits == 1) return error;
    return dispatcher.run_over(2, n, parameters);
  }

 private:
  // Selects how a product is computed: by tiles or by threads, the number and length of the splits
  // of k, and the length of the runs. Depends only on the sizes.
  struct Plan {
    explicit Plan(const ProductShape& shape)
        : by_thread(std::min(shape.rows, shape.columns) < kFewest),
          n_tiles(shape.matrices * divide_up(shape.rows, kTile) * divide_up(shape.columns, kTile)) {
      const int64_t n = by_thread ? shape.matrices * shape.rows * shape.columns : n_tiles;
      const int64_t enough = by_thread ? kEnoughThreads : kEnoughTiles;
      const int64_t wanted =
          n == 0 ? 1 : std::clamp<int64_t>(shape.depth / kShortestSplit, 1, divide_up(enough, n));
      split = std::max<int64_t>(
          divide_up(divide_up(shape.depth, wanted), kShortestRun) * kShortestRun, kShortestRun);
      n_splits = std::max<int64_t>(divide_up(shape.depth, split), 1);
      const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(split)));
      run = divide_up(std::max(root, kShortestRun), kShortestRun) * kShortestRun;
    }

    const bool by_thread;
    const int64_t n_tiles;
    int64_t n_splits, split, run;
  };

  // Byte offsets in the workspace of a library product. The library's own workspace is at offset 0.
  // `a` and `b` are the packed copies of the factors, and `d` is the product before the kernel
  // finish_product. Space for the copies is always reserved, because the size of the workspace may
  // not depend on the alignment of the factors.
  struct LibraryRoom {
    uint64_t a, b, d, end;

    LibraryRoom(const LibraryProduct& product, const ProductShape& shape, uint64_t element_bytes) {
      const auto room = [&](int64_t n) {
        const uint64_t bytes = static_cast<uint64_t>(shape.matrices * n) * element_bytes;
        return (bytes + kLibraryAlignment - 1) / kLibraryAlignment * kLibraryAlignment;
      };
      a = (workspace_bytes(product) + kLibraryAlignment - 1) / kLibraryAlignment *
          kLibraryAlignment;
      b = a + room(shape.rows * shape.depth);
      d = b + room(shape.depth * shape.columns);
      end = d + room(shape.rows * shape.columns);
    }
  };

  // Returns the library product, or NULL to use the plugin's kernels. Depends on dtype, shape and
  // strictness only, so that equal calls return the same bits.
  tenon_error* find_library(const ProductShape& shape, const LibraryProduct** product) const {
    *product = nullptr;
    if (!kind_.library) return nullptr;
    if (std::min({shape.rows, shape.columns, shape.depth}) < kFewestOfLibrary) return nullptr;
    if (std::max({shape.rows, shape.columns, shape.depth, shape.matrices}) > kMaxOfLibrary) {
      return nullptr;
    }
    // The library does not specify the order of its sums, so strict mode uses it only for short
    // sums.
    if (is_strict_ && shape.depth > kLongestStrictSum) return nullptr;
    return find_library_product(device_,
                                {.dtype = dtype_,
                                 .transpose_a = kind_.library->transpose_a,
                                 .transpose_b = kind_.library->transpose_b,
                                 .is_strict = is_strict_,
                                 .matrices = shape.matrices,
                                 .rows = shape.rows,
                                 .columns = shape.columns,
                                 .depth = shape.depth},
                                product);
  }

  tenon_error* multiply(Encoder& encoder, const Dispatcher& dispatcher, const tenon_launch& launch,
                        const ProductShape& shape, const LibraryProduct& product) const {
    const LibraryRoom room(product, shape, element_bytes_);
    if (launch.workspace_size < room.end) {
      return make_error(
          device_, TENON_INTERNAL,
          "cuda: cuBLASLt failed while the workspace size of " + name() + " was queried");
    }
    const uint64_t workspace = address_of(launch.workspace);
    LibraryCall call = {.a = 0, .b = 0, .d = 0, .workspace = workspace};
    if (tenon_error* error =
            pack(dispatcher, launch.inputs[0], workspace + room.a, call.a, call.shares_a)) {
      return error;
    }
    if (tenon_error* error =
            pack(dispatcher, launch.inputs[1], workspace + room.b, call.b, call.shares_b)) {
      return error;
    }
    const uint64_t y = address_of(launch.outputs[0]);
    const bool finishes = epilogue_ || kind_.library->finishes || y % LibraryCall::kAlignment != 0;
    call.d = finishes ? workspace + room.d : y;
    if (tenon_error* error = encoder.multiply(product, call)) return error;
    if (!finishes) return nullptr;
    return dispatcher.run_over(3, shape.matrices * shape.rows * shape.columns,
                               parameters_of(launch, shape, Plan(shape), call.d));
  }

  // Returns in `address` the factor in contiguous memory: the operand itself if it is contiguous
  // and aligned, otherwise a packed copy.
  tenon_error* pack(const Dispatcher& dispatcher, const tenon_view& view, uint64_t room,
                    uint64_t& address, bool& is_shared) const {
    address = address_of(view);
    const size_t batch = view.rank - size_t{2};
    const auto strides = strides_of(view);
    const tenon_sdk::DenseStrides dense(view);
    const auto is_dense = [&](size_t axis) {
      return view.sizes[axis] == 1 || strides[axis] == dense.values[axis];
    };
    bool is_packed = address != 0 && address % LibraryCall::kAlignment == 0 && is_dense(batch) &&
                     is_dense(batch + 1);
    bool has_all = true, has_one = true;
    for (size_t axis = 0; axis < batch; ++axis) {
      has_all = has_all && is_dense(axis);
      has_one = has_one && (view.sizes[axis] == 1 || strides[axis] == 0);
    }
    is_shared = is_packed && has_one && !has_all;
    is_packed = is_packed && (has_one || has_all);
    if (is_packed) return nullptr;
    address = room;
    Parameters parameters;
    parameters.push_view(view);
    parameters.push_address(room);
    parameters.push(tenon_sdk::count(view));
    return dispatcher.run_over(4, tenon_sdk::count(view), parameters);
  }

  Parameters parameters_of(const tenon_launch& launch, const ProductShape& shape, const Plan& plan,
                           uint64_t partial) const {
    Parameters parameters;
    for (const int64_t word :
         {shape.matrices, shape.rows, shape.columns, shape.depth, plan.n_splits, plan.split,
          plan.run, int64_t{shape.left_along_k}, int64_t{shape.right_along_k}}) {
      parameters.push(word);
    }
    parameters.push_address(partial);
    push_epilogue(epilogue_, n_inputs_, launch, parameters);
    kind_.push_factors(launch, parameters);
    return parameters;
  }

  std::string source_text() const {
    std::string text = epilogue_ ? prelude_source(*epilogue_) : prelude_source(LoopPlan());
    text += device_file("reduce.cuh");
    text += kind_.factors;
    text += epilogue_source(epilogue_);
    text += device_file("tile.cuh");
    text += device_file("product.cuh");
    return text;
  }

  tenon_device_p* const device_;
  const size_t n_inputs_;
  const tenon_dtype dtype_;
  const bool is_strict_;
  const uint64_t element_bytes_, accumulator_bytes_;
  const ProductKind kind_;
  const std::optional<LoopPlan> epilogue_;
  const LazyFunctions<5> functions_{
      {"product_by_tile", "product_by_thread", "join_splits", "finish_product", "pack_factor"}};
};

}  // namespace

Prepared prepare_product(const Request& request, ProductKind kind,
                         std::optional<LoopPlan> epilogue) {
  if (kOwnWords + kMaxFactorWords + epilogue_words(epilogue) > kMaxParameterWords) {
    return tenon_sdk::refuse(
        "the operands need more than the 4096 bytes of parameters of one kernel");
  }
  return {.kernel = std::make_unique<Product>(request, std::move(kind), std::move(epilogue)),
          .traits = kTraits | TENON_KERNEL_WORKSPACE};
}

}  // namespace tenon_cuda
