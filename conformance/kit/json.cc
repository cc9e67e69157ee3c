#include "conformance/kit/json.h"

#include <stdexcept>

namespace tenon_kit {

Json to_json(const AttrValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value.variant());
}

AttrValue attr_from_json(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) return json.get<std::vector<int64_t>>();
  throw std::invalid_argument(
      "an attribute value must be a number, a bool, a string or a list of integers, but is " +
      json.dump());
}

}  // namespace tenon_kit
