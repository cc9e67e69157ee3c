// Computes which results of a problem are valid: the oracle's, and alternatives that the declared
// features of a device permit.

#pragma once

#include "conformance/checks/check.h"

namespace tenon_kit {

// The additional error allowed for each element of an output with expected values `want`. Empty if
// no additional error is allowed.
Reals slacks_of(const Problem& problem, tenon_dtype dtype, Profile profile, const Sizes& shape,
                const Reals& want);

// Whether an input has subnormal values.
bool has_subnormals(const Problem& problem);

class ValidResults {
 public:
  ValidResults(const Environment& env, const Problem& problem);

  size_t n_outputs() const { return want_.size(); }
  const Sizes& shape(size_t output) const { return want_[output].shape; }
  // Returns the oracle's values of output `output`.
  Reals oracle(size_t output) const { return want_[output].values(); }
  // The additional error allowed for each element (slacks_of).
  Reals slack(size_t output, tenon_dtype dtype) const {
    return slacks_of(problem_, dtype, env_.profile, shape(output), oracle(output));
  }

  // Compares each element of output `output` with all of its valid results.
  Verdict compare(size_t output, const Reals& got, tenon_dtype dtype, const Bound& bound,
                  const Reals& slack) const;

  // Whether the oracle's values could reveal a fault.
  bool can_reveal_fault(size_t output, tenon_dtype dtype) const;

 private:
  const Environment& env_;
  const Problem& problem_;
  std::vector<Result> want_;
  std::vector<Result> flushed_;  // Results with subnormal inputs flushed to zero, if permitted.
  Reals apart_;                  // Results of an fma with a rounded product, if permitted.
  Reals flushed_apart_;          // Like apart_, with subnormals flushed to zero.
};

}  // namespace tenon_kit
