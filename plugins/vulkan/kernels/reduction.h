// How elements come down to one, in shaders: by kernels of reductions and by loops over rows, in
// the same order, so that both give the same bits.
//
// A short row is one invocation's, from the first element to the last. A longer one is a group's:
// invocation t takes elements t, t + kLocalSize, ..., and what the invocations have is joined as a
// tree. Which it is depends on the row's length alone. An invocation takes its elements in runs, of
// which each comes down by itself, so that the error of a sum grows no further than a run is long.

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {

inline constexpr uint32_t kRun = 1024;

// The host's processor waits long at each barrier of a group. A loop goes over a row four times,
// and some drivers end an invocation's loops behind 65,535 iterations.
inline int64_t longest_short_row(const Capabilities& capabilities) {
  return capabilities.runs_on_host ? 4096 : 32;
}

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

// What an invocation has of elements begin, begin + step, ... below end, for each reduction. `body`
// joins an element to the partials of its run.
std::vector<Reduction::Partial> over_runs(
    spirv::Code& code, std::span<const Reduction* const> reductions, spirv::U32 begin,
    spirv::U32 end, spirv::U32 step,
    const std::function<void(spirv::U32 i, std::span<const PartialVar> run)>& body);
// How many iterations that is at most along so many elements, which an invocation has or a group,
// and of which each takes so many.
inline uint64_t iterations_of_runs(bool by_groups, int64_t n, uint64_t each = 1) {
  const auto own = static_cast<uint64_t>(by_groups ? n / kLocalSize + 1 : n);
  return own * each + own / kRun + 1;
}

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
