// Base class of the classes that draw programs. Draws values, and keeps only calls that work on the
// device.

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
  Sizes draw_broadcastable_shape(const Sizes& shape);
  // Draws an operand with any layout, of special or ordinary values.
  Operand draw_operand(tenon_dtype dtype, const Sizes& shape);
  // Draws an inline scalar for an operand of dtype `partner`. Many of them are the neutral element
  // of some op.
  Operand draw_scalar(tenon_dtype partner);
  // Adds two scalars and an operand that can be broadcast to `shape`, as constants.
  void add_constants(tenon_dtype dtype, const Sizes& shape);
  // Draws some of `n` axes; about half of them count from the end.
  Sizes draw_axes(int64_t n);
  // Adds an input or a constant to the program. Returns the index of its value.
  size_t add_value(Kind kind, const Operand& x);
  // Returns the shape of value `k`.
  Sizes shape(size_t k) const;
  // Whether the two shapes can be broadcast with each other.
  static bool can_broadcast(const Sizes& a, const Sizes& b);
  // Returns the index of an operand for a call: a value of dtype `wanted` that can be broadcast
  // with shape `with`, or a scalar that adopts that dtype. Adds a constant if there is no such
  // tensor.
  size_t choose_value(tenon_dtype wanted, const Sizes& with);
  // Adds the step if the call works on the device and its results are small. Returns whether it was
  // added.
  bool add(Step step);
  // Adds a call of the claim on new operands, which are generated as for the checks of single ops
  // (generate/). Returns whether it was added.
  bool add_claim(const Claim& claim);
  // Chooses the outputs and returns the program. The outputs are most of the values that no step
  // reads, so that a few steps are dead, and some values that steps read.
  Program make_program();

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
