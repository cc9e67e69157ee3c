// The part of the page that speaks of the device itself.

#include "conformance/device/device_check.h"
#include "conformance/report/report_text.h"

namespace tenon_kit {

std::string device_table(const std::vector<Row>& rows) {
  std::string html;
  for (const DeviceCheck& check : all_device_checks()) {
    for (const Row& row : rows) {
      if (row.op != check.part || row.check != check.name || row.dtypes != kNoDTypes) continue;
      const bool bad = is_fault(row.status);
      html += fmt::format("<tr><td>{}<td>{}<td{}>{}<td class=soft>{}<td>{}", row.op, row.check,
                          bad ? " class=bad" : "", name_of(row.status), check.what,
                          escaped(row.message));
    }
  }
  if (html.empty()) return "<p>Not tried.</p>";
  return "<table><tr><th>part<th>property<th>status<th>what it says<th>" + html + "</table>";
}

}  // namespace tenon_kit
