// Static arguments of functions: values that are part of the cache key. 1, 1.0 and true are
// distinct keys.

#pragma once

#include <tenon/tenon.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tenon/tensor.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon {

enum class StaticKind : int32_t {
  kNone = TENON_STATIC_NONE,
  kBool = TENON_STATIC_BOOL,
  kInt = TENON_STATIC_INT,
  kFloat = TENON_STATIC_FLOAT,
  kString = TENON_STATIC_STRING,
  kEnum = TENON_STATIC_ENUM,
  kHandle = TENON_STATIC_HANDLE,
  kList = TENON_STATIC_LIST,
  kMap = TENON_STATIC_MAP
};

namespace detail {

// Return whether `handle` points to an object of the handle's static type. It does not if the
// handle was cast from a different handle type.
inline bool is_of_static_type(tenon_tensor* handle) {
  return tenon_value_as_tensor(tenon_tensor_as_value(handle)) != nullptr;
}
inline bool is_of_static_type(tenon_variable* handle) {
  return tenon_value_as_variable(tenon_variable_as_value(handle)) != nullptr;
}
inline bool is_of_static_type(tenon_function* handle) {
  tenon_string text = {};
  tenon_error* const error = tenon_function_explain(handle, &text);
  tenon_string_release(text);
  tenon_error_release(error);
  return error == nullptr;
}
inline bool is_of_static_type(tenon_generator* handle) {
  void* const any = handle;
  return !is_of_static_type(static_cast<tenon_tensor*>(any)) &&
         !is_of_static_type(static_cast<tenon_variable*>(any)) &&
         !is_of_static_type(static_cast<tenon_function*>(any));
}

// A handle type that can be a static argument: Tensor, Variable, Generator or Function.
template <class T>
concept StaticHandle = requires(const T& object) {
  is_of_static_type(object.get());
};

}  // namespace detail

class Static {
 public:
  Static() = default;
  // A bool or an integer of any type. Throws if the value exceeds INT64_MAX.
  template <class T>
  requires std::is_integral_v<T> Static(T value, SourceLocation at = here())
      : kind_(std::is_same_v<T, bool> ? TENON_STATIC_BOOL : TENON_STATIC_INT),
        int_(static_cast<int64_t>(value)) {
    if (std::is_unsigned_v<T> && int_ < 0) {
      throw Error(
          Code::kInvalidArgument,
          "Static: " + std::to_string(value) + " is above INT64_MAX, the largest static integer",
          at);
    }
  }
  template <class T>
  requires std::is_floating_point_v<T> Static(T value)
      : kind_(TENON_STATIC_FLOAT), float_(static_cast<double>(value)) {}
  Static(const char* value) : kind_(TENON_STATIC_STRING), text_(value) {}
  Static(std::string_view value) : kind_(TENON_STATIC_STRING), text_(value) {}
  Static(std::string value) : kind_(TENON_STATIC_STRING), text_(std::move(value)) {}
  Static(std::vector<Static> items) : kind_(TENON_STATIC_LIST) {
    for (Static& item : items) items_.emplace_back("", std::move(item));
  }
  Static(std::map<std::string, Static> items) : kind_(TENON_STATIC_MAP) {
    for (auto& [name, item] : items) items_.emplace_back(name, std::move(item));
  }
  // A tensor, variable, generator or function, which the Static keeps alive. The cache key compares
  // objects by identity, not by value: two tensors with equal elements are different static
  // arguments.
  template <class T>
  requires detail::StaticHandle<T> Static(const T& object)
      : kind_(TENON_STATIC_HANDLE), owner_(std::make_shared<const T>(object)) {
    handle_ = object.get();
  }
  // Converts a C static argument that a callback received. Its handles are valid only during the
  // callback.
  explicit Static(const tenon_static& c)
      : kind_(c.kind),
        int_(c.int_value),
        float_(c.float_value),
        text_(detail::view(c.string_value)),
        handle_(c.handle) {
    for (uint32_t i = 0; i < c.n_items; ++i) {
      items_.emplace_back(detail::view(c.items[i].name), Static(c.items[i]));
    }
  }

  StaticKind kind() const { return static_cast<StaticKind>(kind_); }

