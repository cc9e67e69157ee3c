#include "core/io/onnx/node_call.h"

#include <cstring>

#include "core/dispatch/dispatch.h"

namespace tenon::onnx {

namespace {

// Copies the elements of x, which have type T, to the host and converts them to double.
template <class T>
std::vector<double> read_as_doubles(const Tensor& x) {
  std::vector<T> elements(static_cast<size_t>(count(x->shape())));
  to_host(current_scope(), x, elements.data(), elements.size() * sizeof(T));
  return {elements.begin(), elements.end()};
}

}  // namespace

NodeCall::NodeCall(const Node& node, int64_t version, std::span<const ModelValue> inputs,
                   const GivenAttributes* given, const Environment& around)
    : node_(node),
      version_(version),
      inputs_(inputs),
      given_(given),
      around_(around),
      tensors_(inputs.size(), Tensor()),
      asked_(node.attributes.size(), false) {}

Generator& NodeCall::generator() const {
  require_code(around_.generator != nullptr, Code::kInternal, "the model has no generator");
  return *around_.generator;
}

// ---- inputs ----

// Returns input i. Throws if it is absent.
const Tensor& NodeCall::in(size_t i) const {
  require(has(i), "input {} is missing", i);
  if (!tensors_[i]) {
    tensors_[i] = inputs_[i].tensor ? inputs_[i].tensor : tensor_of(*inputs_[i].known);
  }
  return tensors_[i];
}

TensorSpan NodeCall::inputs() const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (has(i)) in(i);
  }
  return tensors_;
}

const Dims& NodeCall::shape(size_t i) const {
  require(has(i), "input {} is missing", i);
  return inputs_[i].known ? inputs_[i].known->shape : inputs_[i].tensor->shape();
}

void NodeCall::require_integers(size_t i) const {
  const TensorType type = known(i) ? TensorType(known(i)->dtype, known(i)->shape) : in(i)->type;
  require(is_integer(type.dtype) || type.dtype == DType::kBool,
          "input {} must be integers, but is {}", i, type);
}

// Throws if the elements of input i are unknown while tracing.
void NodeCall::require_readable(size_t i) const {
  const Tensor& x = in(i);
  const bool is_traced = x->storage && x->storage->traced;
  require_code(!is_traced, Code::kFailedPrecondition,
               "input {} depends on the values of inputs, which are unknown while tracing: shapes "
               "and axes must depend on sizes and constants only",
               i);
}

// Returns the elements of integer input i. While tracing, they may be formulas of sizes.
Sizes NodeCall::sizes(size_t i) const {
  require_integers(i);
  if (known(i)) return known(i)->values;
  require_readable(i);
  const Tensor x = cast(in(i), DType::kI64);
  Ints values(static_cast<size_t>(count(x->shape())), 0);
  to_host(current_scope(), x, values.data(), values.size() * sizeof(int64_t));
  return to_sizes(values);
}

// Returns the elements of integer input i. Throws if they are unknown while tracing.
Ints NodeCall::ints(size_t i) const {
  Ints values;
  for (const Size size : sizes(i)) values.push_back(size);
  return values;
}

// Returns the elements of input i as doubles.
std::vector<double> NodeCall::numbers(size_t i) const {
  std::vector<double> values;
  if (const Known* elements = known(i)) {
    for (size_t j = 0; j < elements->size(); ++j) {
      const int64_t divisor = elements->divisors.empty() ? Size(1) : elements->divisors[j];
      values.push_back(static_cast<double>(int64_t{elements->values[j]}) /
                       static_cast<double>(divisor));
    }
    return values;
  }
  require_readable(i);
  const Tensor& x = in(i);
  const DType dtype = x->type.dtype;
  if (dtype == DType::kF64 || dtype == DType::kU64) {
    return dtype == DType::kF64 ? read_as_doubles<double>(x) : read_as_doubles<uint64_t>(x);
  }
  // float32 and int64 represent every value of the remaining dtypes.
  return is_floating(dtype) ? read_as_doubles<float>(cast(x, DType::kF32))
                            : read_as_doubles<int64_t>(cast(x, DType::kI64));
}

// Returns the only element of integer input i. While tracing, it may be a formula of sizes.
Size NodeCall::one_size(size_t i) const {
  const Sizes values = sizes(i);
  require(values.size() == 1, "input {} must have one element, but has {}", i, values.size());
  return values[0];
}

// Returns the only element of integer input i.
int64_t NodeCall::one_int(size_t i) const { return one_size(i); }

// Returns the only element of input i, which may have any dtype.
double NodeCall::one_number(size_t i) const {
  const std::vector<double> values = numbers(i);
  require(values.size() == 1, "input {} must have one element, but has {}", i, values.size());
  return values[0];
}

// ---- attributes ----

