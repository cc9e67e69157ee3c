// Writes the sections of the HTML page about the device itself and about functions on it.

#include "conformance/device/device_check.h"
#include "conformance/functions/function_check.h"
#include "conformance/report/report_text.h"

namespace tenon_kit {
namespace {

// Returns an HTML table of the rows that belong to these checks.
template <class Check>
std::string table(const std::vector<Row>& rows, const std::vector<Check>& checks) {
  std::string html;
  for (const Check& check : checks) {
    for (const Row& row : rows) {
      if (row.op != check.part || row.check != check.name || row.dtypes != kNoDTypes) continue;
      const bool bad = is_fault(row.status);
      html += fmt::format("<tr><td>{}<td>{}<td{}>{}<td class=soft>{}<td>{}", row.op, row.check,
                          bad ? " class=bad" : "", name_of(row.status), check.what,
                          escape_xml(row.message));
    }
  }
  if (html.empty()) return "<p>Not run.</p>";
  return "<table><tr><th>part<th>property<th>status<th>description<th>" + html + "</table>";
}

}  // namespace

std::string device_table(const std::vector<Row>& rows) { return table(rows, all_device_checks()); }
std::string function_table(const std::vector<Row>& rows) {
  return table(rows, all_function_checks());
}

}  // namespace tenon_kit
