#include "core/io/onnx/named_call.h"

#include <cstring>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/tensor_data.h"
#include "core/ops/formulas.h"

namespace tenon::onnx {
namespace {

// An attribute struct of some type, made with its defaults.
class Made {
 public:
  explicit Made(const AttrsType& type)
      : type_(type), data_(::operator new(type.size, std::align_val_t(type.align))) {
    type_.init(data_);
  }
  ~Made() {
    type_.destroy(data_);
    ::operator delete(data_, std::align_val_t(type_.align));
  }
  Made(const Made&) = delete;

  void* get() const { return data_; }
  OwnedAttrs copy() const { return OwnedAttrs(AnyAttrs{&type_, data_}); }

 private:
  const AttrsType& type_;
  void* data_;
};

// ONNX has names of values in either case.
std::string in_lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

enum class Kind : uint8_t { kInt, kFloat, kBool, kDType, kEnum, kInts, kText };

// Finds where a field lies in the C form of its struct, and which kind it is of.
class Locator final : public AttrVisitor {
 public:
  explicit Locator(std::string_view name) : name_(name) {}

  void on_int(std::string_view name, int64_t) override { field<int64_t>(name, Kind::kInt); }
  void on_float(std::string_view name, double) override { field<double>(name, Kind::kFloat); }
  void on_bool(std::string_view name, bool) override { field<bool>(name, Kind::kBool); }
  void on_dtype(std::string_view name, DType) override { field<DType>(name, Kind::kDType); }
  void on_enum(std::string_view name, int32_t, const EnumInfo& info) override {
    if (field<int32_t>(name, Kind::kEnum)) values_ = info.values;
  }
  void on_ints(std::string_view name, std::span<const int64_t>) override {
    field<Ints>(name, Kind::kInts);
  }
  void on_string(std::string_view name, std::string_view) override {
    field<std::string>(name, Kind::kText);
  }

  bool found() const { return found_; }

  // False where the value is of another kind.
  bool write(const AttrValue& value, std::byte* c) const {
    std::byte* to = c + at_;
    const auto* i = std::get_if<int64_t>(&value);
    switch (kind_) {
      case Kind::kInt:
        return put(i, to);
      case Kind::kFloat:
        return put(std::get_if<double>(&value), to);
      case Kind::kBool: {
        const bool truth = i && *i != 0;
        return i && (*i == 0 || *i == 1) && put(&truth, to);
      }
      case Kind::kDType: {
        const DType element = i ? dtype_of_element(*i) : DType::kNone;
        return i ? element != DType::kNone && put(&element, to)
                 : put(std::get_if<DType>(&value), to);
      }
      case Kind::kText:
        return put(std::get_if<std::string>(&value), to);
      case Kind::kInts:
        return put(std::get_if<Ints>(&value), to);
      case Kind::kEnum:
        break;
    }
    const auto* name = std::get_if<std::string>(&value);
    for (size_t v = 0; name && v < values_.size(); ++v) {
      const auto number = static_cast<int32_t>(v);
      if (in_lower_case(*name) == values_[v]) return put(&number, to);
    }
    return false;
  }

 private:
  template <class T>
  bool field(std::string_view name, Kind kind) {
    const size_t at = layout_.next<T>();
    if (name != name_) return false;
    at_ = at;
    kind_ = kind;
    found_ = true;
    return true;
  }

  template <class T>
  static bool put(const T* value, std::byte* to) {
    if (value) detail::write_field(*value, to);
    return value != nullptr;
  }

  std::string_view name_;
  detail::CLayout layout_;
  bool found_ = false;
  size_t at_ = 0;
  Kind kind_ = Kind::kInt;
  std::span<const char* const> values_;
};

}  // namespace

NamedAttrs::NamedAttrs(const OpDef& op) : op_(op) {
  if (op.attrs->c_size != 0) attrs_ = Made(*op.attrs).copy();
}

bool NamedAttrs::has(std::string_view name) const {
  Locator field(name);
  if (op_.attrs->c_size != 0) op_.attrs->visit(attrs_.view().data, field);
  return field.found();
}

void NamedAttrs::set(std::string_view name, const AttrValue& value) {
  require(has(name), "{} has no attribute {}", op_.name, name);
  const AttrsType& type = *op_.attrs;
  Locator field(name);
  type.visit(attrs_.view().data, field);
  std::vector<std::byte> c(type.c_size);
  type.to_c(attrs_.view().data, c.data());
  require(field.write(value, c.data()), "{} takes no such value for its attribute {}", op_.name,
          name);
  Made changed(type);
  type.from_c(changed.get(), c.data());
  attrs_ = changed.copy();
}

Tensors call_named(std::string_view name, std::span<const NamedAttr> attrs, TensorSpan inputs) {
  const OpDef* op = find_op(name);
  require_code(op != nullptr, Code::kUnimplemented, "there is no op \"{}\"", name);
  NamedAttrs given(*op);
  for (const NamedAttr& attr : attrs) given.set(attr.name, attr.value);
  return call_op(static_cast<OpId>(op->id), given.view(), inputs);
}

}  // namespace tenon::onnx
