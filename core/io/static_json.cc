#include "core/io/static_json.h"

#include <cmath>
#include <deque>
#include <limits>

#include "core/base/error.h"

namespace tenon {
namespace {

std::string_view to_view(tenon_string text) { return {text.data, text.size}; }

// ---- writing

Json map_to_json(std::span<const tenon_static> items, int depth);

// Converts one static argument. Throws if it is nested in more than `depth` levels.
Json value_to_json(const tenon_static& value, int depth) {
  require_code(depth > 0, Code::kUnimplemented, "a static argument is nested deeper than {} levels",
               kMaxStaticDepth);
  switch (value.kind) {
    case TENON_STATIC_BOOL:
      return value.int_value != 0;
    case TENON_STATIC_INT:
      return value.int_value;
    case TENON_STATIC_FLOAT:
      if (std::isfinite(value.float_value)) return value.float_value;
      return {{"float", format("{}", {value.float_value})}};
    case TENON_STATIC_STRING:
      return to_view(value.string_value);
    case TENON_STATIC_ENUM:
      return {{"enum", Json::array({to_view(value.string_value), value.int_value})}};
    case TENON_STATIC_LIST: {
      Json list = Json::array();
      for (uint32_t i = 0; i < value.n_items; ++i) {
        list.push_back(value_to_json(value.items[i], depth - 1));
      }
      return list;
    }
    case TENON_STATIC_MAP:
      return {{"map", map_to_json({value.items, value.n_items}, depth - 2)}};
    case TENON_STATIC_HANDLE:
      fail(Code::kUnimplemented, "the static argument {} is an object, which cannot be saved",
           {to_view(value.name)});
    default:
      return nullptr;
  }
}

// Converts named static arguments to a JSON object.
Json map_to_json(std::span<const tenon_static> items, int depth) {
  Json map = Json::object();
  for (const tenon_static& item : items) {
    require_code(item.name.size > 0, Code::kUnimplemented,
                 "a static argument must have a name to be saved");
    map[std::string(to_view(item.name))] = value_to_json(item, depth);
  }
  return map;
}

// ---- reading

class Reader {
 public:
  explicit Reader(std::string_view what) : what_(what) {}

  std::vector<tenon_static> map(const Json& json) const {
    if (!json.is_object()) refuse(json);
    std::vector<tenon_static> items;
    for (const auto& [name, value] : json.items()) {
      if (name.empty()) refuse(json);
      items.push_back(read(value));
      items.back().name = lend(name);
    }
    return items;
  }

 private:
  tenon_static read(const Json& json) const {
    tenon_static value = {};
    if (json.is_boolean()) {
      value.kind = TENON_STATIC_BOOL;
      value.int_value = json.get<bool>();
    } else if (json.is_number_integer()) {
      value.kind = TENON_STATIC_INT;
      value.int_value = integer(json);
    } else if (json.is_number()) {
      value.kind = TENON_STATIC_FLOAT;
      value.float_value = json.get<double>();
    } else if (json.is_string()) {
      value.kind = TENON_STATIC_STRING;
      value.string_value = lend(json.text());
    } else if (json.is_array()) {
      value.kind = TENON_STATIC_LIST;
      std::vector<tenon_static> items;
      for (const Json& item : json) items.push_back(read(item));
      hold(value, std::move(items));
    } else if (json.is_object()) {
      read_tagged(json, value);
    } else {
      value.kind = TENON_STATIC_NONE;
    }
    return value;
  }

  void read_tagged(const Json& json, tenon_static& value) const {
    if (json.size() != 1) refuse(json);
    const std::string& tag = json.items().begin()->first;
    const Json& held = json.items().begin()->second;
    if (tag == "map") {
      value.kind = TENON_STATIC_MAP;
      hold(value, map(held));
    } else if (tag == "enum" && held.is_array() && held.size() == 2 && held.at(0).is_string() &&
               held.at(1).is_number_integer()) {
      value.kind = TENON_STATIC_ENUM;
      value.string_value = lend(held.at(0).text());
      value.int_value = integer(held.at(1));
    } else if (tag == "float") {
      value.kind = TENON_STATIC_FLOAT;
      value.float_value = beyond(held);
    } else {
      refuse(json);
    }
  }

  int64_t integer(const Json& json) const {
    const bool fits = !json.is_number_unsigned() ||
                      json.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
    if (!fits) refuse(json);
    return json.get<int64_t>();
  }

  double beyond(const Json& json) const {
    if (json == "inf") return std::numeric_limits<double>::infinity();
    if (json == "-inf") return -std::numeric_limits<double>::infinity();
    if (json != "nan") refuse(json);
    return std::numeric_limits<double>::quiet_NaN();
  }

  void hold(tenon_static& value, std::vector<tenon_static> items) const {
    value.n_items = static_cast<uint32_t>(items.size());
    held_.push_back(std::move(items));
    value.items = held_.back().data();
  }

  [[noreturn]] void refuse(const Json& json) const {
    fail(Code::kDataLoss, "{}: {} is not a valid value of a static argument", {what_, json.dump()});
  }
  static tenon_string lend(const std::string& text) { return {text.data(), text.size()}; }

  std::string_view what_;
  mutable std::deque<std::vector<tenon_static>> held_;
};

}  // namespace

// Converts static arguments to JSON: an object that maps names to values.
Json json_of_statics(std::span<const tenon_static> all) {
  return map_to_json(all, kMaxStaticDepth);
}

// Converts the result of json_of_statics() back to static arguments.
std::shared_ptr<const OwnedStatics> statics_of_json(const Json& json, std::string_view what) {
  const Reader reader(what);
  const std::vector<tenon_static> all = reader.map(json);
  return std::make_shared<const OwnedStatics>(all.data(), all.size());
}

}  // namespace tenon
