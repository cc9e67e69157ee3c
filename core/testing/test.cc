#include "core/testing/test.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/storage_dtype.h"

namespace tenon::testing {

std::string plugin_folder() { return TENON_TEST_PLUGINS; }
bool has_plugin(const std::string& name) {
  return std::filesystem::exists(plugin_folder() + "/libtenon_" + name + ".so");
}

namespace {

// Adds the folder of the built plugins to the options.
ContextOptions with_plugins(ContextOptions options) {
  options.plugin_paths.push_back(plugin_folder());
  return options;
}

// Returns the name of the device on which tests run.
const char* device_name() {
  const char* name = std::getenv("TENON_TEST_DEVICE");
  return name ? name : "ref";
}

// Reads an element of a dense host buffer as a double.
double read_element(DType dtype, const std::byte* at) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  if (is_storage(dtype)) return decode_storage(as(uint8_t{}), dtype);
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return as(uint8_t{});
    case DType::kI8:
      return as(int8_t{});
    case DType::kI16:
      return as(int16_t{});
    case DType::kI32:
      return as(int32_t{});
    case DType::kI64:
      return static_cast<double>(as(int64_t{}));
    case DType::kU16:
      return as(uint16_t{});
    case DType::kU32:
      return as(uint32_t{});
    case DType::kU64:
      return static_cast<double>(as(uint64_t{}));
    case DType::kF16:
      return half_to_float(as(uint16_t{}));
    case DType::kBF16:
      return bfloat16_to_float(as(uint16_t{}));
    case DType::kF32:
      return as(float{});
    case DType::kF64:
      return as(double{});
    case DType::kF128:
      return quad_to_double(as(ElementBits{}));
    default:
      break;
  }
  return 0;
}

}  // namespace

CoreTest::CoreTest(ContextOptions options)
    : context_(Ref<Context>::adopt(new Context(with_plugins(std::move(options))))),
      scope_(Ref<Scope>::adopt(new Scope(*context_, &context_->device(device_name())))),
      enter_(std::make_unique<Scope::Enter>(*scope_)) {}

CoreTest::~CoreTest() = default;

Tensor make(DType dtype, const Dims& shape, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    const bool whole = is_integer(dtype) || dtype == DType::kBool;
    const Tensor value =
        whole ? make_scalar(static_cast<int64_t>(values[i])) : make_scalar(values[i]);
    ElementBits element;
    write_scalar(*value, dtype, &element);
    std::memcpy(bytes.data() + i * size_of(dtype), &element, size_of(dtype));
  }
  return from_host(current_scope(), current_scope().device(), TensorType(dtype, shape),
                   bytes.data());
}

std::vector<double> values_of(const Tensor& x) {
  const DType dtype = x->type.dtype;
  const auto n = static_cast<size_t>(count(x->shape()));
  std::vector<std::byte> bytes(n * size_of(dtype));
  to_host(current_scope(), x, bytes.data(), bytes.size());
  std::vector<double> values;
  for (size_t i = 0; i < n; ++i) {
    values.push_back(read_element(dtype, bytes.data() + i * size_of(dtype)));
  }
  return values;
}

::testing::AssertionResult tensors_equal(const Tensor& got, const Tensor& want, double rtol,
                                         double atol) {
  if (!(got->type == want->type)) {
    return ::testing::AssertionFailure()
           << "got " << to_string(got->type) << ", want " << to_string(want->type);
  }
  const std::vector<double> a = values_of(got), b = values_of(want);
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ||
                      std::abs(a[i] - b[i]) <= atol + rtol * std::abs(b[i]);
    if (!same) {
      return ::testing::AssertionFailure()
             << "element " << i << ": got " << a[i] << ", want " << b[i];
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace tenon::testing
