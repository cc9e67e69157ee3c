// The result of one cell of the report: an op, its dtypes, and a property.

#pragma once

#include <string>
#include <vector>

#include "conformance/kit/json_fwd.h"
#include "conformance/kit/judge.h"

namespace tenon_kit {

enum class Status {
  kPass,
  kFail,
  kCrash,        // The worker process crashed.
  kTimeout,      // The worker process did not answer in time.
  kLeak,         // Memory or another object was not released.
  kMistrusted,   // No oracle value could have revealed a fault.
  kUnsupported,  // Not claimed; the message tells what runs instead, if anything.
  kExpectedFail,
  kUnexpectedPass
};
const char* name_of(Status status);  // Returns a name such as "PASS" or "XFAIL".
Status status_from_name(const std::string& name);
// Whether a row with this status fails a run.
bool is_fault(Status status);

Json to_json(const std::vector<CurvePoint>& curve);
std::vector<CurvePoint> curve_from_json(const Json& json);

// The dtypes of a row that does not test an op.
inline constexpr const char* kNoDTypes = "-";

struct Row {
  std::string op;
  std::string dtypes;
  std::string check;
  int level = 0;
  Status status = Status::kPass;
  uint64_t cases = 0;
  uint64_t mistrusted = 0;  // Number of cases whose oracle values could not have revealed a fault.
  double ulp = 0;           // The largest error, in ulp.
  double seconds = 0;
  std::string message;
  std::string line;  // The problem that fails, for tenon-conformance --check CHECK --case LINE.
  std::vector<CurvePoint> curve;  // Errors of a unary function, sorted by x.
};

// Marks the row as failed if the plugin logged `said` while it ran; does nothing if `said` is
// empty. A row that has failed already keeps its message.
void add_plugin_log(Row& row, const std::string& said);

Json to_json(const Row& row);
Row row_from_json(const Json& json);

}  // namespace tenon_kit
