// int8_matmul: an invocation sums one element in int32, which wraps. The zero points come as a
// column for the rows of a and a row for the columns of b, with the batch axes of the result.

#include <optional>

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Elements;
using spirv::U32;
using spirv::Var;

// Parameters: how many elements, rows, columns and depth, the strides of a's rows and depth, of b's
// depth and columns, and of the zero points along rows and columns; the axes of the matrices.
enum : uint32_t {
  kCount,
  kRows,
  kColumns,
  kDeep,
  kRowA,
  kDeepA,
  kDeepB,
  kColumnB,
  kZeroA,
  kZeroB,
  kAxes
};

}  // namespace

Prepared prepare_int8_matmul(const Request& request) {
  std::array<std::optional<Elements>, 4> in;
  uint32_t n_present = 0;
  const auto is_given = [&](size_t i) {
    return i < request.n_inputs() && request.input(i).dtype != TENON_DTYPE_NONE;
  };
  for (size_t i = 0; i < 4; ++i) n_present += is_given(i) ? 1 : 0;
  Code code(capabilities_of(request.device()),
            {.n_operands = n_present + 1, .local_size = kLocalSize});
  uint32_t operand = 0;
  for (size_t i = 0; i < 4; ++i) {
    if (is_given(i)) in[i].emplace(code, operand++, request.input(i).dtype);
  }
  const Elements y(code, operand, TENON_INT32);
  const U32 zero = code.u32(0);
  const U32 rows = code.parameter(kRows), columns = code.parameter(kColumns);
  const AxesCode axes(code, code.u32(kAxes), 4);
  code.for_each(code.parameter(kCount), [&](U32 i) {
    const U32 line = i / columns, column = i - line * columns;
    const U32 matrix = line / rows, row = line - matrix * rows;
    const std::vector<U32> places = axes.places(matrix);
    const U32 zero_a = in[2] ? in[2]->load(places[2] + row * code.parameter(kZeroA)).word() : zero;
    const U32 zero_b =
        in[3] ? in[3]->load(places[3] + column * code.parameter(kZeroB)).word() : zero;
    const U32 left = places[0] + row * code.parameter(kRowA),
              right = places[1] + column * code.parameter(kColumnB);
    const Var<U32> sum = code.var(zero);
    code.for_many(zero, code.parameter(kDeep), [&](U32 k) {
      const U32 a = in[0]->load(left + k * code.parameter(kDeepA)).word() - zero_a;
      const U32 b = in[1]->load(right + k * code.parameter(kDeepB)).word() - zero_b;
      sum.set(sum.get() + a * b);
    });
    y.store(i, {TENON_INT32, sum.get()});
  });
  const auto fill = [](const tenon_launch& launch, Words& words) {
    static constexpr int64_t kZeros[TENON_MAX_RANK] = {};
    const tenon_view &a = launch.inputs[0], &b = launch.inputs[1], &out = launch.outputs[0];
    const size_t row = out.rank - size_t{2}, column = row + 1;
    const auto strides_of = [&](uint32_t i) -> const int64_t* {
      const bool is_given = i < launch.n_inputs && launch.inputs[i].dtype != TENON_DTYPE_NONE &&
                            launch.inputs[i].strides_class != TENON_STRIDES_UNIFORM;
      return is_given ? launch.inputs[i].strides : kZeros;
    };
    const int64_t n = tenon_sdk::count(out);
    for (const int64_t word :
         {n, out.sizes[row], out.sizes[column], a.sizes[column], a.strides[row], a.strides[column],
          b.strides[row], b.strides[column], strides_of(2)[row], strides_of(3)[column]}) {
      push(words, word);
    }
    const int64_t* const strides[] = {a.strides, b.strides, strides_of(2), strides_of(3)};
    Axes(row, out.sizes, kAllAxes, strides).push(words);
    return rounds_for(static_cast<uint64_t>(n),
                      Code::iterations_of_many(static_cast<uint64_t>(a.sizes[column])));
  };
  return one_dispatch(request.device(), code, n_present + 1,
                      TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC, fill);
}

}  // namespace tenon_vulkan
