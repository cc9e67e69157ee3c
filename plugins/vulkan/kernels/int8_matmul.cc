// int8_matmul: an invocation computes one element as an int32 sum, which wraps. `a` has one zero
// point per row, and `b` has one per column. Both zero point operands also have the batch axes of
// the result.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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

// Parameters: number of elements of the dispatch, index of the first one, rows, columns and depth.
// Then the strides of `a` along rows and depth, of `b` along depth and columns, and of the zero
// points along rows and columns. Last, the batch axes.
enum : uint32_t {
  kCount,
  kFirst,
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

class Int8Matmul final : public Kernel {
 public:
  Int8Matmul(tenon_device_p* device, PipelineRef pipeline)
      : device_(device), pipeline_(std::move(pipeline)) {}

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    if (tenon_error* error = check_axes(device_, launch)) return error;
    const std::vector<Operand> operands = operands_of(launch);
    Words words = words_of(launch);
    const auto n = static_cast<uint64_t>(tenon_sdk::count(launch.outputs[0]));
    const tenon_view& a = launch.inputs[0];
    const auto deep = static_cast<uint64_t>(a.sizes[a.rank - size_t{1}]);
    const uint64_t most =
        capabilities_of(device_).max_products_per_submission / std::max<uint64_t>(deep, 1);
    const uint64_t at_once = std::clamp<uint64_t>(most, 1, std::max<uint64_t>(n, 1));
    for (uint64_t first = 0; first < n; first += at_once) {
      const uint64_t count = std::min(at_once, n - first);
      words[kCount] = static_cast<uint32_t>(count);
      words[kFirst] = static_cast<uint32_t>(first);
      const Rounds rounds = rounds_for(count, Code::iterations_of_many(deep));
      if (tenon_error* error = check_iterations(device_, rounds.iterations)) return error;
      if (tenon_error* error =
              encoder.dispatch({.pipeline = pipeline_.get(),
                                .operands = operands,
                                .words = words,
                                .groups = rounds.groups,
                                .products = count * deep,
                                .iterations = std::max(rounds.iterations, kFewIterations),
                                .n = rounds.n})) {
        return error;
      }
    }
    return nullptr;
  }

 private:
  static Words words_of(const tenon_launch& launch) {
    static constexpr int64_t kZeros[TENON_MAX_RANK] = {};
    const tenon_view &a = launch.inputs[0], &b = launch.inputs[1], &out = launch.outputs[0];
    const size_t row = out.rank - size_t{2}, column = row + 1;
    const auto strides_of = [&](uint32_t i) -> const int64_t* {
      const bool is_given = i < launch.n_inputs && launch.inputs[i].dtype != TENON_DTYPE_NONE &&
                            launch.inputs[i].strides_class != TENON_STRIDES_UNIFORM;
      return is_given ? launch.inputs[i].strides : kZeros;
    };
    Words words(kRows);  // enqueue() inserts the parameters of each dispatch before these.
    for (const int64_t word :
         {out.sizes[row], out.sizes[column], a.sizes[column], a.strides[row], a.strides[column],
          b.strides[row], b.strides[column], strides_of(2)[row], strides_of(3)[column]}) {
      push(words, word);
    }
    const int64_t* const strides[] = {a.strides, b.strides, strides_of(2), strides_of(3)};
    Axes(row, out.sizes, kAllAxes, strides).push(words);
    return words;
  }

  tenon_device_p* const device_;
  const PipelineRef pipeline_;
};

}  // namespace

Prepared prepare_int8_matmul(const Request& request) {
  std::array<std::optional<Elements>, 4> in;
  uint32_t n_present = 0;
  const auto is_given = [&](size_t i) {
    return i < request.n_inputs() && request.input(i).dtype != TENON_DTYPE_NONE;
  };
  for (size_t i = 0; i < 4; ++i) n_present += is_given(i) ? 1 : 0;
  if (const tenon_string reason = refusal_of_operands(request.device(), n_present + 1);
      reason.size > 0) {
    return {.reason = reason};
  }
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
  code.for_each(code.parameter(kCount), [&](U32 number) {
    const U32 i = code.parameter(kFirst) + number;
    const U32 line = i / columns, column = i - line * columns;
    const U32 matrix = line / rows, row = line - matrix * rows;
    const std::vector<U32> places = axes.operand_offsets(matrix);
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
  PipelineRef pipeline;
  if (tenon_error* error =
          make_pipeline(request.device(), code.finish(), n_present + 1, &pipeline)) {
    return {.error = error};
  }
  return {.kernel = std::make_unique<Int8Matmul>(request.device(), std::move(pipeline)),
          .traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC};
}

}  // namespace tenon_vulkan
