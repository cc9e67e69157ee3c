// matmul and gemm. The matrices are read in place, by strides. gemm scales and adds before it
// rounds a sum to the output dtype, so half types are rounded once.

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/product.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::U32;

std::vector<Element> cast_all(std::vector<Element> elements, tenon_dtype dtype) {
  for (Element& element : elements) element = cast(element, dtype);
  return elements;
}

struct Gemm {
  bool transpose_a, transpose_b;
  double alpha = 1, beta = 1;
  bool has_c = false;
};

class Matmul final : public ProductKernel {
 public:
  Matmul(const Request& request, const Gemm& gemm, std::optional<LoopPlan> epilogue)
      : ProductKernel(request.device(), {.left = 0, .right = 1, .n_inputs = gemm.has_c ? 3u : 2u},
                      request.output(0).dtype, std::move(epilogue)),
        dtype_(request.output(0).dtype),
        gemm_(gemm) {}

 private:
  // Parameters: the strides of `a` along rows and depth, of `b` along depth and columns, and of `c`
  // along rows and columns; then the batch axes.
  enum : uint32_t { kRowA = kOwn, kDeepA, kDeepB, kColumnB, kRowC, kColumnC, kAxes };

  static Element scaled(const Element& x, double factor) {
    if (factor == 1) return x;
    const Element by = x.dtype() == TENON_FLOAT64
                           ? Element(x.code().f64(factor))
                           : Element(x.dtype(), x.code().f32(static_cast<float>(factor)));
    return arithmetic(TENON_OP_mul, by, x);
  }

  // Returns the value to store for a sum: for gemm, alpha times the sum plus beta times c.
  Element finished(Code& code, const Element& sum, U32 row, U32 column) const {
    Element y = scaled(sum, gemm_.alpha);
    if (gemm_.has_c) {
      const U32 place = row * code.parameter(kRowC) + column * code.parameter(kColumnC);
      const Element c = cast(Elements(code, 2, dtype_).load(place), sum.dtype());
      y = arithmetic(TENON_OP_add, y, scaled(c, gemm_.beta));
    }
    return cast(y, dtype_);
  }

  FactorsOf factors(Code& code) const override {
    const Elements a(code, 0, dtype_), b(code, 1, dtype_);
    const AxesCode axes(code, code.u32(kAxes), 2);
    const ResultCode y = result_code(code, axes.end());
    const U32 row_a = code.parameter(kRowA), deep_a = code.parameter(kDeepA),
              deep_b = code.parameter(kDeepB), column_b = code.parameter(kColumnB),
              rows = code.parameter(kRows), columns = code.parameter(kColumns);
    return [=, this, &code, wide = product_dtype(dtype_)](U32 matrix) -> Factors {
      const std::vector<U32> places = axes.operand_offsets(matrix);
      const U32 first = matrix * rows;
      const auto at_a = [=](U32 row, U32 k) { return places[0] + row * row_a + k * deep_a; };
      const auto at_b = [=](U32 k, U32 column) {
        return places[1] + k * deep_b + column * column_b;
      };
      const auto at_y = [=](U32 row, U32 column) { return (first + row) * columns + column; };
      return {
          .left = [=](U32 row, U32 k) { return cast(a.load(at_a(row, k)), wide); },
          .right = [=](U32 k, U32 column) { return cast(b.load(at_b(k, column)), wide); },
          .store =
              [=, this, &code](U32 row, U32 column, const Element& sum) {
                y.store(at_y(row, column), finished(code, sum, row, column));
              },
          .left_four = [=](U32 row, U32 k) { return cast_all(a.load_four(at_a(row, k)), wide); },
          .right_four = [=](U32 k,
                            U32 column) { return cast_all(b.load_four(at_b(k, column)), wide); },
          .store_four =
              [=, this, &code](U32 row, U32 column, std::span<const Element> sums) {
                std::vector<Element> all;
                for (uint32_t j = 0; j < 4; ++j) {
                  all.push_back(finished(code, sums[j], row, column + j));
                }
                y.store_four(at_y(row, column), all);
              }};
    };
  }

