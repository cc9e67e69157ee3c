// Values of a model that are known during tracing. Models compute shapes, axes and bounds as
// tensors. A trace has no values, but it has sizes, which are numbers or formulas. So each value of
// a model may carry its elements beside its tensor. They come from the file and from shapes, and
// are propagated through the ops that exporters use for shape computations.

#pragma once

#include <optional>
#include <vector>

#include "core/io/onnx/tensor_data.h"

namespace tenon::onnx {

class NodeCall;

// The elements of a tensor, row-major. Integers are sizes, bools are 0 and 1, and floating-point
// elements are fractions.
struct Known {
  DType dtype = DType::kI64;
  Dims shape;  // All sizes are numbers.
  Sizes values;
  Sizes divisors;  // For floating-point elements; positive.

  // Caches the uploaded tensor of these elements, if they are numbers. Copies do not share the
  // cache, because they are made to be modified.
  struct Upload {
    Upload() = default;
    Upload(const Upload&) {}
    Upload& operator=(const Upload&) { return *this; }

    Tensor tensor;
  };
  mutable Upload upload = {};

  size_t size() const { return values.size(); }
};

// A value of a model: a tensor, its known elements, or both; neither if it is absent.
struct ModelValue {
  ModelValue() = default;
  ModelValue(Tensor x) : tensor(std::move(x)) {}  // NOLINT: most values are only a tensor.
  ModelValue(Tensor x, Known elements)
      : tensor(std::move(x)), known(std::make_shared<const Known>(std::move(elements))) {}

  explicit operator bool() const { return tensor || known; }

  Tensor tensor;
  std::shared_ptr<const Known> known;
};

// Maximum number of known elements. kMaxKnownOfRun limits all results of one run together, because
// a node of 20 bytes may produce 1,024. Results of at most kAlwaysKnown elements are not counted.
inline constexpr int64_t kMaxKnown = 1024;
inline constexpr size_t kMaxKnownOfRun = size_t{1} << 21, kAlwaysKnown = 16;

// The elements of a tensor in a file; nothing if they are too many or not numbers.
std::optional<Known> known_elements(const TensorData& data);

// Computes the single output of a node from the known elements of its inputs, if possible.
std::optional<Known> known_result(const NodeCall& n);

// Uploads the elements to the scope's device.
Tensor tensor_of(const Known& known);

// The first convergent of the continued fraction of `value` that rounds to `value` as a float: the
// float 0.6 becomes 3 / 5. Nothing for numbers that are too large or too small.
struct Fraction {
  int64_t numerator = 0, denominator = 1;
};
std::optional<Fraction> fraction_of(double value);

}  // namespace tenon::onnx
