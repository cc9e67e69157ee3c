// A test case of an op that tests can run. Its inputs are created on a device: as declared, widened
// to float64, or strided with gaps. Its derivatives are compared with finite differences.

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
// Returns every op that has at least one case.
std::vector<OpParam> ops_with_cases();

class OpProblem {
 public:
  // Draws at random, from a fixed seed, the values that the case does not specify.
  OpProblem(const OpDef& op, const AnyCase& c);

  // Returns the same problem with all floating inputs in another dtype.
  OpProblem with_floats(DType dtype) const;
  // Returns the same problem with all floating inputs in float64.
  OpProblem widened() const { return with_floats(DType::kF64); }
  // Whether at least one input is a float32 tensor and none has another floating dtype.
  bool is_float32() const;

  const OpDef& op() const { return *op_; }
  // Returns the number of elements of all inputs.
  size_t n_elements() const;
  // Whether all elements of all inputs are finite.
  bool is_finite() const;

  // Creates the inputs in the current scope. Absent inputs are empty tensors.
  Tensors inputs() const;
  // Creates the inputs as strided views, with a gap before and after each element of the last axis.
  Tensors inputs_with_gaps() const;
  // Calls the op on these inputs, with the attributes of the case.
  Tensors call(const Tensors& inputs) const;
  Tensors call() const { return call(inputs()); }

  // Compares the op's derivatives in a random direction with finite differences of its values.
  // Returns an empty string if they agree, else the mismatch. Requires float64: call it on a
  // widened problem.
  std::string check_gradient() const;
  // Like check_gradient(), but differentiates the derivative once more.
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
  // Returns the problem with `step * direction` added to input i.
  OpProblem with_step(size_t i, const Values& direction, double step) const;
  // Whether input i is present and is a float64.
  bool is_differentiable_input(size_t i) const;
  // Returns a random cotangent for each float64 output. The entries of other outputs are empty.
  std::vector<Values> random_cotangents() const;

  const OpDef* op_;
  OwnedAttrs attrs_;
  std::string name_;
  std::vector<Input> inputs_;
};

}  // namespace tenon::testing
