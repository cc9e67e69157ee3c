// Values of a model that are known while it is traced. Models compute shapes, axes and bounds with
// tensor ops. During tracing, tensors have no values, but sizes are numbers or formulas of symbols.
// Therefore each value of a model may carry its known elements besides its tensor. Known elements
// come from constants in the file and from shapes. They are propagated through the ops with which
// exporters compute shapes (known_rules.cc).

#pragma once

#include <optional>
#include <vector>

#include "core/io/onnx/tensor_data.h"

namespace tenon::onnx {

class NodeCall;

// The known elements of a tensor, row-major. Integers are stored as sizes, bools as 0 and 1, and
// floating-point numbers as fractions values[i] / divisors[i].
struct Known {
  DType dtype = DType::kI64;
  Dims shape;  // Without unknown sizes.
  Sizes values;
  Sizes divisors;  // Positive; empty unless the dtype is floating-point.

  // Caches the tensor that tensor_of() uploads. It is not copied with the elements, because a copy
  // is made to be modified.
  struct Upload {
    Upload() = default;
    Upload(const Upload&) {}
    Upload& operator=(const Upload&) { return *this; }

    Tensor tensor;
  };
  mutable Upload upload = {};

  size_t size() const { return values.size(); }
};

// A value of a model: a tensor, its known elements, or both. An absent value has neither.
struct ModelValue {
  ModelValue() = default;
  ModelValue(Tensor x) : tensor(std::move(x)) {}  // NOLINT: most values are only a tensor.
  ModelValue(Tensor x, Known elements)
      : tensor(std::move(x)), known(std::make_shared<const Known>(std::move(elements))) {}

  explicit operator bool() const { return tensor || known; }

  Tensor tensor;
  std::shared_ptr<const Known> known;
};

// Maximum number of known elements of one tensor. kMaxKnownOfRun limits the sum over all results of
// a model, because each node of only 20 bytes may produce 1,024 elements. Results of up to
// kAlwaysKnown elements are not counted.
inline constexpr int64_t kMaxKnown = 1024;
inline constexpr size_t kMaxKnownOfRun = size_t{1} << 21, kAlwaysKnown = 16;

// Returns the elements of a tensor in a file. Returns nothing if there are too many, or if they are
// not numbers.
std::optional<Known> known_elements(const TensorData& data);

// Computes the elements of a node's single output from the known elements of its inputs. Returns
// nothing if they are not all known, or if there is no rule for the op.
std::optional<Known> known_result(const NodeCall& n);

// Uploads known elements to the scope's device.
Tensor tensor_of(const Known& known);

// Returns the simplest continued-fraction convergent of `value` that rounds to the same float: 3 /
// 5 for 0.6f. Returns nothing for numbers that are too large or too small.
struct Fraction {
  int64_t numerator = 0, denominator = 1;
};
std::optional<Fraction> fraction_of(double value);

}  // namespace tenon::onnx