  // Return the value. Each throws INVALID_ARGUMENT if the Static has a different kind.
  bool as_bool(SourceLocation at = here()) const {
    return require(StaticKind::kBool, "as_bool", at).int_ != 0;
  }
  int64_t as_int(SourceLocation at = here()) const {
    return require(StaticKind::kInt, "as_int", at).int_;
  }
  // Returns the value of a float or an integer.
  double as_double(SourceLocation at = here()) const {
    if (kind() == StaticKind::kInt) return static_cast<double>(int_);
    return require(StaticKind::kFloat, "as_double", at).float_;
  }
  const std::string& as_string(SourceLocation at = here()) const {
    return require(StaticKind::kString, "as_string", at).text_;
  }
  // Returns the object as a Tensor, Variable, Generator or Function: as<Variable>().
  template <class T>
  requires detail::StaticHandle<T> T as(SourceLocation at = here())
  const {
    using Object = std::remove_pointer_t<decltype(std::declval<T>().get())>;
    require(StaticKind::kHandle, "as", at);
    auto* const object = static_cast<Object*>(const_cast<void*>(handle_));
    if (detail::is_of_static_type(object)) return T::share(object);
    throw Error(Code::kInvalidArgument, "Static::as: the handle's object has another type", at);
  }
  // Returns the items of a list or a map with their names. List items have empty names.
  const std::vector<std::pair<std::string, Static>>& items(SourceLocation at = here()) const {
    if (kind() == StaticKind::kList) return items_;
    return require(StaticKind::kMap, "items", at).items_;
  }

  // Returns the item of a map with this name. Throws NOT_FOUND if there is none.
  const Static& at(std::string_view name, SourceLocation at = here()) const {
    std::string names;
    for (const auto& [item_name, item] : require(StaticKind::kMap, "at", at).items_) {
      if (item_name == name) return item;
      names += (names.empty() ? "" : ", ") + item_name;
    }
    throw Error(Code::kNotFound,
                "Static: the map has no item \"" + std::string(name) + "\"" +
                    (names.empty() ? "; the map is empty" : "; its items are " + names),
                at);
  }
  // Returns the item of a list at this index.
  template <class T>
  requires std::is_integral_v<T>
  const Static& at(T index, SourceLocation at = here()) const {
    const auto& items = require(StaticKind::kList, "at", at).items_;
    if (index >= 0 && static_cast<uint64_t>(index) < items.size()) {
      return items[static_cast<size_t>(index)].second;
    }
    throw Error(Code::kOutOfRange,
                "Static: index " + std::to_string(index) +
                    " is out of range for a list of length " + std::to_string(items.size()),
                at);
  }

  // Converts to the C struct. `kept` owns the arrays of items that the struct points to.
  tenon_static c(std::string_view name, std::vector<std::vector<tenon_static>>& kept) const {
    tenon_static value = {};
    value.kind = kind_;
    value.name = detail::c_text(name);
    value.int_value = int_;
    value.float_value = float_;
    value.string_value = detail::c_text(text_);
    value.handle = handle_;
    std::vector<tenon_static> items;
    for (const auto& [item_name, item] : items_) items.push_back(item.c(item_name, kept));
    value.n_items = static_cast<uint32_t>(items.size());
    kept.push_back(std::move(items));
    value.items = kept.back().data();
    return value;
  }

 private:
  // Returns this Static. Throws in the name of method `who` unless its kind is `wanted`.
  const Static& require(StaticKind wanted, const char* who, SourceLocation at) const {
    if (kind() == wanted) return *this;
    static const char* const kNames[] = {"none",    "a bool",   "an integer", "a float", "a string",
                                         "an enum", "a handle", "a list",     "a map"};
    throw Error(Code::kInvalidArgument,
                std::string("Static::") + who + ": the static is " + kNames[kind_] +
                    ", but must be " + kNames[static_cast<int32_t>(wanted)],
                at);
  }

  int32_t kind_ = TENON_STATIC_NONE;
  int64_t int_ = 0;
  double float_ = 0;
  std::string text_;
  const void* handle_ = nullptr;
  std::shared_ptr<const void> owner_;  // Keeps the handle's object alive, if owned.
  std::vector<std::pair<std::string, Static>> items_;
};

// Static arguments of a call, by name.
class Statics : public std::map<std::string, Static> {
 public:
  using std::map<std::string, Static>::map;

  // Returns the argument with this name. Throws NOT_FOUND and lists the names if there is none.
  const Static& at(const std::string& name, SourceLocation at = here()) const {
    if (const auto found = find(name); found != end()) return found->second;
    std::string names;
    for (const auto& entry : *this) names += (names.empty() ? "" : ", ") + entry.first;
    throw Error(Code::kNotFound,
                "statics: there is no static argument \"" + name + "\"" +
                    (names.empty() ? "; the call has none" : "; the arguments are " + names),
                at);
  }
};

}  // namespace tenon
