// conv_backward_input as matrix products: dx[n, c, x] is the sum of dy[n, o, p] * w[o, c, k] over
// the output channels and the taps that covered it, with
//
//   x * lhs_dilation = p * stride + k * dilation - pad
//
// Along a strided axis, only every nth tap satisfies this equation, and the remainder of x
// determines which taps. A phase is the set of elements with the same remainder along each axis.
// Each phase is a separate matrix product, whose k iterates over the taps of the phase only.

#include <numeric>

#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/product.h"
#include "plugins/vulkan/kernels/window.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Bool;
using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::U32;

// The phases of an axis: their number, the distance between the taps of a phase, and the first tap
// of each phase. If an axis would have more than kMaxPhases, it has a single phase with all taps,
// and the shader tests whether a tap covers an element.
struct PhaseAxis {
  static constexpr int64_t kMaxPhases = 8;
  static constexpr uint32_t kNoTap = 1u << 30;

  PhaseAxis(int64_t step, int64_t dilation, int64_t pad, int64_t lhs_dilation) {
    const int64_t remainders = step / std::gcd(lhs_dilation, step);
    if (remainders > kMaxPhases) return;
    n_phases = remainders;
    tap_step = step / std::gcd(dilation, step);
    for (int64_t phase = 0; phase < n_phases; ++phase) {
      uint32_t& first = first_taps[static_cast<size_t>(phase)];
      first = kNoTap;
      for (int64_t tap = tap_step; tap-- > 0;) {
        const bool lies_on_it = (phase * lhs_dilation + pad - tap * dilation) % step == 0;
        if (lies_on_it) first = static_cast<uint32_t>(tap);
      }
    }
  }

  int64_t n_places(int64_t size) const { return (size + n_phases - 1) / n_phases; }
  int64_t n_taps(int64_t size) const { return (size + tap_step - 1) / tap_step; }

  int64_t n_phases = 1, tap_step = 1;
  std::array<uint32_t, kMaxPhases> first_taps = {};
};

// Shader side of PhaseAxis: loads the phases of an axis and the parameters of the forward window
// from parameter `at` on. If the axis is not strided, there is one phase and the shader is simpler.
class PhaseAxisCode {
 public:
  static constexpr uint32_t kWords = 4 + 4 * Division::kWords + PhaseAxis::kMaxPhases;

  static void push(spirv::Words& words, const PhaseAxis& axis, const Window& window, size_t i,
                   int64_t size, int64_t n_taps) {
    for (const int64_t word :
         {window.lhs_dilations[i], window.pads[i], window.dilations[i], axis.tap_step}) {
      tenon_vulkan::push(words, word);
    }
    for (const int64_t number :
         {window.steps[i], axis.n_phases, axis.n_places(size), axis.n_taps(n_taps)}) {
      Division::push(words, number);
    }
    words.insert(words.end(), axis.first_taps.begin(), axis.first_taps.end());
  }

  PhaseAxisCode(Code& code, uint32_t at, bool is_strided)
      : by_places(division(code, at, 2)),
        by_taps(division(code, at, 3)),
        is_strided_(is_strided),
        by_phases_(division(code, at, 1)),
        lhs_dilation_(code.parameter(at)),
        pad_(code.parameter(at + 1)),
        dilation_(code.parameter(at + 2)),
        tap_step_(code.parameter(at + 3)),
        by_strides_(division(code, at, 0)),
        first_taps_(at + 4 + 4 * Division::kWords) {}

  // Splits the index of a matrix, which combines the phases of all axes. Returns the index without
  // this axis, and the phase along this axis.
  std::pair<U32, U32> phase(U32 matrix) const {
    if (!is_strided_) return {matrix, matrix.code->u32(0)};
    return by_phases_.divide_by_any_divisor(matrix);
  }
  // tap() returns the tap with index `number` in a phase, and place() returns the position. Both
  // also return whether the tap or position is less than `n`.
  std::pair<U32, Bool> tap(U32 phase, U32 number, U32 n) const {
    if (!is_strided_) return {number, number.code->boolean(true)};
    const U32 tap = phase.code->parameter(phase + first_taps_) + number * tap_step_;
    return {tap, tap < n};
  }
  std::pair<U32, Bool> place(U32 phase, U32 number, U32 n) const {
    if (!is_strided_) return {number, number.code->boolean(true)};
    const U32 place = number * by_phases_.number + phase;
    return {place, place < n};
  }
  // Returns the index of the window whose tap covers the position, and whether such a window exists
  // among the `n_windows` windows.
  std::pair<U32, Bool> window(U32 place, U32 tap, U32 n_windows) const {
    const U32 at = place * lhs_dilation_ + pad_ - tap * dilation_;
    if (!is_strided_) return {at, (!signed_less(at, 0)) & (at < n_windows)};
    const auto [window, between] = by_strides_.divide_by_any_divisor(at);
    return {window, (!signed_less(at, 0)) & (between == 0) & (window < n_windows)};
  }

