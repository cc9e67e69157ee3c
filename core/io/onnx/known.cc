#include "core/io/onnx/known.h"

#include <cmath>
#include <cstring>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/known_element.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/control.h"

namespace tenon::onnx {
namespace {

// Appends integers of type T to `known`. Sets `fits` to false if one cannot be represented.
template <class T>
void read_integers(const TensorData& data, Known& known, bool& fits) {
  const auto elements = data.elements();
  for (size_t i = 0; i < elements.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, elements.data() + i * sizeof(T), sizeof(T));
    const auto size = as_size(static_cast<__int128>(value));
    fits = fits && size && push(known, {*size, 1});
  }
}

// Appends floats of type T, as fractions, to `known`. Sets `fits` to false if one cannot be
// represented.
template <class T>
void read_fractions(const TensorData& data, Known& known, bool& fits) {
  const auto elements = data.elements();
  for (size_t i = 0; fits && i < elements.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, elements.data() + i * sizeof(T), sizeof(T));
    const auto fraction = fraction_of(static_cast<double>(value));
    fits = fraction && push(known, {Size(fraction->numerator), Size(fraction->denominator)});
  }
}

}  // namespace

// Returns the simplest continued-fraction convergent that rounds to the same float as `value`.
std::optional<Fraction> fraction_of(double value) {
  if (value == 0) return Fraction{0, 1};
  if (value < 0) {
    const auto positive = fraction_of(-value);
    return positive ? std::optional(Fraction{-positive->numerator, positive->denominator})
                    : std::nullopt;
  }
  if (!(value < 0x1p31 && value > 0x1p-31)) return std::nullopt;
  Fraction before{0, 1}, now{1, 0};
  double rest = value;
  for (;;) {
    const auto whole = static_cast<int64_t>(std::floor(rest));
    const Fraction next = {whole * now.numerator + before.numerator,
                           whole * now.denominator + before.denominator};
    before = now;
    now = next;
    const double got = static_cast<double>(now.numerator) / static_cast<double>(now.denominator);
    if (static_cast<float>(got) == static_cast<float>(value)) return now;
    rest = 1 / (rest - static_cast<double>(whole));
  }
}

std::optional<Known> known_elements(const TensorData& data) {
  // Floating-point constants are expected to be scales, of which there are few.
  constexpr int64_t kMaxFractions = 16;
  const DType dtype = data.type.dtype;
  const int64_t most = is_floating(dtype) ? kMaxFractions : kMaxKnown;
  if (!data.unreadable.empty() || count(data.type.shape) > most) return std::nullopt;
  Known known = empty_known(dtype, data.type.shape);
  bool fits = true;
  switch (dtype) {
    case DType::kI64:
      read_integers<int64_t>(data, known, fits);
      break;
    case DType::kI32:
      read_integers<int32_t>(data, known, fits);
      break;
    case DType::kBool:
      read_integers<uint8_t>(data, known, fits);
      break;
    case DType::kF32:
      read_fractions<float>(data, known, fits);
      break;
    case DType::kF64:
      read_fractions<double>(data, known, fits);
      break;
    default:
      return std::nullopt;
  }
  return fits ? std::optional(known) : std::nullopt;
}

namespace {

// Uploads elements that are numbers.
Tensor upload_elements(const Known& known) {
  Scope& scope = current_scope();
  const auto host = [&](DType dtype, const void* data) {
    return from_host(scope, scope.device(), TensorType(dtype, known.shape), data);
  };
  if (is_floating(known.dtype)) {
    std::vector<double> values;
    for (size_t i = 0; i < known.size(); ++i) {
      values.push_back(static_cast<double>(known.values[i].word()) /
                       static_cast<double>(known.divisors[i].word()));
    }
    if (known.dtype == DType::kF64) return host(DType::kF64, values.data());
    const std::vector<float> floats(values.begin(), values.end());
    const Tensor x = host(DType::kF32, floats.data());
    return known.dtype == DType::kF32 ? x : cast(x, known.dtype);
  }
  const auto* values = reinterpret_cast<const int64_t*>(known.values.data());
  if (known.dtype == DType::kI64) return host(DType::kI64, values);
  if (known.dtype == DType::kBool) {
    const std::vector<uint8_t> bools(values, values + known.size());
    return host(DType::kBool, bools.data());
  }
  const std::vector<int32_t> narrow(values, values + known.size());
  const Tensor x = host(DType::kI32, narrow.data());
  return known.dtype == DType::kI32 ? x : cast(x, known.dtype);
}

}  // namespace

// Uploads known elements to the scope's device.
Tensor tensor_of(const Known& known) {
  if (are_numbers(known)) {
    if (known.upload.tensor) return known.upload.tensor;
    const Tensor x = upload_elements(known);
    // If uploading recorded a cast, the tensor belongs to the trace or even to one of its branches.
    // Therefore it is not cached.
    if (!x->storage->traced) known.upload.tensor = x;
    return x;
  }
  const Tensor x = cast(sizes_tensor(known.values), known.dtype);
  const bool are_whole = known.divisors.empty();
  return reshape(are_whole ? x : x / cast(sizes_tensor(known.divisors), known.dtype), known.shape);
}

}  // namespace tenon::onnx
