#include "core/tensor/tensor.h"

namespace tenon {

template class SmallVector<Tensor, 3>;

// Assigns an identity if the tensor has none, and returns it.
uint64_t TensorImpl::assign_identity() const {
  static std::atomic<uint64_t> next{1};
  uint64_t identity = identity_.load(std::memory_order_acquire);
  if (identity != 0) return identity;
  // If two threads race, both return the identity of the first.
  const uint64_t fresh = next.fetch_add(1, std::memory_order_relaxed);
  return identity_.compare_exchange_strong(identity, fresh, std::memory_order_acq_rel) ? fresh
                                                                                       : identity;
}

}  // namespace tenon
