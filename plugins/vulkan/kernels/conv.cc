// conv and its derivative with respect to the filter, as implicit GEMM. The matrix of patches is
// not materialised: its elements are loaded from the input, and are zero in the padding.

#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/product.h"
#include "plugins/vulkan/kernels/window.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::U32;

// Base class of both kernels. Pushes the layouts of the two inputs, of the result and of the
// window. Each convolution group is one matrix product.
class ConvKernel : public ProductKernel {
 public:
  template <class Attrs>
  ConvKernel(const Request& request, const Attrs& attrs, const Operands& operands,
             std::optional<LoopPlan> epilogue = {})
      : ProductKernel(request.device(), operands, request.output(0).dtype, std::move(epilogue)),
        window_(attrs, request.input(0).rank),
        n_groups_(attrs.group),
        dtype_(request.output(0).dtype),
        wide_(product_dtype(dtype_)) {}

 protected:
  enum : uint32_t {
    kFirst = kOwn,
    kSecond = kFirst + PlanesCode::kWords,
    kResult = kSecond + PlanesCode::kWords,
    kWindow = kResult + PlanesCode::kWords,
    kMore = kWindow + WindowCode::kWords
  };

  // True if the result is the gradient of the filter and the second input is the gradient of the
  // output.
  virtual bool computes_filter() const { return false; }

  tenon_error* check(const tenon_launch& launch) const override {
    const PlaneLayout second(launch.inputs[1]), result(launch.outputs[0]);
    const bool positions_fit_signed_words =
        computes_filter() ? window_.positions_fit_signed_words(second.sizes, result.sizes)
                          : window_.positions_fit_signed_words(result.sizes, second.sizes);
    return positions_fit_signed_words ? nullptr : Window::error(device());
  }

  void push(const tenon_launch& launch, Words& words) const override {
    PlaneLayout(launch.inputs[0]).push(words);
    PlaneLayout(launch.inputs[1]).push(words);
    PlaneLayout(launch.outputs[0]).push(words);
    window_.push(words);
  }

  // Returns the input element under a tap, or zero in the padding.
  Element input_under_tap(const Elements& x, const PlanesCode& planes, const WindowCode& window,
                          U32 n, U32 channel, const Place& p, const Place& tap) const {
    Code& code = *n.code;
    const WindowCode::Found found = window.find(p, tap, planes.sizes);
    const U32 place =
        select(found.is_there, planes.element_offset(n, channel, found.place), code.u32(0));
    return select(found.is_there, cast(x.load(place), wide_), spirv::constant(code, wide_, 0));
  }

  std::vector<Element> narrow(std::span<const Element> sums) const {
    std::vector<Element> narrowed;
    for (const Element& sum : sums) narrowed.push_back(cast(sum, dtype_));
    return narrowed;
  }

  const Window window_;
  const int64_t n_groups_;
  const tenon_dtype dtype_, wide_;
};

// conv as a matrix product. Rows are the group's output channels, columns are the output positions
// in all images, and k iterates over the group's input channels and the taps.
class Conv final : public ConvKernel {
 public:
  Conv(const Request& request, bool has_bias, std::optional<LoopPlan> epilogue)
      : ConvKernel(request, request.attrs<tenon_conv_attrs>({.group = 1}),
                   {.left = 1, .right = 0, .n_inputs = has_bias ? 3u : 2u}, std::move(epilogue)),
        has_bias_(has_bias) {}

 private:
  FactorsOf factors(Code& code) const override {
    const Elements x(code, 0, dtype_), w(code, 1, dtype_);
    const ResultCode y = result_code(code, code.u32(kMore + 1));
    const PlanesCode x_planes(code, kFirst), w_planes(code, kSecond), y_planes(code, kResult);
    const WindowCode window(code, kWindow);
    const U32 rows = code.parameter(kRows), bias_stride = code.parameter(kMore);
    return [=, this, &code](U32 group) -> Factors {
      const U32 first_out = group * rows, first_in = group * w_planes.channels;
      const auto with_bias = [=, this, &code](U32 channel, const Element& sum) {
        if (!has_bias_) return sum;
        const Element bias = Elements(code, 2, dtype_).load(channel * bias_stride);
        return arithmetic(TENON_OP_add, sum, cast(bias, wide_));
      };
      const auto at_y = [=](U32 channel, U32 column) {
        const PlanesCode::Split at = y_planes.split(column);
        return y_planes.element_offset(at.plane, channel, at.p);
      };
      return {.left =
                  [=, this](U32 row, U32 k) {
                    const PlanesCode::Split tap = w_planes.split(k);
                    return cast(w.load(w_planes.element_offset(first_out + row, tap.plane, tap.p)),
                                wide_);
                  },
              .right =
                  [=, this](U32 k, U32 column) {
                    const PlanesCode::Split tap = w_planes.split(k), at = y_planes.split(column);
                    return input_under_tap(x, x_planes, window, at.plane, first_in + tap.plane,
                                           at.p, tap.p);
                  },
              .store =
                  [=, this](U32 row, U32 column, const Element& sum) {
                    const U32 channel = first_out + row;
                    y.store(at_y(channel, column), cast(with_bias(channel, sum), dtype_));
                  },
              .left_four = nullptr,
              .right_four = nullptr,
              .store_four =
                  [=, this](U32 row, U32 column, std::span<const Element> sums) {
                    const U32 channel = first_out + row;
                    std::vector<Element> all;
                    for (const Element& sum : sums) all.push_back(with_bias(channel, sum));
                    y.store_four(at_y(channel, column), narrow(all));
                  }};
    };
  }

