// matmul: both matrices are read where they lie, by strides.

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

class Matmul final : public ProductKernel {
 public:
  explicit Matmul(const Request& request)
      : ProductKernel(request.device(), {.left = 0, .right = 1, .result = 2, .n = 3},
                      request.output(0).dtype),
        dtype_(request.output(0).dtype) {
    const auto attrs = request.attrs<tenon_matmul_attrs>();
    transpose_a_ = attrs.transpose_a != 0;
    transpose_b_ = attrs.transpose_b != 0;
  }

 private:
  // The strides of a's rows and depth and of b's depth and columns; the axes of the matrices.
  enum : uint32_t { kRowA = kOwn, kDeepA, kDeepB, kColumnB, kAxes };

  FactorsOf factors(Code& code) const override {
    const Elements a(code, 0, dtype_), b(code, 1, dtype_), y(code, 2, dtype_);
    const AxesCode axes(code, code.u32(kAxes), 2);
    const U32 row_a = code.parameter(kRowA), deep_a = code.parameter(kDeepA),
              deep_b = code.parameter(kDeepB), column_b = code.parameter(kColumnB),
              rows = code.parameter(kRows), columns = code.parameter(kColumns);
    return [=, dtype = dtype_, wide = product_dtype(dtype_)](U32 matrix) -> Factors {
      const std::vector<U32> places = axes.places(matrix);
      const U32 first = matrix * rows;
      const auto at_a = [=](U32 row, U32 k) { return places[0] + row * row_a + k * deep_a; };
      const auto at_b = [=](U32 k, U32 column) {
        return places[1] + k * deep_b + column * column_b;
      };
      const auto at_y = [=](U32 row, U32 column) { return (first + row) * columns + column; };
      return {
          .left = [=](U32 row, U32 k) { return cast(a.load(at_a(row, k)), wide); },
          .right = [=](U32 k, U32 column) { return cast(b.load(at_b(k, column)), wide); },
          .store = [=](U32 row, U32 column,
                       const Element& sum) { y.store(at_y(row, column), cast(sum, dtype)); },
          .left_four = [=](U32 row, U32 k) { return cast_all(a.load_four(at_a(row, k)), wide); },
          .right_four = [=](U32 k,
                            U32 column) { return cast_all(b.load_four(at_b(k, column)), wide); },
          .store_four =
              [=](U32 row, U32 column, std::span<const Element> sums) {
                y.store_four(at_y(row, column), cast_all({sums.begin(), sums.end()}, dtype));
              }};
    };
  }

  // As vectors if neighbours lie side by side, and so the first of each four at a multiple of it.
  Fours fours(const tenon_launch& launch) const override {
    const tenon_view &a = launch.inputs[0], &b = launch.inputs[1], &out = launch.outputs[0];
    const size_t last = out.rank - size_t{1};
    const size_t deep_a = transpose_a_ ? last - 1 : last, column_b = transpose_b_ ? last - 1 : last;
    return {.left = goes_by_four(operand_of(launch, 0), a, deep_a),
            .right = goes_by_four(operand_of(launch, 1), b, column_b),
            .result = goes_by_four(operand_of(launch, 2), out, last)};
  }

  ProductSizes sizes(const tenon_launch& launch) const override {
    const tenon_view &a = launch.inputs[0], &out = launch.outputs[0];
    const size_t batch = out.rank - size_t{2};
    return {.matrices = tenon_sdk::count(batch, out.sizes),
            .rows = out.sizes[batch],
            .columns = out.sizes[batch + 1],
            .deep = a.sizes[batch + (transpose_a_ ? 0 : 1)]};
  }

  void push(const tenon_launch& launch, Words& words) const override {
    const tenon_view &a = launch.inputs[0], &b = launch.inputs[1], &out = launch.outputs[0];
    const size_t batch = out.rank - size_t{2};
    const size_t row_a = batch + (transpose_a_ ? 1 : 0), deep_a = batch + (transpose_a_ ? 0 : 1);
    const size_t deep_b = batch + (transpose_b_ ? 1 : 0), column_b = batch + (transpose_b_ ? 0 : 1);
    for (const int64_t word :
         {a.strides[row_a], a.strides[deep_a], b.strides[deep_b], b.strides[column_b]}) {
      tenon_vulkan::push(words, word);
    }
    const int64_t* const strides[] = {a.strides, b.strides};
    Axes(batch, out.sizes, kAllAxes, strides).push(words);
  }

  const tenon_dtype dtype_;
  bool transpose_a_, transpose_b_;
};

}  // namespace

Prepared prepare_matmul(const Request& request) {
  const Capabilities& capabilities = capabilities_of(request.device());
  if (request.output(0).dtype == TENON_FLOAT64 && !capabilities.float64) {
    return tenon_sdk::refuse("has no float64");
  }
  return {.kernel = std::make_unique<Matmul>(request), .traits = ProductKernel::kTraits};
}

}  // namespace tenon_vulkan
