// Emulates libcublasLt for tests without a GPU. Products are computed in host memory, in the order
// of the emulated driver's streams. Only features that the plugin uses are supported: column-major
// layouts, transposes and batches.

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "plugins/cuda/driver/cublaslt_abi.h"
#include "plugins/cuda/testing/emulated_faults.h"

using namespace tenon_cuda;
using tenon_emulated::injected;

namespace {

constexpr cublasStatus kNotInitialized = 1, kInvalidValue = 7, kExecutionFailed = 13;
constexpr size_t kWorkspaceBytes =
    1000;  // Size in bytes of the workspace that each algorithm requests and writes.

struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t column_stride;
  int32_t n_matrices = 1;
  int64_t batch_stride = 0;
};
struct Description {
  int compute_type, scale_type;
  int32_t transposes_a = 0, transposes_b = 0;
};
struct Preference {
  uint64_t workspace_bytes = 0;
  uint32_t reduction_schemes = 7;
};
// Returns the object of a handle of the library.
Layout& from_c(cublasLtLayout layout) { return *reinterpret_cast<Layout*>(layout); }
Description& from_c(cublasLtDescription made) { return *reinterpret_cast<Description*>(made); }
Preference& from_c(cublasLtPreference made) { return *reinterpret_cast<Preference*>(made); }

// Returns a function of the emulated driver, which the plugin has already opened.
template <class Function>
Function driver_function(const char* name) {
  const char* const file = std::getenv("TENON_CUDA_DRIVER");
  void* const library =
      file != nullptr ? dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) : nullptr;
  return library != nullptr ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

// Copies an attribute of this size into `to`. Returns an error if the size differs from that of
// `to`.
template <class Value>
cublasStatus copy_attribute(Value& to, const void* from, size_t size) {
  if (size != sizeof to) return kInvalidValue;
  std::memcpy(&to, from, size);
  return 0;
}

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Returns the size in bytes of an element of a cudaDataType_t.
size_t size_of(int type) { return type == kCublasFloat64 ? 8 : type == kCublasFloat32 ? 4 : 2; }

// Converts the bits of a float16 to its value.
double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  double x = std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 0) x = std::ldexp(fraction, -24);
  if (exponent == 31) x = fraction == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -x : x;
}
// Rounds to float16 and returns its bits.
uint16_t half_bits(float x) {
  const auto sign = static_cast<uint16_t>(std::signbit(x) ? 0x8000 : 0);
  const double magnitude = std::fabs(static_cast<double>(x));
  if (x != x) return 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const double steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  return static_cast<uint16_t>(sign | ((exponent + 14) * 1024 + static_cast<int>(steps)));
}

