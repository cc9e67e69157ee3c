// Problems for a claim: small valid calls of its op in its dtypes, with attributes and shapes of
// many kinds. What the checks ask for beyond that, special values, layouts, sizes, they make from
// these.

#pragma once

#include <optional>
#include <random>

#include "conformance/kit/claims.h"
#include "conformance/kit/session.h"

namespace tenon_kit {

// What a problem is asked to have; -1 asks for nothing. The generator of a family knows which
// operand and which axis that is about.
struct Wish {
  int64_t rank = -1;
  int64_t size = -1;  // Along an axis that matters: reduced, sorted, gathered from, summed over.
  int64_t turn = 0;   // Which of such axes: 0 the first, 1 the last, 2 one between, 3 and 4 others.
};
inline constexpr int64_t kTurns = 5;

// Draws for generators; the same on every machine.
class Draw {
 public:
  explicit Draw(uint64_t seed, const Wish& wish = {}) : engine_(seed), wish_(wish) {}

  const Wish& wish() const { return wish_; }
  bool is_asked() const { return wish_.rank >= 0 || wish_.size >= 0; }

  int64_t between(int64_t low, int64_t high) {  // Both may be drawn.
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  bool coin() { return (engine_() & 1) != 0; }
  uint64_t seed() { return engine_() >> 16; }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(between(0, static_cast<int64_t>(choices.size()) - 1))];
  }
  template <class T>
  T& one_of(std::vector<T>& choices) {
    return choices[static_cast<size_t>(between(0, static_cast<int64_t>(choices.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
  Wish wish_;
};

// The sizes at which vectors and tiles begin and end.
const std::vector<int64_t>& edge_sizes();

// Up to `most_rank` small sizes, and perhaps an edge size in place of one of them. Few elements all
// the same: what is tried often must be quick. A rank that is asked for may be larger; for a size
// that is asked for see `set_size`.
Sizes draw_shape(Draw& draw, int64_t least_rank, int64_t most_rank);

// An axis of so many, from the front.
int64_t draw_axis(Draw& draw, int64_t rank);

// The size that is asked for, if one is, along the axis.
void set_size(const Draw& draw, Sizes& shape, int64_t axis);

// So many sizes, few of which are not 1 if the rank is large.
Sizes shape_of_rank(int64_t rank);

// The registry's cases that make sense in the claim's dtypes, without those that must fail.
std::vector<Problem> retargeted_cases(const Claim& claim);

// Those of a family's generator, if the op is of one: `n` of them, drawn with the seed.
std::vector<Problem> generated(const Claim& claim, size_t n, uint64_t seed);

// Whether the call is one to make: inference takes it, it gives the claim's dtypes, and its indices
// are in their range.
bool is_valid(const Problem& problem, const Claim& claim, const Session& session);

// All of both that are valid.
std::vector<Problem> valid_problems(const Claim& claim, size_t n_generated, uint64_t seed,
                                    const Session& session);

// The problem that the op's generator makes for the wish, if it is valid and has it.
std::optional<Problem> wished(const Claim& claim, const Wish& wish, uint64_t seed,
                              const Session& session);

// An operand of a claim's dtype with numbers between -1 and 1, or small whole ones.
Operand plain(tenon_dtype dtype, Sizes shape, uint64_t seed);
// With indices in [0, bound); there must be none if the bound is 0.
Operand indices(tenon_dtype dtype, Sizes shape, int64_t bound, uint64_t seed);

// The generators of families; each adds nothing for an op that is not of its family.
void add_elementwise(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_reductions(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_products(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_windows(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_indexing(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_movement(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_linear_algebra(const Claim& claim, Draw& draw, std::vector<Problem>& problems);
void add_sorting(const Claim& claim, Draw& draw, std::vector<Problem>& problems);

// Layers and optimizers: what they are asked for only. Else their cases in other sizes show more.
void add_layers(const Claim& claim, Draw& draw, std::vector<Problem>& problems);

// For ops of no family.
void add_resized(const Claim& claim, Draw& draw, std::vector<Problem>& problems);

}  // namespace tenon_kit
