// Polynomials with whole coefficients, in a form that two equal ones share.

#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace tenon {

// A product of what a polynomial is made of, by number, sorted, with its coefficient.
struct Term {
  std::vector<uint32_t> atoms;
  int64_t coefficient;
  friend bool operator==(const Term&, const Term&) = default;
  friend bool operator<(const Term& a, const Term& b) {
    return std::tie(a.atoms, a.coefficient) < std::tie(b.atoms, b.coefficient);
  }
};

// Sorted by atoms, each product of them once; no coefficient is 0.
using Polynomial = std::vector<Term>;

// a + factor * b.
Polynomial plus(Polynomial a, const Polynomial& b, int64_t factor);
Polynomial times(const Polynomial& a, const Polynomial& b);
// a / b where b is one term that divides each of a's, or is a; nothing otherwise.
std::optional<Polynomial> exact_quotient(const Polynomial& a, const Polynomial& b);

// The value, or an error if an int64 does not hold it.
int64_t checked(__int128 value);

}  // namespace tenon