  AlongK along_k(const tenon_launch&) const override { return {.left = true}; }

  ProductSizes sizes(const tenon_launch& launch) const override {
    const PlaneLayout w(launch.inputs[1]), y(launch.outputs[0]);
    return {.matrices = n_groups_,
            .rows = y.channels / n_groups_,
            .columns = y.batch * y.n_positions(),
            .deep = w.channels * w.n_positions()};
  }

  void push(const tenon_launch& launch, Words& words) const override {
    ConvKernel::push(launch, words);
    tenon_vulkan::push(words, has_bias_ ? launch.inputs[2].strides[0] : 0);
  }

  // Vectorises the result if every four neighbouring columns are neighbouring positions of one
  // plane.
  VectorisedMatrices vectorised_matrices(const tenon_launch& launch) const override {
    const Operand y = operand_of(launch, launch.n_inputs);
    return {.result = is_aligned_to_four(y, dtype_) &&
                      PlaneLayout(launch.outputs[0]).n_positions() % 4 == 0};
  }

  const bool has_bias_;
};

// dw[out, c, tap] is the sum, over all output positions of all images, of dy times the element of x
// under the tap. Rows of the product are the group's channels of dy, columns the channels and taps
// of the filter. k iterates over the output positions.
class ConvBackwardFilter final : public ConvKernel {
 public:
  explicit ConvBackwardFilter(const Request& request)
      : ConvKernel(request, request.attrs<tenon_conv_backward_filter_attrs>({.group = 1}),
                   {.left = 1, .right = 0, .n_inputs = 2}) {}

 private:
  bool computes_filter() const override { return true; }

  FactorsOf factors(Code& code) const override {
    const Elements x(code, 0, dtype_), dy(code, 1, dtype_);
    const ResultCode dw = result_code(code, code.u32(kMore));
    const PlanesCode x_planes(code, kFirst), dy_planes(code, kSecond), dw_planes(code, kResult);
    const WindowCode window(code, kWindow);
    const U32 rows = code.parameter(kRows), columns = code.parameter(kColumns);
    return [=, this](U32 group) -> Factors {
      const U32 first_out = group * rows, first_in = group * dw_planes.channels;
      return {.left =
                  [=, this](U32 row, U32 k) {
                    const PlanesCode::Split at = dy_planes.split(k);
                    return cast(dy.load(dy_planes.element_offset(at.plane, first_out + row, at.p)),
                                wide_);
                  },
              .right =
                  [=, this](U32 k, U32 column) {
                    const PlanesCode::Split at = dy_planes.split(k), tap = dw_planes.split(column);
                    return input_under_tap(x, x_planes, window, at.plane, first_in + tap.plane,
                                           at.p, tap.p);
                  },
              .store =
                  [=, this](U32 row, U32 column, const Element& sum) {
                    dw.store((first_out + row) * columns + column, cast(sum, dtype_));
                  },
              .left_four = nullptr,
              .right_four = nullptr,
              .store_four =
                  [=, this](U32 row, U32 column, std::span<const Element> sums) {
                    dw.store_four((first_out + row) * columns + column, narrow(sums));
                  }};
    };
  }

  AlongK along_k(const tenon_launch&) const override { return {.left = true, .right = true}; }

  ProductSizes sizes(const tenon_launch& launch) const override {
    const PlaneLayout dy(launch.inputs[1]), dw(launch.outputs[0]);
    return {.matrices = n_groups_,
            .rows = dw.batch / n_groups_,
            .columns = dw.channels * dw.n_positions(),
            .deep = dy.batch * dy.n_positions()};
  }

  VectorisedMatrices vectorised_matrices(const tenon_launch& launch) const override {
    return {.result = is_aligned_to_four(operand_of(launch, 2), dtype_) &&
                      sizes(launch).columns % 4 == 0};
  }
};

}  // namespace

Prepared prepare_conv(const Request& request, std::optional<LoopPlan> epilogue) {
  if (const tenon_string reason = refusal_of_product(request); reason.size > 0) {
    return {.reason = reason};
  }
  const bool has_bias = request.n_inputs() > 2 && request.input(2).dtype != TENON_DTYPE_NONE;
  return {.kernel = std::make_unique<Conv>(request, has_bias, std::move(epilogue)),
          .traits = ProductKernel::kTraits};
}

Prepared prepare_conv(const Request& request) { return prepare_conv(request, std::nullopt); }

Prepared prepare_conv_backward_filter(const Request& request) {
  if (const tenon_string reason = refusal_of_product(request); reason.size > 0) {
    return {.reason = reason};
  }
  return {.kernel = std::make_unique<ConvBackwardFilter>(request),
          .traits = ProductKernel::kTraits};
}

}  // namespace tenon_vulkan
