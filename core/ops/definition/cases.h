// Test cases of ops: inputs, and expected outputs or an expected error. They are not compiled into
// libtenon. A program writes them to a file for the conformance kit, and core's own tests run them.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/base/attrs.h"
#include "core/base/shape.h"

namespace tenon {

// A tensor of a case: its values, or the range from which they are drawn. The constructors and the
// destructor are not inline. Each op's file constructs many such tensors, so inlining would slow
// down compilation.
struct CaseTensor {
  enum class Fill : uint8_t { kValues, kUniform, kAbsent };
  TensorType type;
  Fill fill = Fill::kValues;
  bool scalar = false;         // Passed as an inline scalar (tenon_scalar_*).
  std::vector<double> values;  // Row-major; integers up to 2^53 are exact.
  double low = -1, high = 1;   // For kUniform: bounds of the values; integers are in [low, high).

  CaseTensor();
  CaseTensor(const CaseTensor&);
  CaseTensor(CaseTensor&&) noexcept;
  CaseTensor& operator=(const CaseTensor&);
  CaseTensor& operator=(CaseTensor&&) noexcept;
  ~CaseTensor();
};

class CaseTensors {
 public:
  CaseTensors();
  CaseTensors(std::initializer_list<CaseTensor> tensors);
  CaseTensors(std::vector<CaseTensor> tensors);
  CaseTensors(const CaseTensors&);
  CaseTensors(CaseTensors&&) noexcept;
  CaseTensors& operator=(const CaseTensors&);
  CaseTensors& operator=(CaseTensors&&) noexcept;
  ~CaseTensors();

  size_t size() const { return tensors_.size(); }
  bool empty() const { return tensors_.empty(); }
  const CaseTensor& operator[](size_t i) const { return tensors_[i]; }
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }

 private:
  std::vector<CaseTensor> tensors_;
};

// One test case. If `error` is set, the call must fail with a message that contains it, such as
// "C2". Otherwise, if `expect` is set, the outputs must equal it within rtol and atol. Otherwise,
// the outputs must match those of the plugin `ref`.
template <class A>
struct Case {
  const char* name = "";
  A attrs = {};
  CaseTensors inputs;
  CaseTensors expect;
  const char* error = "";
  double rtol = -1, atol = -1;  // Tolerances; negative: those of the op's accuracy class.
  bool check_gradient = true;   // False at a kink or tie, where finite differences fail.
  size_t n_outputs = 1;         // Number of outputs of the op.
};

// A type-erased view of a Case.
struct CaseView {
  const char* name;
  AnyAttrs attrs;
  const CaseTensors& inputs;
  const CaseTensors& expect;
  const char* error;
  double rtol, atol;
  bool check_gradient;
  size_t n_outputs;
};

struct AnyCase {
  std::string name;
  OwnedAttrs attrs;
  CaseTensors inputs;
  CaseTensors expect;
  std::string error;
  double rtol = -1, atol = -1;
  bool check_gradient = true;
  size_t n_outputs = 1;
};

class AnyCases {
 public:
  AnyCases();
  AnyCases(const AnyCases&);
  AnyCases(AnyCases&&) noexcept;
  AnyCases& operator=(const AnyCases&);
  AnyCases& operator=(AnyCases&&) noexcept;
  ~AnyCases();

  size_t size() const { return cases_.size(); }
  bool empty() const { return cases_.empty(); }
  auto begin() { return cases_.begin(); }
  auto end() { return cases_.end(); }
  auto begin() const { return cases_.begin(); }
  auto end() const { return cases_.end(); }

  void append(const CaseView& view);
  void append(const AnyCases& more);

 private:
  std::vector<AnyCase> cases_;
};

// The cases of an op with attributes A.
template <class A>
class Cases : public AnyCases {
 public:
  Cases() = default;
  Cases(std::initializer_list<Case<A>> cases) {
    for (const Case<A>& c : cases) push_back(c);
  }
  void push_back(const Case<A>& c) {
    append(CaseView{c.name, any_attrs(c.attrs), c.inputs, c.expect, c.error, c.rtol, c.atol,
                    c.check_gradient, c.n_outputs});
  }
};

// Returns `cases`, followed by `more`.
template <class A>
Cases<A> joined(Cases<A> cases, const std::type_identity_t<Cases<A>>& more) {
  cases.append(more);
  return cases;
}

// Functions that op files use to define the tensors of cases. f32({1, 2, 3}) has one axis, f32({2,
// 2}, {1, 2, 3, 4}) has two, and f32({}, {5}) has none.
namespace ops {

CaseTensor values(DType dtype, std::initializer_list<double> v);
CaseTensor values(DType dtype, const Dims& shape, std::initializer_list<double> v);

#define TENON_CASE_TENSOR(name, dtype)                                                 \
  inline CaseTensor name(std::initializer_list<double> v) { return values(dtype, v); } \
  inline CaseTensor name(const Dims& shape, std::initializer_list<double> v) {         \
    return values(dtype, shape, v);                                                    \
  }
TENON_CASE_TENSOR(boolean, DType::kBool)
TENON_CASE_TENSOR(i8, DType::kI8)
TENON_CASE_TENSOR(i16, DType::kI16)
TENON_CASE_TENSOR(i32, DType::kI32)
TENON_CASE_TENSOR(i64, DType::kI64)
TENON_CASE_TENSOR(u8, DType::kU8)
TENON_CASE_TENSOR(u16, DType::kU16)
TENON_CASE_TENSOR(u32, DType::kU32)
TENON_CASE_TENSOR(u64, DType::kU64)
TENON_CASE_TENSOR(f16, DType::kF16)
TENON_CASE_TENSOR(bf16, DType::kBF16)
TENON_CASE_TENSOR(f32, DType::kF32)
TENON_CASE_TENSOR(f64, DType::kF64)
#undef TENON_CASE_TENSOR

// A tensor of values drawn uniformly from [low, high); the default is float32 in [-1, 1).
CaseTensor uniform(const Dims& shape, double low = -1, double high = 1, DType dtype = DType::kF32);
// Inline scalars: a floating-point number and an integer.
CaseTensor scalar(double value);
CaseTensor scalar_int(double value);
// An optional input that is not passed.
CaseTensor absent();

}  // namespace ops
}  // namespace tenon
