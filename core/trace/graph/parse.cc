// Parses the text form (text_form.h). Calls go through apply() and a tracer, so that the result
// equals a trace of the same calls.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <locale>
#include <sstream>
#include <unordered_map>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/generator.h"
#include "core/ops/definition/registry.h"
#include "core/trace/control/control_ops.h"
#include "core/trace/graph/text_form.h"
#include "core/trace/tracer.h"

namespace tenon {
namespace {

class Parser {
 public:
  Parser(Scope& scope, std::string_view text, Graph& graph)
      : scope_(scope), text_(text), graph_(graph), tracer_(scope, graph) {}

  void graph() {
    inputs();
    if (word() == "where") guards();
    expect("{");
    while (word() != "return") statement();
    next();
    std::vector<Value> outputs;
    while (token() != "}") {
      for (const Tensor& y : expression()) outputs.push_back(tracer_.value_of(*y));
      if (token() != "}") expect(",");
    }
    next();
    graph_.set_outputs(std::move(outputs));
  }
  void end() {
    if (!token().empty()) unexpected("the end");
  }

 private:
  // ---- tokens: a name or a number, a quoted string, a comparison, or one other character

  static bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  }

  std::string_view token() {
    if (!token_.empty()) return token_;
    while (at_ < text_.size() &&
           (std::isspace(static_cast<unsigned char>(text_[at_])) || text_[at_] == '#')) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        ++at_;
      }
    }
    size_t end = at_;
    if (at_ == text_.size()) return {};
    if (in_word(text_[at_])) {
      while (end < text_.size() && (in_word(text_[end]) || is_exponent_sign(end, at_))) ++end;
    } else if (text_[at_] == '"') {
      ++end;
      while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
      if (end >= text_.size()) unexpected("the end of a text");
      ++end;
    } else {
      const std::string_view two = text_.substr(at_, 2);
      end += two == "==" || two == "!=" || two == "<=" || two == ">=" ? 2 : 1;
    }
    return token_ = text_.substr(at_, end - at_);
  }
  // Whether the sign at `at` is part of a number such as 1e-05 that starts at `begin`.
  bool is_exponent_sign(size_t at, size_t begin) const {
    return (text_[at] == '-' || text_[at] == '+') && text_[at - 1] == 'e' && text_[begin] >= '0' &&
           text_[begin] <= '9';
  }
  std::string_view word() {
    const std::string_view t = token();
    return !t.empty() && in_word(t[0]) ? t : std::string_view();
  }
  std::string_view next() {
    const std::string_view t = token();
    at_ += t.size();
    token_ = {};
    return t;
  }
  bool accept(std::string_view wanted) {
    if (token() != wanted) return false;
    next();
    return true;
  }
  void expect(std::string_view wanted) {
    if (!accept(wanted)) unexpected(format("\"{}\"", {wanted}));
  }
  std::string name(const char* what) {
    const std::string_view w = word();
    if (w.empty() || (w[0] >= '0' && w[0] <= '9')) unexpected(what);
    return std::string(next());
  }
  [[noreturn]] void unexpected(const std::string& wanted) {
    const std::string_view found = token_;
    fail_here(format("expected {}, but found {}",
                     {wanted, found.empty() ? "the end" : format("\"{}\"", {found})}));
  }
  [[noreturn]] void fail_here(const std::string& what) {
    const auto line =
        1 + std::count(text_.begin(),
                       text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())),
                       '\n');
    fail(Code::kInvalidArgument, "line {}: {}", {line, what});
  }

  // ---- numbers and sizes

  // Whether the next token is a number, optionally with a sign.
  bool is_number() {
    const size_t digit = token() == "-" ? at_ + 1 : at_;
    return digit < text_.size() && text_[digit] >= '0' && text_[digit] <= '9';
  }

  template <class T>
  T number(const char* what) {
    token();
    size_t end = at_ + (text_.substr(at_, 1) == "-" ? 1 : 0);
    const size_t digits = end;
    while (end < text_.size() && (in_word(text_[end]) || is_exponent_sign(end, digits))) ++end;
    T value{};
    if (!read_number(text_.substr(at_, end - at_), value)) unexpected(what);
    at_ = end;
    token_ = {};
    return value;
  }
  static bool read_number(std::string_view text, int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }
  // Some standard libraries' from_chars() cannot read doubles.
  static bool read_number(std::string_view text, double& value) {
    std::istringstream in{std::string(text)};
    in.imbue(std::locale::classic());
    in >> value;
    return in && in.peek() == std::istringstream::traits_type::eof();
  }

  Size size() {
    Size total = !is_number() && accept("-") ? -product() : product();
    while (true) {
      if (accept("+")) {
        total += product();
      } else if (accept("-")) {
        total -= product();
      } else {
        return total;
      }
    }
  }
  Size product() {
    Size total = factor();
    while (accept("*")) total *= factor();
    return total;
  }
  Size factor() {
    if (accept("(")) {
      const Size inside = size();
      expect(")");
      return inside;
    }
    if (is_number()) return number<int64_t>("a size");
    const std::string called = name("a size");
    if (!accept("(")) return graph_.sizes().symbol(called);
    const Size a = size();
    expect(",");
    const Size b = size();
    expect(")");
    if (called == "div") return a / b;
    if (called == "mod") return a % b;
    if (called == "min") return least(a, b);
    if (called == "max") return greatest(a, b);
    fail_here(format("{} is not a function of sizes: use div, mod, min or max", {called}));
  }

  // ---- inputs

  void inputs() {
    expect("(");
    while (!accept(")")) {
      const std::string called = name("an input's name");
      expect(":");
      InputRole role = InputRole::kArgument;
      if (accept("capture")) role = InputRole::kCapture;
      if (accept("state")) role = InputRole::kState;
      const bool is_generator = role == InputRole::kState && word().empty();
      if (values_.contains(called)) fail_here(format("two inputs are named {}", {called}));
      values_[called] = tracer_.input(is_generator ? Generator::state_type() : type(), role, called,
                                      scope_.device());
      if (token() != ")") expect(",");
    }
  }
  TensorType type() {
    TensorType result;
    uint8_t lists = 0;
    for (; accept("list"); ++lists) expect("of");
    if (word() == "token" || word() == "record") {
      result = next() == "token" ? token_type() : record_type();
      result.lists = static_cast<uint8_t>(result.lists + lists);
      return result;
    }
    result.lists = lists;
    result.dtype = dtype();
    result.weak = !accept("[");
    while (!result.weak && !accept("]")) {
      result.shape.push_back(size());
      if (token() != "]") expect(",");
    }
    return result;
  }
  DType dtype() {
    const DType found = dtype_from_name(word());
    if (found == DType::kNone) unexpected("a dtype");
    next();
    return found;
  }
  void guards() {
    next();
    do {
      const Size a = size();
      const std::string_view sign = next();
      const Size b = size();
      const bool holds = sign == "=="   ? (a == b).hold()
                         : sign == "!=" ? (a != b).hold()
                         : sign == "<"  ? (a < b).hold()
                                        : sign == "<=" && (a <= b).hold();
      if (!holds) fail_here("the guard can never be true");
    } while (accept(","));
  }

  // ---- calls

  void statement() {
    std::vector<std::string> names;
    do {
      names.push_back(name("a name or \"return\""));
    } while (accept(","));
    expect("=");
    const std::string called = name("a call");
    expect("(");
    const Tensors results = call(called);
    if (results.size() != names.size()) {
      fail_here(format("{} names are assigned, but the call has {} outputs",
                       {names.size(), results.size()}));
    }
    for (size_t i = 0; i < names.size(); ++i) {
      graph_.rename(tracer_.value_of(*results[i]), names[i]);
      values_.emplace(names[i], results[i]);
    }
  }

  Tensors expression() {
    if (is_number()) return {literal()};
    if (accept("-")) {
      expect("inf");
      return {make_scalar(-INFINITY)};
    }
    const std::string called = name("a value");
    if (called == "none") return {Tensor()};
    if (called == "true" || called == "false") return {make_scalar_bool(called == "true")};
    if (called == "inf" || called == "nan") {
      return {make_scalar(called == "inf" ? INFINITY : NAN)};
    }
    if (accept("(")) return call(called);
    const auto at = values_.find(called);
    if (at == values_.end()) fail_here(format("value {} is not defined", {called}));
    return {at->second};
  }
  Tensor literal() {
    const size_t begin = at_;
    const auto value = number<double>("a number");
    const bool is_whole =
        text_.substr(begin, at_ - begin).find_first_of(".e") == std::string_view::npos;
    if (!is_whole) return make_scalar(value);
    at_ = begin;
    return make_scalar(number<int64_t>("a number"));
  }

  Tensors call(const std::string& called) {
    const OpDef* op = find_op(called);
    if (!op) op = find_control_op(called);
    if (op && in_order(*op)) op = in_order(*op);
    if (!op) fail_here(format("unknown op {}", {called}));
    OwnedAttrs attrs(*op->attrs);
    Tensors inputs;
    while (!accept(")")) {
      if (const AttrField* field = attribute(*op)) {
        read(*field, attrs.data());
      } else {
        for (const Tensor& x : expression()) inputs.push_back(x);
      }
      if (token() != ")") expect(",");
    }
    if (has_regions(*op)) regions(*static_cast<RegionAttrs*>(attrs.data()));
    SmallVector<TensorImpl*, 6> borrowed;
    for (const Tensor& x : inputs) borrowed.push_back(x.get());
    return apply(scope_, *op, attrs.view(), borrowed);
  }

  void regions(RegionAttrs& attrs) {
    while (accept("do")) {
      const auto inner = std::make_shared<Graph>(graph_.shared_sizes());
      {
        Parser parser(scope_, text_, *inner);
        parser.at_ = at_;
        parser.graph();
        at_ = parser.at_;
      }
      attrs.regions.push_back(std::make_shared<const Region>(inner));
    }
    if (attrs.regions.empty()) unexpected("\"do\"");
    attrs.sizes = current_symbols(scope_);
  }

  // Reads "name=" and returns the attribute of that name. Returns NULL if an operand follows
  // instead.
  const AttrField* attribute(const OpDef& op) {
    const size_t begin = at_;
    const std::string_view called = word();
    if (called.empty()) return nullptr;
    next();
    if (token() != "=") {
      at_ = begin;
      token_ = {};
      return nullptr;
    }
    next();
    for (const AttrField& field : op.attrs->all()) {
      if (field.name == called) return &field;
    }
    fail_here(format("{} has no attribute {}", {op.name, called}));
  }

  void read(const AttrField& field, void* attrs) {
    const auto put = [&]<class T>(T value) { field.get<T>(attrs) = std::move(value); };
    const auto list = [&]<class List>(List all, const auto& element) {
      expect("[");
      while (!accept("]")) {
        all.push_back(element());
        if (token() != "]") expect(",");
      }
      put(std::move(all));
    };
    switch (field.kind) {
      case AttrKind::kInt:
        return put(number<int64_t>("a whole number"));
      case AttrKind::kFloat:
        return put(number<double>("a number"));
      case AttrKind::kBool:
        return put(choice(std::array{"false", "true"}) == 1);
      case AttrKind::kDType:
        return put(dtype());
      case AttrKind::kEnum:
        return field.set_enum(attrs, choice(field.info().values));
      case AttrKind::kInts:
        return list(Ints(), [&] { return number<int64_t>("a whole number"); });
      case AttrKind::kSize:
        return put(size());
      case AttrKind::kSizes:
        return list(Sizes(), [&] { return size(); });
      case AttrKind::kText: {
        const std::string_view quoted = token();
        if (quoted.empty() || quoted[0] != '"') unexpected("a text in quotes");
        put(unquoted(quoted.substr(1, quoted.size() - 2)));
        next();
        return;
      }
      case AttrKind::kRegions:
        fail_here(
            "graphs cannot be written as an attribute: write them after the call, as do (...) { "
            "... }");
      case AttrKind::kHeld:
        fail_here("the attribute cannot be written as text");
    }
  }
  static std::string unquoted(std::string_view quoted) {
    std::string text;
    for (size_t i = 0; i < quoted.size(); ++i) {
      const bool is_escape = quoted[i] == '\\' && i + 1 < quoted.size();
      if (is_escape) ++i;
      text += is_escape && quoted[i] == 'n' ? '\n' : quoted[i];
    }
    return text;
  }
  int32_t choice(std::span<const char* const> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (word() != values[i]) continue;
      next();
      return static_cast<int32_t>(i);
    }
    unexpected("one of the attribute's values");
  }

  Scope& scope_;
  std::string_view text_, token_;
  size_t at_ = 0;
  Graph& graph_;
  Tracer tracer_;
  std::unordered_map<std::string, Tensor> values_;
};

}  // namespace

std::unique_ptr<Graph> parse_graph(Scope& scope, std::string_view text) {
  auto graph = std::make_unique<Graph>();
  Parser parser(scope, text, *graph);
  parser.graph();
  parser.end();
  return graph;
}

}  // namespace tenon
