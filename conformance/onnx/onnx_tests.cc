#include "conformance/onnx/onnx_tests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tenon/introspect.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <tenon/tenon.hpp>

#include "conformance/kit/threads.h"
#include "conformance/onnx/amend.h"
#include "conformance/onnx/host_values.h"
#include "conformance/onnx/light_models.h"
#include "files/atomic_file.h"

namespace tenon::conformance {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Tests that cannot pass on any device, by name.
const std::map<std::string, std::string>& excluded() {
  static const std::string drawn = "the data contain random numbers of NumPy's generator";
  static const std::map<std::string, std::string> tests = {
      {"test_bernoulli", drawn},
      {"test_bernoulli_double", drawn},
      {"test_bernoulli_seed", drawn},
      {"test_bernoulli_expanded", drawn},
      {"test_bernoulli_double_expanded", drawn},
      {"test_bernoulli_seed_expanded", drawn},
      {"test_training_dropout", drawn},
      {"test_training_dropout_default", drawn},
      {"test_training_dropout_default_mask", drawn},
      {"test_training_dropout_mask", drawn},
  };
  return tests;
}

// The adjustment for a test whose data deviate from ONNX's specification; allowances() lists these
// tests by name.
struct Allowance {
  const char* why;
  double rtol = 0;    // Minimum relative tolerance.
  double atol = 0;    // Minimum absolute tolerance.
  float epsilon = 0;  // Value to add to the model's nodes, which omit the attribute `epsilon`.
};
const std::map<std::string, Allowance>& allowances() {
  // The tolerance is one ulp of bfloat16, the largest difference between truncation and rounding.
  static const Allowance cut = {
      .why = "the data are truncated to bfloat16, but a cast rounds: compared within one ulp",
      .rtol = 0x1p-7};
  static const Allowance noisy = {.why =
                                      "the data have float32 rounding errors where the exact "
                                      "result is 0: compared with that tolerance",
                                  .atol = 2e-7};
  static const std::map<std::string, Allowance> tests = {
      {"test_dft_inverse", noisy},
      {"test_dft_inverse_opset19", noisy},
      {"test_cast_FLOAT_to_BFLOAT16", cut},
      {"test_castlike_FLOAT_to_BFLOAT16", cut},
      {"test_castlike_FLOAT_to_BFLOAT16_expanded", cut},
      {"test_adam_multiple",
       {.why =
            "the data assume an epsilon that the model omits: the attribute was added to the model",
        .epsilon = 1e-2f}},
  };
  return tests;
}

// The adjustment for tests in which the input `like` has one element, but the model declares more.
// Only the dtype of `like` matters, but functions require the declared shape. Therefore the element
// is repeated.
constexpr const char* kRepeatedWhy =
    "an input has other sizes than the model declares: its element was repeated to the declared "
    "size";
bool has_other_sizes(const std::string& name) {
  return name.starts_with("test_castlike_FLOAT_to_BFLOAT16") ||
         name.starts_with("test_castlike_BFLOAT16_to_FLOAT");
}

// Whether all of these ops are in the first table of ops. `beyond` lists the ONNX ops that are not:
// those in the second table of ops, and those that Tenon composes of several ops.
bool is_in_first_table(const std::vector<std::string>& ops) {
  static const std::set<std::string> beyond = {"BlackmanWindow",
                                               "Celu",
                                               "CenterCropPad",
                                               "ConvInteger",
                                               "DFT",
                                               "Det",
                                               "GridSample",
                                               "HammingWindow",
                                               "HannWindow",
                                               "Hardmax",
                                               "LRN",
                                               "MaxUnpool",
                                               "MeanVarianceNormalization",
                                               "MelWeightMatrix",
                                               "NonMaxSuppression",
                                               "QLinearConv",
                                               "QLinearMatMul",
                                               "ReduceL1",
                                               "ReduceLogSum",
                                               "ReduceSumSquare",
                                               "ReverseSequence",
                                               "RoiAlign",
                                               "STFT",
                                               "Shrink",
                                               "TfIdfVectorizer",
                                               "ThresholdedRelu",
                                               "Unique",
                                               "Upsample",
                                               "ai.onnx.preview.training.Adagrad"};
  return std::none_of(ops.begin(), ops.end(),
                      [&](const std::string& op) { return beyond.contains(op); });
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

Json describe(const std::string& model) {
  tenon_string text = {};
  check(tenon_introspect_onnx_describe(model.data(), model.size(), &text));
  const Json described = Json::parse(detail::view(text));
  tenon_string_release(text);
  return described;
}

// Returns the reason to leave a model out: unknown ops, values that are not numeric tensors, or a
// dtype that the device lacks. Returns an empty text if there is no reason.
std::string reason_to_leave_out(const std::string& name, const Json& model) {
  const auto excluded_test = excluded().find(name);
  if (excluded_test != excluded().end()) return excluded_test->second;
  const bool lacks_float64 =
      (Scope::share(current_scope()).device().info().features & TENON_FEATURE_FLOAT64) == 0;
  std::set<std::string> reasons;
  for (const Json& unknown : model["unknown"]) reasons.insert(unknown["op"].get<std::string>());
  for (const char* values : {"inputs", "outputs"}) {
    for (const Json& value : model[values]) {
      const auto type = value["type"].get<std::string>();
      if (type == "no tensor" || type.starts_with("tensor(")) reasons.insert("values: " + type);
      if (lacks_float64 && type.starts_with("f64"))
        reasons.insert("needs float64, which the device does not support");
    }
  }
  return fmt::format("{}", fmt::join(reasons, ", "));
}

// Converts x to bfloat16 if the model declares that dtype. NumPy lacks bfloat16, so the files store
// the bits of bfloat16 elements as uint16.
Tensor with_declared_dtype(const Tensor& x, const Json& value) {
  const bool is_bfloat16 = value["type"].get<std::string>().starts_with("bf16");
  return is_bfloat16 && x.dtype() == kUint16 ? bitcast(x, {.dtype = kBfloat16}) : x;
}

// Reads the tensors of files NAME_0.pb, NAME_1.pb and so on, one for each of the model's `values`.
std::vector<Tensor> read_tensors(const fs::path& folder, const std::string& name,
                                 const Json& values) {
  std::vector<Tensor> tensors;
  for (const Json& value : values) {
    const std::string bytes = read_file(folder / fmt::format("{}_{}.pb", name, tensors.size()));
    tenon_tensor* tensor = nullptr;
    check(tenon_introspect_onnx_tensor(current_scope(), bytes.data(), bytes.size(), &tensor));
    tensors.push_back(with_declared_dtype(Tensor::adopt(tensor), value));
  }
  return tensors;
}

std::vector<fs::path> folders_in(const fs::path& path) {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  return folders;
}

// Runs a model on inputs and returns `n_outputs` outputs.
using RunModel = std::function<std::vector<Tensor>(std::vector<Tensor> inputs, size_t n_outputs)>;

std::vector<Tensor> call_by_call(const std::string& model, const std::vector<Tensor>& inputs,
                                 size_t n_outputs) {
  std::vector<tenon_tensor*> in, out(n_outputs);
  for (const Tensor& x : inputs) in.push_back(x.get());
  check(tenon_introspect_onnx_run(current_scope(), model.data(), model.size(), in.data(), in.size(),
                                  out.data(), out.size()));
  std::vector<Tensor> outputs;
  for (tenon_tensor* y : out) outputs.push_back(Tensor::adopt(y));
  return outputs;
}

// A model run as a function, loaded from a temporary file.
class ModelFunction {
 public:
  ModelFunction(const OnnxResult& test, const std::string& model) {
    static std::atomic<int> n_files = 0;
    const fs::path file = fs::temp_directory_path() /
                          fmt::format("tenon_{}_{}_{}.onnx", ::getpid(), ++n_files, test.name);
    tenon_files::AtomicFile written(file.string());
    written.write(model);
    if (!written.finish()) throw std::runtime_error(file.string() + " cannot be written");
    try {
      program_.emplace(file.string());
      fs::remove(file);
    } catch (...) {
      fs::remove(file);
      throw;
    }
    function_.emplace(program_->function());
    if (has_other_sizes(test.name)) declared_ = program_->functions()[0].signatures[0].inputs;
  }

  // Returns the results of the third call: the first call traces, the second records, and the third
  // replays.
  std::vector<Tensor> operator()(std::vector<Tensor> inputs) const {
    for (size_t i = 0; i < declared_.size(); ++i) {
      if (inputs[i].rank() == 1 && inputs[i].shape()[0] == 1) {
        inputs[i] = reshape(inputs[i], {.shape = Shape(declared_[i].shape.size(), 1)});
        inputs[i] = broadcast_to(inputs[i], {.shape = declared_[i].shape});
      }
    }
    (*function_)(inputs);
    (*function_)(inputs);
    return (*function_)(inputs);
  }
  bool is_untraceable() const {
    return function_->explain().find("runs op by op") != std::string::npos;
  }

 private:
  std::optional<Program> program_;
  std::optional<Function> function_;
  // The declared inputs of the model. The test's inputs are broadcast to their shapes if needed.
  std::vector<InputSpec> declared_;
};

// Describes the first wrong output; empty if all outputs are right.
std::string failure_of(const RunModel& run, const Json& described,
                       const std::vector<Tensor>& inputs, const std::vector<Tensor>& wanted,
                       Tolerance tolerance) {
  const std::vector<Tensor> outputs = run(inputs, wanted.size());
  if (outputs.size() != wanted.size()) {
    return fmt::format("{} outputs, not {}", outputs.size(), wanted.size());
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string differs = describe_difference(outputs[i], wanted[i], tolerance);
    if (!differs.empty()) {
      return fmt::format("output {}: {}", described["outputs"][i]["name"].get<std::string>(),
                         differs);
    }
  }
  return "";
}

// Runs the test in a folder, or a light model.
OnnxResult run_test(const fs::path& path, const OnnxOptions& options) {
  Tolerance tolerance = {options.rtol, options.atol};
  const bool functions = options.functions;
  const bool is_light = is_light_model(path);
  OnnxResult result = {.name = path.stem().string()};
  try {
    std::string model = read_file(is_light ? path : path / "model.onnx");
    if (const auto found = allowances().find(result.name); found != allowances().end()) {
      result.allowance = found->second.why;
      tolerance.rtol = std::max(tolerance.rtol, found->second.rtol);
      tolerance.atol = std::max(tolerance.atol, found->second.atol);
      if (found->second.epsilon > 0) {
        if (model.find("epsilon") == std::string::npos) {
          model = with_attribute(model, "epsilon", found->second.epsilon);
        } else {
          result.allowance.clear();  // Newer models contain the attribute, so nothing is added.
        }
      }
    }
    const Json described = describe(model);
    result.ops = described["ops"].get<std::vector<std::string>>();
    result.in_first_table = is_in_first_table(result.ops);
    result.reason = reason_to_leave_out(result.name, described);
    if (!result.reason.empty()) {
      result.verdict = OnnxVerdict::kLeftOut;
      return result;
    }
    std::optional<ModelFunction> function;
    if (functions) function.emplace(result, model);
    if (functions && has_other_sizes(result.name)) result.allowance = kRepeatedWhy;
    const RunModel run = [&](const std::vector<Tensor>& inputs, size_t n_outputs) {
      return function ? (*function)(inputs) : call_by_call(model, inputs, n_outputs);
    };
    const auto check_data = [&](const std::vector<Tensor>& inputs, const fs::path& folder,
                                const std::string& name) {
      const auto wanted = read_tensors(folder, name, described["outputs"]);
      result.reason = failure_of(run, described, inputs, wanted, tolerance);
    };
    size_t data_sets = is_light ? 1 : 0;
    if (is_light) check_data(light_inputs(described), path.parent_path(), result.name + "_output");
    for (const fs::path& folder : is_light ? std::vector<fs::path>() : folders_in(path)) {
      if (!result.reason.empty()) break;
      ++data_sets;
      check_data(read_tensors(folder, "input", described["inputs"]), folder, "output");
    }
    result.is_untraceable = function && function->is_untraceable();
    if (data_sets == 0) result.reason = "the test has no data set";
    if (result.reason.empty()) result.verdict = OnnxVerdict::kPassed;
  } catch (const Error& error) {
    result.reason = error.message();
    if (options.may_refuse && error.code() == Code::kUnimplemented) {
      result.verdict = OnnxVerdict::kLeftOut;
    }
  } catch (const std::exception& error) {
    result.reason = error.what();
  }
  return result;
}

// Collects the log messages of a context. Any message counts as a fault.
struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;

  static void hear(void* self, int32_t, tenon_string message) {
    auto& log = *static_cast<Log*>(self);
    std::lock_guard guard(log.mutex);
    log.lines.emplace_back(message.data, message.size);
  }
};

Context make_context(const OnnxOptions& options, Log& log) {
  const std::string plugin = options.device.substr(0, options.device.find(':'));
  std::vector<tenon_string> paths;
  for (const std::string& path : options.plugin_paths) paths.push_back(detail::c_text(path));
  std::vector<tenon_plugin_option> plugin_options;
  for (const auto& [key, value] : options.plugin_options) {
    plugin_options.push_back({detail::c_text(plugin), detail::c_text(key), detail::c_text(value)});
  }
  tenon_context_options c_options = TENON_CONTEXT_OPTIONS_DEFAULT;
  // Functions that cannot be traced log a warning. They are counted, so warnings are dropped.
  c_options.log_level = options.functions ? TENON_LOG_ERROR : TENON_LOG_WARNING;
  c_options.log = {Log::hear, &log, nullptr};
  c_options.plugin_paths = paths.data();
  c_options.n_plugin_paths = paths.size();
  c_options.plugin_options = plugin_options.data();
  c_options.n_plugin_options = plugin_options.size();
  c_options.fallback_policy = TENON_FALLBACK_STRICT;
  tenon_context* context = nullptr;
  check(tenon_context_create(&c_options, &context));
  return Context::adopt(context);
}

std::vector<fs::path> find_tests(const OnnxOptions& options) {
  const std::regex filter(options.filter);
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(options.data)) {
    const bool is_test = fs::exists(entry.path() / "model.onnx") || is_light_model(entry.path());
    if (is_test && std::regex_search(entry.path().filename().string(), filter)) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

size_t OnnxSummary::count(OnnxVerdict verdict) const {
  return static_cast<size_t>(
      std::count_if(results.begin(), results.end(),
                    [&](const OnnxResult& result) { return result.verdict == verdict; }));
}

OnnxSummary run_onnx_tests(const OnnxOptions& options) {
  const std::vector<fs::path> tests = find_tests(options);
  Log log;
  const Context context = make_context(options, log);
  OnnxSummary summary = {.device = std::string(context.device(options.device).name()),
                         .title = options.title,
                         .may_refuse = options.may_refuse};
  summary.results.resize(tests.size());

  const bool show = isatty(STDERR_FILENO);
  std::atomic<size_t> next = 0, done = 0;
  const auto work = [&] {
    const ScopeGuard here(Scope(context, options.device));
    for (size_t i = next++; i < tests.size(); i = next++) {
      summary.results[i] = run_test(tests[i], options);
      if (show) fmt::print(stderr, "\r{} of {} tests ", ++done, tests.size());
    }
  };
  std::vector<tenon_kit::Thread> helpers;
  for (unsigned i = 1; i < options.jobs; ++i) helpers.emplace_back(work);
  work();
  for (tenon_kit::Thread& helper : helpers) helper.join();
  if (show) fmt::print(stderr, "\r{:40}\r", "");
  std::lock_guard guard(log.mutex);
  summary.logged = log.lines;
  return summary;
}

std::string text_of(const OnnxSummary& summary) {
  std::string text;
  std::map<std::string, size_t> left_out, allowed;
  size_t n_first = 0, n_first_passed = 0, n_untraceable = 0;
  for (const OnnxResult& result : summary.results) {
    if (result.verdict == OnnxVerdict::kFailed) {
      text += fmt::format("FAILED {}: {}\n", result.name, result.reason);
    } else if (result.verdict == OnnxVerdict::kLeftOut) {
      if (summary.may_refuse) text += fmt::format("refused {}: {}\n", result.name, result.reason);
      ++left_out[result.reason];
    }
    if (result.verdict == OnnxVerdict::kLeftOut) continue;
    if (!result.allowance.empty()) ++allowed[result.allowance];
    n_first += result.in_first_table;
    n_untraceable += result.is_untraceable;
    n_first_passed += result.in_first_table && result.verdict == OnnxVerdict::kPassed;
  }
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < std::min(summary.logged.size(), kShown); ++i) {
    text += fmt::format("LOGGED {}\n", summary.logged[i]);
  }
  if (summary.logged.size() > kShown) {
    text += fmt::format("LOGGED {} lines more\n", summary.logged.size() - kShown);
  }
  if (!left_out.empty() && !summary.may_refuse) {
    text += fmt::format("left out {} tests:\n", summary.count(OnnxVerdict::kLeftOut));
    for (const auto& [reason, n] : left_out) text += fmt::format("  {:4}  {}\n", n, reason);
  }
  for (const auto& [why, n] : allowed) text += fmt::format("{}: {}\n", n, why);
  if (n_untraceable > 0) {
    text +=
        fmt::format("functions that run call by call, because shapes depend on input values: {}\n",
                    n_untraceable);
  }
  if (!summary.may_refuse) {
    text += fmt::format("tests with only ops of the first tier that passed: {} of {}\n",
                        n_first_passed, n_first);
  }
  return text + fmt::format("{}: {} of {} on {}\n", summary.title, summary.passed(),
                            summary.may_refuse ? summary.results.size() : summary.total(),
                            summary.device);
}

std::string table_of(const OnnxSummary& summary) {
  std::map<std::string, std::map<OnnxVerdict, size_t>> by_op;
  for (const OnnxResult& result : summary.results) {
    for (const std::string& op : result.ops) ++by_op[op][result.verdict];
  }
  std::string text = fmt::format("{:40} {:>6} {:>6} {:>8}\n", "op", "passed", "failed", "left out");
  for (auto& [op, counts] : by_op) {
    text += fmt::format("{:40} {:6} {:6} {:8}\n", op, counts[OnnxVerdict::kPassed],
                        counts[OnnxVerdict::kFailed], counts[OnnxVerdict::kLeftOut]);
  }
  return text;
}

}  // namespace tenon::conformance
