// Tensors shared with other libraries, without a copy, as DLPack lays them out.

#pragma once

#include <memory>
#include <tenon/tensor.hpp>

namespace tenon {

struct EndLoan {
  void operator()(tenon_dlpack* loan) const {
    if (loan->deleter) loan->deleter(loan);
  }
};

// A loan, which ends with its owner. release() hands it to a library that ends it.
using Dlpack = std::unique_ptr<tenon_dlpack, EndLoan>;

// Lends a tensor that lies where the host sees it; to be read only.
inline Dlpack to_dlpack(const Tensor& x, SourceLocation at = here()) {
  tenon_dlpack* loan = nullptr;
  check(tenon_tensor_to_dlpack(current_scope(at), x.get(), nullptr, &loan), at);
  return Dlpack(loan);
}

// A tensor of what another library lends, which must not be written until the loan ends: with the
// tensor's last owner, or at once if it is copied.
inline Tensor from_dlpack(Dlpack loan, bool copy = false, SourceLocation at = here()) {
  tenon_tensor* tensor = nullptr;
  check(tenon_tensor_from_dlpack(current_scope(at), loan.release(), nullptr, copy, &tensor), at);
  return Tensor::adopt(tensor);
}

}  // namespace tenon
