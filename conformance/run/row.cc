#include "conformance/run/row.h"

#include <algorithm>
#include <stdexcept>

#include "conformance/kit/json.h"

namespace tenon_kit {
namespace {

constexpr const char* kNames[] = {"PASS",       "FAIL",        "CRASH", "TIMEOUT", "LEAK",
                                  "MISTRUSTED", "UNSUPPORTED", "XFAIL", "XPASS"};

// Replaces an infinite error by 1e300, because JSON has no infinity. The error overflows if the
// unit is tiny.
double clamp_to_finite(double ulp) { return std::min(ulp, 1e300); }

}  // namespace

const char* name_of(Status status) { return kNames[static_cast<size_t>(status)]; }

Status status_from_name(const std::string& name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<Status>(i);
  }
  throw std::invalid_argument("unknown status " + name);
}

bool is_fault(Status status) {
  return status != Status::kPass && status != Status::kUnsupported &&
         status != Status::kExpectedFail;
}

Json to_json(const std::vector<CurvePoint>& curve) {
  Json json = Json::array();
  for (const CurvePoint& point : curve) {
    json.push_back({point.x, clamp_to_finite(point.ulp), clamp_to_finite(point.allowed)});
  }
  return json;
}

std::vector<CurvePoint> curve_from_json(const Json& json) {
  std::vector<CurvePoint> curve;
  for (const Json& point : json) curve.push_back({point[0], point[1], point[2]});
  return curve;
}

void add_plugin_log(Row& row, const std::string& said) {
  if (said.empty()) return;
  if (!is_fault(row.status)) row.status = Status::kFail;
  row.message += (row.message.empty() ? "" : "; ") + ("the plugin logged: " + said);
}

Json to_json(const Row& row) {
  Json json = {{"op", row.op},
               {"dtypes", row.dtypes},
               {"check", row.check},
               {"level", row.level},
               {"status", name_of(row.status)},
               {"cases", row.cases},
               {"ulp", clamp_to_finite(row.ulp)},
               {"seconds", row.seconds}};
  if (row.mistrusted) json["mistrusted"] = row.mistrusted;
  if (!row.message.empty()) json["message"] = row.message;
  if (!row.line.empty()) json["line"] = row.line;
  if (!row.curve.empty()) json["curve"] = to_json(row.curve);
  return json;
}

Row row_from_json(const Json& json) {
  return {.op = json.at("op"),
          .dtypes = json.at("dtypes"),
          .check = json.at("check"),
          .level = json.at("level"),
          .status = status_from_name(json.at("status")),
          .cases = json.at("cases"),
          .mistrusted = json.value("mistrusted", uint64_t{0}),
          .ulp = json.at("ulp"),
          .seconds = json.at("seconds"),
          .message = json.value("message", ""),
          .line = json.value("line", ""),
          .curve = curve_from_json(json.value("curve", Json::array()))};
}

}  // namespace tenon_kit
