#include "core/trace/statics.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/dispatch/generator.h"
#include "core/dispatch/variable.h"
#include "core/trace/function.h"

namespace tenon {
namespace {

constexpr int kMaxDepth = 64;

[[noreturn]] void refuse(const std::string& what) {
  Error error(Code::kInvalidArgument, "statics " + what);
  error.set_argument("statics");
  throw error;
}

// Returns the text as a string view. Fails if it has a size but no data; `what` names it.
std::string_view checked_text(tenon_string text, const char* what) {
  if (!text.data && text.size > 0) refuse(format("contain {} with a size and no data", {what}));
  return text.data ? std::string_view(text.data, text.size) : std::string_view();
}

std::string_view name_of(const tenon_static& value) { return checked_text(value.name, "a name"); }

// Fails if a list of n > 0 items is NULL.
void require_list(const tenon_static* items, size_t n) {
  if (n > 0 && !items) refuse("are NULL, but their number is not 0");
}

// Appends a text to a key, after its length: different argument lists then have different keys.
void append_with_length(std::string& key, std::string_view text) {
  key += std::to_string(text.size());
  key += ':';
  key += text;
}

// Returns the unique number of the object of a handle.
uint64_t identity_of(const void* handle) {
  if (!handle) refuse("contain a NULL handle");
  switch (static_cast<const Object*>(handle)->kind()) {
    case Kind::kTensor:
      return static_cast<const TensorImpl*>(handle)->assign_identity();
    case Kind::kVariable:
      return static_cast<const Variable*>(handle)->id();
    case Kind::kGenerator:
      return static_cast<const Generator*>(handle)->id();
    case Kind::kFunction:
      return static_cast<const Function*>(handle)->id();
    default:
      refuse("contain a handle of an object that is not a tensor, variable, generator or function");
  }
}

// Returns positional arguments in their order, followed by named arguments sorted by name. Fails if
// two have the same name or, if `by_name` is true, an item has no name.
std::vector<const tenon_static*> sort_by_name(const tenon_static* items, size_t n, bool by_name) {
  require_list(items, n);
  std::vector<const tenon_static*> all;
  for (size_t i = 0; i < n; ++i) {
    if (by_name && name_of(items[i]).empty()) refuse("contain a map with an unnamed item");
    all.push_back(items + i);
  }
  std::stable_sort(all.begin(), all.end(), [](const tenon_static* a, const tenon_static* b) {
    return name_of(*a) < name_of(*b);
  });
  for (size_t i = 1; i < all.size(); ++i) {
    const std::string_view name = name_of(*all[i]);
    if (!name.empty() && name == name_of(*all[i - 1])) refuse(format("contain {} twice", {name}));
  }
  return all;
}

// Appends a value to the key and to the text for messages. `depth` is its nesting depth.
void append_value(const tenon_static& value, std::string& key, std::string& text, int depth) {
  if (depth > kMaxDepth)
    refuse(format("are nested {} levels deep, one more than the maximum", {depth}));
  key += static_cast<char>('a' + value.kind);
  switch (value.kind) {
    case TENON_STATIC_NONE:
      text += "none";
      return;
    case TENON_STATIC_BOOL:
      key += value.int_value ? '1' : '0';
      text += value.int_value ? "true" : "false";
      return;
    case TENON_STATIC_INT:
      append_with_length(key, std::to_string(value.int_value));
      text += std::to_string(value.int_value);
      return;
    case TENON_STATIC_FLOAT: {
      uint64_t bits;
      std::memcpy(&bits, &value.float_value, sizeof bits);
      append_with_length(key, std::to_string(bits));
      const std::string digits = format("{}", {value.float_value});
      text += digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
      return;
    }
    case TENON_STATIC_STRING: {
      const std::string_view given = checked_text(value.string_value, "a static argument");
      append_with_length(key, given);
      text += '"' + std::string(given) + '"';
      return;
    }
    case TENON_STATIC_ENUM: {
      const std::string_view type = checked_text(value.string_value, "an enumeration's name");
      append_with_length(key, type);
      append_with_length(key, std::to_string(value.int_value));
      text += format("{}({})", {type, value.int_value});
      return;
    }
    case TENON_STATIC_HANDLE: {
      const uint64_t identity = identity_of(value.handle);
      append_with_length(
          key,
          format("{} {}", {static_cast<uint64_t>(static_cast<const Object*>(value.handle)->kind()),
                           identity}));
      text += format("object {}", {identity});
      return;
    }
    case TENON_STATIC_LIST:
    case TENON_STATIC_MAP: {
      const bool is_map = value.kind == TENON_STATIC_MAP;
      append_with_length(key, std::to_string(value.n_items));
      text += is_map ? '{' : '[';
      std::vector<const tenon_static*> items;
      if (is_map) {
        items = sort_by_name(value.items, value.n_items, true);
      } else {
        require_list(value.items, value.n_items);
        for (uint32_t i = 0; i < value.n_items; ++i) items.push_back(value.items + i);
      }
      for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) text += ", ";
        if (is_map) {
          append_with_length(key, name_of(*items[i]));
          text += std::string(name_of(*items[i])) + ": ";
        }
        append_value(*items[i], key, text, depth + 1);
      }
      text += is_map ? '}' : ']';
      return;
    }
    default:
      refuse(format("contain a value of unknown kind {}", {value.kind}));
  }
}

}  // namespace

StaticArguments::StaticArguments(const tenon_static* given, size_t n,
                                 const std::vector<tenon_static>& defaults) {
  require_list(given, n);
  all_.assign(given, given + n);
  for (const tenon_static& value : defaults) {
    const bool is_given = std::any_of(all_.begin(), all_.end(), [&](const tenon_static& other) {
      return name_of(other) == name_of(value);
    });
    if (!is_given) all_.push_back(value);
  }
  for (const tenon_static* value : sort_by_name(all_.data(), all_.size(), false)) {
    const std::string_view name = name_of(*value);
    if (!text_.empty()) text_ += ", ";
    if (!name.empty()) text_ += std::string(name) + "=";
    append_with_length(key_, name);
    append_value(*value, key_, text_, 0);
  }
}

OwnedStatics::OwnedStatics(const tenon_static* given, size_t n) {
  const Statics all = StaticArguments(given, n, {}).view();
  all_ = copy(given, n);
  key_ = all.key;
  text_ = all.text;
}

std::vector<tenon_static> OwnedStatics::copy(const tenon_static* items, size_t n) {
  std::vector<tenon_static> copies(items, items + n);
  for (tenon_static& value : copies) {
    value.name = copy(value.name);
    value.string_value = copy(value.string_value);
    if (value.kind != TENON_STATIC_LIST && value.kind != TENON_STATIC_MAP) continue;
    auto inner = std::make_unique<std::vector<tenon_static>>(copy(value.items, value.n_items));
    value.items = inner->data();
    items_.push_back(std::move(inner));
  }
  return copies;
}

tenon_string OwnedStatics::copy(tenon_string text) {
  texts_.push_back(std::make_unique<std::string>(text.data ? text.data : "", text.size));
  return {texts_.back()->data(), texts_.back()->size()};
}

}  // namespace tenon
