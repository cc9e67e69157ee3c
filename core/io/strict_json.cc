#include "core/io/strict_json.h"

#include <set>
#include <vector>

#include "core/base/error.h"

namespace tenon {

nlohmann::json parse_strict_json(std::string_view text, int deepest, std::string_view what) {
  using Json = nlohmann::json;
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      require_code(depth < deepest, Code::kDataLoss, "{} is nested too deep", what);
    }
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      require_code(keys.back().insert(key).second, Code::kDataLoss, "{} has the key \"{}\" twice",
                   what, key);
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception& error) {  // Of numbers beyond all bounds, too.
    fail(Code::kDataLoss, "{} is no JSON: {}", {what, error.what()});
  }
}

}  // namespace tenon
