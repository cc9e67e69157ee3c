#include "core/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace tenon {
namespace {

// Returns the length in bytes of the UTF-8 sequence at the start of `text`, or 0 if it is invalid.
size_t utf8_sequence_size(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const size_t n = first >= 0xc2 && first <= 0xdf   ? 2
                   : first >= 0xe0 && first <= 0xef ? 3
                   : first >= 0xf0 && first <= 0xf4 ? 4
                                                    : 0;
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Rejects overlong encodings, surrogates, and code points above U+10FFFF.
  const bool is_wrong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                        (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
  return is_wrong ? 0 : n;
}

class Writer {
 public:
  Writer(int indent, Json::NotUtf8 not_utf8) : indent_(indent), not_utf8_(not_utf8) {}

  void add(std::nullptr_t) { out += "null"; }
  void add(bool value) { out += value ? "true" : "false"; }
  void add(int64_t value) { out += fmt::format("{}", value); }
  void add(uint64_t value) { out += fmt::format("{}", value); }
  void add(double value) {
    if (!std::isfinite(value)) return add(nullptr);
    const std::string text = fmt::format("{}", value);
    out += text;
    if (text.find_first_of(".e") == std::string::npos) out += ".0";
  }
  void add(const std::string& text) {
    out += '"';
    for (std::string_view rest = text; !rest.empty();) {
      const size_t n = utf8_sequence_size(rest);
      if (n == 0) {
        require(not_utf8_ == Json::NotUtf8::kReplace, "the text \"{}\" is not UTF-8", text);
        out += "\xef\xbf\xbd";
      } else {
        add_character(rest.substr(0, n));
      }
      rest.remove_prefix(std::max<size_t>(n, 1));
    }
    out += '"';
  }
  template <class Each, class Add>
  void add_all(char open, char close, const Each& each, const Add& add) {
    out += open;
    ++level_;
    bool is_first = true;
    for (const auto& one : each) {
      if (!is_first) out += ',';
      is_first = false;
      add_line();
      add(one);
    }
    --level_;
    if (!is_first) add_line();
    out += close;
  }
  std::string_view colon() const { return indent_ < 0 ? ":" : ": "; }

  std::string out;

 private:
  void add_line() {
    if (indent_ < 0) return;
    out += '\n';
    out.append(static_cast<size_t>(indent_ * level_), ' ');
  }
  void add_character(std::string_view character) {
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    const char first = character[0];
    const size_t at = kEscaped.find(first);
    if (at != std::string_view::npos) {
      out += '\\';
      out += kLetters[at];
    } else if (static_cast<unsigned char>(first) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(first));
    } else {
      out += character;
    }
  }

  const int indent_;
  const Json::NotUtf8 not_utf8_;
  int level_ = 0;
};

}  // namespace

Json::Json(std::initializer_list<Json> elements) {
  const bool is_object = std::all_of(elements.begin(), elements.end(), [](const Json& each) {
    return each.is_array() && each.size() == 2 && each.at(0).is_string();
  });
  if (!is_object) {
    value_ = Array(elements);
    return;
  }
  Object members;
  for (const Json& each : elements) members.emplace(each.at(0).text(), each.at(1));
  value_ = std::move(members);
}

// Returns the value as a T. Throws INTERNAL if it has another type.
template <class T>
const T& Json::require() const {
  const T* value = std::get_if<T>(&value_);
  require_code(value != nullptr, Code::kInternal, "a JSON value has the wrong type");
  return *value;
}

const std::string& Json::text() const { return require<std::string>(); }
const Json::Array& Json::elements() const { return require<Array>(); }
const Json::Object& Json::items() const { return require<Object>(); }
Json::Array& Json::elements() { return const_cast<Array&>(require<Array>()); }
Json::Object& Json::items() { return const_cast<Object&>(require<Object>()); }

size_t Json::size() const { return is_object() ? items().size() : elements().size(); }

const Json* Json::find(std::string_view name) const {
  const auto* members = std::get_if<Object>(&value_);
  if (!members) return nullptr;
  const auto at = members->find(name);
  return at == members->end() ? nullptr : &at->second;
}

const Json& Json::operator[](std::string_view name) const {
  const Json* member = find(name);
  require_code(member != nullptr, Code::kInternal, "a JSON object has no member \"{}\"", name);
  return *member;
}

// Converts null to an empty T. Then returns the value as a T; throws INTERNAL if it is not a T.
template <class T>
T& Json::become() {
  if (is<std::nullptr_t>()) value_ = T();
  return const_cast<T&>(require<T>());
}

Json& Json::operator[](std::string_view name) {
  Object& members = become<Object>();
  const auto at = members.find(name);
  return at != members.end() ? at->second : members[std::string(name)];
}

void Json::push_back(Json value) { become<Array>().push_back(std::move(value)); }

bool operator==(const Json& a, const Json& b) {
  const bool are_signs_mixed =
      a.is_number_integer() && b.is_number_integer() && a.value_.index() != b.value_.index();
  if (!are_signs_mixed) return a.value_ == b.value_;
  const int64_t signed_one = a.is<int64_t>() ? a.get<int64_t>() : b.get<int64_t>();
  return signed_one >= 0 && a.get<uint64_t>() == b.get<uint64_t>();
}

std::string Json::dump(int indent, NotUtf8 not_utf8) const {
  Writer writer(indent, not_utf8);
  const auto add = [&](const auto& self, const Json& json) -> void {
    if (const auto* list = std::get_if<Array>(&json.value_)) {
      writer.add_all('[', ']', *list, [&](const Json& each) { self(self, each); });
    } else if (const auto* members = std::get_if<Object>(&json.value_)) {
      writer.add_all('{', '}', *members, [&](const auto& member) {
        writer.add(member.first);
        writer.out += writer.colon();
        self(self, member.second);
      });
    } else {
      std::visit(
          [&](const auto& value) {
            using T = std::decay_t<decltype(value)>;
            if constexpr (!std::is_same_v<T, Array> && !std::is_same_v<T, Object>) {
              writer.add(value);
            }
          },
          json.value_);
    }
  };
  add(add, *this);
  return std::move(writer.out);
}

}  // namespace tenon
