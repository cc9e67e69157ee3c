// Base of the classes that draw programs: draws values of many kinds, and keeps calls that work on
// the device.

#pragma once

#include <set>
#include <span>

#include "conformance/checks/check.h"
#include "conformance/functions/program.h"

namespace tenon_kit::functions {

inline const std::vector<Layout> kAllLayouts(std::begin(kLayouts), std::end(kLayouts));
// Maximum number of elements of a value in a program.
inline constexpr int64_t kMaxElements = 6000;

class Drawer {
 protected:
  enum class Kind { kInput, kConstant, kResult };
  struct Drawn {
    tenon::Tensor tensor;
    Kind kind;
    bool is_number;
  };

  Drawer(const Session& device, uint64_t seed)
      : device_(device), draw_(seed), in_(device.scope()) {}

  // Draws a shape that can be broadcast to `shape`: the same, with some sizes 1, or without leading
  // axes.
  Sizes part_of(const Sizes& shape);
  Operand operand(tenon_dtype dtype, const Sizes& shape);
  // An inline scalar for an operand of dtype `partner`; many are neutral for some op.
  Operand number(tenon_dtype partner);
  void add_constants(tenon_dtype dtype, const Sizes& shape);
  Sizes some_axes(int64_t n);
  size_t put(Kind kind, const Operand& x);
  Sizes shape(size_t k) const;
  static bool is_broadcast(const Sizes& a, const Sizes& b);
  // A value of the dtype that can be broadcast with the shape, or a scalar that adopts the dtype.
  size_t like(tenon_dtype wanted, const Sizes& with);
  // Adds the step if the call works here and its results are small. Returns whether it did.
  bool add(Step step);
  // Adds a call as generated for the other levels, with its own operands.
  bool add_claim(const Claim& claim);
  // Chooses outputs: most unread values (the others are dead), and some that are read.
  Program finished();

  tenon_dtype dtype(size_t k) const { return values_[k].tensor.dtype(); }
  int64_t rank(size_t k) const { return static_cast<int64_t>(values_[k].tensor.rank()); }

  const Session& device_;
  Draw draw_;
  tenon::ScopeGuard in_;
  std::vector<Drawn> values_;
  std::vector<Operand> inputs_, constants_;
  std::vector<Step> steps_;
  std::set<std::pair<uint32_t, tenon_dtype>> refused_;
};

}  // namespace tenon_kit::functions
