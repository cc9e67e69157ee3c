// Converts the attributes of one call from the op's C struct. They are stored on the stack.

#pragma once

#include <tenon/call.h>

#include <cstddef>
#include <span>

#include "core/base/attrs.h"
#include "core/ops/definition/op.h"

namespace tenon {
class Context;
class Scope;
}  // namespace tenon

namespace tenon::capi {

// Returns the built-in or custom op with the given number. Throws NOT_FOUND if there is none.
const OpDef& find_op(const Context& context, uint32_t op);

class CallAttrs {
 public:
  // Converts the C struct of attributes that `given` points to. If `given` is NULL, all attributes
  // have their defaults.
  CallAttrs(const OpDef& op, const void* given);
  ~CallAttrs() {
    if (type_) type_->destroy(bytes_);
  }
  CallAttrs(const CallAttrs&) = delete;

  // Returns a reference to the converted attributes, valid as long as this object.
  AnyAttrs view() const { return {type_, bytes_}; }

  // Sets size attributes to the values of the given tensors.
  void set_sizes(Scope& scope, const OpDef& op, std::span<const tenon_size_argument> sizes);

 private:
  // Constructs the attributes in `bytes_` from the C struct that `given` points to.
  void read(const OpDef& op, const void* given);

  const AttrsType* type_ =
      nullptr;  // NULL if the op has no attributes, or until they are constructed in `bytes_`.
  alignas(std::max_align_t) std::byte bytes_[1024];
};

inline CallAttrs::CallAttrs(const OpDef& op, const void* given) {
  if (op.attrs->size != 0 || given) [[unlikely]]
    read(op, given);
}

}  // namespace tenon::capi
