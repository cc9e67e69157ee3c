#include "plugins/cuda/driver/cublaslt.h"

#include "plugins/cuda/driver/device.h"

namespace tenon_cuda {
namespace {

constexpr uint64_t kMaxWorkspaceBytes = 32 << 20;

// Returns the cudaDataType_t of a floating-point dtype.
int library_type(tenon_dtype dtype) {
  switch (dtype) {
    case TENON_FLOAT16:
      return kCublasFloat16;
    case TENON_BFLOAT16:
      return kCublasBFloat16;
    case TENON_FLOAT64:
      return kCublasFloat64;
    default:
      return kCublasFloat32;
  }
}

// Returns the cublasComputeType_t of a product.
int compute_type(const LibraryShape& shape) {
  if (shape.dtype == TENON_FLOAT64) return kCompute64;
  if (shape.dtype != TENON_FLOAT32) return kCompute32;
  return shape.is_strict ? kCompute32Pedantic : kComputeTf32;
}

// Converts a failed status to an error; returns NULL for success. `what`: the operation that the
// error names.
tenon_error* check(const Driver& driver, cublasStatus status, const char* what) {
  if (status == 0) return nullptr;
  return driver.error(TENON_INTERNAL, std::string("cuda: ") + what + " failed with status " +
                                          std::to_string(status) + " of cuBLASLt");
}

}  // namespace

LibraryProduct::~LibraryProduct() {
  for (const cublasLtLayout layout : {a_[0], a_[1], b_[0], b_[1], d_}) {
    if (layout != nullptr) lt_.LayoutDestroy(layout);
  }
  if (description_ != nullptr) lt_.DescriptionDestroy(description_);
}

// Creates the layout of a row-major matrix. cuBLASLt is column-major, so it interprets the matrix
// as its transpose. Because (a b)^T = b^T a^T, `b` is passed as the first factor, and the sizes of
// each matrix are exchanged.
tenon_error* LibraryProduct::make_layout(cublasLtLayout& layout, int64_t rows, int64_t columns,
                                         int64_t batch_stride) {
  cublasStatus status =
      lt_.LayoutCreate(&layout, library_type(shape_.dtype), static_cast<uint64_t>(columns),
                       static_cast<uint64_t>(rows), columns);
  const auto n = static_cast<int32_t>(shape_.matrices);
  if (status == 0) status = lt_.LayoutSet(layout, kLayoutBatchCount, &n, sizeof n);
  if (status == 0) {
    status = lt_.LayoutSet(layout, kLayoutBatchStride, &batch_stride, sizeof batch_stride);
  }
  return check(driver_, status, "describing a matrix");
}

// Creates the descriptions of the operands and of the product, and chooses an algorithm.
tenon_error* LibraryProduct::open(const LibraryShape& shape) {
  shape_ = shape;
  const int64_t m = shape.rows, n = shape.columns, k = shape.depth;
  for (const bool is_shared : {false, true}) {
    const int64_t rows_a = shape.transpose_a ? k : m, rows_b = shape.transpose_b ? n : k;
    if (tenon_error* error =
            make_layout(a_[is_shared], rows_a, m * k / rows_a, is_shared ? 0 : m * k)) {
      return error;
    }
    if (tenon_error* error =
            make_layout(b_[is_shared], rows_b, k * n / rows_b, is_shared ? 0 : k * n)) {
      return error;
    }
  }
  if (tenon_error* error = make_layout(d_, m, n, m * n)) return error;
  const int scale = shape.dtype == TENON_FLOAT64 ? kCublasFloat64 : kCublasFloat32;
  cublasStatus status = lt_.DescriptionCreate(&description_, compute_type(shape), scale);
  const int32_t transposes = kTranspose;
  if (status == 0 && shape.transpose_b) {
    status =
        lt_.DescriptionSet(description_, kDescriptionTransposeA, &transposes, sizeof transposes);
  }
  if (status == 0 && shape.transpose_a) {
    status =
        lt_.DescriptionSet(description_, kDescriptionTransposeB, &transposes, sizeof transposes);
  }
  if (tenon_error* error = check(driver_, status, "describing a product")) return error;
  return choose_algorithm();
}

tenon_error* LibraryProduct::choose_algorithm() {
  struct Owner {
    const CublasLtFunctions& lt;
    cublasLtPreference made = nullptr;
    ~Owner() {
      if (made != nullptr) lt.PreferenceDestroy(made);
    }
  } preference{lt_};
  const uint32_t no_reductions = 0, alignment = LibraryCall::kAlignment;
  cublasStatus status = lt_.PreferenceCreate(&preference.made);
  const auto set = [&](int attribute, const auto& value) {
    if (status == 0) {
      status = lt_.PreferenceSet(preference.made, attribute, &value, sizeof value);
    }
  };
  set(kPreferenceWorkspaceBytes, kMaxWorkspaceBytes);
  set(kPreferenceReductionSchemes, no_reductions);
  for (const int operand : {kPreferenceAlignmentA, kPreferenceAlignmentB, kPreferenceAlignmentC,
                            kPreferenceAlignmentD}) {
    set(operand, alignment);
  }
  int n_found = 0;
  if (status == 0) {
    status = lt_.FindAlgorithm(handle_, description_, b_[0], a_[0], d_, d_, preference.made, 1,
                               &choice_, &n_found);
  }
  if (status == kCublasNotSupported) return nullptr;
  is_served_ = status == 0 && n_found > 0 && choice_.state == 0;
  return check(driver_, status, "choosing an algorithm");
}

// Enqueues the product in the stream.
tenon_error* LibraryProduct::run(CUstream stream, const LibraryCall& call) const {
  const double one = 1, zero = 0;
  const float one_float = 1, zero_float = 0;
  const bool is_wide = shape_.dtype == TENON_FLOAT64;
  const auto pointer = [](uint64_t address) { return reinterpret_cast<void*>(address); };
  const cublasStatus status = lt_.Matmul(
      handle_, description_, is_wide ? static_cast<const void*>(&one) : &one_float, pointer(call.b),
      b_[call.shares_b], pointer(call.a), a_[call.shares_a],
      is_wide ? static_cast<const void*>(&zero) : &zero_float, pointer(call.d), d_, pointer(call.d),
      d_, &choice_.algorithm, pointer(call.workspace), choice_.workspace_bytes, stream);
  return check(driver_, status, "cublasLtMatmul");
}

LibraryProducts::~LibraryProducts() {
  const Entered entered(driver_, context_);
  products_.clear();
  if (handle_ != nullptr) lt_.Destroy(handle_);
}

tenon_error* LibraryProducts::open_library() {
  std::string why;
  const Opened opened = open_cublaslt(lt_, why);
  if (opened == Opened::kFailed) return driver_.error(TENON_UNAVAILABLE, "cuda: " + why);
  if (opened == Opened::kYes) {
    if (tenon_error* error = check(driver_, lt_.Create(&handle_), "cublasLtCreate")) return error;
  }
  was_searched_ = true;
  return nullptr;
}

// Stores the product of a shape in `product`, or NULL if the library cannot compute it.
tenon_error* LibraryProducts::find(const LibraryShape& shape, const LibraryProduct** product) {
  *product = nullptr;
  std::lock_guard guard(mutex_);
  const Entered entered(driver_, context_);
  if (tenon_error* error = entered.error()) return error;
  if (!was_searched_) {
    if (tenon_error* error = open_library()) return error;
  }
  if (handle_ == nullptr) return nullptr;
  auto found = products_.find(shape);
  if (found == products_.end()) {
    auto made = std::make_unique<LibraryProduct>(driver_, lt_, handle_);
    if (tenon_error* error = made->open(shape)) return error;
    found = products_.emplace(shape, std::move(made)).first;
  }
  if (found->second->has_algorithm()) *product = found->second.get();
  return nullptr;
}

// ---- queries of kernels

tenon_error* find_library_product(tenon_device_p* device, const LibraryShape& shape,
                                  const LibraryProduct** product) {
  return from_c(device).library_products().find(shape, product);
}
uint64_t workspace_bytes(const LibraryProduct& product) { return product.workspace_bytes(); }

}  // namespace tenon_cuda
