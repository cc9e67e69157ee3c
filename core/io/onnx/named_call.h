// Calls ops by name, with named attributes, for tables that map ops of other formats.

#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/ops/definition/op.h"

namespace tenon::onnx {

// A value for an attribute of any kind. An enumeration accepts the name of a value in either case,
// a bool accepts a number, a dtype also its number in ONNX. Sizes are converted to numbers if the
// op takes numbers.
using AttrValue = std::variant<int64_t, double, std::string, Ints, DType, Size, Sizes>;

struct NamedAttr {
  std::string_view name;
  AttrValue value;
};

// The attributes of an op, initialised to its defaults.
class NamedAttrs {
 public:
  explicit NamedAttrs(const OpDef& op);

  bool has(std::string_view name) const;
  // Throws INVALID_ARGUMENT if the op has no such attribute, or if the value is of another kind.
  void set(std::string_view name, const AttrValue& value);
  AnyAttrs view() const { return {op_.attrs, attrs_.view().data}; }

 private:
  const OpDef& op_;
  OwnedAttrs attrs_;
};

// Calls an op in the current scope. Throws UNIMPLEMENTED if there is no op of that name.
Tensors call_named(std::string_view op, std::span<const NamedAttr> attrs, TensorSpan inputs);

inline Tensors call_named(std::string_view op, std::initializer_list<NamedAttr> attrs,
                          std::initializer_list<Tensor> inputs) {
  return call_named(op, std::span<const NamedAttr>(attrs.begin(), attrs.size()),
                    TensorSpan(inputs.begin(), inputs.size()));
}

// Returns only the first output.
inline Tensor call_named1(std::string_view op, std::initializer_list<NamedAttr> attrs,
                          std::initializer_list<Tensor> inputs) {
  return call_named(op, attrs, inputs)[0];
}

}  // namespace tenon::onnx
