// What draws programs: values of many kinds, and calls of them that work on the device.

#pragma once

#include <set>
#include <span>

#include "conformance/checks/check.h"
#include "conformance/functions/program.h"

namespace tenon_kit::functions {

inline const std::vector<Layout> kAllLayouts(std::begin(kLayouts), std::end(kLayouts));
// A program has no larger values.
inline constexpr int64_t kMostElements = 6000;

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

  // What is broadcast to the shape: it itself, some axes of it of one element, or its last ones.
  Sizes part_of(const Sizes& shape);
  Operand operand(tenon_dtype dtype, const Sizes& shape);
  // An inline scalar for partners of a dtype; many are neutral for some op.
  Operand number(tenon_dtype partner);
  void add_constants(tenon_dtype dtype, const Sizes& shape);
  Sizes some_axes(int64_t n);
  size_t put(Kind kind, const Operand& x);
  Sizes shape(size_t k) const;
  static bool is_broadcast(const Sizes& a, const Sizes& b);
  // Something of the dtype that is broadcast with the shape, or a number that takes the dtype.
  size_t like(tenon_dtype wanted, const Sizes& with);
  // Whether the call works here and gives no more than is quickly looked at.
  bool add(Step step);
  // A call as the other levels make it, with operands of its own.
  bool add_claim(const Claim& claim);
  // What nobody reads is an output or, rarely, dead; some of the rest are outputs, too.
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
