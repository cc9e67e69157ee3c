// What came of one cell of the report: an op, its dtypes, a property.

#pragma once

#include <string>
#include <vector>

#include "conformance/kit/json_fwd.h"
#include "conformance/kit/judge.h"

namespace tenon_kit {

enum class Status {
  kPass,
  kFail,
  kCrash,        // The process ended.
  kTimeout,      // It did not answer.
  kLeak,         // Something was not given back.
  kMistrusted,   // Every oracle was too plain to show a fault.
  kUnsupported,  // Not claimed; the reason says what runs instead, if anything does.
  kExpectedFail,
  kUnexpectedPass
};
const char* name_of(Status status);  // "PASS", "XFAIL".
Status status_named(const std::string& name);
// Whether a run with such a row fails.
bool is_fault(Status status);

Json to_json(const std::vector<CurvePoint>& curve);
std::vector<CurvePoint> curve_from_json(const Json& json);

// The dtypes of a row that is about no op.
inline constexpr const char* kNoDTypes = "-";

struct Row {
  std::string op;
  std::string dtypes;
  std::string check;
  int level = 0;
  Status status = Status::kPass;
  uint64_t cases = 0;
  uint64_t mistrusted = 0;  // Of them, too plain to be a pass.
  double ulp = 0;           // The largest error.
  double seconds = 0;
  std::string message;
  std::string line;  // Reproduces a fault: tenon-conformance --check CHECK --case LINE.
  std::vector<CurvePoint> curve;  // Of a unary function, in the order of x.
};

// Fails a row during which the plugin logged that; empty if it logged nothing. One that is a fault
// already keeps its own.
void add_plugin_log(Row& row, const std::string& said);

Json to_json(const Row& row);
Row row_from_json(const Json& json);

}  // namespace tenon_kit