  const Division by_places, by_taps;

 private:
  static Division division(Code& code, uint32_t at, uint32_t i) {
    return Division::load(code, code.u32(at + 4 + i * Division::kWords));
  }
  const bool is_strided_;
  const Division by_phases_;
  const U32 lhs_dilation_, pad_, dilation_, tap_step_;
  const Division by_strides_;
  const uint32_t first_taps_;
};

// conv_backward_input as a matrix product. Rows are a group's channels of dx, columns are the
// positions of a phase in all images, and k iterates over the group's channels of dy and the taps
// of the phase.
class ConvBackwardInput final : public ProductKernel {
 public:
  ConvBackwardInput(const Request& request, const tenon_conv_backward_input_attrs& attrs)
      : ProductKernel(request.device(), {.left = 1, .right = 0, .n_inputs = 2},
                      request.output(0).dtype),
        n_groups_(attrs.group),
        window_(attrs, request.input(0).rank),
        dtype_(request.output(0).dtype),
        wide_(product_dtype(dtype_)) {
    for (size_t i = 0; i < kSpatial; ++i) {
      axes_.emplace_back(window_.steps[i], window_.dilations[i], window_.pads[i],
                         window_.lhs_dilations[i]);
    }
  }

 private:
  enum : uint32_t {
    kDy = kOwn,
    kW = kDy + PlanesCode::kWords,
    kDx = kW + PlanesCode::kWords,
    kOutChannels = kDx + PlanesCode::kWords,  // Output channels of a convolution group.
    kPhases
  };

  // Spatial coordinates of a row-major index, the remaining quotient, and whether the position
  // exists.
  struct Spread {
    U32 above;
    Place place;
    Bool is_there;
  };

  FactorsOf factors(Code& code) const override {
    const Elements dy(code, 0, dtype_), w(code, 1, dtype_), dx(code, 2, dtype_);
    const PlanesCode dy_planes(code, kDy), w_planes(code, kW), dx_planes(code, kDx);
    std::vector<PhaseAxisCode> axes;
    for (uint32_t i = 0; i < kSpatial; ++i) {
      axes.emplace_back(code, kPhases + i * PhaseAxisCode::kWords, window_.steps[i] > 1);
    }
    const U32 rows = code.parameter(kRows), out_channels = code.parameter(kOutChannels);
    return [=, this, &code](U32 matrix) -> Factors {
      U32 group = matrix;
      Place phase;
      for (size_t i = kSpatial; i-- > 0;) {
        std::tie(group, phase[i]) = axes[i].phase(group);
      }
      const U32 first_out = group * out_channels, first_in = group * rows;
      const auto spread = [=, &code](U32 number, auto by, auto find, const Place& sizes) {
        Spread found = {number, {}, code.boolean(true)};
        for (size_t i = kSpatial; i-- > 0;) {
          U32 of_phase;
          std::tie(found.above, of_phase) = (axes[i].*by).divide_by_any_divisor(found.above);
          const auto [place, is_there] = (axes[i].*find)(phase[i], of_phase, sizes[i]);
          found.place[i] = place;
          found.is_there = found.is_there & is_there;
        }
        return found;
      };
      const auto tap_of = [=](U32 k) {
        return spread(k, &PhaseAxisCode::by_taps, &PhaseAxisCode::tap, w_planes.sizes);
      };
      const auto column_of = [=](U32 number) {
        return spread(number, &PhaseAxisCode::by_places, &PhaseAxisCode::place, dx_planes.sizes);
      };
      const auto loaded = [=, this, &code](const Elements& from, U32 place, Bool is_there) {
        const Element x = cast(from.load(select(is_there, place, code.u32(0))), wide_);
        return select(is_there, x, spirv::constant(code, wide_, 0));
      };
      return {
          .left =
              [=](U32 row, U32 k) {
                const Spread tap = tap_of(k);
                return loaded(w, w_planes.element_offset(first_out + tap.above, row, tap.place),
                              tap.is_there);
              },
          .right =
              [=](U32 k, U32 number) {
                const Spread tap = tap_of(k);
                const Spread column = column_of(number);
                Bool is_there = tap.is_there & column.is_there;
                Place window;
                for (size_t i = 0; i < kSpatial; ++i) {
                  const auto [at, has_window] =
                      axes[i].window(column.place[i], tap.place[i], dy_planes.sizes[i]);
                  window[i] = at;
                  is_there = is_there & has_window;
                }
                return loaded(dy,
                              dy_planes.element_offset(column.above, first_out + tap.above, window),
                              is_there);
              },
          .store =
              [=, this, &code](U32 row, U32 number, const Element& sum) {
                const Spread column = column_of(number);
                code.if_(column.is_there, [&] {
                  dx.store(dx_planes.element_offset(column.above, first_in + row, column.place),
                           cast(sum, dtype_));
                });
              },
          .left_four = nullptr,
          .right_four = nullptr,
          .store_four =
              [=, this](U32 row, U32 number, std::span<const Element> sums) {
                const Spread column = column_of(number);
                std::vector<Element> narrow;
                for (const Element& sum : sums) narrow.push_back(cast(sum, dtype_));
                dx.store_four(dx_planes.element_offset(column.above, first_in + row, column.place),
                              narrow);
              }};
    };
  }

