// What is right for a problem: what the oracle gives, and what devices may give instead that say
// so.

#pragma once

#include "conformance/checks/check.h"

namespace tenon_kit {

// What is allowed beside the bound for each element of an output that should be `want`; empty if
// that is nothing.
Reals slacks_of(const Problem& problem, tenon_dtype dtype, Profile profile, const Sizes& shape,
                const Reals& want);

// Whether an input has one.
bool has_subnormals(const Problem& problem);

class Right {
 public:
  Right(const Environment& env, const Problem& problem);

  size_t n_outputs() const { return want_.size(); }
  const Sizes& shape(size_t output) const { return want_[output].shape; }
  Reals oracle(size_t output) const { return want_[output].values(); }

  Reals slack(size_t output, tenon_dtype dtype) const {
    return slacks_of(problem_, dtype, env_.profile, shape(output), oracle(output));
  }

  Verdict compare(size_t output, const Reals& got, tenon_dtype dtype, const Bound& bound,
                  const Reals& slack) const;

  // Whether the oracle's values can show a fault.
  bool is_telling(size_t output, tenon_dtype dtype) const;

 private:
  const Environment& env_;
  const Problem& problem_;
  std::vector<Result> want_;
  std::vector<Result> flushed_;  // With subnormal inputs taken for zeros, where that may be.
  Reals apart_;                  // fma as a product and a sum, where that may be,
  Reals flushed_apart_;          // and with subnormals taken for zeros.
};

}  // namespace tenon_kit
