#include "core/trace/signatures.h"

#include <map>

#include "core/base/error.h"
#include "core/trace/trace_body.h"

namespace tenon {
namespace {

using Named = std::map<std::string_view, int64_t>;  // Size::word() of each size, by its name.

// Returns the name of a size; empty if it has none.
std::string_view size_name(const InputSpec& spec, size_t axis) {
  return axis < spec.dim_names.size() ? std::string_view(spec.dim_names[axis]) : "";
}

std::vector<InputType> input_types_of(TensorSpan inputs) {
  std::vector<InputType> given;
  for (const Tensor& x : inputs) {
    given.push_back({x->type.dtype, x->type.weak, x->type.lists, {}});
    for (const Size size : x->shape()) given.back().sizes.push_back(size.word());
  }
  return given;
}

// Lists types in parentheses, for messages. Symbolic sizes are "?".
std::string list_of_types(std::span<const InputType> inputs) {
  std::string text;
  for (const InputType& x : inputs) {
    InputSpec spec = {.dtype = x.dtype, .weak = x.weak, .lists = x.lists};
    for (const int64_t word : x.sizes) {
      spec.sizes.push_back(Size::from_word(word).known() ? word : InputSpec::kUnknown);
    }
    text += (text.empty() ? "" : ", ") + text_of(spec);
  }
  return "(" + text + ")";
}

// Returns " with " and the static arguments; empty if there are none.
std::string statics_suffix(std::string_view statics) {
  return statics.empty() ? "" : " with " + std::string(statics);
}

}  // namespace

std::vector<InputType> input_types_of(std::span<const InputSpec> inputs) {
  std::vector<InputType> given;
  Named named;
  uint32_t n = 0;
  for (const InputSpec& spec : inputs) {
    given.push_back({spec.dtype, spec.weak, spec.lists, {}});
    for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
      int64_t size = spec.sizes[axis];
      if (size == InputSpec::kUnknown) {
        size = Size::formula(n++).word();
        const std::string_view name = size_name(spec, axis);
        if (!name.empty()) size = named.try_emplace(name, size).first->second;
      }
      given.back().sizes.push_back(size);
    }
  }
  return given;
}

bool accepts_inputs(std::span<const InputSpec> signature, std::span<const InputType> inputs) {
  if (signature.size() != inputs.size()) return false;
  Named named;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputSpec& spec = signature[i];
    const InputType& x = inputs[i];
    if (spec.dtype != x.dtype || spec.weak != x.weak || spec.lists != x.lists ||
        spec.sizes.size() != x.sizes.size()) {
      return false;
    }
    for (size_t axis = 0; axis < x.sizes.size(); ++axis) {
      const int64_t size = x.sizes[axis];
      if (spec.sizes[axis] != InputSpec::kUnknown) {
        if (spec.sizes[axis] != size) return false;
        continue;
      }
      const std::string_view name = size_name(spec, axis);
      if (!name.empty() && named.try_emplace(name, size).first->second != size) return false;
    }
  }
  return true;
}

bool have_equal_inputs(std::span<const InputSpec> a, std::span<const InputSpec> b) {
  return accepts_inputs(a, input_types_of(b)) && accepts_inputs(b, input_types_of(a));
}

size_t n_unknown_sizes(std::span<const InputSpec> signature) {
  size_t n = 0;
  Named named;
  for (const InputSpec& spec : signature) {
    for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
      if (spec.sizes[axis] != InputSpec::kUnknown) continue;
      const std::string_view name = size_name(spec, axis);
      if (name.empty() || named.try_emplace(name, 0).second) ++n;
    }
  }
  return n;
}

std::vector<InputSpec> input_specs_of(const Trace& trace) {
  const SizeTable& table = trace.graph().sizes();
  std::vector<InputSpec> specs;
  for (size_t i = 0; i < trace.n_arguments(); ++i) {
    const TensorType& type = trace.argument_type(i);
    InputSpec spec = {.name = trace.argument_name(i), .dtype = type.dtype, .lists = type.lists};
    for (const Size size : type.shape) {
      const std::optional<size_t> symbol = table.symbol_of(size);
      spec.sizes.push_back(symbol ? InputSpec::kUnknown : size.word());
      spec.dim_names.push_back(symbol ? table.symbol_name(*symbol) : "");
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::string text_of(const InputSpec& spec) {
  std::string text;
  for (int i = 0; i < spec.lists; ++i) text += "list of ";
  text += name_of(spec.dtype);
  if (spec.weak) return text + " scalar";
  text += "[";
  for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
    if (axis > 0) text += ",";
    const std::string_view name = size_name(spec, axis);
    const bool known = spec.sizes[axis] != InputSpec::kUnknown;
    text += known ? std::to_string(spec.sizes[axis]) : name.empty() ? "?" : std::string(name);
  }
  return text + "]";
}

std::string signature_text(std::span<const InputSpec> inputs, const OwnedStatics* statics) {
  std::string text;
  for (size_t i = 0; i < inputs.size(); ++i) {
    text += (i ? ", " : "") + name_of_input(inputs, i) + ": " + text_of(inputs[i]);
  }
  return "(" + text + ")" + (statics ? statics_suffix(statics->text()) : "");
}

// ---- functions with several signatures

Function::Function(Context& context, std::string name, std::vector<Signature> signatures,
                   std::shared_ptr<const OwnedStatics> defaults)
    : Object(Kind::kFunction),
      context_(Ref<Context>::share(&context)),
      id_(context.next_serial()),
      name_(std::move(name)),
      signatures_(std::move(signatures)) {
  options_.defaults = std::move(defaults);
}

Function& Function::function_for(TensorSpan inputs, const Statics& statics) const {
  const Signature& first = signatures_[0];
  // If there is only one function, it reports mismatched inputs itself.
  const bool is_alone = signatures_.size() == 1 && first.statics->key() == statics.key;
  return is_alone ? *first.function : function_for(input_types_of(inputs), statics);
}

Function& Function::function_for(std::span<const InputType> inputs, const Statics& statics) const {
  const Signature* best = nullptr;
  size_t fewest = 0;
  for (const Signature& each : signatures_) {
    const FunctionOptions& options = each.function->options_;
    if (each.statics->key() != statics.key) continue;
    if (options.has_signature && !accepts_inputs(options.signature, inputs)) continue;
    // A function without a signature leaves all sizes unknown.
    const size_t n_open = options.has_signature ? n_unknown_sizes(options.signature) : SIZE_MAX;
    if (best && n_open >= fewest) continue;
    best = &each;
    fewest = n_open;
  }
  if (best) return *best->function;
  std::string all;
  for (const Signature& each : signatures_) {
    all += "\n  " + signature_text(each.function->options_.signature, each.statics.get());
  }
  fail(Code::kInvalidArgument, "function {} has no signature for {}{}. Its signatures are{}",
       {name_, list_of_types(inputs), statics_suffix(statics.text), all});
}

}  // namespace tenon
