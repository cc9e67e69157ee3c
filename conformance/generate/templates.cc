// Converts the registry's cases to other dtypes, and collects and filters generated problems.

#include <algorithm>

#include "conformance/generate/generate.h"

namespace tenon_kit {
namespace {

// Returns the claim's dtype for input `i`. All variadic inputs have the last input dtype of the
// claim.
tenon_dtype dtype_of_input(const Claim& claim, size_t i) {
  if (claim.inputs.empty()) return TENON_DTYPE_NONE;
  return claim.inputs[std::min(i, claim.inputs.size() - 1)];
}

// Sets the operand's dtype to `dtype`. Returns false if its values are not meaningful in that
// dtype.
bool retarget(Operand& x, tenon_dtype dtype) {
  if (x.absent || x.dtype == dtype) return true;
  const tenon_dtype before = x.dtype;
  x.dtype = dtype;
  x.scalar = false;  // A scalar would adopt another operand's dtype.
  if (x.fill.kind == Fill::Kind::kValues) {
    return std::all_of(x.fill.values.begin(), x.fill.values.end(), [&](Real v) {
      const bool inside = real_is_finite(v) || is_float(dtype);
      return inside && (real_is_nan(v) || rounded(v, dtype) == v);
    });
  }
  if (is_float(dtype)) return true;
  if (is_bool(dtype)) {
    x.fill.low = 0;
    x.fill.high = 2;
  } else if (is_float(before)) {
    const bool positive = x.fill.low >= 0 || !is_signed(dtype);
    x.fill.low = positive ? 1 : -8;
    x.fill.high = 8;
  } else if (!is_signed(dtype) && x.fill.low < 0) {
    x.fill.low = 0;
  }
  return x.fill.low < x.fill.high;
}

// Sets attributes whose value is a dtype to the dtype of the claim's output.
void retarget_attrs(Problem& problem, const Claim& claim) {
  for (const AttrFacts& attr : problem.op->attrs) {
    if (attr.type != "dtype" || claim.outputs.empty()) continue;
    problem.attrs[attr.name] = name_of(claim.outputs[0]);
  }
}

// Returns a seed that depends on `seed` and on the op, so that different ops draw different
// problems.
uint64_t mix_seed(const Claim& claim, uint64_t seed) {
  return seed ^ (uint64_t{claim.op->id} << 32);
}

// Adds problems by the generator of the op's family; nothing if the op belongs to no family.
void add_problems_of_family(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  add_elementwise(claim, draw, problems);
  add_reductions(claim, draw, problems);
  add_products(claim, draw, problems);
  add_windows(claim, draw, problems);
  add_indexing(claim, draw, problems);
  add_movement(claim, draw, problems);
  add_linear_algebra(claim, draw, problems);
  add_sorting(claim, draw, problems);
  add_layers(claim, draw, problems);
}

// Whether an operand, or the shape of a created tensor, has the requested rank or size.
bool meets_request(const Problem& problem, const SizeRequest& wish) {
  const auto fits = [&](const Sizes& shape) {
    if (wish.rank >= 0) return static_cast<int64_t>(shape.size()) == wish.rank;
    return std::find(shape.begin(), shape.end(), wish.size) != shape.end();
  };
  const AttrValue* const made = problem.attrs.find("shape");
  return (made && fits(made->list())) ||
         std::any_of(problem.inputs.begin(), problem.inputs.end(),
                     [&](const Operand& x) { return !x.absent && !x.scalar && fits(x.shape); });
}

}  // namespace

const std::vector<int64_t>& edge_sizes() {
  static const std::vector<int64_t> sizes = {0,   1,   2,   3,   7,   8,    15,   16,
                                             17,  31,  32,  33,  63,  64,   65,   127,
                                             128, 129, 255, 256, 257, 1023, 1025, 4099};
  return sizes;
}

Sizes shape_of_rank(int64_t rank) {
  Sizes shape(static_cast<size_t>(rank), rank > 8 ? 1 : 2);
  if (rank > 8) {
    shape.front() = shape[shape.size() / 2] = shape.back() = 2;
  } else if (rank > 1) {
    shape[shape.size() / 2] = 3;
  }
  return shape;
}

int64_t draw_axis(Draw& draw, int64_t rank) {
  if (rank == 0) return 0;
  if (!draw.has_size_request()) return draw.between(0, rank - 1);
  const int64_t axes[] = {0, rank - 1, rank / 2};
  return axes[draw.wish().turn % 3];
}

void set_size(const Draw& draw, Sizes& shape, int64_t axis) {
  const int64_t size = draw.wish().size;
  if (size < 0 || shape.empty()) return;
  for (int64_t& other : shape) other = std::min<int64_t>(other, size < 70 ? 3 : size < 300 ? 2 : 1);
  shape[static_cast<size_t>(axis)] = size;
}

Sizes draw_shape(Draw& draw, int64_t min_rank, int64_t most_rank) {
  if (draw.wish().rank >= 0) return shape_of_rank(std::max(min_rank, draw.wish().rank));
  if (draw.wish().size >= 0) {
    return Sizes(static_cast<size_t>(std::clamp<int64_t>(2, min_rank, most_rank)), 3);
  }
  Sizes shape;
  const int64_t rank = draw.between(min_rank, most_rank);
  for (int64_t i = 0; i < rank; ++i) shape.push_back(draw.between(1, 7));
  if (rank > 0 && draw.coin()) {
    int64_t& size = draw.one_of(shape);
    size = draw.one_of(edge_sizes());
    for (int64_t& other : shape) {
      if (&other != &size && size > 257) other = draw.between(1, 2);
    }
  }
  return shape;
}

// Returns an operand with uniformly random values.
Operand uniform_operand(tenon_dtype dtype, Sizes shape, uint64_t seed) {
  Operand x;
  x.dtype = dtype;
  x.shape = std::move(shape);
  x.fill.kind = Fill::Kind::kUniform;
  x.fill.seed = seed;
  if (is_bool(dtype)) {
    x.fill.low = 0;
    x.fill.high = 2;
  } else if (is_integer(dtype)) {
    x.fill.low = is_signed(dtype) ? -8 : 1;
    x.fill.high = 9;
  }
  return x;
}

// Returns an operand with random indices in [0, bound).
Operand indices(tenon_dtype dtype, Sizes shape, int64_t bound, uint64_t seed) {
  Operand x = uniform_operand(dtype, std::move(shape), seed);
  x.fill.low = 0;
  x.fill.high = static_cast<double>(bound);
  return x;
}

std::vector<Problem> retargeted_cases(const Claim& claim) {
  std::vector<Problem> problems;
  for (Problem problem : registry_cases(*claim.op)) {
    if (!problem.error.empty()) continue;
    bool fits = true, same = true;
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      Operand& x = problem.inputs[i];
      const tenon_dtype dtype = dtype_of_input(claim, i);
      same = same && (x.absent || x.dtype == dtype);
      problem.was_whole |= !x.absent && !is_float(x.dtype) && is_float(dtype);
      fits = fits && retarget(x, dtype);
    }
    // A scalar adopts the dtype of the tensors. If it must have another dtype, it becomes a tensor.
    for (Operand& x : problem.inputs) {
      for (const Operand& other : problem.inputs) {
        if (!other.absent && !other.scalar && is_float(other.dtype) && other.dtype != x.dtype) {
          x.scalar = x.scalar && !is_float(x.dtype);
        }
      }
    }
    for (const Operand& y : problem.expected) {
      const size_t i = static_cast<size_t>(&y - problem.expected.data());
      same = same && i < claim.outputs.size() && y.dtype == claim.outputs[i];
    }
    if (!fits) continue;
    if (!same) {
      problem.expected.clear();
      problem.rtol = problem.atol = -1;
      retarget_attrs(problem, claim);
    }
    problems.push_back(std::move(problem));
  }
  return problems;
}

