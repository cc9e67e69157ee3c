// matmul, gemm and int8_matmul.

#include <cmath>
#include <cstring>

#include "plugins/cuda/kernels/product.h"

namespace tenon_cuda {
namespace {

struct Gemm {
  bool transpose_a, transpose_b;
  double alpha = 1, beta = 1;
  bool has_c = false, is_gemm = false;
};

// Axes of a factor: `across` is the axis of rows of `a` or of columns of `b`; `along_k` is the axis
// of k.
struct FactorAxes {
  size_t across, along_k;
};
// Returns the axes of `a`, which transpose_a exchanges.
FactorAxes axes_of_a(const Gemm& gemm, size_t rank) {
  return gemm.transpose_a ? FactorAxes{rank - 1, rank - 2} : FactorAxes{rank - 2, rank - 1};
}
// Returns the axes of `b`, which transpose_b exchanges.
FactorAxes axes_of_b(const Gemm& gemm, size_t rank) {
  return gemm.transpose_b ? FactorAxes{rank - 2, rank - 1} : FactorAxes{rank - 1, rank - 2};
}

// Pushes a struct Factor. `across` and `along_k` are its strides.
void push_factor(Parameters& parameters, const tenon_view& view, int64_t across, int64_t along_k,
                 size_t n_batch_axes) {
  const auto strides = strides_of(view);
  parameters.push_operand(view);
  parameters.push(across);
  parameters.push(along_k);
  parameters.push_list({strides.data(), n_batch_axes});
}

// Stride of c along an axis of the result: c may have fewer axes, and its axes of size 1 are
// broadcast.
int64_t stride_of_c(const tenon_view& c, size_t rank, size_t axis) {
  const size_t missing = rank - c.rank;
  if (axis < missing || c.sizes[axis - missing] == 1) return 0;
  return strides_of(c)[axis - missing];
}

// Returns the bits of a double, to pass it as a parameter word.
int64_t bits_of(double x) {
  int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// Returns the sizes of the product, and the axis along which each factor is contiguous.
ProductShape shape_of(const Gemm& gemm, size_t rank, const tenon_launch& launch) {
  const tenon_view& a = launch.inputs[0];
  const int64_t* const sizes = launch.outputs[0].sizes;
  const FactorAxes of_a = axes_of_a(gemm, rank), of_b = axes_of_b(gemm, rank);
  const auto along_k = [](const tenon_view& view, const FactorAxes& axes) {
    const auto strides = strides_of(view);
    return std::abs(strides[axes.along_k]) <= std::abs(strides[axes.across]);
  };
  return {.matrices = tenon_sdk::count(rank - 2, sizes),
          .rows = sizes[rank - 2],
          .columns = sizes[rank - 1],
          .depth = a.sizes[of_a.along_k],
          .left_along_k = along_k(a, of_a),
          .right_along_k = along_k(launch.inputs[1], of_b)};
}

// Pushes the struct Factors of device/matmul.cu.
void push_factors(const Gemm& gemm, size_t rank, const tenon_launch& launch,
                  Parameters& parameters) {
  const tenon_view &a = launch.inputs[0], &b = launch.inputs[1];
  const int64_t* const sizes = launch.outputs[0].sizes;
  const FactorAxes of_a = axes_of_a(gemm, rank), of_b = axes_of_b(gemm, rank);
  const auto a_strides = strides_of(a), b_strides = strides_of(b);
  push_factor(parameters, a, a_strides[of_a.across], a_strides[of_a.along_k], rank - 2);
  push_factor(parameters, b, b_strides[of_b.across], b_strides[of_b.along_k], rank - 2);
  parameters.push(sizes[rank - 2]);
  parameters.push(sizes[rank - 1]);
  parameters.push(static_cast<int64_t>(rank - 2));
  parameters.push_list({sizes, rank - 2});
  if (gemm.has_c) {
    const tenon_view& c = launch.inputs[2];
    push_factor(parameters, c, stride_of_c(c, rank, rank - 2), stride_of_c(c, rank, rank - 1), 0);
  } else {
    push_factor(parameters, tenon_view{}, 0, 0, 0);
  }
  parameters.push(gemm.has_c ? 1 : 0);
  parameters.push(bits_of(gemm.alpha));
  parameters.push(bits_of(gemm.beta));
}

// Prepares matmul or gemm, with an optional epilogue.
Prepared prepare(const Request& request, const Gemm& gemm, std::optional<LoopPlan> epilogue) {
  const size_t rank = request.output(0).rank;
  if (rank < 2 || request.input(0).rank != rank || request.input(1).rank != rank) {
    return tenon_sdk::refuse("matmul: operands and result must have the same rank, at least 2");
  }
  std::string lines = type_line(type_name(request.output(0).dtype), "T");
  lines += gemm.is_gemm ? "#define IS_GEMM 1\n" : "#define IS_GEMM 0\n";
  lines += device_file("matmul.cu");
  std::optional<LibraryFactors> library;
  const tenon_dtype dtype = request.output(0).dtype;
  if (dtype == TENON_FLOAT16 || dtype == TENON_BFLOAT16 || dtype == TENON_FLOAT32 ||
      dtype == TENON_FLOAT64) {
    library = {.transpose_a = gemm.transpose_a,
               .transpose_b = gemm.transpose_b,
               .finishes = gemm.alpha != 1 || gemm.has_c};
  }
  return prepare_product(
      request,
      {.factors = std::move(lines),
       .shape = [=](const tenon_launch& launch) { return shape_of(gemm, rank, launch); },
       .push_factors =
           [=](const tenon_launch& launch, Parameters& parameters) {
             push_factors(gemm, rank, launch, parameters);
           },
       .library = library},
      std::move(epilogue));
}

}  // namespace

Prepared prepare_matmul(const Request& request, std::optional<LoopPlan> epilogue) {
  const auto attrs = request.attrs<tenon_matmul_attrs>();
  return prepare(request, {.transpose_a = attrs.transpose_a, .transpose_b = attrs.transpose_b},
                 std::move(epilogue));
}

Prepared prepare_gemm(const Request& request, std::optional<LoopPlan> epilogue) {
  const auto attrs = request.attrs<tenon_gemm_attrs>(TENON_GEMM_ATTRS_DEFAULT);
  return prepare(request,
                 {.transpose_a = attrs.trans_a,
                  .transpose_b = attrs.trans_b,
                  .alpha = attrs.alpha,
                  .beta = attrs.beta,
                  .has_c = request.n_inputs() > 2 && request.input(2).dtype != TENON_DTYPE_NONE,
                  .is_gemm = true},
                 std::move(epilogue));
}

Prepared prepare_matmul(const Request& request) { return prepare_matmul(request, std::nullopt); }
Prepared prepare_gemm(const Request& request) { return prepare_gemm(request, std::nullopt); }

Prepared prepare_int8_matmul(const Request& request) {
  return embedded_kernel<1>(request, {"int8_matmul"},
                            embedded_source(type_line(type_name(request.input(0).dtype), "TA") +
                                                type_line(type_name(request.input(1).dtype), "TB"),
                                            "int8_matmul.cu"),
                            [](const Dispatcher& dispatcher, const tenon_launch& launch) {
                              const tenon_view& y = launch.outputs[0];
                              const size_t row = y.rank - size_t{2}, column = y.rank - size_t{1};
                              Parameters parameters;
                              parameters.push_view(launch.inputs[0]);
                              parameters.push_view(launch.inputs[1]);
                              for (uint32_t i = 2; i < 4; ++i) {
                                const bool has =
                                    i < launch.n_inputs && tenon_sdk::is_present(launch.inputs[i]);
                                parameters.push_view(has ? launch.inputs[i] : tenon_view{});
                              }
                              parameters.push_address(address_of(y));
                              parameters.push(y.sizes[row]);
                              parameters.push(y.sizes[column]);
                              parameters.push(launch.inputs[0].sizes[column]);
                              parameters.push(tenon_sdk::count(row, y.sizes));
                              return dispatcher.run_over(0, tenon_sdk::count(y), parameters);
                            });
}

}  // namespace tenon_cuda
