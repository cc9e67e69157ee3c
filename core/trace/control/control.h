// Branches and loops, eager and traced.
//
// Eager calls run the chosen blocks op by op. While tracing, each block is traced once into a
// region, and an op that holds the regions is added to the trace. Captured tensors and used cells
// become operands of that op; stored cell values become its outputs.

#pragma once

#include <span>

#include "core/trace/graph/region.h"

namespace tenon {

// Runs `then` if `predicate`, a bool of rank 0, is true, else `otherwise`. Returns the outputs of
// the block. Both blocks must return the same number of values, of the same types.
Tensors cond(Scope& scope, const Tensor& predicate, const Block& then, const Block& otherwise);
// Runs the branch with index `index`, an i64 of rank 0, or the last branch if the index is out of
// range. All branches must return the same number of values, of the same types.
Tensors switch_case(Scope& scope, const Tensor& index, std::span<const Block> branches);

// Runs `body` while `condition` returns true, a bool of rank 0. Both take the carried values:
// `initial` at first, then the outputs of `body`, whose types must not change.
struct WhileOptions {
  LoopPolicy policy = LoopPolicy::kStack;
  int64_t max_trips = 0;  // Maximum number of trips; more are an error. 0: no limit.
};
Tensors while_loop(Scope& scope, const Block& condition, const Block& body, TensorSpan initial,
                   const WhileOptions& options = {});

// Scans over the first axis of `xs`, which have equal lengths. The body takes the carried values
// and one element of each tensor in `xs`. It returns the next carried values, followed by values
// that are stacked along a new first axis. `reverse` iterates from the last element to the first;
// stacked values keep the positions of their elements.
struct ScanOptions {
  bool reverse = false;
  LoopPolicy policy = LoopPolicy::kStack;
};
Tensors scan(Scope& scope, const Block& body, TensorSpan initial, TensorSpan xs,
             const ScanOptions& options = {});

// Returns the outputs of `forward`. Tapes differentiate the call with `vjp` and do not record what
// `forward` does.
Tensors with_gradient(Scope& scope, TensorSpan inputs, const Block& forward,
                      const std::shared_ptr<const CustomVjp>& vjp);

// Returns the sizes as an i64 tensor of rank 1. In a trace, symbolic sizes are computed in each
// call.
Tensor shape_tensor(const Dims& shape);
// Returns sizes that are not a shape as an i64 tensor of rank 1, like shape_tensor().
Tensor sizes_tensor(const Sizes& sizes);

// Converts an i64 of rank 0 to a size. While tracing, a tensor computed from sizes and numbers
// becomes a formula of them, and any other tensor a data-dependent size. Error messages call the
// tensor `name`, for example "the length".
Size size_in(Scope& scope, const Tensor& x, const char* name);
// Converts the elements of an i64 tensor of rank 1 to sizes, like size_in(). In a trace, all
// elements become data-dependent sizes unless all are formulas of sizes.
Sizes sizes_in(Scope& scope, const Tensor& x, const char* name);

// ---- building blocks

// Loops while `go` is true. The body takes the carried values and returns the next `go` and the
// next carried values. If `gathers` is set, it also returns values to store in lists, at the index
// given by the first carried value, an i64 of rank 0. The result is the final carried values, then
// these lists.
struct Loop {
  const char* name = "while_loop";
  Tensor go;
  Tensors carried;
  Block body;
  bool gathers = false;
  LoopPolicy policy = LoopPolicy::kStack;
  Size max_trips = 0;
};
// Runs or traces the loop.
Tensors loop(Scope& scope, const Loop& loop);

// Returns, for each output of a graph, whether it is differentiable and depends on an input that is
// marked in `by`.
std::vector<bool> outputs_depending_on(const Graph& graph, const std::vector<bool>& by);

// Returns a tensor with the value of `x` that tapes distinguish from `x`. Needed for the outputs of
// eager code, which may return one of its arguments.
Tensor with_new_identity(Scope& scope, const Tensor& x);

// Whether two types are equal. In a trace, comparing symbolic sizes may add guards.
bool have_equal_types(const TensorType& a, const TensorType& b);

// Converts an inline scalar to a tensor. The tensor has dtype `wanted` if both this dtype and the
// scalar's are floating-point, both integer or both bool; otherwise it has the scalar's dtype.
// Returns other tensors unchanged.
Tensor as_tensor(const Tensor& x, DType wanted = DType::kNone);
Tensors as_tensors(TensorSpan values);

}  // namespace tenon