  // A matrix is vectorised if every four neighbouring elements are contiguous and begin at a
  // multiple of four elements.
  VectorisedMatrices vectorised_matrices(const tenon_launch& launch) const override {
    const tenon_view &a = launch.inputs[0], &b = launch.inputs[1], &out = launch.outputs[0];
    const size_t last = out.rank - size_t{1};
    const size_t deep_a = gemm_.transpose_a ? last - 1 : last,
                 column_b = gemm_.transpose_b ? last - 1 : last;
    return {.left = can_vectorise(operand_of(launch, 0), a, deep_a),
            .right = can_vectorise(operand_of(launch, 1), b, column_b),
            .result = can_vectorise(operand_of(launch, launch.n_inputs), out, last)};
  }

  AlongK along_k(const tenon_launch& launch) const override {
    const tenon_view &a = launch.inputs[0], &b = launch.inputs[1];
    const size_t last = launch.outputs[0].rank - size_t{1};
    const bool is_by_rows_a = std::abs(a.strides[last]) <= std::abs(a.strides[last - 1]);
    const bool is_by_rows_b = std::abs(b.strides[last]) <= std::abs(b.strides[last - 1]);
    return {.left = is_by_rows_a != gemm_.transpose_a, .right = is_by_rows_b == gemm_.transpose_b};
  }

  ProductSizes sizes(const tenon_launch& launch) const override {
    const tenon_view &a = launch.inputs[0], &out = launch.outputs[0];
    const size_t batch = out.rank - size_t{2};
    return {.matrices = tenon_sdk::count(batch, out.sizes),
            .rows = out.sizes[batch],
            .columns = out.sizes[batch + 1],
            .deep = a.sizes[batch + (gemm_.transpose_a ? 0 : 1)]};
  }

  void push(const tenon_launch& launch, Words& words) const override {
    const tenon_view &a = launch.inputs[0], &b = launch.inputs[1], &out = launch.outputs[0];
    const size_t batch = out.rank - size_t{2};
    const size_t row_a = batch + (gemm_.transpose_a ? 1 : 0),
                 deep_a = batch + (gemm_.transpose_a ? 0 : 1);
    const size_t deep_b = batch + (gemm_.transpose_b ? 1 : 0),
                 column_b = batch + (gemm_.transpose_b ? 0 : 1);
    for (const int64_t word :
         {a.strides[row_a], a.strides[deep_a], b.strides[deep_b], b.strides[column_b]}) {
      tenon_vulkan::push(words, word);
    }
    for (const size_t axis : {batch, batch + 1})
      tenon_vulkan::push(words, stride_of_c(launch, axis));
    const int64_t* const strides[] = {a.strides, b.strides};
    Axes(batch, out.sizes, kAllAxes, strides).push(words);
  }

  // Stride of c along an axis of the result: c may have fewer axes, and its axes of size 1 are
  // broadcast.
  int64_t stride_of_c(const tenon_launch& launch, size_t axis) const {
    if (!gemm_.has_c) return 0;
    const tenon_view& c = launch.inputs[2];
    const size_t missing = launch.outputs[0].rank - size_t{c.rank};
    return axis < missing || c.sizes[axis - missing] == 1 ? 0 : c.strides[axis - missing];
  }

  const tenon_dtype dtype_;
  const Gemm gemm_;
};

// Prepares a product, which is computed as a gemm with the parameters `gemm`.
Prepared prepare(const Request& request, const Gemm& gemm, std::optional<LoopPlan> epilogue) {
  if (const tenon_string reason = refusal_of_product(request); reason.size > 0) {
    return {.reason = reason};
  }
  return {.kernel = std::make_unique<Matmul>(request, gemm, std::move(epilogue)),
          .traits = ProductKernel::kTraits};
}

}  // namespace

Prepared prepare_matmul(const Request& request, std::optional<LoopPlan> epilogue) {
  const auto attrs = request.attrs<tenon_matmul_attrs>();
  return prepare(request, {.transpose_a = attrs.transpose_a, .transpose_b = attrs.transpose_b},
                 std::move(epilogue));
}

Prepared prepare_gemm(const Request& request, std::optional<LoopPlan> epilogue) {
  const auto attrs = request.attrs<tenon_gemm_attrs>();
  return prepare(request,
                 {.transpose_a = attrs.trans_a,
                  .transpose_b = attrs.trans_b,
                  .alpha = attrs.alpha,
                  .beta = attrs.beta,
                  .has_c = request.n_inputs() > 2 && request.input(2).dtype != TENON_DTYPE_NONE},
                 std::move(epilogue));
}

Prepared prepare_matmul(const Request& request) { return prepare_matmul(request, std::nullopt); }
Prepared prepare_gemm(const Request& request) { return prepare_gemm(request, std::nullopt); }

}  // namespace tenon_vulkan
