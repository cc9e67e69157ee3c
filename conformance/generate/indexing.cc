// Ops that read or write at computed places.

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

Sizes small_shape(Draw& draw, int64_t rank) {
  Sizes shape;
  for (int64_t i = 0; i < rank; ++i) shape.push_back(draw.between(1, 7));
  return shape;
}

void add_gather(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const int64_t rank = draw.between(1, 4), axis = draw.between(0, rank - 1);
  const Sizes x = small_shape(draw, rank);
  Problem problem;
  problem.attrs["axis"] = draw.coin() ? axis : axis - rank;
  problem.inputs = {plain(claim.inputs[0], x, draw.seed()),
                    indices(claim.inputs[1], small_shape(draw, draw.between(0, 2)),
                            x[static_cast<size_t>(axis)], draw.seed())};
  problems.push_back(std::move(problem));
}

// gather_elements and scatter_elements: indices of x's rank, no larger elsewhere.
void add_elements(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const int64_t rank = draw.between(1, 3), axis = draw.between(0, rank - 1);
  const Sizes x = small_shape(draw, rank);
  Sizes picks = x;
  const bool scatter = claim.op->name == "scatter_elements";
  for (int64_t i = 0; i < rank; ++i) {
    int64_t& size = picks[static_cast<size_t>(i)];
    if (i == axis)
      size = scatter ? draw.between(1, size) : draw.between(1, 9);
    else if (!scatter || draw.coin())
      size = draw.between(1, size);
  }
  Problem problem;
  problem.attrs["axis"] = axis;
  problem.inputs = {plain(claim.inputs[0], x, draw.seed()),
                    indices(claim.inputs[1], picks, x[static_cast<size_t>(axis)], draw.seed())};
  if (scatter) {
    problem.inputs.push_back(plain(claim.inputs[2], picks, draw.seed()));
    // Sums do not depend on the order within what float32 may lose; the extremes not at all.
    if (!is_bool(claim.inputs[0])) {
      problem.attrs["reduction"] = draw.one_of<std::string>({"none", "add", "min", "max"});
    }
  }
  problems.push_back(std::move(problem));
}

void add_nd(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const int64_t rank = draw.between(1, 4), depth = draw.between(1, rank);
  const Sizes x = small_shape(draw, rank);
  int64_t bound = x[0];
  for (int64_t i = 0; i < depth; ++i) bound = std::min(bound, x[static_cast<size_t>(i)]);
  Sizes tuples = small_shape(draw, draw.between(0, 2));
  Sizes result = tuples;
  tuples.push_back(depth);
  result.insert(result.end(), x.begin() + depth, x.end());
  Problem problem;
  problem.inputs = {plain(claim.inputs[0], x, draw.seed()),
                    indices(claim.inputs[1], tuples, bound, draw.seed())};
  if (claim.op->name == "scatter_nd") {
    problem.inputs.push_back(plain(claim.inputs[2], result, draw.seed()));
    if (!is_bool(claim.inputs[0])) {
      problem.attrs["reduction"] = draw.one_of<std::string>({"none", "add", "min", "max"});
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
