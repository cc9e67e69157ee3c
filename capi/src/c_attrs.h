// The attributes of one call, on the stack.

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

// Returns the built-in or custom op with the given number. Throws NOT_FOUND.
const OpDef& find_op(const Context& context, uint32_t op);

class CallAttrs {
 public:
  // `given` is the op's C struct, or NULL for the defaults.
  CallAttrs(const OpDef& op, const void* given);
  ~CallAttrs() {
    if (type_) type_->destroy(bytes_);
  }
  CallAttrs(const CallAttrs&) = delete;

  AnyAttrs view() const { return {type_, bytes_}; }

  // Replaces size attributes by the values of tensors.
  void set_sizes(Scope& scope, const OpDef& op, std::span<const tenon_size_argument> sizes);

 private:
  void read(const OpDef& op, const void* given);

  const AttrsType* type_ =
      nullptr;  // NULL if the op has no attributes, or before they are constructed.
  alignas(std::max_align_t) std::byte bytes_[1024];
};

inline CallAttrs::CallAttrs(const OpDef& op, const void* given) {
  if (op.attrs->size != 0 || given) [[unlikely]]
    read(op, given);
}

}  // namespace tenon::capi
