#include "core/trace/graph/text_form.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/dispatch/generator.h"
#include "core/trace/graph/region.h"

namespace tenon {
namespace {

// Formats a float with a decimal point, so that it is not parsed as an integer.
std::string text_of(double value) {
  std::string text = fmt::format("{}", value);
  const bool has_integer_form = text.find_first_not_of("-0123456789") == std::string::npos;
  return has_integer_form ? text + ".0" : text;
}

// Quotes a string. A backslash escapes quotes and backslashes; \n stands for a line feed.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + "\"";
}

// Lists the attributes that differ from the defaults, as name=value.
class AttrPrinter final : public AttrVisitor {
 public:
  void on_int(std::string_view name, int64_t value) override {
    add(name, fmt::format("{}", value));
  }
  void on_float(std::string_view name, double value) override { add(name, text_of(value)); }
  void on_bool(std::string_view name, bool value) override { add(name, value ? "true" : "false"); }
  void on_dtype(std::string_view name, DType value) override {
    add(name, std::string(name_of(value)));
  }
  void on_enum(std::string_view name, int32_t value, const EnumInfo& info) override {
    add(name, info.values[static_cast<size_t>(value)]);
  }
  void on_ints(std::string_view name, std::span<const int64_t> value) override {
    add(name, fmt::format("[{}]", fmt::join(value, ",")));
  }
  void on_string(std::string_view name, std::string_view value) override {
    add(name, quoted(value));
  }
  void on_size(std::string_view name, Size value) override { add(name, to_string(value)); }
  void on_sizes(std::string_view name, std::span<const Size> value) override {
    std::vector<std::string> sizes;
    for (const Size size : value) sizes.push_back(to_string(size));
    add(name, fmt::format("[{}]", fmt::join(sizes, ",")));
  }

  void on_regions(std::string_view, const Regions& value) override { regions_ = &value; }

  const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }
  std::span<const std::shared_ptr<const Region>> regions() const {
    return regions_ ? regions_->span() : std::span<const std::shared_ptr<const Region>>();
  }

 private:
  void add(std::string_view name, std::string value) { all_.emplace_back(name, std::move(value)); }

  std::vector<std::pair<std::string, std::string>> all_;
  const Regions* regions_ = nullptr;
};

// Lists the attributes of a call that differ from their defaults, as name=value. `own` holds the
// texts of all attributes of the call.
std::vector<std::string> nondefault_attrs(const Node& node, const AttrPrinter& own) {
  const AttrsType& type = *node.op->attrs;
  AttrPrinter defaults;
  type.visit(OwnedAttrs(type).view().data, defaults);
  std::vector<std::string> differing;
  for (size_t i = 0; i < own.all().size(); ++i) {
    const auto& [name, value] = own.all()[i];
    // Omits `sizes`, because its values are the symbols of the graph.
    if (has_regions(*node.op) && name == "sizes") continue;
    if (value != defaults.all()[i].second) differing.push_back(name + "=" + value);
  }
  return differing;
}

std::string text_of(const TensorImpl& scalar) {
  if (is_floating(scalar.type.dtype)) return text_of(scalar.float_value);
  if (scalar.type.dtype == DType::kBool) return scalar.int_value ? "true" : "false";
  return fmt::format("{}", scalar.int_value);
}

std::string text_of(const Value& value) {
  if (!value) return "none";
  return value.node->kind == NodeKind::kConstant ? text_of(*value.node->constant) : value.name();
}

std::string text_of(const TensorType& type) {
  return type.weak ? std::string(name_of(type.dtype)) : to_string(type);
}

std::string text_of_input(const Node& node) {
  std::string type = text_of(node.types[0]);
  if (node.role == InputRole::kCapture) type = "capture " + type;
  if (node.role == InputRole::kState) {
    type = node.types[0] == Generator::state_type() ? "state" : "state " + type;
  }
  return node.names[0] + ": " + type;
}

template <class All>
std::string join_texts(const All& all) {
  std::vector<std::string> texts;
  for (const auto& each : all) texts.push_back(text_of(each));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Lists the inputs of a graph in parentheses; `text` formats one input.
std::string inputs_text(const Graph& graph, std::string (*text)(const Node&)) {
  std::vector<std::string> inputs;
  for (const Node* input : graph.inputs()) inputs.push_back(text(*input));
  return fmt::format("({})", fmt::join(inputs, ", "));
}

// Formats the calls and the outputs of a graph in braces.
std::string body_text(const Graph& graph, const std::string& indent) {
  std::string out = " {\n";
  for (const Node& node : graph.nodes()) {
    if (node.kind != NodeKind::kCall) continue;
    AttrPrinter attrs;
    node.op->attrs->visit(node.attrs.view().data, attrs);
    std::vector<std::string> arguments;
    for (const Value& x : node.operands()) arguments.push_back(text_of(x));
    for (std::string& attr : nondefault_attrs(node, attrs)) arguments.push_back(std::move(attr));
    out += fmt::format("{}  {} = {}({})", indent, fmt::join(node.names, ", "), node.op->name,
                       fmt::join(arguments, ", "));
    for (const auto& region : attrs.regions()) {
      const Graph& inner = region->graph();
      const SizeTable::Use use(inner.sizes());
      const auto plain = [](const Node& x) { return x.names[0] + ": " + text_of(x.types[0]); };
      out += " do " + inputs_text(inner, plain) + body_text(inner, indent + "  ");
      out.pop_back();
    }
    out += "\n";
  }
  return out + fmt::format("{}  return {}\n{}}}\n", indent, join_texts(graph.outputs()), indent);
}

}  // namespace

std::string signature_text(const Graph& graph) {
  const SizeTable::Use use(graph.sizes());
  std::vector<std::string> guards;
  for (const SizeTest& guard : graph.sizes().guards()) guards.push_back(graph.sizes().text(guard));
  std::string out = inputs_text(graph, text_of_input);
  if (!guards.empty()) out += fmt::format(" where {}", fmt::join(guards, ", "));
  return out;
}

std::string to_text(const Graph& graph) {
  const SizeTable::Use use(graph.sizes());
  return signature_text(graph) + body_text(graph, "");
}

}  // namespace tenon
