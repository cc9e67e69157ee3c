// A case of an op in a form that tests can run: its tensors on a device, as written, widened to
// float64 or with gaps, and its derivatives compared with finite differences.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "core/testing/test.h"

namespace tenon::testing {

// The parameter of tests over all ops.
struct OpParam {
  const OpDef* op;
};
void PrintTo(const OpParam& param, std::ostream* out);
std::vector<OpParam> ops_with_cases();

class OpProblem {
 public:
  // Draws the values that the case leaves open, the same in every run.
  OpProblem(const OpDef& op, const AnyCase& c);

  // The same problem with every floating input in another dtype.
  OpProblem with_floats(DType dtype) const;
  OpProblem widened() const { return with_floats(DType::kF64); }
  // True if some input is a float32 tensor and none is of another floating dtype.
  bool is_float32() const;

  const OpDef& op() const { return *op_; }
  size_t n_elements() const;
  bool is_finite() const;

  // Created in the current scope. Absent inputs are empty.
  Tensors inputs() const;
  // Views with a gap after each element of the last axis, and one before the first.
  Tensors inputs_with_gaps() const;
  Tensors call(const Tensors& inputs) const;
  Tensors call() const { return call(inputs()); }

  // Compares the op's derivatives in a random direction with finite differences of its values.
  // Returns an empty string if they agree, else the mismatch. Requires float64: call it on a
  // widened problem.
  std::string check_gradient() const;
  // The same for the derivatives of the derivative.
  std::string check_second_order() const;

 private:
  using Values = std::vector<double>;
  struct Input {
    CaseTensor::Fill fill;
    bool scalar;
    TensorType type;
    Values values;
  };

  Tensor make_input(const Input& input) const;
  // The problem with input i moved by `step` times `direction`.
  OpProblem moved(size_t i, const Values& direction, double step) const;
  bool is_differentiable_input(size_t i) const;
  // Random numbers for each output in float64; empty for the other outputs.
  std::vector<Values> random_cotangents() const;

  const OpDef* op_;
  OwnedAttrs attrs_;
  std::string name_;
  std::vector<Input> inputs_;
};

}  // namespace tenon::testing
