// What is known of the values of a model while it is traced. Models compute shapes, axes and bounds
// as tensors; a trace has no values, but it has sizes, which are numbers or formulas. So each value
// of a model may carry its elements beside its tensor: those that come from the file, and what
// becomes of them and of shapes through the ops that exporters use for it.

#pragma once

#include <optional>
#include <vector>

#include "core/io/onnx/tensor_data.h"

namespace tenon::onnx {

class NodeCall;

// The elements of a tensor, row-major. Those of integers are sizes, bools are 0 and 1, and floating
// ones are fractions.
struct Known {
  DType dtype = DType::kI64;
  Dims shape;  // Numbers.
  Sizes values;
  Sizes divisors;  // Of floating elements; positive.

  // The tensor of these elements once there is one, if they are numbers. Copies have none, since
  // they are made to be changed.
  struct Upload {
    Upload() = default;
    Upload(const Upload&) {}
    Upload& operator=(const Upload&) { return *this; }

    Tensor tensor;
  };
  mutable Upload upload = {};

  size_t size() const { return values.size(); }
};

// A value of a model: a tensor, or what is known of it, or both; neither where it is absent.
struct ModelValue {
  ModelValue() = default;
  ModelValue(Tensor x) : tensor(std::move(x)) {}  // NOLINT: most have no more.
  ModelValue(Tensor x, Known elements)
      : tensor(std::move(x)), known(std::make_shared<const Known>(std::move(elements))) {}

  explicit operator bool() const { return tensor || known; }

  Tensor tensor;
  std::shared_ptr<const Known> known;
};

// Beyond, elements are a tensor's alone. The second bounds the elements of all results of one run
// together, but for those of at most kAlwaysKnown elements: a node of 20 bytes may give 1,024.
inline constexpr int64_t kMostKnown = 1024;
inline constexpr size_t kMaxKnownOfRun = size_t{1} << 21, kAlwaysKnown = 16;

// The elements of a tensor in a file; none of too many, or of what is no number.
std::optional<Known> known_elements(const TensorData& data);

// What a node gives, one value, if that follows from what is known of its inputs.
std::optional<Known> known_result(const NodeCall& n);

// The tensor of these elements, on the scope's device.
Tensor tensor_of(const Known& known);

// The first fraction, by its continued one, that rounds to `value` as a float: a float of 0.6 means
// 3 / 5. None of numbers that are too large or too small for that.
struct Fraction {
  int64_t numerator = 0, denominator = 1;
};
std::optional<Fraction> fraction_of(double value);

}  // namespace tenon::onnx
