// matmul, tiled: a group computes kTile x kTile elements of the result, each invocation kEach x
// kEach of them in registers, from panels of both operands in shared memory. Each element is the
// sum of its products in the order of k, whatever the tiles and the layouts, so that strict holds.

#include <optional>

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::ElementVar;
using spirv::Shared;
using spirv::U32;

constexpr uint32_t kEach = 4;
constexpr uint32_t kSide = 8;  // Of a group, in invocations.
constexpr uint32_t kTile = kSide * kEach;
constexpr uint32_t kDepth = 8;  // Of a panel.
static_assert(kSide * kSide == kLocalSize);

// Parameters: how many matrices, their rows, columns and depth, and the strides of a's rows and
// depth and of b's depth and columns; the axes of the matrices.
enum : uint32_t { kMatrices, kRows, kColumns, kDeep, kRowA, kDeepA, kDeepB, kColumnB, kAxes };

// A panel in shared memory, as the bits of what is computed with.
class Panel {
 public:
  Panel(Code& code, tenon_dtype dtype) : dtype_(dtype), low_(code.shared<U32>(kTile * kDepth)) {
    if (tenon_sdk::size_of(dtype) == 8) high_ = code.shared<U32>(kTile * kDepth);
  }
  void set(U32 at, const Element& x) const {
    const spirv::Bits bits = spirv::bits_of(x);
    low_.set(at, bits.low);
    if (high_) high_->set(at, bits.high);
  }
  Element get(U32 at) const {
    const U32 low = low_.get(at);
    return spirv::element_of(dtype_, {low, high_ ? high_->get(at) : low});
  }

 private:
  const tenon_dtype dtype_;
  const Shared<U32> low_;
  std::optional<Shared<U32>> high_;
};

tenon_dtype computed_in(tenon_dtype dtype) {
  switch (spirv::kind_of(dtype)) {
    case spirv::Kind::kF32:
      return TENON_FLOAT32;
    case spirv::Kind::kWord:
      return spirv::is_signed_int(dtype) ? TENON_INT32 : TENON_UINT32;
    default:
      return dtype;
  }
}

// The invocations bring a panel of kTile x kDepth: element (line, k) lies at k * kTile + line. What
// is beyond the matrix is zero.
struct Source {
  const Elements& from;
  U32 place, first_line, n_lines, line_stride, deep, deep_stride;
};

void bring(Code& code, const Panel& panel, const Source& source, U32 first_deep) {
  for (uint32_t part = 0; part < kTile * kDepth / kLocalSize; ++part) {
    const U32 at = code.local_index() + part * kLocalSize;
    const U32 line = source.first_line + at % kTile, k = first_deep + at / kTile;
    const tenon_dtype dtype = computed_in(source.from.dtype());
    const ElementVar x(spirv::constant(code, dtype, 0));
    code.if_((line < source.n_lines) & (k < source.deep), [&] {
      const U32 place = source.place + line * source.line_stride + k * source.deep_stride;
      x.set(spirv::cast(source.from.load(place), dtype));
    });
    panel.set(at, x.get());
  }
}

