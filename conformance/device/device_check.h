// A check of levels 0 and 1: one named property of the device itself, not of an op. It drives the
// plugin's table (drive.h); what tenon/plugin.h and plugin_slots.def promise is what is asked.
//
// In the report it is a cell like any other, whose op is the part of the device that it is about
// and whose dtypes are "-".
//
// To add one: a function in the file of its part, its line in the list at the end of that file, and
// a plugin that breaks it in device_checks_test.cc.

#pragma once

#include <string>
#include <vector>

#include "conformance/device/drive.h"
#include "conformance/run/row.h"

namespace tenon_kit {

struct DeviceCheck {
  const char* part;
  const char* name;  // Unlike that of any other check, of an op's too.
  int level;
  const char* what;  // One sentence, for the report.
  void (*test)(const device::Subject&);
};

const std::vector<DeviceCheck>& all_device_checks();

Row blank_row(const DeviceCheck& check);
// In this process. What throws, leaks errors or says Unsupported is in the row's status.
Row run_device_check(const DeviceCheck& check, const device::Subject& subject);

// The rows of such checks as a table of the page (report/device_table.cc).
std::string device_table(const std::vector<Row>& rows);

namespace device {

// The lists that device_check.cc joins.
std::vector<DeviceCheck> entry_checks();
std::vector<DeviceCheck> instance_checks();
std::vector<DeviceCheck> kernel_checks();
std::vector<DeviceCheck> buffer_checks();
std::vector<DeviceCheck> copy_checks();
std::vector<DeviceCheck> stream_checks();
std::vector<DeviceCheck> event_checks();
std::vector<DeviceCheck> launch_checks();
std::vector<DeviceCheck> recording_checks();
std::vector<DeviceCheck> task_checks();
std::vector<DeviceCheck> time_checks();
std::vector<DeviceCheck> index_checks();
std::vector<DeviceCheck> failure_checks();

}  // namespace device
}  // namespace tenon_kit
