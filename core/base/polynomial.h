// Polynomials with integer coefficients in a canonical form: equal polynomials compare equal.

#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace tenon {

// A coefficient times a product of atoms. Atoms are identified by number and sorted.
struct Term {
  std::vector<uint32_t> atoms;
  int64_t coefficient;
  friend bool operator==(const Term&, const Term&) = default;
  friend bool operator<(const Term& a, const Term& b) {
    return std::tie(a.atoms, a.coefficient) < std::tie(b.atoms, b.coefficient);
  }
};

// Sorted by atoms. Each product of atoms occurs once, and no coefficient is 0.
using Polynomial = std::vector<Term>;

// Returns a + factor * b.
Polynomial plus(Polynomial a, const Polynomial& b, int64_t factor);
// Returns a * b.
Polynomial times(const Polynomial& a, const Polynomial& b);
// Returns a / b if b is one term that divides each term of a, or if b equals a; otherwise nothing.
std::optional<Polynomial> exact_quotient(const Polynomial& a, const Polynomial& b);

// Converts the value to int64. Throws if it does not fit.
int64_t narrow_to_int64(__int128 value);

}  // namespace tenon