bool is_valid(const Problem& problem, const Claim& claim, const Session& session) {
  try {
    const auto types = session.infer(problem);
    for (size_t i = 0; i < types.size() && !claim.outputs.empty(); ++i) {
      if (types[i].first != claim.outputs[std::min(i, claim.outputs.size() - 1)]) return false;
    }
    // Type inference does not check index values, so the call must run.
    if (!claim.op->index_rule.empty()) session.run(problem);
    return true;
  } catch (const tenon::Error&) {
    return false;
  }
}

std::vector<Problem> generate_problems(const Claim& claim, size_t n, uint64_t seed) {
  Draw draw(mix_seed(claim, seed));
  std::vector<Problem> problems;
  size_t before = 1;
  while (problems.size() < n && problems.size() != before) {
    before = problems.size();
    add_problems_of_family(claim, draw, problems);
  }
  // Some resized cases are invalid, so try more of them.
  for (size_t i = 0; problems.size() < n && i < 3 * n; ++i) add_resized(claim, draw, problems);
  for (Problem& problem : problems) {
    problem.op = claim.op;
    retarget_attrs(problem, claim);
  }
  return problems;
}

std::optional<Problem> generate_for(const Claim& claim, const SizeRequest& wish, uint64_t seed,
                                    const Session& session) {
  Draw draw(mix_seed(claim, seed) + static_cast<uint64_t>(wish.turn), wish);
  std::vector<Problem> problems;
  add_problems_of_family(claim, draw, problems);
  if (problems.empty()) add_resized(claim, draw, problems);
  for (Problem& problem : problems) {
    problem.op = claim.op;
    retarget_attrs(problem, claim);
    if (meets_request(problem, wish) && is_valid(problem, claim, session))
      return std::move(problem);
  }
  return std::nullopt;
}

std::vector<Problem> valid_problems(const Claim& claim, size_t n_generated, uint64_t seed,
                                    const Session& session) {
  std::vector<Problem> problems = retargeted_cases(claim);
  for (Problem& more : generate_problems(claim, n_generated, seed))
    problems.push_back(std::move(more));
  std::erase_if(problems, [&](const Problem& p) { return !is_valid(p, claim, session); });
  return problems;
}

}  // namespace tenon_kit