const Attribute* NodeCall::find(std::string_view name) const {
  for (size_t i = 0; i < node_.attributes.size(); ++i) {
    const Attribute& attribute = node_.attributes[i];
    if (attribute.name != name) continue;
    asked_[i] = true;
    if (attribute.refers_to.empty()) return &attribute;
    const auto at = given_ ? given_->find(attribute.refers_to) : GivenAttributes::const_iterator();
    return given_ && at != given_->end() ? at->second : nullptr;
  }
  return nullptr;
}

// Finds an attribute; NULL if it is not given. Throws if it is of a kind other than `kind`, which
// `words` names in the message.
const Attribute* NodeCall::find(std::string_view name, AttributeKind kind,
                                std::string_view words) const {
  const Attribute* found = find(name);
  require(!found || found->kind == kind, "attribute {} is not {}", name, words);
  return found;
}

// Returns the value of an integer attribute, or `otherwise` if it is not given.
int64_t NodeCall::attr(std::string_view name, int64_t otherwise) const {
  const Attribute* found = find(name, AttributeKind::kInt, "an integer");
  return found ? found->int_value : otherwise;
}

// Returns whether an integer attribute is nonzero, or `otherwise` if it is not given.
bool NodeCall::flag(std::string_view name, bool otherwise) const {
  return attr(name, otherwise) != 0;
}

double NodeCall::attr_float(std::string_view name, double otherwise) const {
  const Attribute* found = find(name, AttributeKind::kFloat, "a number");
  return found ? found->float_value : otherwise;
}

std::string NodeCall::attr_text(std::string_view name, std::string_view otherwise) const {
  const Attribute* found = find(name, AttributeKind::kText, "text");
  return found ? found->text : std::string(otherwise);
}

Ints NodeCall::attr_ints(std::string_view name) const {
  const Attribute* found = find(name, AttributeKind::kInts, "a list of integers");
  return found ? Ints(std::span<const int64_t>(found->ints)) : Ints();
}

std::vector<float> NodeCall::attr_floats(std::string_view name) const {
  const Attribute* found = find(name, AttributeKind::kFloats, "a list of numbers");
  return found ? found->floats : std::vector<float>();
}

std::vector<std::string> NodeCall::attr_texts(std::string_view name) const {
  const Attribute* found = find(name, AttributeKind::kTexts, "a list of texts");
  return found ? found->texts : std::vector<std::string>();
}

const TensorData* NodeCall::attr_tensor(std::string_view name) const {
  const Attribute* found = find(name, AttributeKind::kTensor, "a tensor");
  return found ? found->tensor.get() : nullptr;
}

const Graph* NodeCall::attr_graph(std::string_view name) const {
  const Attribute* found = find(name, AttributeKind::kGraph, "a graph");
  return found ? found->graph.get() : nullptr;
}

DType NodeCall::attr_dtype(std::string_view name, DType otherwise) const {
  if (!has_attr(name)) return otherwise;
  const int64_t element = attr(name, 0);
  const DType dtype = dtype_of_element(element);
  require_code(dtype != DType::kNone, Code::kUnimplemented,
               "attribute {} specifies the unsupported element type {}", name,
               name_of_element(element));
  return dtype;
}

// Throws unless the attribute is absent or equals `value`, the only supported value.
void NodeCall::require_attr(std::string_view name, int64_t value) const {
  const int64_t given = attr(name, value);
  require_code(given == value, Code::kUnimplemented, "attribute {} is {}, but only {} is supported",
               name, given, value);
}

// Returns integers that are an attribute in older operator sets, and an input since version
// `since`.
std::optional<Ints> NodeCall::ints_since(int64_t since, std::string_view name, size_t input) const {
  if (version_ >= since) {
    return has(input) ? std::optional(ints(input)) : std::nullopt;
  }
  return has_attr(name) ? std::optional(attr_ints(name)) : std::nullopt;
}

// As ints_since(), but the elements of the input may be formulas of sizes.
std::optional<Sizes> NodeCall::sizes_since(int64_t since, std::string_view name,
                                           size_t input) const {
  if (version_ >= since) {
    return has(input) ? std::optional(sizes(input)) : std::nullopt;
  }
  return has_attr(name) ? std::optional(to_sizes(attr_ints(name))) : std::nullopt;
}

void NodeCall::require_all_attrs_read() const {
  for (size_t i = 0; i < asked_.size(); ++i) {
    require_code(asked_[i], Code::kUnimplemented, "attribute {} is not supported",
                 node_.attributes[i].name);
  }
}

// Creates an int64 tensor of the host values on the scope's device.
Tensor host_ints(const Ints& values, const Dims& shape) {
  Scope& scope = current_scope();
  return from_host(scope, scope.device(), TensorType(DType::kI64, shape), values.data());
}

}  // namespace tenon::onnx