// Reads an element of a cudaDataType_t.
double load(int type, const char* at) {
  if (type == kCublasFloat64) {
    double x;
    std::memcpy(&x, at, sizeof x);
    return x;
  }
  if (type == kCublasFloat32) {
    float x;
    std::memcpy(&x, at, sizeof x);
    return x;
  }
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  if (type == kCublasBFloat16) return float_of(static_cast<uint32_t>(bits) << 16);
  return half_value(bits);
}
// Stores `x` as an element of a cudaDataType_t, rounded to this type.
void store(int type, char* at, double x) {
  if (type == kCublasFloat64) {
    std::memcpy(at, &x, sizeof x);
    return;
  }
  const auto single = static_cast<float>(x);
  if (type == kCublasFloat32) {
    std::memcpy(at, &single, sizeof single);
    return;
  }
  if (type == kCublasBFloat16) {
    const uint32_t bits = bits_of(single);
    const auto rounded = static_cast<uint16_t>(
        single != single ? bits >> 16 | 0x40u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    std::memcpy(at, &rounded, sizeof rounded);
    return;
  }
  const uint16_t half = half_bits(single);
  std::memcpy(at, &half, sizeof half);
}
// Rounds to TF32, which has 10 bits of fraction.
double to_tf32(double x) {
  const uint32_t bits = bits_of(static_cast<float>(x));
  return x != x ? x : float_of((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}

struct Matrix {
  char* data;
  Layout layout;

  char* at(int32_t matrix, uint64_t row, uint64_t column) const {
    return data + (matrix * layout.batch_stride + static_cast<int64_t>(row) +
                   static_cast<int64_t>(column) * layout.column_stride) *
                      static_cast<int64_t>(size_of(layout.type));
  }
  // Returns the number of bytes from the first element to the end of the last one.
  size_t bytes() const {
    const char* const last = at(layout.n_matrices - 1, layout.rows - 1, layout.columns - 1);
    return static_cast<size_t>(last - data) + size_of(layout.type);
  }
};

struct Product {
  Description description;
  Matrix a, b, d;
  char* workspace;

  uint64_t depth() const {
    return description.transposes_a != 0 ? a.layout.rows : a.layout.columns;
  }
  bool fits() const {
    const uint64_t rows = description.transposes_a != 0 ? a.layout.columns : a.layout.rows;
    const uint64_t columns = description.transposes_b != 0 ? b.layout.rows : b.layout.columns;
    const uint64_t depth_b = description.transposes_b != 0 ? b.layout.columns : b.layout.rows;
    return rows == d.layout.rows && columns == d.layout.columns && depth_b == depth() &&
           a.layout.n_matrices == d.layout.n_matrices && b.layout.n_matrices == d.layout.n_matrices;
  }

  void run() const {
    std::memset(workspace, 0x5a, kWorkspaceBytes);
    const bool is_wide = description.compute_type == kCompute64;
    const bool is_tf32 = description.compute_type == kComputeTf32;
    for (int32_t i = 0; i < d.layout.n_matrices; ++i) {
      for (uint64_t column = 0; column < d.layout.columns; ++column) {
        for (uint64_t row = 0; row < d.layout.rows; ++row) {
          double sum = 0;
          for (uint64_t k = 0; k < depth(); ++k) {
            double x = load(a.layout.type,
                            description.transposes_a != 0 ? a.at(i, k, row) : a.at(i, row, k));
            double y = load(b.layout.type, description.transposes_b != 0 ? b.at(i, column, k)
                                                                         : b.at(i, k, column));
            if (is_tf32) x = to_tf32(x), y = to_tf32(y);
            sum = is_wide ? sum + x * y
                          : static_cast<double>(static_cast<float>(sum) +
                                                static_cast<float>(x) * static_cast<float>(y));
          }
          store(d.layout.type, d.at(i, row, column), sum);
        }
      }
    }
  }
};

}  // namespace

#define ENTRY(name) extern "C" __attribute__((visibility("default"))) cublasStatus name
#define MAY_FAIL(name) \
  if (injected(name) != 0) return kExecutionFailed;

ENTRY(cublasLtCreate)(cublasLtHandle* handle) {
  MAY_FAIL("cublasLtCreate")
  static int made;
  *handle = reinterpret_cast<cublasLtHandle>(&made);
  return 0;
}
ENTRY(cublasLtDestroy)(cublasLtHandle) {
  MAY_FAIL("cublasLtDestroy")
  return 0;
}

ENTRY(cublasLtMatrixLayoutCreate)
(cublasLtLayout* layout, int type, uint64_t rows, uint64_t columns, int64_t column_stride) {
  MAY_FAIL("cublasLtMatrixLayoutCreate")
  if (column_stride < static_cast<int64_t>(rows)) return kInvalidValue;
  *layout = reinterpret_cast<cublasLtLayout>(new Layout{type, rows, columns, column_stride});
  return 0;
}
ENTRY(cublasLtMatrixLayoutDestroy)(cublasLtLayout layout) {
  delete &from_c(layout);
  MAY_FAIL("cublasLtMatrixLayoutDestroy")
  return 0;
}
ENTRY(cublasLtMatrixLayoutSetAttribute)
(cublasLtLayout layout, int attribute, const void* value, size_t size) {
  MAY_FAIL("cublasLtMatrixLayoutSetAttribute")
  Layout& set = from_c(layout);
  if (attribute == kLayoutBatchCount) return copy_attribute(set.n_matrices, value, size);
  if (attribute == kLayoutBatchStride) return copy_attribute(set.batch_stride, value, size);
  return kInvalidValue;
}

ENTRY(cublasLtMatmulDescCreate)
(cublasLtDescription* description, int compute_type, int scale_type) {
  MAY_FAIL("cublasLtMatmulDescCreate")
  *description = reinterpret_cast<cublasLtDescription>(new Description{compute_type, scale_type});
  return 0;
}
ENTRY(cublasLtMatmulDescDestroy)(cublasLtDescription description) {
  delete &from_c(description);
  MAY_FAIL("cublasLtMatmulDescDestroy")
  return 0;
}
ENTRY(cublasLtMatmulDescSetAttribute)
(cublasLtDescription description, int attribute, const void* value, size_t size) {
  MAY_FAIL("cublasLtMatmulDescSetAttribute")
  Description& set = from_c(description);
  if (attribute == kDescriptionTransposeA) return copy_attribute(set.transposes_a, value, size);
  if (attribute == kDescriptionTransposeB) return copy_attribute(set.transposes_b, value, size);
  return kInvalidValue;
}

ENTRY(cublasLtMatmulPreferenceCreate)(cublasLtPreference* preference) {
  MAY_FAIL("cublasLtMatmulPreferenceCreate")
  *preference = reinterpret_cast<cublasLtPreference>(new Preference);
  return 0;
}
ENTRY(cublasLtMatmulPreferenceDestroy)(cublasLtPreference preference) {
  delete &from_c(preference);
  MAY_FAIL("cublasLtMatmulPreferenceDestroy")
  return 0;
}
ENTRY(cublasLtMatmulPreferenceSetAttribute)
(cublasLtPreference preference, int attribute, const void* value, size_t size) {
  MAY_FAIL("cublasLtMatmulPreferenceSetAttribute")
  Preference& set = from_c(preference);
  uint32_t alignment = 0;
  switch (attribute) {
    case kPreferenceWorkspaceBytes:
      return copy_attribute(set.workspace_bytes, value, size);
    case kPreferenceReductionSchemes:
      return copy_attribute(set.reduction_schemes, value, size);
    case kPreferenceAlignmentA:
    case kPreferenceAlignmentB:
    case kPreferenceAlignmentC:
    case kPreferenceAlignmentD:
      return copy_attribute(alignment, value, size);
    default:
      return kInvalidValue;
  }
}

ENTRY(cublasLtMatmulAlgoGetHeuristic)
(cublasLtHandle, cublasLtDescription description, cublasLtLayout a, cublasLtLayout b,
 cublasLtLayout, cublasLtLayout d, cublasLtPreference preference, int n_wanted,
 cublasLtChoice* choices, int* n_found) {
  MAY_FAIL("cublasLtMatmulAlgoGetHeuristic")
  *n_found = 0;
  const Product product = {from_c(description),
                           {nullptr, from_c(a)},
                           {nullptr, from_c(b)},
                           {nullptr, from_c(d)},
                           nullptr};
  if (!product.fits() || n_wanted < 1) return kInvalidValue;
  if (from_c(preference).workspace_bytes < kWorkspaceBytes) return kCublasNotSupported;
  // The plugin must not permit split-K, because its partial sums may be added in any order.
  if (from_c(preference).reduction_schemes != 0) return kCublasNotSupported;
  choices[0] = {};
  choices[0].workspace_bytes = kWorkspaceBytes;
  choices[0].algorithm.data[0] = product.depth();
  *n_found = 1;
  return 0;
}

ENTRY(cublasLtMatmul)
(cublasLtHandle, cublasLtDescription description, const void* alpha, const void* a,
 cublasLtLayout a_layout, const void* b, cublasLtLayout b_layout, const void* beta, const void*,
 cublasLtLayout, void* d, cublasLtLayout d_layout, const cublasLtAlgorithm* algorithm,
 void* workspace, size_t workspace_bytes, CUstream stream) {
  MAY_FAIL("cublasLtMatmul")
  const auto matrix = [](const void* data, cublasLtLayout layout) {
    return Matrix{static_cast<char*>(const_cast<void*>(data)), from_c(layout)};
  };
  const Product product = {from_c(description), matrix(a, a_layout), matrix(b, b_layout),
                           matrix(d, d_layout), static_cast<char*>(workspace)};
  const int scale_type = product.description.scale_type;
  if (load(scale_type, static_cast<const char*>(alpha)) != 1 ||
      load(scale_type, static_cast<const char*>(beta)) != 0) {
    return kCublasNotSupported;
  }
  const auto contains = driver_function<bool (*)(const void*, size_t)>("tenon_emulated_contains");
  const auto enqueue =
      driver_function<int (*)(CUstream, const std::function<void()>*)>("tenon_emulated_enqueue");
  if (contains == nullptr || enqueue == nullptr) return kNotInitialized;
  if (!product.fits() || algorithm->data[0] != product.depth() ||
      workspace_bytes < kWorkspaceBytes || !contains(workspace, workspace_bytes)) {
    return kInvalidValue;
  }
  for (const Matrix* const each : {&product.a, &product.b, &product.d}) {
    if (!contains(each->data, each->bytes())) return kInvalidValue;
    if (reinterpret_cast<uintptr_t>(each->data) % 16 != 0) return kInvalidValue;
  }
  const std::function<void()> job = [product] { product.run(); };
  return enqueue(stream, &job) == 0 ? 0 : kExecutionFailed;
}
