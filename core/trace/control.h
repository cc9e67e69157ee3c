// Branches and loops, eager and traced.
//
// Eager, they run the blocks that they choose, call by call. In code under trace, each block is
// written down once as a region, and an op that holds the regions becomes part of the trace. What
// blocks take from around them, and the cells that they use, become operands of that op; what they
// store comes out of it.

#pragma once

#include <span>

#include "core/trace/region.h"

namespace tenon {

// What a block gives, by the first if `predicate`, a bool of rank 0, is true, else by the second;
// of several, by the one that `index`, an i64 of rank 0, says, and by the last if there is none.
// All give as many values, of the same types.
Tensors cond(Scope& scope, const Tensor& predicate, const Block& then, const Block& otherwise);
Tensors switch_case(Scope& scope, const Tensor& index, std::span<const Block> branches);

// Runs `body` as long as `condition`, a bool of rank 0, holds of what it gave last; at first of
// `initial`. Types do not change on the way.
struct WhileOptions {
  LoopPolicy policy = LoopPolicy::kStack;
  int64_t max_trips = 0;  // More are an error; 0: as many as there are.
};
Tensors while_loop(Scope& scope, const Block& condition, const Block& body, TensorSpan initial,
                   const WhileOptions& options = {});

// A loop over the first axis of `xs`, which are equally long. The body takes what is carried and an
// element of each; it gives what is carried on, and behind it what is stacked along a new first
// axis. `reverse`: from the last element to the first; what is stacked lies where its element does.
struct ScanOptions {
  bool reverse = false;
  LoopPolicy policy = LoopPolicy::kStack;
};
Tensors scan(Scope& scope, const Block& body, TensorSpan initial, TensorSpan xs,
             const ScanOptions& options = {});

// What `forward` gives of the inputs. Tapes that differentiate it call `vjp`, and see nothing of
// what `forward` does.
Tensors with_gradient(Scope& scope, TensorSpan inputs, const Block& forward,
                      const std::shared_ptr<const CustomVjp>& vjp);

// Sizes as an i64 of rank 1, numbers of each call where the trace does not know them.
Tensor shape_tensor(const Dims& shape);
Tensor sizes_tensor(const Sizes& sizes);

// The size that an i64 of rank 0 says: a number, or, of one that code under trace made of sizes and
// numbers, a formula of them. Fails for what only the values of a call can tell. `name` is for
// messages: "the length".
Size size_in(Scope& scope, const Tensor& x, const char* name);
// The same of an i64 of rank 1. In a traced function, values that are no formulas of sizes are read
// when it runs.
Sizes sizes_in(Scope& scope, const Tensor& x, const char* name);

// ---- what these are made of

// Goes on while `go` is true. The body takes what is carried and gives: whether to go on, what is
// carried on, and, of one that gathers, other values, which are put into lists, at the place that
// the first value carried says, an i64 of rank 0. The result is what is carried at the end, and
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
Tensors loop(Scope& scope, const Loop& loop);

// The outputs of a graph that depend on the inputs that `by` marks, in what can be differentiated.
std::vector<bool> depending(const Graph& graph, const std::vector<bool>& by);

// A tensor of the same value that tapes tell from every other: eager code may give what it was
// given.
Tensor told_apart(Scope& scope, const Tensor& x);

// Whether values are of the same type; a trace takes note of what it has to decide for that.
bool alike(const TensorType& a, const TensorType& b);

// An inline scalar as a tensor, of the dtype that is wanted if it fits.
Tensor as_tensor(const Tensor& x, DType wanted = DType::kNone);

}  // namespace tenon
