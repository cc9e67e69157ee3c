// Reductions in shaders. Reduction kernels and loops over rows use the same order, so that both
// return the same bits.
//
// A short row is reduced by one invocation, from the first element to the last. A longer one is
// reduced by a group: invocation t takes elements t, t + kLocalSize, ..., and the partial results
// are joined as a tree. The algorithm depends only on the row's length. An invocation reduces its
// elements in runs of kRun elements and then joins the results of the runs, which limits the
// rounding error of long sums.

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {

inline constexpr uint32_t kRun = 1024;

// Returns the maximum length of a row that one invocation reduces. On software drivers it is large,
// because barriers are slow. It is limited there because a fused loop iterates over a row up to
// four times and some drivers end the loops of an invocation after 65,535 iterations.
inline int64_t longest_short_row(const Capabilities& capabilities) {
  return capabilities.runs_on_host ? 4096 : 32;
}

// One of the reductions sum, prod, max, min, argmax and argmin.
class Reduction {
 public:
  Reduction(uint32_t op, tenon_dtype dtype);

  // A partial result: an element, and for argmax and argmin its index.
  struct Partial {
    spirv::Element value;
    spirv::U32 index;
  };

  // Whether the reduction is argmax or argmin.
  bool is_search() const { return is_search_; }
  // Returns the identity element. For argmax and argmin its index is past the end.
  Partial identity(spirv::Code& code) const;
  // Returns the partial result of one element.
  Partial make_partial(const spirv::Element& x, spirv::U32 index) const;
  // Joins two partial results. `b` consists of later elements than `a`.
  Partial join(const Partial& a, const Partial& b) const;
  // Returns the final value in the dtype of the op's result.
  spirv::Element result(const Partial& partial) const;

 private:
  uint32_t op_;
  tenon_dtype dtype_, wide_;
  bool is_search_;
};

// A mutable partial result.
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

// Emits code by which an invocation reduces the elements begin, begin + step, ... below `end` in
// runs. `body` joins element `i` to the partial results of the current run, one for each reduction.
// Returns the partial results of all elements.
std::vector<Reduction::Partial> reduce_in_runs(
    spirv::Code& code, std::span<const Reduction* const> reductions, spirv::U32 begin,
    spirv::U32 end, spirv::U32 step,
    const std::function<void(spirv::U32 i, std::span<const PartialVar> run)>& body);
// Returns the maximum number of loop iterations of an invocation in reduce_in_runs() for a row of
// `n` elements. A group reduces the row if `by_groups`, otherwise one invocation does. `each`:
// number of iterations of `body` per element.
inline uint64_t iterations_of_runs(bool by_groups, int64_t n, uint64_t each = 1) {
  const auto own = static_cast<uint64_t>(by_groups ? n / kLocalSize + 1 : n);
  return own * each + own / kRun + 1;
}

// Partial results in shared memory.
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

// Joins the partial results of a group's invocations; all of them receive the result.
class GroupReduction {
 public:
  GroupReduction(spirv::Code& code, const Reduction& reduction)
      : code_(code), reduction_(reduction), shared_(code, reduction, code.local_size()) {}
  // Returns the result for the whole group. `own`: the partial result of this invocation.
  Reduction::Partial reduce_group(const Reduction::Partial& own) const;

 private:
  spirv::Code& code_;
  const Reduction& reduction_;
  const SharedPartials shared_;
};

}  // namespace tenon_vulkan
