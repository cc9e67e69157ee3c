#include "conformance/kit/attr_values.h"

#include <cmath>
#include <stdexcept>

namespace tenon_kit {
namespace {

// Returns the value if it has type T. Otherwise throws an error that names the expected type.
template <class T>
const T& get_as(const AttrValue& value, const char* what) {
  if (const T* found = std::get_if<T>(&value.variant())) return *found;
  throw std::invalid_argument(std::string("an attribute should be ") + what);
}

}  // namespace

AttrValue::AttrValue(std::string value) : value_(std::move(value)) {}
AttrValue::AttrValue(const char* value) : value_(std::string(value)) {}
AttrValue::AttrValue(std::vector<int64_t> value) : value_(std::move(value)) {}
AttrValue::AttrValue(const AttrValue&) = default;
AttrValue::AttrValue(AttrValue&&) noexcept = default;
AttrValue& AttrValue::operator=(const AttrValue&) = default;
AttrValue& AttrValue::operator=(AttrValue&&) noexcept = default;
AttrValue::~AttrValue() = default;

bool AttrValue::flag() const { return get_as<bool>(*this, "true or false"); }
int64_t AttrValue::whole() const { return get_as<int64_t>(*this, "a whole number"); }
const std::string& AttrValue::text() const { return get_as<std::string>(*this, "a text"); }
const std::vector<int64_t>& AttrValue::list() const {
  return get_as<std::vector<int64_t>>(*this, "a list of whole numbers");
}

double AttrValue::number() const {
  if (const int64_t* whole = std::get_if<int64_t>(&value_)) return static_cast<double>(*whole);
  if (const std::string* text = std::get_if<std::string>(&value_)) {
    if (*text == "nan") return NAN;
    if (*text == "inf") return INFINITY;
    if (*text == "-inf") return -INFINITY;
  }
  return get_as<double>(*this, "a number");
}

bool operator==(const AttrValue& a, const AttrValue& b) { return a.value_ == b.value_; }

AttrValue& AttrValues::operator[](std::string_view name) {
  for (auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return values_.emplace_back(name, AttrValue()).second;
}

const AttrValue* AttrValues::find(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return &value;
  }
  return nullptr;
}

bool operator==(const AttrValues& a, const AttrValues& b) { return a.values_ == b.values_; }

}  // namespace tenon_kit
