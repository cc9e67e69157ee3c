// Checks each function that an example calls with other lengths of its inputs. Preload this library
// into the example (LD_PRELOAD). After the first call with inputs of given dtypes and ranks, it
// repeats the call with five lengths of each of the first two axes, as a trace and eagerly. Results
// and variables must be equal to the bit, or both calls must fail. The example is not affected:
// variables keep their values, and output of the repeated calls is discarded.
//
// Exits with 1 if a trace and eager code differ for some length, and with 77 if no function can be
// called with other lengths.

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <tenon/tenon.hpp>

using namespace tenon;

namespace {

constexpr int64_t kLengths[] = {1, 2, 4, 7, 3};
constexpr size_t kMaxOutputs = 64;
constexpr int kSkipped = 77;

std::set<std::string> seen;  // Keys of the calls that were checked before (key_of).
int n_compared = 0, n_faults = 0;
bool runs_eagerly = false;  // Whether the example runs functions eagerly.
thread_local bool is_checking = false;

// Returns the function of this name that the preloaded one replaces.
template <class Function>
Function* next_definition(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Makes the functions of the context run eagerly or traced, by calling the replaced function.
void run_eagerly(tenon_context* context, bool eagerly) {
  static auto* const call = next_definition<decltype(tenon_context_run_functions_eagerly)>(
      "tenon_context_run_functions_eagerly");
  call(context, eagerly);
}

// Discards all output during its lifetime.
class Silence {
 public:
  Silence() : stdout_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
  }
  ~Silence() {
    std::fflush(stdout);
    dup2(stdout_, STDOUT_FILENO);
    close(stdout_);
  }

 private:
  int stdout_;
};

// The outcome of a call: its outputs and variables, or failure.
struct Outcome {
  std::vector<std::string> values;
  std::string error;

  bool operator==(const Outcome& other) const {
    return error.empty() == other.error.empty() && values == other.values;
  }
};

// Returns the type and the bytes of a tensor as a string.
std::string bytes_of(const Tensor& x) {
  if (TensorList::is_list(x)) return "a list";
  std::string bytes = x.dtype().str();
  for (const int64_t size : x.shape()) bytes += "," + std::to_string(size);
  std::string data(x.bytes(), '\0');
  check(tenon_tensor_read(current_scope(), x.get(), data.data(), data.size()));
  return bytes + ":" + data;
}

struct Call {
  tenon_function* function;
  const tenon_static* statics;
  size_t n_statics;
  std::vector<Variable> variables;

  std::vector<Tensor> operator()(std::span<const Tensor> inputs) const {
    const auto handles = detail::handles(inputs);
    tenon_tensor* outputs[kMaxOutputs] = {};
    size_t n = 0;
    check(tenon_function_call(current_scope(), function, handles.data(), handles.size(), statics,
                              n_statics, outputs, kMaxOutputs, &n));
    return detail::adopt_all({outputs, n});
  }

