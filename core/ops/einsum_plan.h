// What an einsum's equation means for operands of given shapes: what it sums, in which order of
// products. einsum.cc says what is allowed.

#pragma once

#include <string>
#include <vector>

#include "core/ops/formulas.h"

namespace tenon {

// Axes, one character for each: a letter, or a number below kMaxRank for an axis under "...",
// counted from the last one.
using Labels = std::string;

struct EinsumPlan {
  // Two of the terms, which are replaced by their product at the end of the list.
  struct Product {
    size_t left = 0, right = 0;  // left < right
    Labels result;
  };

  std::vector<Labels> terms;  // A label for each axis of each operand; one may be there twice.
  std::vector<Labels> kept;   // Those of an operand that are left for products, each once.
  Labels output;
  std::vector<Product> products;
  Size sizes[128];  // Of each label.

  // Throws what is wrong with the equation, alone or with these shapes.
  EinsumPlan(const std::string& equation, const std::vector<Dims>& shapes);

  Dims shape_of(const Labels& labels) const;

 private:
  void choose_products(const std::string& equation);
};

inline bool contains(const Labels& labels, char label) {
  return labels.find(label) != Labels::npos;
}

}  // namespace tenon
