#include "core/trace/effects.h"

#include "core/base/error.h"
#include "core/base/immortal.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"
#include "core/trace/control/control.h"
#include "core/trace/graph/order.h"

namespace tenon {
namespace {

// ---- format strings

// Parses a format string: calls `text` for each text between placeholders, and `value` for each
// placeholder, in order.
template <class Text, class Value>
void visit_format(std::string_view format, const Text& text, const Value& value) {
  size_t from = 0;
  for (size_t at = 0; at < format.size(); ++at) {
    const char c = format[at];
    if (c != '{' && c != '}') continue;
    text(format.substr(from, at - from));
    const char next = at + 1 < format.size() ? format[at + 1] : '\0';
    if (c == '{' && next == '}') {
      value();
    } else if (c == next) {
      text(format.substr(at, 1));
    } else {
      fail(Code::kInvalidArgument, "the format \"{}\" has a single {} at {}: write it twice",
           {format, format.substr(at, 1), at});
    }
    from = ++at + 1;
  }
  text(format.substr(from));
}

// Returns `format` or, if it is empty, one placeholder per value. Fails if the number of
// placeholders is not the number of values.
std::string checked_format(std::string_view format, size_t n_values) {
  std::string result(format);
  for (size_t i = 0; format.empty() && i < n_values; ++i) result += i > 0 ? " {}" : "{}";
  size_t n = 0;
  visit_format(
      result, [](std::string_view) {}, [&] { ++n; });
  require(n == n_values, "the format \"{}\" has {} placeholders for {} values", format, n,
          n_values);
  return result;
}

// Returns the text of the value of x.
std::string value_text(Scope& scope, const Tensor& x, const PrintOptions& options) {
  require(!x->type.lists, "{} cannot be printed: only tensors can", x->type);
  const Tensor value = as_tensor(x);
  std::vector<std::byte> bytes(static_cast<size_t>(int64_t{count(value->shape())}) *
                               size_of(value->type.dtype));
  to_host(scope, value, bytes.data(), bytes.size());
  std::string text = to_text(value->type, bytes.data(), options);
  if (options.long_form) {
    text += format(" : {} on {}", {value->type, value->storage->device->name()});
  }
  return text;
}

// Replaces the placeholders of `format` by the texts of the values.
std::string format_values(Scope& scope, std::string_view format, Inputs values,
                          const PrintOptions& options) {
  std::string result;
  size_t next = 0;
  visit_format(
      format, [&](std::string_view text) { result += text; },
      [&] { result += value_text(scope, Tensor::share(values[next++]), options); });
  return result;
}

// Checks that the first input is a token and the others are tensors. Returns the type of the token.
TensorTypes infer_token_output(TypeSpan in) {
  require(in[0] == token_type(), "the first input must be a token, but is {}", in[0]);
  for (size_t i = 1; i < in.size(); ++i)
    require(!in[i].lists, "{} cannot be printed: only tensors can", in[i]);
  return {in[0]};
}

// Completes the definition of an op that runs on the host by `run`.
OpDef effect_op(OpDef op, size_t min_inputs, Tensors (*run)(Scope&, const Call&)) {
  op.min_inputs = static_cast<uint8_t>(min_inputs);
  op.run = run;
  return op;
}

// ---- print

struct PrintAttrs {
  std::string format;
  int64_t precision = 8, threshold = 1000, edge_items = 3, line_width = 75;
  bool long_form = false;
  TENON_ATTRS(format, precision, threshold, edge_items, line_width, long_form)
};

TensorTypes infer_print(const PrintAttrs& attrs, TypeSpan in) {
  checked_format(attrs.format, in.size() - 1);
  return infer_token_output(in);
}

void print_now(Scope& scope, const PrintAttrs& attrs, Inputs values) {
  note_host_read();
  const PrintOptions options = {{.precision = static_cast<int>(attrs.precision),
                                 .threshold = attrs.threshold,
                                 .edge_items = attrs.edge_items,
                                 .line_width = static_cast<int>(attrs.line_width)},
                                attrs.long_form};
  const std::string format = checked_format(attrs.format, values.size());
  scope.context().print(format_values(scope, format, values, options) + "\n");
}

Tensors run_print(Scope& scope, const Call& call) {
  call.op.infer(call.op, call.attrs.data, call.types);
  print_now(scope, *static_cast<const PrintAttrs*>(call.attrs.data), call.inputs.subspan(1));
  return {Tensor::share(call.inputs[0])};
}

// ---- assert

struct AssertAttrs {
  std::string message;
  TENON_ATTRS(message)
};

TensorTypes infer_assert(const AssertAttrs& attrs, TypeSpan in) {
  require(in[1].dtype == DType::kBool && !in[1].lists, "C1: the condition must be bool, but is {}",
          in[1]);
  checked_format(attrs.message, in.size() - 2);
  return infer_token_output(in);
}

void check_now(Scope& scope, const AssertAttrs& attrs, const Tensor& condition, Inputs values) {
  note_host_read();
  if (read_bool(call1(OpId::k_all, Along{}, {condition}))) return;
  const std::string format = checked_format(attrs.message, values.size());
  const std::string text = format_values(scope, format, values, {});
  fail(Code::kFailedPrecondition, text.empty() ? "the condition does not hold" : "{}", {text});
}

Tensors run_assert(Scope& scope, const Call& call) {
  call.op.infer(call.op, call.attrs.data, call.types);
  check_now(scope, *static_cast<const AssertAttrs*>(call.attrs.data), Tensor::share(call.inputs[1]),
            call.inputs.subspan(2));
  return {Tensor::share(call.inputs[0])};
}

}  // namespace

const OpDef& control::print() {
  static const Immortal<OpDef> op = effect_op(
      ops::define<PrintAttrs>({.name = "print",
                               .inputs = {{"order", ""}, {"values", "", InputKind::kVariadic}},
                               .infer = infer_print}),
      1, run_print);
  return op;
}

const OpDef& control::assert_all() {
  static const Immortal<OpDef> op = effect_op(
      ops::define<AssertAttrs>(
          {.name = "assert",
           .inputs = {{"order", ""}, {"condition", ""}, {"values", "", InputKind::kVariadic}},
           .infer = infer_assert}),
      2, run_assert);
  return op;
}

void print(Scope& scope, std::string_view format, TensorSpan values, const PrintOptions& options) {
  const PrintAttrs attrs = {.format = std::string(format),
                            .precision = options.precision,
                            .threshold = options.threshold,
                            .edge_items = options.edge_items,
                            .line_width = options.line_width,
                            .long_form = options.long_form};
  const Tensors shown = as_tensors(values);
  apply_in_order(scope, control::print(), any_attrs(attrs), shown);
}

void assert_all(Scope& scope, const Tensor& condition, std::string_view message,
                TensorSpan values) {
  const AssertAttrs attrs = {std::string(message)};
  Tensors inputs = {as_tensor(condition)};
  for (Tensor& x : as_tensors(values)) inputs.push_back(std::move(x));
  apply_in_order(scope, control::assert_all(), any_attrs(attrs), inputs);
}

}  // namespace tenon
