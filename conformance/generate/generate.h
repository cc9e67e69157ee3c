// Generates problems for a claim: small valid calls of its op in its dtypes, with varying
// attributes and shapes. The checks derive problems with special values, layouts and sizes from
// these.

#pragma once

#include <optional>
#include <random>

#include "conformance/kit/claims.h"
#include "conformance/kit/session.h"

namespace tenon_kit {

// Requested properties of a generated problem; -1 if unspecified. The generator of the op's family
// decides to which operand and axis they apply.
struct SizeRequest {
  int64_t rank = -1;
  // Size of a relevant axis: one that is reduced, sorted, gathered from or summed over.
  int64_t size = -1;
  // Selects the axis that gets the size: 0 the first relevant axis, 1 the last, 2 a middle one. For
  // 3 and 4, the generator chooses other axes.
  int64_t turn = 0;
};
inline constexpr int64_t kTurns = 5;

// Random numbers for generators. The sequence is the same on every machine.
class Draw {
 public:
  explicit Draw(uint64_t seed, const SizeRequest& wish = {}) : engine_(seed), wish_(wish) {}

  // The requested properties of the problem.
  const SizeRequest& wish() const { return wish_; }
  // Whether a rank or a size is requested.
  bool has_size_request() const { return wish_.rank >= 0 || wish_.size >= 0; }

  // Draws an integer from [low, high].
  int64_t between(int64_t low, int64_t high) {  // Both ends are inclusive.
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  // Draws true or false with equal probability.
  bool coin() { return (engine_() & 1) != 0; }
  // Draws a seed.
  uint64_t seed() { return engine_() >> 16; }
  // Draws one of the choices.
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(between(0, static_cast<int64_t>(choices.size()) - 1))];
  }
  // Draws one of the choices, to be modified.
  template <class T>
  T& one_of(std::vector<T>& choices) {
    return choices[static_cast<size_t>(between(0, static_cast<int64_t>(choices.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
  SizeRequest wish_;
};

// Sizes at and next to the sizes of vectors and tiles.
const std::vector<int64_t>& edge_sizes();

// Draws a shape of up to `most_rank` small sizes; one of them may be an edge size. The number of
// elements stays small, so that tests are quick. A requested rank may exceed `most_rank`; for a
// requested size see `set_size`.
Sizes draw_shape(Draw& draw, int64_t min_rank, int64_t most_rank);

// Draws an axis in [0, rank), or chooses the one that the SizeRequest selects.
int64_t draw_axis(Draw& draw, int64_t rank);

// Sets the size of the axis to the requested size, if one is requested.
void set_size(const Draw& draw, Sizes& shape, int64_t axis);

// Returns a shape with `rank` axes. If the rank is large, most sizes are 1.
Sizes shape_of_rank(int64_t rank);

// The registry's cases converted to the claim's dtypes, where valid. Cases that must fail are
// excluded.
std::vector<Problem> retargeted_cases(const Claim& claim);

// Draws `n` problems with the generator of the op's family, or from resized cases if it has none.
std::vector<Problem> generate_problems(const Claim& claim, size_t n, uint64_t seed);

// Whether the call is valid: type inference accepts it and infers the claim's dtypes, and its
// indices are in range.
bool is_valid(const Problem& problem, const Claim& claim, const Session& session);

// Returns the claim's valid problems: cases converted to its dtypes, then generated problems.
std::vector<Problem> valid_problems(const Claim& claim, size_t n_generated, uint64_t seed,
                                    const Session& session);

// Whether the op has common configurations. Those with the sizes of real networks count only if
// `real` is true.
bool has_common_problems(const OpFacts& op, bool real);
// The op's common configurations that the claim's dtypes permit. Those with the sizes of real
// networks are included only if `real` is true.
std::vector<Problem> common_problems(const Claim& claim, bool real, uint64_t seed,
                                     const Session& session);

// Returns a problem that meets the request `wish`; nothing if the generator of the op's family
// cannot make a valid one.
std::optional<Problem> generate_for(const Claim& claim, const SizeRequest& wish, uint64_t seed,
                                    const Session& session);

// Returns an operand with uniformly random values: floats between -1 and 1, or small integers.
Operand uniform_operand(tenon_dtype dtype, Sizes shape, uint64_t seed);
// Returns an operand with random indices in [0, bound). If `bound` is 0, `shape` must have no
// elements.
Operand indices(tenon_dtype dtype, Sizes shape, int64_t bound, uint64_t seed);

// The generators of op families. Each adds problems of the claim's op, or nothing if the op does
// not belong to its family.
void add_elementwise(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_reductions(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_products(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_windows(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_indexing(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_movement(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_linear_algebra(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_sorting(const Claim& claim, Draw& draw, std::vector<Problem>& problems);

// Adds problems of layers and optimizer steps that meet the SizeRequest. Adds nothing without a
// request, because add_resized() then tests more.
void add_layers(const Claim& claim, Draw& draw, std::vector<Problem>& problems);

// Adds problems of ops outside all families, made from their cases.
void add_resized(const Claim& claim, Draw& draw, std::vector<Problem>& problems);

}  // namespace tenon_kit
