// JSON values, as used in the files of saved programs. Destroying a value does not allocate, so
// that code can unwind after memory ran out.

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace tenon {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  template <class T>
  requires(std::is_arithmetic_v<T>) Json(T value) {
    if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>) {
      value_ = std::conditional_t<std::is_same_v<T, bool>, bool, double>(value);
    } else if constexpr (std::is_unsigned_v<T>) {
      value_ = uint64_t{value};
    } else {
      value_ = int64_t{value};
    }
  }
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  template <class T>
  Json(const std::vector<T>& list) : value_(Array(list.begin(), list.end())) {}
  template <class T>
  Json(const std::map<std::string, T>& members) : value_(Object(members.begin(), members.end())) {}
  // Creates an object if every element is a pair [string, value]. Otherwise creates a list.
  Json(std::initializer_list<Json> elements);

  static Json array(std::initializer_list<Json> elements = {}) { return Json(Array(elements)); }
  // Returns an empty object.
  static Json object() { return Json(Object()); }

  bool is_string() const { return is<std::string>(); }
  bool is_boolean() const { return is<bool>(); }
  bool is_array() const { return is<Array>(); }
  bool is_object() const { return is<Object>(); }
  // Whether the value is an unsigned integer, as the parser returns for every integer without a
  // sign.
  bool is_number_unsigned() const { return is<uint64_t>(); }
  bool is_number_integer() const { return is<int64_t>() || is<uint64_t>(); }
  bool is_number() const { return is_number_integer() || is<double>(); }

  // Converts a number or a boolean to T. Returns T() for values of another kind.
  template <class T>
  requires(std::is_arithmetic_v<T>) T get()
  const {
    return std::visit(
        [](const auto& value) {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) {
            return static_cast<T>(value);
          } else {
            return T();
          }
        },
        value_);
  }
  // text(), elements() and items() throw INTERNAL if the value is not a string, a list or an
  // object.
  const std::string& text() const;
  const Array& elements() const;
  const Object& items() const;
  Array& elements();
  Object& items();

  size_t size() const;  // Number of elements of a list, or of members of an object.
  Array::const_iterator begin() const { return elements().begin(); }
  Array::const_iterator end() const { return elements().end(); }
  const Json& at(size_t i) const { return elements()[i]; }
  // Returns the member of that name. Returns NULL if there is none or this is not an object.
  const Json* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  // Returns the member of that name. Throws INTERNAL if there is none.
  const Json& operator[](std::string_view name) const;
  const Json& operator[](const char* name) const { return (*this)[std::string_view(name)]; }

  // operator[] first converts null to an empty object, push_back() to an empty list.
  Json& operator[](std::string_view name);
  Json& operator[](const char* name) { return (*this)[std::string_view(name)]; }
  void push_back(Json value);

  // Integers are compared by value, whatever their type.
  friend bool operator==(const Json& a, const Json& b);

  enum class NotUtf8 { kThrow, kReplace };
  // Formats with `indent` spaces per level, or on one line if `indent` is negative. For text that
  // is not UTF-8, throws INVALID_ARGUMENT or replaces the invalid bytes by U+FFFD.
  std::string dump(int indent = -1, NotUtf8 not_utf8 = NotUtf8::kThrow) const;

 private:
  explicit Json(Array elements) : value_(std::move(elements)) {}
  explicit Json(Object members) : value_(std::move(members)) {}
  // Whether the value is stored as a T.
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(value_);
  }
  // Returns the value as a T. Throws INTERNAL if it has another type.
  template <class T>
  const T& require() const;
  // Converts null to an empty T. Then returns the value as a T.
  template <class T>
  T& become();

  std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string, Array, Object> value_;
};

}  // namespace tenon
