#include "plugins/cuda/kernels/product.h"

#include <algorithm>
#include <cmath>

namespace tenon_cuda {
namespace {

constexpr int64_t kTile = 64;  // Of device/tile.cuh.
// Runs of products are added one after another: at least so many, and the square root of their
// number, so that neither a run nor the number of runs is long.
constexpr int64_t kShortestRun = 256;
// A product is split along k until it has about so many tiles, or threads; a split has at least
// kShortestSplit products. All devices have the same, so that results do not depend on them.
constexpr int64_t kEnoughTiles = 512, kEnoughThreads = int64_t{1} << 16, kShortestSplit = 1024;
// With fewer rows or columns, most threads of a tile would have nothing to do.
constexpr int64_t kFewest = 8;
constexpr size_t kMaxFactorWords = 128;  // Of every file's struct Factors.
constexpr size_t kOwnWords = 10;

int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

class Product final : public Kernel {
 public:
  Product(const Request& request, ProductKind kind, std::optional<LoopPlan> epilogue)
      : device_(request.device()),
        n_inputs_(request.n_inputs()),
        accumulator_bytes_(request.output(0).dtype == TENON_FLOAT64 ||
                                   tenon_sdk::size_of(request.output(0).dtype) == 8
                               ? 8
                               : 4),
        kind_(std::move(kind)),
        epilogue_(std::move(epilogue)) {
    set_name(name_of_op(request.op()));
  }

  uint64_t workspace(const tenon_launch& launch) const override {
    const ProductShape shape = kind_.shape(launch);
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
    const Plan plan(shape);
    Parameters parameters;
    for (const int64_t word :
         {shape.matrices, shape.rows, shape.columns, shape.depth, plan.n_splits, plan.split,
          plan.run, int64_t{shape.left_along_k}, int64_t{shape.right_along_k}}) {
      parameters.push(word);
    }
    parameters.push_address(plan.n_splits > 1 ? address_of(launch.workspace) : 0);
    push_epilogue(epilogue_, n_inputs_, launch, parameters);
    kind_.push_factors(launch, parameters);

    const Dispatcher dispatcher(encoder, device_, functions);
    tenon_error* const error =
        plan.by_thread
            ? dispatcher.run_over(1, n * plan.n_splits, parameters)
            : dispatcher.run(0, blocks_for(device_, plan.n_tiles * plan.n_splits, 1), parameters);
    if (error != nullptr || plan.n_splits == 1) return error;
    return dispatcher.run_over(2, n, parameters);
  }

 private:
  // How a product is computed. It depends on the sizes alone.
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
  const uint64_t accumulator_bytes_;
  const ProductKind kind_;
  const std::optional<LoopPlan> epilogue_;
  const LazyFunctions<3> functions_{{"product_by_tile", "product_by_thread", "join_splits"}};
};

}  // namespace

Prepared prepare_product(const Request& request, ProductKind kind,
                         std::optional<LoopPlan> epilogue) {
  if (kOwnWords + kMaxFactorWords + epilogue_words(epilogue) > kMaxParameterWords) {
    return tenon_sdk::refuse("has no room for so many operands");
  }
  return {.kernel = std::make_unique<Product>(request, std::move(kind), std::move(epilogue)),
          .traits = kTraits | TENON_KERNEL_WORKSPACE};
}

}  // namespace tenon_cuda
