// Generates matrices far from singular for factorisations and solvers. The error for other matrices
// would depend on the condition number more than on the implementation.

#include <algorithm>
#include <set>

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

const std::set<std::string> kSquare = {"cholesky", "det",   "slogdet",         "eigh",
                                       "inv",      "solve", "triangular_solve"};
// Ops whose accuracy depends on the relative gaps between eigenvalues or singular values.
const std::set<std::string> kSpectral = {"eigh", "svd"};
const std::set<std::string> kSymmetric = {"cholesky", "eigh"};

// Returns an operand of matrices with small entries and an increasing diagonal. Their eigenvalues
// and singular values are well separated.
Operand matrices(tenon_dtype dtype, const Sizes& shape, bool symmetric, int64_t least,
                 uint64_t seed) {
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  Reals values = uniform_operand(dtype, shape, seed).values();
  for (Real& x : values) x /= 4;
  const auto at = [&](int64_t first, int64_t i, int64_t j) -> Real& {
    return values[static_cast<size_t>(first + i * columns + j)];
  };
  for (int64_t first = 0; first < count_of(shape); first += rows * columns) {
    for (int64_t i = 0; i < std::min(rows, columns); ++i) {
      for (int64_t j = 0; symmetric && j < i; ++j) at(first, i, j) = at(first, j, i);
      at(first, i, i) += Real(least + 3 * i);
    }
  }
  return explicit_operand(dtype, shape, std::move(values));
}

}  // namespace

void add_linear_algebra(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const std::string& name = claim.op->name;
  const bool square = kSquare.contains(name);
  if (!square && name != "qr" && name != "svd") return;
  const bool spectral = kSpectral.contains(name);
  std::vector<int64_t> sides = {1, 2, 3, 4, 5, 7};
  if (!spectral) sides.insert(sides.end(), {8, 9, 16, 17, 33});
  // A requested size applies to the rows and columns if `sides` contains it, or else to the batch.
  const SizeRequest& wish = draw.wish();
  int64_t rows = draw.one_of(sides), columns = square ? rows : draw.one_of(sides);
  if (std::find(sides.begin(), sides.end(), wish.size) != sides.end()) {
    if (wish.turn == 0 || square) rows = wish.size;
    if (wish.turn != 0 || square) columns = wish.size;
  }
  Sizes batch;
  while (!draw.has_size_request() && batch.size() < 2 && draw.coin())
    batch.push_back(draw.between(1, 3));
  if (wish.rank > 2) batch = shape_of_rank(wish.rank - 2);
  if (wish.rank >= 0) rows = 3, columns = square ? 3 : 2;
  if (wish.size >= 0 && wish.turn == 2) batch = {wish.size}, rows = 2, columns = 2;
  const auto with_batch = [&](int64_t m, int64_t n) {
    Sizes shape = batch;
    shape.insert(shape.end(), {m, n});
    return shape;
  };

  Problem problem;
  for (const char* flag : {"upper", "lower", "transpose", "unit_diagonal", "left"}) {
    if (claim.op->attr(flag)) problem.attrs[flag] = draw.coin();
  }
  problem.inputs = {matrices(claim.inputs[0], with_batch(rows, columns), kSymmetric.contains(name),
                             spectral ? 2 : 2 * std::max(rows, columns), draw.seed())};
  // With a unit diagonal, scale down the other entries to keep the triangle well conditioned.
  if (claim.op->attr("unit_diagonal")) {
    Reals& values = problem.inputs[0].fill.values;
    for (Real& x : values) x /= Real(4 * rows);
    for (size_t i = 0; i < values.size(); i += static_cast<size_t>(rows * rows)) {
      for (int64_t k = 0; k < rows; ++k) values[i + static_cast<size_t>(k * (rows + 1))] += 1;
    }
  }
  if (claim.inputs.size() > 1) {
    const int64_t n = draw.between(1, 5);
    const AttrValue* const given = problem.attrs.find("left");
    const bool left = !given || given->flag();
    problem.inputs.push_back(uniform_operand(
        claim.inputs[1], left ? with_batch(rows, n) : with_batch(n, rows), draw.seed()));
  }
  for (Operand& x : problem.inputs) {
    for (Real& value : x.fill.values) value = rounded(value, x.dtype);
  }
  problems.push_back(std::move(problem));
}

}  // namespace tenon_kit
