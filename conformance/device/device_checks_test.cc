// Tests that each device check passes on sane devices and fails on a device with the matching
// fault.

#include <gtest/gtest.h>

#include <stdexcept>

#include "conformance/checks/check.h"
#include "conformance/device/broken_device.h"
#include "conformance/device/device_check.h"
#include "conformance/device/failing_memory.h"
#include "conformance/kit/plugin_log.h"
#include "conformance/run/claim_run.h"

namespace tenon_kit::device {

FaultyPlugin* broken;

FaultyPlugin::FaultyPlugin(tenon_plugin_query sane_query) {
  sane_query(&host_table(), &sane);
  plugin = *sane;
  inner = calls = *sane->calls;
  plugin.calls = &calls;
  kernels.assign(sane->kernels, sane->kernels + sane->n_kernels);
  plugin.kernels = kernels.data();
}

tenon_error* query_broken(const tenon_host*, const tenon_plugin** out_plugin) {
  *out_plugin = &broken->plugin;
  return nullptr;
}

namespace {

std::vector<DeviceFault> faults() {
  std::vector<DeviceFault> all = faults_of_level_0();
  for (const DeviceFault& fault : faults_of_level_1()) all.push_back(fault);
  return all;
}

Subject subject_of(const Options& options) {
  const std::string file = options.empty() ? TENON_REF_PLUGIN : TENON_FAKE_PLUGIN;
  return {.query = open_plugin(file), .file = file, .options = options, .thorough = false};
}

const DeviceCheck& check_named(const std::string& name) {
  for (const DeviceCheck& check : all_device_checks()) {
    if (check.name == name) return check;
  }
  throw std::out_of_range(name);
}

bool needs_host_memory(const std::string& check) {
  return check == "reopen" || check == "kernels_unlaunched" || check == "host_memory";
}

TEST(DeviceChecks, PassOnSaneDevices) {
  const Options sane[] = {
      {},
      {{"asynchronous", "1"}},
      {{"asynchronous", "1"}, {"visible", "1"}, {"blocking", "0"}, {"delay_us", "20"}},
      {{"asynchronous", "0"}},
      {{"out_of_order", "1"}, {"delay_us", "20"}},
      {{"memory_bytes", "50000000"}},
  };
  for (const Options& options : sane) {
    for (const DeviceCheck& check : all_device_checks()) {
      const Row row = run_device_check(check, subject_of(options));
      EXPECT_FALSE(is_fault(row.status))
          << (options.empty() ? "ref" : options.back().first) << ": " << check.name << ": "
          << name_of(row.status) << " " << row.message;
    }
  }
}

TEST(DeviceChecks, EachFaultIsFoundByItsCheck) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "some faults are leaks and races, which the sanitizer finds first";
#endif
  for (const DeviceFault& fault : faults()) {
    if (needs_host_memory(fault.check) && !can_fail_host_memory()) continue;
    Subject subject = subject_of(fault.options);
    std::unique_ptr<FaultyPlugin> made;
    if (fault.spoil) {
      made = std::make_unique<FaultyPlugin>(subject.query);
      broken = made.get();
      fault.spoil(*made);
      subject.query = fault.query;
    } else if (std::string(fault.check) == "symbol") {
      subject.file = TENON_LIBRARY;
    }
    const Row row = run_device_check(check_named(fault.check), subject);
    EXPECT_TRUE(is_fault(row.status))
        << fault.check << ": " << fault.what << ": " << name_of(row.status) << " " << row.message;
  }
}

TEST(DeviceChecks, CollectPluginLogMessages) {
  take_plugin_log();
  host_table().log(nullptr, TENON_LOG_WARNING, tenon_str("not so"));
  EXPECT_EQ(take_plugin_log(), "not so");
}

TEST(DeviceChecks, EachHasAFaultThatItMustFind) {
  std::set<std::string> shown;
  for (const DeviceFault& fault : faults()) shown.insert(fault.check);
  for (const DeviceCheck& check : all_device_checks())
    EXPECT_TRUE(shown.contains(check.name)) << check.name;
}

TEST(DeviceChecks, HaveUniqueNames) {
  std::set<std::string> names;
  for (const Check& check : all_checks()) names.insert(check.name);
  for (const DeviceCheck& check : all_device_checks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
  }
}

}  // namespace
}  // namespace tenon_kit::device
