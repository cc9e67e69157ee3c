#include "conformance/device/device_check.h"

#include <chrono>
#include <thread>

#include "conformance/device/failing_memory.h"

namespace tenon_kit {
namespace {

std::vector<DeviceCheck> concatenate_checks() {
  std::vector<DeviceCheck> all;
  for (std::vector<DeviceCheck> (*list)() :
       {device::entry_checks, device::instance_checks, device::kernel_checks, device::buffer_checks,
        device::copy_checks, device::stream_checks, device::event_checks, device::launch_checks,
        device::recording_checks, device::task_checks, device::time_checks, device::index_checks,
        device::failure_checks}) {
    for (const DeviceCheck& check : list()) all.push_back(check);
  }
  return all;
}

// Runs the check and stores its status and message in `row`.
void judge(Row& row, const DeviceCheck& check, const device::Subject& subject) {
  const size_t errors = device::n_live_errors();
  device::take_failed_launches();
  const auto end = [&](Status status, const std::string& message) {
    row.status = status;
    row.message = message;
  };
  try {
    check.test(subject);
    const size_t more = device::n_live_errors() - errors;
    if (more > 0) end(Status::kLeak, fmt::format("{} errors were made and never released", more));
  } catch (const device::Unsupported& reason) {
    end(Status::kUnsupported, reason.what());
  } catch (const device::Leak& leak) {
    end(Status::kLeak, leak.what());
  } catch (const std::exception& fault) {
    end(Status::kFail, fault.what());
  } catch (...) {
    end(Status::kFail, "a call threw an exception, but no call of a plugin may throw");
  }
  device::fail_host_memory_at(0);
}

}  // namespace

const std::vector<DeviceCheck>& all_device_checks() {
  static const std::vector<DeviceCheck> checks = concatenate_checks();
  return checks;
}

// Returns a row for the check, without a result.
Row blank_row(const DeviceCheck& check) {
  return {.op = check.part, .dtypes = kNoDTypes, .check = check.name, .level = check.level};
}

Row run_device_check(const DeviceCheck& check, const device::Subject& subject) {
  Row row = blank_row(check);
  const auto start = std::chrono::steady_clock::now();
  judge(row, check, subject);
  row.cases = row.status != Status::kUnsupported;
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return row;
}

}  // namespace tenon_kit
