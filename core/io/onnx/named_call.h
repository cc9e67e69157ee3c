// Calls of ops by name, with attributes by name: what a table of another format's ops needs.

#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/ops/op.h"

namespace tenon::onnx {

// A value for an attribute of any kind: an enumeration takes the name of a value in either case, a
// bool a number, a dtype also its number in ONNX. Sizes become numbers where the op takes those.
using AttrValue = std::variant<int64_t, double, std::string, Ints, DType, Size, Sizes>;

struct NamedAttr {
  std::string_view name;
  AttrValue value;
};

// The attributes of an op, which begin as its defaults.
class NamedAttrs {
 public:
  explicit NamedAttrs(const OpDef& op);

  bool has(std::string_view name) const;
  // Throws INVALID_ARGUMENT where the op has no such attribute, or the value is of another kind.
  void set(std::string_view name, const AttrValue& value);
  AnyAttrs view() const { return {op_.attrs, attrs_.view().data}; }

 private:
  const OpDef& op_;
  OwnedAttrs attrs_;
};

// Calls an op in the current scope. Throws UNIMPLEMENTED where there is none of the name.
Tensors call_named(std::string_view op, std::span<const NamedAttr> attrs, TensorSpan inputs);

inline Tensors call_named(std::string_view op, std::initializer_list<NamedAttr> attrs,
                          std::initializer_list<Tensor> inputs) {
  return call_named(op, std::span<const NamedAttr>(attrs.begin(), attrs.size()),
                    TensorSpan(inputs.begin(), inputs.size()));
}

// The same for its first output.
inline Tensor call_named1(std::string_view op, std::initializer_list<NamedAttr> attrs,
                          std::initializer_list<Tensor> inputs) {
  return call_named(op, attrs, inputs)[0];
}

}  // namespace tenon::onnx
