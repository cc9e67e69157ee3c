// The evaluation plan of an einsum equation for operands of given shapes: what to sum, and the
// order of products. einsum.cc lists the constraints.

#pragma once

#include <string>
#include <vector>

#include "core/ops/definition/formulas.h"

namespace tenon {

// Axis labels, one character for each: a letter, or for an axis under "..." a number below
// kMaxRank, counted from the last one.
using Labels = std::string;

struct EinsumPlan {
  // A product of two terms. It replaces them, at the end of the list.
  struct Product {
    size_t left = 0, right = 0;  // left < right
    Labels result;
  };

  std::vector<Labels> terms;  // A label for each axis of each operand; labels may repeat.
  std::vector<Labels> kept;   // Labels of each operand that remain for products, each once.
  Labels output;
  std::vector<Product> products;
  Size sizes[128];  // Indexed by label.

  // Throws an error if the equation is invalid, by itself or for these shapes.
  EinsumPlan(const std::string& equation, const std::vector<Dims>& shapes);

  Dims shape_of(const Labels& labels) const;

 private:
  void choose_products(const std::string& equation);
};

inline bool contains(const Labels& labels, char label) {
  return labels.find(label) != Labels::npos;
}

}  // namespace tenon
