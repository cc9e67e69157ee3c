#include "core/io/onnx/named_call.h"

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/tensor_data.h"
#include "core/ops/definition/formulas.h"

namespace tenon::onnx {
namespace {

// ONNX spells names of enumeration values in upper or lower case, depending on the op.
std::string to_lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// Stores *value in the field unless value is NULL. Returns whether it stored a value.
template <class T>
bool store_unless_null(void* attrs, const AttrField& field, const T* value) {
  if (value) field.get<T>(attrs) = *value;
  return value != nullptr;
}

// Converts a list of numbers or sizes to sizes. Returns nothing for a value of another kind.
std::optional<Sizes> as_sizes(const AttrValue& value) {
  if (const auto* numbers = std::get_if<Ints>(&value)) return to_sizes(*numbers);
  const auto* sizes = std::get_if<Sizes>(&value);
  return sizes ? std::optional(*sizes) : std::nullopt;
}

Ints as_ints(const Sizes& sizes) {
  Ints numbers;
  for (const Size size : sizes) numbers.push_back(size);
  return numbers;
}

// Stores the value in the field. Returns false if the value has the wrong kind.
bool write_field(void* attrs, const AttrField& field, const AttrValue& value) {
  const auto* i = std::get_if<int64_t>(&value);
  switch (field.kind) {
    case AttrKind::kInt: {
      const auto* size = std::get_if<Size>(&value);
      const int64_t number = size ? int64_t{*size} : 0;
      return store_unless_null(attrs, field, size ? &number : i);
    }
    case AttrKind::kFloat:
      return store_unless_null(attrs, field, std::get_if<double>(&value));
    case AttrKind::kBool: {
      const bool truth = i && *i != 0;
      return i && (*i == 0 || *i == 1) && store_unless_null(attrs, field, &truth);
    }
    case AttrKind::kDType: {
      const DType element = i ? dtype_of_element(*i) : DType::kNone;
      return i ? element != DType::kNone && store_unless_null(attrs, field, &element)
               : store_unless_null(attrs, field, std::get_if<DType>(&value));
    }
    case AttrKind::kSize: {
      const Size number = Size::number(i ? *i : 0);
      return store_unless_null(attrs, field, i ? &number : std::get_if<Size>(&value));
    }
    case AttrKind::kSizes: {
      const std::optional<Sizes> sizes = as_sizes(value);
      return store_unless_null(attrs, field, sizes ? &*sizes : nullptr);
    }
    case AttrKind::kText:
      return store_unless_null(attrs, field, std::get_if<std::string>(&value));
    case AttrKind::kInts: {
      const auto* sizes = std::get_if<Sizes>(&value);
      const Ints numbers = sizes ? as_ints(*sizes) : Ints();
      return store_unless_null(attrs, field, sizes ? &numbers : std::get_if<Ints>(&value));
    }
    case AttrKind::kRegions:
    case AttrKind::kHeld:
      return false;
    case AttrKind::kEnum:
      break;
  }
  const auto* name = std::get_if<std::string>(&value);
  const auto values = field.info().values;
  for (size_t v = 0; name && v < values.size(); ++v) {
    if (to_lower_case(*name) != values[v]) continue;
    field.set_enum(attrs, static_cast<int32_t>(v));
    return true;
  }
  return false;
}

}  // namespace

NamedAttrs::NamedAttrs(const OpDef& op) : op_(op) {
  if (op.attrs->c_size != 0) attrs_ = OwnedAttrs(*op.attrs);
}

bool NamedAttrs::has(std::string_view name) const { return op_.attrs->find(name) != nullptr; }

void NamedAttrs::set(std::string_view name, const AttrValue& value) {
  const AttrField* field = op_.attrs->find(name);
  require(field != nullptr, "{} has no attribute {}", op_.name, name);
  require(write_field(attrs_.data(), *field, value),
          "{} does not accept this value for its attribute {}", op_.name, name);
}

Tensors call_named(std::string_view name, std::span<const NamedAttr> attrs, TensorSpan inputs) {
  const OpDef* op = find_op(name);
  require_code(op != nullptr, Code::kUnimplemented, "unknown op \"{}\"", name);
  NamedAttrs given(*op);
  for (const NamedAttr& attr : attrs) given.set(attr.name, attr.value);
  return call_op(static_cast<OpId>(op->id), given.view(), inputs);
}

}  // namespace tenon::onnx