void write_matmul(Code& code, tenon_dtype dtype) {
  const tenon_dtype wide = computed_in(dtype);
  const Elements a(code, 0, dtype), b(code, 1, dtype), y(code, 2, dtype);
  const Panel panel_a(code, wide), panel_b(code, wide);
  const U32 rows = code.parameter(kRows), columns = code.parameter(kColumns),
            deep = code.parameter(kDeep);
  const AxesCode axes(code, code.u32(kAxes), 2);
  const U32 across = (columns + (kTile - 1)) / kTile, down = (rows + (kTile - 1)) / kTile;
  const U32 n_tiles = across * down * code.parameter(kMatrices);
  const U32 own_row = (code.local_index() / kSide) * kEach,
            own_column = (code.local_index() % kSide) * kEach;

  code.for_(code.group_index(), n_tiles, code.n_groups(), [&](U32 tile) {
    const U32 matrix = tile / (across * down), within = tile - matrix * across * down;
    const U32 first_row = within / across * kTile, first_column = within % across * kTile;
    const std::vector<U32> places = axes.places(matrix);
    const Source from_a = {
        a, places[0], first_row, rows, code.parameter(kRowA), deep, code.parameter(kDeepA)};
    const Source from_b = {b,
                           places[1],
                           first_column,
                           columns,
                           code.parameter(kColumnB),
                           deep,
                           code.parameter(kDeepB)};
    std::vector<ElementVar> sums;
    for (uint32_t i = 0; i < kEach * kEach; ++i) sums.emplace_back(spirv::constant(code, wide, 0));
    code.for_(code.u32(0), deep, code.u32(kDepth), [&](U32 first_deep) {
      bring(code, panel_a, from_a, first_deep);
      bring(code, panel_b, from_b, first_deep);
      code.barrier();
      // Behind the last k there are zeros, whose products would make NaN of infinities.
      code.for_many(code.u32(0), min(code.u32(kDepth), deep - first_deep), [&](U32 k) {
        std::vector<Element> left, right;
        for (uint32_t i = 0; i < kEach; ++i) {
          left.push_back(panel_a.get(k * kTile + own_row + i));
          right.push_back(panel_b.get(k * kTile + own_column + i));
        }
        for (uint32_t i = 0; i < kEach * kEach; ++i) {
          const Element product = arithmetic(TENON_OP_mul, left[i / kEach], right[i % kEach]);
          sums[i].set(arithmetic(TENON_OP_add, sums[i].get(), product));
        }
      });
      code.barrier();
    });
    for (uint32_t i = 0; i < kEach * kEach; ++i) {
      const U32 row = first_row + own_row + i / kEach,
                column = first_column + own_column + i % kEach;
      code.if_((row < rows) & (column < columns), [&] {
        y.store((matrix * rows + row) * columns + column, spirv::cast(sums[i].get(), dtype));
      });
    }
  });
}

}  // namespace

Prepared prepare_matmul(const Request& request) {
  const tenon_dtype dtype = request.output(0).dtype;
  const Capabilities& capabilities = capabilities_of(request.device());
  if (dtype == TENON_FLOAT64 && !capabilities.float64) return tenon_sdk::refuse("has no float64");
  Code code(capabilities, {.n_operands = 3, .local_size = kLocalSize});
  write_matmul(code, dtype);
  const auto attrs = request.attrs<tenon_matmul_attrs>();
  const bool transpose_a = attrs.transpose_a, transpose_b = attrs.transpose_b;
  const auto fill = [transpose_a, transpose_b](const tenon_launch& launch, Words& words) {
    const tenon_view &a = launch.inputs[0], &b = launch.inputs[1], &out = launch.outputs[0];
    const size_t batch = out.rank - size_t{2};
    const size_t row_a = batch + (transpose_a ? 1 : 0), deep_a = batch + (transpose_a ? 0 : 1);
    const size_t deep_b = batch + (transpose_b ? 1 : 0), column_b = batch + (transpose_b ? 0 : 1);
    const int64_t n_matrices = tenon_sdk::count(batch, out.sizes);
    const int64_t rows = out.sizes[batch], columns = out.sizes[batch + 1];
    for (const int64_t word : {n_matrices, rows, columns, a.sizes[deep_a], a.strides[row_a],
                               a.strides[deep_a], b.strides[deep_b], b.strides[column_b]}) {
      push(words, word);
    }
    const int64_t* const strides[] = {a.strides, b.strides};
    Axes(batch, out.sizes, kAllAxes, strides).push(words);
    const int64_t n_tiles =
        n_matrices * ((rows + kTile - 1) / kTile) * ((columns + kTile - 1) / kTile);
    return groups_for(static_cast<uint64_t>(n_tiles) * kLocalSize);
  };
  return one_dispatch(request.device(), code, 3,
                      TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC, fill);
}

}  // namespace tenon_vulkan