  Outcome outcome(std::span<const Tensor> inputs, bool eagerly) const {
    tenon_context* const context = tenon_scope_context(current_scope());
    std::vector<Tensor> before;
    for (const Variable& v : variables) before.push_back(v.read());
    Outcome result;
    run_eagerly(context, eagerly);
    try {
      for (const Tensor& y : (*this)(inputs)) result.values.push_back(bytes_of(y));
      for (const Variable& v : variables) result.values.push_back(bytes_of(v));
    } catch (const std::exception& error) {
      result = {{}, error.what()};
    }
    run_eagerly(context, runs_eagerly);
    for (size_t i = 0; i < variables.size(); ++i) variables[i].assign(before[i]);
    return result;
  }
};

// Returns the inputs with another length along the axis. Resizes all inputs whose length along it
// equals that of the first input; their contents repeat. Empty if no input has the axis.
std::vector<Tensor> resize_inputs(std::span<const Tensor> inputs, size_t axis, int64_t length) {
  int64_t own = -1;
  std::vector<Tensor> result;
  for (const Tensor& x : inputs) {
    const bool has_axis = x.rank() > axis && !TensorList::is_list(x);
    if (has_axis && own < 0) own = x.size(static_cast<int64_t>(axis));
    if (!has_axis || own <= 0 || x.size(static_cast<int64_t>(axis)) != own) {
      result.push_back(x);
      continue;
    }
    std::vector<int64_t> index(static_cast<size_t>(length));
    for (int64_t i = 0; i < length; ++i) index[static_cast<size_t>(i)] = i % own;
    const Tensor parts(std::span<const int64_t>(index), Shape{length});
    result.push_back(gather(x, parts, {.axis = static_cast<int64_t>(axis)}));
  }
  return own > 0 ? result : std::vector<Tensor>();
}

// Repeats a call with other lengths, traced and eagerly, and reports differences.
void check_lengths(const Call& call, std::span<const Tensor> inputs) {
  for (size_t axis = 0; axis < 2; ++axis) {
    for (const int64_t length : kLengths) {
      const std::vector<Tensor> others = resize_inputs(inputs, axis, length);
      if (others.empty()) continue;
      const Outcome traced = call.outcome(others, false), eager = call.outcome(others, true);
      if (traced.error.empty()) ++n_compared;
      if (traced == eager) continue;
      ++n_faults;
      std::fprintf(stderr, "lengths: %ld along axis %zu: the trace differs from eager code\n",
                   static_cast<long>(length), axis);
      for (const Outcome* each : {&traced, &eager}) {
        std::fprintf(stderr, "  %s: %s\n", each == &traced ? "traced" : "eager",
                     each->error.empty() ? "no error" : each->error.c_str());
      }
    }
  }
}

// Returns a key of the function and the dtypes and ranks of its inputs.
std::string key_of(const tenon_function* function, std::span<const Tensor> inputs,
                   size_t n_statics) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<const void*>(function));
  std::string key = address + std::to_string(n_statics);
  for (const Tensor& x : inputs) key += " " + x.dtype().str() + std::to_string(x.rank());
  return key;
}

// Checks a call of the example, unless a similar call was checked before.
void check_call(tenon_scope* scope, Call call, tenon_tensor* const* handles, size_t n_inputs) {
  const std::vector<Tensor> inputs = detail::share_all(handles, n_inputs);
  if (!seen.insert(key_of(call.function, inputs, call.n_statics)).second) return;
  const Silence silence;
  // Uses a separate scope, so that no tape of the example records the repeated calls.
  const Scope outer = Scope::share(scope);
  tenon_scope* own = nullptr;
  check(
      tenon_scope_create(tenon_scope_context(scope), detail::c_text(outer.device().name()), &own));
  const ScopeGuard in{Scope::share(own)};
  tenon_scope_release(own);
  tenon_trace* trace = nullptr;
  run_eagerly(tenon_scope_context(scope), false);
  tenon_error_release(tenon_function_find_trace(current_scope(), call.function, handles, n_inputs,
                                                call.statics, call.n_statics, &trace));
  run_eagerly(tenon_scope_context(scope), runs_eagerly);
  if (trace) call.variables = Trace::adopt(trace).variables();
  check_lengths(call, inputs);
}

__attribute__((destructor)) void report() {
  std::fprintf(stderr, "lengths: %d calls compared, %d faults\n", n_compared, n_faults);
  std::fflush(stdout);
  if (n_faults || !n_compared) _exit(n_faults ? 1 : kSkipped);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void tenon_context_run_functions_eagerly(
    tenon_context* context, bool eagerly) {
  runs_eagerly = eagerly;
  run_eagerly(context, eagerly);
}

extern "C" __attribute__((visibility("default"))) tenon_error* tenon_function_call(
    tenon_scope* scope, tenon_function* function, tenon_tensor* const* inputs, size_t n_inputs,
    const tenon_static* statics, size_t n_statics, tenon_tensor** out_outputs, size_t n_outputs,
    size_t* out_count) {
  static auto* const call = next_definition<decltype(tenon_function_call)>("tenon_function_call");
  const auto run = [&] {
    return call(scope, function, inputs, n_inputs, statics, n_statics, out_outputs, n_outputs,
                out_count);
  };
  if (is_checking || tenon_scope_is_tracing(scope)) return run();
  tenon_error* const error = run();
  if (error) return error;
  is_checking = true;
  try {
    check_call(scope, {function, statics, n_statics, {}}, inputs, n_inputs);
  } catch (const std::exception& fault) {
    ++n_faults;
    std::fprintf(stderr, "lengths: %s\n", fault.what());
  }
  is_checking = false;
  return nullptr;
}
