// Calls Tenon ops by name, with attributes by name. Used to convert ops of other formats.

#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/ops/definition/op.h"

namespace tenon::onnx {

// The value of an attribute. Conversions: an enumeration accepts the name of a value in upper or
// lower case, a bool accepts a number, and a dtype accepts its number in ONNX. Sizes become numbers
// if the attribute is numeric.
using AttrValue = std::variant<int64_t, double, std::string, Ints, DType, Size, Sizes>;

struct NamedAttr {
  std::string_view name;
  AttrValue value;
};

// The attributes of an op; initially all have their defaults.
class NamedAttrs {
 public:
  explicit NamedAttrs(const OpDef& op);

  // Whether the op has an attribute of that name.
  bool has(std::string_view name) const;
  // Throws INVALID_ARGUMENT if the op has no attribute of that name, or if the value has the wrong
  // kind.
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

// Calls an op and returns its first output.
inline Tensor call_named1(std::string_view op, std::initializer_list<NamedAttr> attrs,
                          std::initializer_list<Tensor> inputs) {
  return call_named(op, attrs, inputs)[0];
}

}  // namespace tenon::onnx
