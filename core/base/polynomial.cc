#include "core/base/polynomial.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/base/error.h"

namespace tenon {

// Converts the value to int64. Throws if it does not fit.
int64_t narrow_to_int64(__int128 value) {
  constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
  require(value <= kMaxInt64 && value >= -kMaxInt64, "a size overflows int64");
  return static_cast<int64_t>(value);
}

namespace {

// Sums terms with the same atoms and removes terms with coefficient 0.
void normalise(Polynomial& polynomial) {
  std::sort(polynomial.begin(), polynomial.end());
  Polynomial sum;
  for (Term& term : polynomial) {
    if (!sum.empty() && sum.back().atoms == term.atoms) {
      sum.back().coefficient =
          narrow_to_int64(static_cast<__int128>(sum.back().coefficient) + term.coefficient);
    } else {
      sum.push_back(std::move(term));
    }
  }
  std::erase_if(sum, [](const Term& term) { return term.coefficient == 0; });
  polynomial = std::move(sum);
}

}  // namespace

// Returns a + factor * b.
Polynomial plus(Polynomial a, const Polynomial& b, int64_t factor) {
  for (Term term : b) {
    term.coefficient = narrow_to_int64(static_cast<__int128>(term.coefficient) * factor);
    a.push_back(std::move(term));
  }
  normalise(a);
  return a;
}

Polynomial times(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  for (const Term& x : a) {
    for (const Term& y : b) {
      Term term = x;
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(term.atoms.begin(), term.atoms.end());
      term.coefficient = narrow_to_int64(static_cast<__int128>(x.coefficient) * y.coefficient);
      product.push_back(std::move(term));
    }
  }
  normalise(product);
  return product;
}

// Returns a / b if b is one term that divides each term of a, or if b equals a; otherwise nothing.
std::optional<Polynomial> exact_quotient(const Polynomial& a, const Polynomial& b) {
  if (b.size() != 1) return a == b ? std::optional<Polynomial>({{{}, 1}}) : std::nullopt;
  Polynomial quotient;
  for (const Term& term : a) {
    if (term.coefficient % b[0].coefficient != 0) return std::nullopt;
    if (!std::includes(term.atoms.begin(), term.atoms.end(), b[0].atoms.begin(),
                       b[0].atoms.end())) {
      return std::nullopt;
    }
    Term rest{{}, term.coefficient / b[0].coefficient};
    std::set_difference(term.atoms.begin(), term.atoms.end(), b[0].atoms.begin(), b[0].atoms.end(),
                        std::back_inserter(rest.atoms));
    quotient.push_back(std::move(rest));
  }
  return quotient;
}

}  // namespace tenon
