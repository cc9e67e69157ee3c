// How elements come down to one, in shaders: by kernels of reductions and by loops over rows, in
// the same order, so that both give the same bits.
//
// A row of at most kShortRow elements is one invocation's, from the first to the last. A longer one
// is a group's: invocation t takes elements t, t + kLocalSize, ... one after the other, and what
// the invocations have is joined as a tree. Which it is depends on the row's length alone.

#pragma once

#include <optional>

#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {

inline constexpr uint32_t kShortRow = 32;

// sum, prod, max, min, argmax and argmin.
class Reduction {
 public:
  Reduction(uint32_t op, tenon_dtype dtype);

  // What it is on the way: an element, and of a search which one it is.
  struct Partial {
    spirv::Element value;
    spirv::U32 index;
  };

  bool is_search() const { return is_search_; }
  // Before any element was met. A search's index is then beyond all.
  Partial identity(spirv::Code& code) const;
  Partial partial(const spirv::Element& x, spirv::U32 index) const;
  // `b` comes behind `a`.
  Partial join(const Partial& a, const Partial& b) const;
  // In the dtype of the op's result.
  spirv::Element result(const Partial& partial) const;

 private:
  uint32_t op_;
  tenon_dtype dtype_, wide_;
  bool is_search_;
};

// A partial that changes.
class PartialVar {
 public:
  PartialVar(const Reduction& reduction, spirv::Code& code)
      : PartialVar(reduction.identity(code)) {}
  Reduction::Partial get() const { return {value_.get(), index_.get()}; }
  void set(const Reduction::Partial& partial) const {
    value_.set(partial.value);
    index_.set(partial.index);
  }

 private:
  explicit PartialVar(const Reduction::Partial& initial)
      : value_(initial.value), index_(initial.value.code().var(initial.index)) {}
  spirv::ElementVar value_;
  spirv::Var<spirv::U32> index_;
};

// Partials that the invocations of a group share.
class SharedPartials {
 public:
  SharedPartials(spirv::Code& code, const Reduction& reduction, uint32_t n)
      : values_(code, reduction.identity(code).value.dtype(), n) {
    if (reduction.is_search()) indices_ = code.shared<spirv::U32>(n);
  }
  Reduction::Partial get(spirv::U32 at) const {
    return {values_.get(at), indices_ ? indices_->get(at) : at};
  }
  void set(spirv::U32 at, const Reduction::Partial& partial) const {
    values_.set(at, partial.value);
    if (indices_) indices_->set(at, partial.index);
  }

 private:
  const spirv::SharedElements values_;
  std::optional<spirv::Shared<spirv::U32>> indices_;
};

// Joins what a group's invocations have; all of them get the result.
class GroupReduction {
 public:
  GroupReduction(spirv::Code& code, const Reduction& reduction)
      : code_(code), reduction_(reduction), shared_(code, reduction, code.local_size()) {}
  Reduction::Partial across(const Reduction::Partial& own) const;

 private:
  spirv::Code& code_;
  const Reduction& reduction_;
  const SharedPartials shared_;
};

}  // namespace tenon_vulkan
