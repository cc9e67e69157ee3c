// Where problems are run: a context with the device under test, or with the oracle.

#pragma once

#include <tenon/introspect.h>

#include <stdexcept>
#include <string>
#include <tenon/tenon.hpp>

#include "conformance/kit/problem.h"

namespace tenon_kit {

struct SessionOptions {
  std::string device;                  // By name, once the plugin is there.
  std::string plugin_path;             // A file; empty to look where Tenon looks.
  tenon_plugin_query query = nullptr;  // Instead of a file.
  uint32_t threads = 0;
  uint64_t memory_limit_bytes = 0;
  bool strict = true;
  std::vector<std::pair<std::string, std::string>> plugin_options;  // For the device's plugin.
};

// What an output holds.
struct Result {
  tenon_dtype dtype = TENON_DTYPE_NONE;
  Sizes shape;
  std::vector<std::byte> bytes;

  Reals values() const { return decode(bytes, dtype); }
};

class Session {
 public:
  explicit Session(const SessionOptions& options);

  // Another scope in the same context, for another thread.
  Session with_own_scope() const { return Session(context_, device_); }

  const tenon::Scope& scope() const { return scope_; }
  const tenon::Context& context() const { return context_; }
  const std::string& device_name() const { return device_; }

  // An operand in its layout.
  tenon::Tensor make(const Operand& x) const;
  tenon::Tensor make(const Operand& x, const Reals& values) const;
  std::vector<tenon::Tensor> make(const std::vector<Operand>& inputs) const;

  // A call of the op: of all its outputs, as many as inference says.
  std::vector<tenon::Tensor> call(const Problem& problem,
                                  const std::vector<tenon::Tensor>& inputs) const;
  std::vector<tenon::Tensor> call(uint32_t op, const void* attrs,
                                  const std::vector<tenon::Tensor>& inputs, size_t n_outputs) const;

  Result read(const tenon::Tensor& x) const;
  std::vector<Result> run(const Problem& problem) const;
  std::vector<Result> run(const Problem& problem, const std::vector<tenon::Tensor>& inputs) const;

  // What inference says of the outputs; throws what the call would.
  std::vector<std::pair<tenon_dtype, Sizes>> infer(const Problem& problem) const;

 private:
  Session(tenon::Context context, const std::string& device)
      : context_(std::move(context)), scope_(context_, device), device_(device) {}

  tenon::Context context_;
  tenon::Scope scope_;
  std::string device_;
};

// The same problem as an oracle sees it: values and attributes as given, rounded to their dtype, in
// a wider one, or in `to`.
Problem widened(const Problem& problem, tenon_dtype to = TENON_DTYPE_NONE);

}  // namespace tenon_kit
