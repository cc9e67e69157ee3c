// Shared helpers of the plugin's tests: a device on the emulated driver that runs ops on tensor
// literals, and injected faults.

#pragma once

#include <gtest/gtest.h>
#include <tenon/plugin.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/sdk/testing.h"

TENON_EXTERN_C tenon_error* tenon_plugin_query_v1_cuda(const tenon_host* host,
                                                       const tenon_plugin** out_plugin);

namespace tenon_cuda::testing {

using tenon_sdk::List;
using tenon_sdk::testing::Tensor;
using Settings = std::map<std::string, std::string>;

struct Failure {
  tenon_code code = TENON_OK;
  std::string message;
};
// Returns the code and message of the error and releases it.
Failure take(tenon_error* error);
#define EXPECT_SUCCESS(call)                                              \
  do {                                                                    \
    const Failure failure_of_call = take(call);                           \
    EXPECT_EQ(failure_of_call.code, TENON_OK) << failure_of_call.message; \
  } while (false)

// Failed launches that the plugin reported to the host, by ticket.
struct ReportedFailures {
  std::mutex mutex;
  std::map<uint64_t, Failure> failed;
};
ReportedFailures& reported_failures();
size_t count_errors();  // Number of errors that are not released yet.

const tenon_host& host();
// Calls the plugin's entry function.
Failure query(const tenon_plugin** out_plugin);

// During the lifetime of the object, one call of the emulated libraries fails, for example
// "cuMemAlloc_v2:3" (emulated_faults.h).
class Fault {
 public:
  explicit Fault(const std::string& what);
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault();
};

// Sets an environment variable during the lifetime of the object. If `value` is NULL, unsets the
// variable.
class Variable {
 public:
  Variable(const char* name, const char* value);
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable();

 private:
  const std::string name_;
  std::string old_;
  bool was_set_;
};

struct Result {
  Failure failure;
  std::string refusal;
  std::vector<Tensor> outputs;
  tenon_error_record record = {};
  bool overran = false;  // Whether bytes outside an output were written.

  const Tensor& operator[](size_t i) const { return outputs.at(i); }
};

// A plugin instance with its first device and a stream.
class Bench {
 public:
  explicit Bench(const Settings& settings = {{"cache", ""}});
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench();

  const tenon_plugin_calls& calls() const { return *plugin_->calls; }
  const tenon_plugin& plugin() const { return *plugin_; }
  bool is_open() const { return stream_ != nullptr; }
  const Failure& failure() const { return failure_; }
  tenon_device_p* device() const { return device_; }
  tenon_stream_p* stream() const { return stream_; }

  uint32_t request_flags = TENON_REQUEST_STRICT;

  // Launches the first kernel of the op that accepts the request. `outputs` specifies the sizes and
  // dtypes of the outputs.
  Result run(uint32_t op, const void* attrs, const std::vector<Tensor>& inputs,
             const std::vector<Tensor>& outputs, uint32_t site = 7) const;

  // Launches a loop with rows along `row_axes`. Values are numbered: first the inputs, then the
  // results of the instructions. `given`: the numbers of the values that are stored in `outputs`.
  struct Instruction {
    uint32_t op;
    const void* attrs;
    std::vector<uint32_t> inputs;
    tenon_dtype dtype;
    uint32_t flags;
  };
  Result run_loop(const tenon_loop_request& request, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& outputs) const;
  Result run_loop(const std::vector<Instruction>& instructions, const std::vector<Tensor>& inputs,
                  const std::vector<uint32_t>& given, const std::vector<Tensor>& outputs,
                  uint32_t row_axes) const;

 private:
  tenon_error* open(const Settings& settings);
  tenon_error* launch(tenon_kernel_p* kernel, uint32_t traits, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& outputs, uint32_t site, Result& result) const;

  Failure failure_;
  const tenon_plugin* plugin_ = nullptr;
  tenon_instance_p* instance_ = nullptr;
  tenon_device_p* device_ = nullptr;
  tenon_stream_p* stream_ = nullptr;
};

}  // namespace tenon_cuda::testing
