// Zero-copy exchange of tensors with other libraries through DLPack.

#pragma once

#include <memory>
#include <tenon/tensor.hpp>

namespace tenon {

struct DlpackDeleter {
  // Calls the deleter of a DLPack tensor, if it has one.
  void operator()(tenon_dlpack* loan) const {
    if (loan->deleter) loan->deleter(loan);
  }
};

// An exported or imported DLPack tensor, whose destructor calls the deleter. After release(), the
// library that received the pointer must call the deleter.
using Dlpack = std::unique_ptr<tenon_dlpack, DlpackDeleter>;

// Exports a tensor whose memory the host can access. The importer must not write to it.
inline Dlpack to_dlpack(const Tensor& x, SourceLocation at = here()) {
  tenon_dlpack* loan = nullptr;
  check(tenon_tensor_to_dlpack(current_scope(at), x.get(), nullptr, &loan), at);
  return Dlpack(loan);
}

// Imports a tensor from another library. Nobody may write to the memory until its DLPack deleter
// runs. If `copy` is true, the deleter runs before this function returns; otherwise, when the last
// reference to the result is released.
inline Tensor from_dlpack(Dlpack loan, bool copy = false, SourceLocation at = here()) {
  tenon_tensor* tensor = nullptr;
  check(tenon_tensor_from_dlpack(current_scope(at), loan.release(), nullptr, copy, &tensor), at);
  return Tensor::adopt(tensor);
}

}  // namespace tenon
