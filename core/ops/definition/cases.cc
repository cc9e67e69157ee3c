#include "core/ops/definition/cases.h"

namespace tenon {

CaseTensor::CaseTensor() = default;
CaseTensor::CaseTensor(const CaseTensor&) = default;
CaseTensor::CaseTensor(CaseTensor&&) noexcept = default;
CaseTensor& CaseTensor::operator=(const CaseTensor&) = default;
CaseTensor& CaseTensor::operator=(CaseTensor&&) noexcept = default;
CaseTensor::~CaseTensor() = default;

CaseTensors::CaseTensors() = default;
CaseTensors::CaseTensors(std::initializer_list<CaseTensor> tensors) : tensors_(tensors) {}
CaseTensors::CaseTensors(std::vector<CaseTensor> tensors) : tensors_(std::move(tensors)) {}
CaseTensors::CaseTensors(const CaseTensors&) = default;
CaseTensors::CaseTensors(CaseTensors&&) noexcept = default;
CaseTensors& CaseTensors::operator=(const CaseTensors&) = default;
CaseTensors& CaseTensors::operator=(CaseTensors&&) noexcept = default;
CaseTensors::~CaseTensors() = default;

AnyCases::AnyCases() = default;
AnyCases::AnyCases(const AnyCases&) = default;
AnyCases::AnyCases(AnyCases&&) noexcept = default;
AnyCases& AnyCases::operator=(const AnyCases&) = default;
AnyCases& AnyCases::operator=(AnyCases&&) noexcept = default;
AnyCases::~AnyCases() = default;

void AnyCases::append(const CaseView& view) {
  cases_.push_back({view.name, OwnedAttrs(view.attrs), view.inputs, view.expect, view.error,
                    view.rtol, view.atol, view.check_gradient, view.n_outputs});
}

void AnyCases::append(const AnyCases& more) {
  cases_.insert(cases_.end(), more.begin(), more.end());
}

namespace ops {

// Returns a tensor of these values with one axis.
CaseTensor values(DType dtype, std::initializer_list<double> v) {
  return values(dtype, {static_cast<int64_t>(v.size())}, v);
}

CaseTensor values(DType dtype, const Dims& shape, std::initializer_list<double> v) {
  CaseTensor t;
  t.type = TensorType(dtype, shape);
  t.values = v;
  return t;
}

// Returns an inline floating-point scalar.
CaseTensor scalar(double value) {
  CaseTensor t = values(DType::kF32, {}, {value});
  t.scalar = true;
  return t;
}

// Returns an inline integer scalar.
CaseTensor scalar_int(double value) {
  CaseTensor t = values(DType::kI64, {}, {value});
  t.scalar = true;
  return t;
}

// Returns a tensor of values that are drawn uniformly from [low, high).
CaseTensor uniform(const Dims& shape, double low, double high, DType dtype) {
  CaseTensor t;
  t.type = TensorType(dtype, shape);
  t.fill = CaseTensor::Fill::kUniform;
  t.low = low;
  t.high = high;
  return t;
}

// Returns the placeholder for an optional input that is not passed.
CaseTensor absent() {
  CaseTensor t;
  t.fill = CaseTensor::Fill::kAbsent;
  return t;
}

}  // namespace ops
}  // namespace tenon
