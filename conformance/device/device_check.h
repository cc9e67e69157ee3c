// A check of level 0 or 1: one named property of the device itself, not of an op. It calls the
// plugin's table (drive.h) and checks the contract of tenon/plugin.h and plugin_slots.def.
//
// In the report a device check is an ordinary cell. Its op is the tested part of the device (such
// as memory or streams), and its dtypes are "-".
//
// To add a check, write a function in the file of that part, add it to the list at the end of the
// file, and add a plugin that fails it to the fault lists (broken_device.h).

#pragma once

#include <string>
#include <vector>

#include "conformance/device/drive.h"
#include "conformance/run/row.h"

namespace tenon_kit {

struct DeviceCheck {
  const char* part;
  const char* name;  // Unique among all checks, including those of ops.
  int level;
  const char* what;  // One sentence, for the report.
  void (*test)(const device::Subject&);
};

const std::vector<DeviceCheck>& all_device_checks();

// Returns a row of the report for the check, without a result.
Row blank_row(const DeviceCheck& check);
// Runs a check in this process. Exceptions, leaked errors and Unsupported determine the row's
// status.
Row run_device_check(const DeviceCheck& check, const device::Subject& subject);

// Formats the rows of device checks as a table for the report page (report/device_table.cc).
std::string device_table(const std::vector<Row>& rows);

namespace device {

// The lists of checks, one for each file of this folder. device_check.cc concatenates them.
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
