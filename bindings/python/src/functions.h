// The Python classes of functions and traces, and conversion of their arguments to C.
#pragma once

#include <deque>

#include "native.h"

namespace tenon_python {

struct Trace {
  tenon_trace* handle = nullptr;
  Trace() = default;
  Trace(Trace&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  ~Trace() { tenon_trace_release(handle); }
};

struct Function {
  Function(tenon_function* owned, uint32_t max_outputs) : handle(owned), max_outputs(max_outputs) {}
  Function(Function&& other) noexcept
      : handle(std::exchange(other.handle, nullptr)), max_outputs(other.max_outputs) {}
  ~Function() { tenon_function_release(handle); }
  tenon_function* handle;
  uint32_t max_outputs;
};

// Static arguments as C structs, converted from a sequence of pairs (name, value), or None.
class Statics {
 public:
  explicit Statics(nb::handle pairs);
  const tenon_static* data() const { return values_.data(); }
  size_t size() const { return values_.size(); }

 private:
  // Copies a string, and returns a C string that refers to the copy.
  tenon_string keep(nb::str text);

  std::deque<std::string> texts_;
  std::vector<tenon_static> values_;
};

// Types of inputs as C structs. They are converted from tuples (name, dtype, shape, size names,
// whether the input is an inline scalar).
class InputSpecs {
 public:
  // Converts the specs in a Python list to C structs, and appends them.
  void add_all(nb::handle specs);
  const tenon_input_spec* data() const { return specs_.data(); }
  size_t size() const { return specs_.size(); }

 private:
  struct Kept {
    std::string name;
    std::vector<int64_t> shape;
    std::vector<std::string> texts;
    std::vector<tenon_string> names;
  };
  std::deque<Kept> kept_;
  std::vector<tenon_input_spec> specs_;
};

// Converts an input spec to the tuple (name, dtype, sizes, size names, whether it is an inline
// scalar).
nb::tuple spec_to_python(const tenon_input_spec& spec);
// Converts a static argument to a number, string, bool, None, list or dict.
nb::object static_to_python(const tenon_static& value);

}  // namespace tenon_python