  ProductSizes sizes(const tenon_launch& launch) const override {
    const PlaneLayout w(launch.inputs[1]), dx(launch.outputs[0]);
    ProductSizes sizes = {.matrices = n_groups_,
                          .rows = dx.channels / n_groups_,
                          .columns = dx.batch,
                          .deep = w.batch / n_groups_};
    for (size_t i = 0; i < kSpatial; ++i) {
      sizes.matrices *= axes_[i].n_phases;
      sizes.columns *= axes_[i].n_places(dx.sizes[i]);
      sizes.deep *= axes_[i].n_taps(w.sizes[i]);
    }
    return sizes;
  }

  tenon_error* check(const tenon_launch& launch) const override {
    const PlaneLayout w(launch.inputs[1]), dx(launch.outputs[0]);
    for (size_t i = 0; i < kSpatial; ++i) {
      const int64_t last = (dx.sizes[i] - 1) * window_.lhs_dilations[i] + window_.pads[i];
      const int64_t first = window_.pads[i] - (w.sizes[i] - 1) * window_.dilations[i];
      if (!Window::fits_signed_word(first) || !Window::fits_signed_word(last))
        return Window::error(device());
    }
    return nullptr;
  }

  void push(const tenon_launch& launch, Words& words) const override {
    const PlaneLayout w(launch.inputs[1]), dx(launch.outputs[0]);
    PlaneLayout(launch.inputs[0]).push(words);
    w.push(words);
    dx.push(words);
    tenon_vulkan::push(words, w.batch / n_groups_);
    for (size_t i = 0; i < kSpatial; ++i) {
      PhaseAxisCode::push(words, axes_[i], window_, i, dx.sizes[i], w.sizes[i]);
    }
  }

  AlongK along_k(const tenon_launch&) const override { return {.left = true}; }

  // Vectorises the result if there is a single phase and every four neighbouring columns are
  // neighbouring positions of one plane.
  VectorisedMatrices vectorised_matrices(const tenon_launch& launch) const override {
    const bool has_one = std::all_of(axes_.begin(), axes_.end(),
                                     [](const PhaseAxis& axis) { return axis.n_phases == 1; });
    const bool is_vectorised = PlaneLayout(launch.outputs[0]).n_positions() % 4 == 0;
    return {.result =
                has_one && is_vectorised && is_aligned_to_four(operand_of(launch, 2), dtype_)};
  }

  const int64_t n_groups_;
  const Window window_;
  const tenon_dtype dtype_, wide_;
  std::vector<PhaseAxis> axes_;
};

}  // namespace

Prepared prepare_conv_backward_input(const Request& request) {
  if (const tenon_string reason = refusal_of_product(request); reason.size > 0) {
    return {.reason = reason};
  }
  const auto attrs = request.attrs<tenon_conv_backward_input_attrs>({.group = 1});
  return {.kernel = std::make_unique<ConvBackwardInput>(request, attrs),
          .traits = ProductKernel::kTraits};
}

}  // namespace tenon_vulkan
