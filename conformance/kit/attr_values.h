// Attribute values by name, as in cases and in the text form of problems.

#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tenon_kit {

// An attribute value: a number, a flag, a list of integers or a string. A string is the name of a
// dtype or enum value, or "inf", "-inf" or "nan", which JSON numbers cannot express. Each accessor
// throws std::invalid_argument if the value does not have the accessor's type.
class AttrValue {
 public:
  AttrValue() = default;
  AttrValue(bool value) : value_(value) {}
  template <std::integral T>
  AttrValue(T value) : value_(static_cast<int64_t>(value)) {}
  AttrValue(double value) : value_(value) {}
  AttrValue(std::string value);
  AttrValue(const char* value);
  AttrValue(std::vector<int64_t> value);
  AttrValue(const AttrValue&);
  AttrValue(AttrValue&&) noexcept;
  AttrValue& operator=(const AttrValue&);
  AttrValue& operator=(AttrValue&&) noexcept;
  ~AttrValue();

  bool flag() const;
  int64_t whole() const;
  double number() const;
  const std::string& text() const;
  const std::vector<int64_t>& list() const;

  using Variant = std::variant<int64_t, bool, double, std::string, std::vector<int64_t>>;
  const Variant& variant() const { return value_; }
  friend bool operator==(const AttrValue& a, const AttrValue& b);

 private:
  Variant value_;
};

// Attributes by name, in the order in which they were first set.
class AttrValues {
 public:
  AttrValues() = default;
  AttrValues(std::initializer_list<std::pair<std::string, AttrValue>> values) : values_(values) {}

  AttrValue& operator[](std::string_view name);
  const AttrValue* find(std::string_view name) const;  // NULL if not set.
  bool empty() const { return values_.empty(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  friend bool operator==(const AttrValues& a, const AttrValues& b);

 private:
  std::vector<std::pair<std::string, AttrValue>> values_;
};

}  // namespace tenon_kit
