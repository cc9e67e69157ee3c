// Runs problems in a context, with the device under test or the oracle.

#pragma once

#include <tenon/introspect.h>

#include <stdexcept>
#include <string>
#include <tenon/tenon.hpp>

#include "conformance/kit/problem.h"

namespace tenon_kit {

struct SessionOptions {
  std::string device;  // Name of the device in the loaded plugin.
  // Path of the plugin's file. If empty, Tenon searches its plugin folders.
  std::string plugin_path;
  tenon_plugin_query query = nullptr;  // Query function to use instead of a file.
  uint32_t threads = 0;
  uint64_t memory_limit_bytes = 0;
  bool strict = true;
  // Options of the device's plugin.
  std::vector<std::pair<std::string, std::string>> plugin_options;
};

// The contents of an output.
struct Result {
  tenon_dtype dtype = TENON_DTYPE_NONE;
  Sizes shape;
  std::vector<std::byte> bytes;

  Reals values() const { return decode(bytes, dtype); }
};

class Session {
 public:
  explicit Session(const SessionOptions& options);

  // Returns a session with a new scope in the same context, for use by a different thread.
  Session with_own_scope() const { return Session(context_, device_); }

  const tenon::Scope& scope() const { return scope_; }
  const tenon::Context& context() const { return context_; }
  const std::string& device_name() const { return device_; }

  // Creates tensors of operands, in the operands' layouts.
  tenon::Tensor make(const Operand& x) const;
  tenon::Tensor make(const Operand& x, const Reals& values) const;
  // Creates a tensor of an operand from its elements as bytes, in row-major order.
  tenon::Tensor make_of_bytes(const Operand& x, std::vector<std::byte> bytes) const;
  std::vector<tenon::Tensor> make(const std::vector<Operand>& inputs) const;

  // Calls the problem's op on `inputs` and returns its outputs.
  std::vector<tenon::Tensor> call(const Problem& problem,
                                  const std::vector<tenon::Tensor>& inputs) const;
  std::vector<tenon::Tensor> call(uint32_t op, const void* attrs,
                                  const std::vector<tenon::Tensor>& inputs, size_t n_outputs) const;

  // Copies the elements of x to host memory.
  Result read(const tenon::Tensor& x) const;
  // Calls the problem's op and returns the contents of its outputs.
  std::vector<Result> run(const Problem& problem) const;
  std::vector<Result> run(const Problem& problem, const std::vector<tenon::Tensor>& inputs) const;
  // Waits for all work and discards its errors, which a later read would otherwise report.
  void discard_errors() const;

  // Returns the inferred types of the problem's outputs. Throws if type inference rejects the call.
  std::vector<std::pair<tenon_dtype, Sizes>> infer(const Problem& problem) const;

 private:
  Session(tenon::Context context, const std::string& device)
      : context_(std::move(context)), scope_(context_, device), device_(device) {}

  tenon::Context context_;
  tenon::Scope scope_;
  std::string device_;
};

// Returns the problem as the oracle computes it: its values are rounded to their own dtypes, but
// the op computes in the dtype `to` or, by default, in a wider dtype.
Problem widen(const Problem& problem, tenon_dtype to = TENON_DTYPE_NONE);

}  // namespace tenon_kit
