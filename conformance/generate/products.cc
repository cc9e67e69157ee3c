// Generates matrix products: with broadcast batches, either operand transposed, and sizes at the
// edges of tiles.

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

void add_matmul(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const std::vector<int64_t> sizes = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 64, 65};
  const int64_t m = draw.one_of(sizes), k = draw.one_of(sizes), n = draw.one_of(sizes);
  Problem problem;
  const bool transpose_a = draw.coin(), transpose_b = draw.coin();
  problem.attrs["transpose_a"] = transpose_a;
  problem.attrs["transpose_b"] = transpose_b;
  Sizes a = transpose_a ? Sizes{k, m} : Sizes{m, k};
  Sizes b = transpose_b ? Sizes{n, k} : Sizes{k, n};
  const int64_t batches = draw.between(0, 2);
  for (int64_t i = 0; i < batches; ++i) {
    const int64_t size = draw.between(1, 3);
    const int64_t which = draw.between(0, 3);  // For 2 and 3, one of the operands is broadcast.
    a.insert(a.begin(), which == 2 ? 1 : size);
    if (i == 0 || which != 3) b.insert(b.begin(), which == 3 ? 1 : size);
  }
  problem.inputs = {uniform_operand(claim.inputs[0], a, draw.seed()),
                    uniform_operand(claim.inputs[1], b, draw.seed())};
  problems.push_back(std::move(problem));
}

// Adds a product with the requested rank or size. For a rank, the batch axes are equal, broadcast
// in both operands, or missing in a or in b. A size applies to m, n or k.
void add_requested(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const SizeRequest& wish = draw.wish();
  int64_t m = 3, k = 5, n = 4;
  if (wish.size >= 0) (wish.turn % 3 == 0 ? m : wish.turn % 3 == 1 ? n : k) = wish.size;
  Problem problem;
  bool transpose_a = false, transpose_b = false;
  if (claim.op->attr("transpose_a") && wish.rank != 1) {
    problem.attrs["transpose_a"] = transpose_a = draw.coin();
    problem.attrs["transpose_b"] = transpose_b = draw.coin();
  }
  Sizes a, b;
  if (wish.rank > 2) {
    a = b = shape_of_rank(wish.rank - 2);
    for (size_t i = 0; i < a.size() && wish.turn == 1; ++i) (i % 2 == 0 ? a : b)[i] = 1;
    if (wish.turn == 2) a.erase(a.begin(), a.begin() + static_cast<int64_t>(a.size() + 1) / 2);
    if (wish.turn == 3) b.clear();
  }
  const auto append = [](Sizes& shape, int64_t rows, int64_t columns, bool transposed) {
    shape.push_back(transposed ? columns : rows);
    shape.push_back(transposed ? rows : columns);
  };
  append(a, m, k, transpose_a);
  append(b, k, n, transpose_b);
  if (wish.rank == 1 && wish.turn != 2) a = {k};
  if (wish.rank == 1 && wish.turn != 1) b = {k};
  problem.inputs = {uniform_operand(claim.inputs[0], a, draw.seed()),
                    uniform_operand(claim.inputs[1], b, draw.seed())};
  problems.push_back(std::move(problem));
}

void add_gemm(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const int64_t m = draw.between(1, 33), k = draw.between(1, 33), n = draw.between(1, 33);
  Problem problem;
  problem.inputs = {uniform_operand(claim.inputs[0], {m, k}, draw.seed()),
                    uniform_operand(claim.inputs[1], {k, n}, draw.seed())};
  if (claim.inputs.size() > 2 && draw.coin()) {
    problem.inputs.push_back(uniform_operand(claim.inputs[2], {n}, draw.seed()));
  }
  problems.push_back(std::move(problem));
}

}  // namespace

void add_products(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  const std::string& name = claim.op->name;
  if (draw.has_size_request()) {
    if (name == "matmul" || name == "gemm" || name == "int8_matmul") {
      add_requested(claim, draw, problems);
    }
    return;
  }
  if (name == "matmul") add_matmul(claim, draw, problems);
  if (name == "gemm") add_gemm(claim, draw, problems);
}

}  // namespace tenon_kit
