// The plan for evaluating an einsum equation on operands of given shapes: the axes to sum over, and
// the order of products. einsum.cc lists the constraints.

#pragma once

#include <string>
#include <vector>

#include "core/ops/definition/formulas.h"

namespace tenon {

// Axis labels, one character per axis. A label is a letter or, for an axis under "...", a number
// below kMaxRank: the index of the axis within "...", counted from its last axis.
using Labels = std::string;

struct EinsumPlan {
  // A product of two terms. Both terms are removed from the list of terms, and the result is
  // appended to it.
  struct Product {
    size_t left = 0, right = 0;  // left < right
    Labels result;
  };

  std::vector<Labels> terms;  // The labels of the axes of each operand; may repeat.
  std::vector<Labels> kept;   // The labels of each operand after summation, without duplicates.
  Labels output;
  std::vector<Product> products;
  Size sizes[128];  // Size of the axes with each label; indexed by label.

  // Throws an error if the equation is invalid, or does not match the shapes.
  EinsumPlan(const std::string& equation, const std::vector<Dims>& shapes);

  // Returns the shape of a tensor with these labels.
  Dims shape_of(const Labels& labels) const;

 private:
  // Chooses the order of the products, and adds them to the plan.
  void choose_products(const std::string& equation);
};

// Returns whether `label` is one of `labels`.
inline bool contains(const Labels& labels, char label) {
  return labels.find(label) != Labels::npos;
}

}  // namespace tenon
