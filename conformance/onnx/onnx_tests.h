// The node tests of ONNX: models of a node or a few, with inputs and the outputs that ONNX's own
// reference implementation gave. Nobody here wrote them.
//
// A test lies in a folder: model.onnx, and test_data_set_N with input_I.pb and output_O.pb.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenon::conformance {

struct OnnxOptions {
  std::string device = "cpu";
  std::vector<std::string> plugin_paths;  // Files or folders that go before all others.
  std::vector<std::pair<std::string, std::string>> plugin_options;  // For the device's plugin.
  std::string data = "/usr/share/libonnx-testdata/data/node";  // The folder of the tests' folders.
  std::string filter;      // Of those whose name this regular expression finds; empty for all.
  unsigned jobs = 1;       // Threads, each with a scope of its own.
  bool functions = false;  // Runs models as the functions that they are read as, not call by call.
  double rtol = 1e-3;
  double atol = 1e-7;
};

enum class OnnxVerdict { kPassed, kFailed, kLeftOut };

// What came of one test.
struct OnnxResult {
  std::string name;
  OnnxVerdict verdict = OnnxVerdict::kFailed;
  std::string reason;            // Why it failed, or was left out.
  std::string allowance;         // Where it is not run as it stands: how, and why.
  bool in_first_table = false;   // All its ops are of the first table of ops.
  bool is_untraceable = false;   // It is a function that runs call by call.
  std::vector<std::string> ops;  // Of its model.
};

struct OnnxSummary {
  std::string device;               // The name of the one that ran them.
  std::vector<OnnxResult> results;  // In the order of their names.
  std::vector<std::string> logged;  // Warnings and errors, the plugin's and others: a fault, too.

  size_t passed() const { return count(OnnxVerdict::kPassed); }
  size_t total() const { return passed() + count(OnnxVerdict::kFailed); }  // Less those left out.
  size_t count(OnnxVerdict verdict) const;
};

// Runs the tests, each wholly on the device. Shows its progress where stderr is a terminal.
OnnxSummary run_onnx_tests(const OnnxOptions& options);

// One line for each failure and the first of what was logged; what was left out and why; and, last,
// the sum.
std::string text_of(const OnnxSummary& summary);

// How many tests with each op passed, failed and were left out, as a table.
std::string table_of(const OnnxSummary& summary);

}  // namespace tenon::conformance
