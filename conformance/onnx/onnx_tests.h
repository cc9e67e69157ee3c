// Runs the node tests of ONNX. Each is a model of one or a few nodes, with inputs and outputs from
// ONNX's own reference implementation, so the tests are independent of Tenon.
//
// Each test is a folder with model.onnx, and folders test_data_set_N with files input_I.pb and
// output_O.pb. A light model (light_models.h) is a single file.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenon::conformance {

struct OnnxOptions {
  std::string device = "cpu";
  std::vector<std::string> plugin_paths;  // Files or folders searched before all others.
  // Options of the device's plugin.
  std::vector<std::pair<std::string, std::string>> plugin_options;
  // The folder with one folder per test.
  std::string data = "/usr/share/libonnx-testdata/data/node";
  std::string filter;      // Regular expression for the names of tests to run; empty for all.
  unsigned jobs = 1;       // Number of threads, each with its own scope.
  bool functions = false;  // Whether to run models as functions instead of call by call.
  std::string title = "onnx node tests";  // Title of the line with the totals.
  // Whether tests that Tenon refuses with UNIMPLEMENTED are left out instead of counted as
  // failures. The totals then count all tests, and each test left out is listed.
  bool may_refuse = false;
  double rtol = 1e-3;
  double atol = 1e-7;
};

enum class OnnxVerdict { kPassed, kFailed, kLeftOut };

// The result of one test.
struct OnnxResult {
  std::string name;
  OnnxVerdict verdict = OnnxVerdict::kFailed;
  std::string reason;            // Why it failed or was left out.
  std::string allowance;         // How and why the test is adjusted; empty if it runs unchanged.
  bool in_first_table = false;   // Whether all ops of the test are in the first table of ops.
  bool is_untraceable = false;   // Whether the model as a function falls back to single calls.
  std::vector<std::string> ops;  // Ops of the model.
};

struct OnnxSummary {
  std::string device;  // Name of the device that ran them.
  std::string title;
  bool may_refuse = false;
  std::vector<OnnxResult> results;  // In order of their names.
  std::vector<std::string> logged;  // Warnings and errors of the plugin and others; any is a fault.

  size_t passed() const { return count(OnnxVerdict::kPassed); }
  // Number of tests that ran, without those left out.
  size_t total() const { return passed() + count(OnnxVerdict::kFailed); }
  size_t count(OnnxVerdict verdict) const;
};

// Runs the tests on the device without fallback. Shows progress if stderr is a terminal.
OnnxSummary run_onnx_tests(const OnnxOptions& options);

// Formats a summary: one line for each failure, the first log messages, the tests left out with
// reasons, and the totals at the end.
std::string text_of(const OnnxSummary& summary);

// A table of the passed, failed and left-out tests for each op.
std::string table_of(const OnnxSummary& summary);

}  // namespace tenon::conformance
