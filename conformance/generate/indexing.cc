// Generates problems of ops that read or write at computed indices (gather, scatter).

#include <algorithm>

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

// Draws a shape with sizes from 1 to 7.
Sizes small_shape(Draw& draw, int64_t rank) {
  Sizes shape;
  for (int64_t i = 0; i < rank; ++i) shape.push_back(draw.between(1, 7));
  return shape;
}

// Draws the shape of the operand whose elements the op reads or updates: one that meets the
// SizeRequest, or else a small one.
Sizes data_shape(Draw& draw, int64_t min_rank, int64_t most_rank) {
  if (draw.has_size_request()) return draw_shape(draw, min_rank, most_rank);
  return small_shape(draw, draw.between(min_rank, most_rank));
}

// Returns an operand with random indices in [0, bound). If `bound` is 0, it has no elements.
Operand index_operand(tenon_dtype dtype, Sizes shape, int64_t bound, Draw& draw) {
  if (bound == 0 && !shape.empty()) shape[0] = 0;
  return indices(dtype, std::move(shape), bound, draw.seed());
}

// Draws the attribute `reduction` of a scatter such that the result does not depend on the order of
// updates by more than the tolerance. A SizeRequest excludes sums of floats, which may be long.
std::string draw_reduction(Draw& draw, tenon_dtype dtype) {
  if (draw.has_size_request() && is_float(dtype))
    return draw.one_of<std::string>({"none", "min", "max"});
  return draw.one_of<std::string>({"none", "add", "min", "max"});
}

// Adds a gather. A requested size applies to the indexed axis, to another axis, or to the number of
// indices.
void add_gather(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  Sizes x = data_shape(draw, 1, 4);
  const auto rank = static_cast<int64_t>(x.size());
  const SizeRequest& wish = draw.wish();
  const int64_t axis = draw_axis(draw, rank);
  if (wish.turn != 2) set_size(draw, x, wish.turn < 2 ? axis : (axis + 1) % rank);
  Sizes picks;
  if (wish.size >= 0) {
    picks = {wish.turn == 2 ? wish.size : 3};
  } else {
    picks = small_shape(draw, draw.between(0, std::min<int64_t>(2, 17 - rank)));
  }
  Problem problem;
  problem.attrs["axis"] = draw.coin() ? axis : axis - rank;
  problem.inputs = {uniform_operand(claim.inputs[0], x, draw.seed()),
                    index_operand(claim.inputs[1], picks, x[static_cast<size_t>(axis)], draw)};
  problems.push_back(std::move(problem));
}

// Adds gather_elements or scatter_elements. The indices have the rank of x, and their other axes
// are no larger than those of x.
void add_elements(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  Sizes x = data_shape(draw, 1, 3);
  const auto rank = static_cast<int64_t>(x.size());
  const SizeRequest& wish = draw.wish();
  const int64_t axis = draw_axis(draw, rank);
  set_size(draw, x, wish.turn < 3 ? axis : (axis + 1) % rank);
  Sizes picks = x;
  const bool scatter = claim.op->name == "scatter_elements";
  for (int64_t i = 0; i < rank && wish.turn < 2; ++i) {
    int64_t& size = picks[static_cast<size_t>(i)];
    if (size == 0) continue;
    if (i == axis)
      size = scatter ? draw.between(1, size) : draw.between(1, 9);
    else if (!scatter || draw.coin())
      size = draw.between(1, size);
  }
  Problem problem;
  problem.attrs["axis"] = axis;
  problem.inputs = {uniform_operand(claim.inputs[0], x, draw.seed()),
                    indices(claim.inputs[1], picks, x[static_cast<size_t>(axis)], draw.seed())};
  if (scatter) {
    problem.inputs.push_back(uniform_operand(claim.inputs[2], picks, draw.seed()));
    if (!is_bool(claim.inputs[0])) {
      problem.attrs["reduction"] = draw_reduction(draw, claim.inputs[0]);
    }
  }
  problems.push_back(std::move(problem));
}

// Draws the number of axes that a tuple of indices selects along. For a SizeRequest: one, all, or
// half of the axes of x.
int64_t depth_of(Draw& draw, int64_t rank) {
  const int64_t turn = draw.wish().turn;
  if (!draw.has_size_request()) return draw.between(1, rank);
  return turn == 1 ? rank : turn == 2 ? (rank + 1) / 2 : 1;
}

// Adds gather_nd or scatter_nd, whose indices are tuples.
void add_nd(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  Sizes x = data_shape(draw, 1, 4);
  const auto rank = static_cast<int64_t>(x.size());
  const int64_t depth = depth_of(draw, rank);
  const SizeRequest& wish = draw.wish();
  // The size applies to the first axis (which is indexed), to the last one, or to the number of
  // tuples.
  if (wish.turn != 3) set_size(draw, x, wish.turn == 0 ? 0 : rank - 1);
  int64_t bound = x[0];
  for (int64_t i = 0; i < depth; ++i) bound = std::min(bound, x[static_cast<size_t>(i)]);
  Sizes tuples = draw.has_size_request() ? Sizes{wish.size >= 0 && wish.turn == 3 ? wish.size : 3}
                                         : small_shape(draw, draw.between(0, 2));
  if (bound == 0) tuples = {0};
  Sizes result = tuples;
  tuples.push_back(depth);
  result.insert(result.end(), x.begin() + depth, x.end());
  Problem problem;
  problem.inputs = {uniform_operand(claim.inputs[0], x, draw.seed()),
                    indices(claim.inputs[1], tuples, bound, draw.seed())};
  if (claim.op->name == "scatter_nd") {
    problem.inputs.push_back(uniform_operand(claim.inputs[2], result, draw.seed()));
    if (!is_bool(claim.inputs[0])) {
      problem.attrs["reduction"] = draw_reduction(draw, claim.inputs[0]);
    }
  }
  problems.push_back(std::move(problem));
}

}  // namespace

void add_indexing(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const std::string& name = claim.op->name;
  if (name == "gather") add_gather(claim, draw, problems);
  if (name == "gather_elements" || name == "scatter_elements") add_elements(claim, draw, problems);
  if (name == "gather_nd" || name == "scatter_nd") add_nd(claim, draw, problems);
}

}  // namespace tenon_kit
