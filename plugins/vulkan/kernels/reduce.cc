// Reductions over any axes. A row consists of the elements along the reduced axes;
// kernels/reduction.h defines the order in which it is reduced.
//
// A long row is split into parts. A workgroup reduces a part, or an invocation if the part is
// short. A second dispatch reduces the partial results of each row. So even few rows keep many
// workgroups busy.

#include <optional>

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/lazy_pipeline.h"
#include "plugins/vulkan/kernels/reduction.h"
#include "plugins/vulkan/kernels/shader.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::U32;

constexpr int64_t kMaxWholeRow = 32768;  // Maximum length of a row that is not split.
constexpr int64_t kPart = 16384;         // Number of elements per part on GPUs.

// Selects a variant of the shader.
struct Pass {
  bool by_groups;      // A workgroup, not an invocation, reduces a row.
  bool from_partials;  // The input is partial results, not a view.
  bool to_partials;    // The output is one partial result per part.
  bool by_lines;       // The rows are along one axis of the view.
};

// Parameters: number of rows and elements per row. If the input is a view, also parts per row,
// elements per part, the kept axes and the reduced axes.
constexpr uint32_t kRows = 0, kLength = 1, kParts = 2, kPartLength = 3, kAxes = 4;

class PassCode {
 public:
  // Operands: the input, then the output. Each is a view or partial results. Partial results of
  // argmax and argmin are two operands, values and indices.
  PassCode(Code& code, const Reduction& reduction, const Pass& pass, tenon_dtype from,
           tenon_dtype result)
      : code_(code),
        reduction_(reduction),
        pass_(pass),
        wide_(reduction.identity(code).value.dtype()),
        from_(code, 0, pass.from_partials ? wide_ : from) {
    uint32_t operand = 1;
    if (pass.from_partials && reduction.is_search())
      from_index_.emplace(code, operand++, TENON_UINT32);
    to_.emplace(code, operand++, pass.to_partials ? wide_ : result);
    if (pass.to_partials && reduction.is_search()) to_index_.emplace(code, operand, TENON_UINT32);
    if (pass.from_partials) return;
    kept_.emplace(code, code.u32(kAxes), 1);
    reduced_.emplace(code, kept_->end(), 1);
  }

  void write() {
    const U32 n_rows = code_.parameter(kRows), length = code_.parameter(kLength);
    const U32 zero = code_.u32(0);
    const U32 n_parts = pass_.to_partials ? code_.parameter(kParts) : code_.u32(1);
    const U32 n_items = n_rows * n_parts;
    // Neighbouring items belong to neighbouring rows, because these are often contiguous in memory.
    const auto go_over = [&](U32 item, const auto& reduce) {
      if (!pass_.to_partials) return reduce(item, item, zero, length);
      const U32 part = item / n_rows, row = item - part * n_rows;
      const U32 begin = part * code_.parameter(kPartLength);
      reduce(row * n_parts + part, row, begin, min(begin + code_.parameter(kPartLength), length));
    };
    if (!pass_.by_groups) {
      code_.for_each(n_items, [&](U32 item) {
        go_over(item, [&](U32 at, U32 row, U32 begin, U32 end) {
          store(at, along(place_of(row), begin, end, code_.u32(1)));
        });
      });
      return;
    }
    const GroupReduction group(code_, reduction_);
    code_.for_(code_.group_index(), n_items, code_.n_groups(), [&](U32 item) {
      go_over(item, [&](U32 at, U32 row, U32 begin, U32 end) {
        const U32 first = begin + code_.local_index();
        const auto whole =
            group.reduce_group(along(place_of(row), first, end, code_.u32(kLocalSize)));
        code_.if_(code_.local_index() == 0, [&] { store(at, whole); });
      });
    });
  }

 private:
  U32 place_of(U32 row) {
    return pass_.from_partials ? row * code_.parameter(kLength) : kept_->operand_offsets(row)[0];
  }

  Reduction::Partial along(U32 place, U32 begin, U32 end, U32 step) {
    const Reduction* const reductions[] = {&reduction_};
    return reduce_in_runs(code_, reductions, begin, end, step,
                          [&](U32 i, std::span<const PartialVar> run) {
                            run[0].set(reduction_.join(run[0].get(), load(place, i)));
                          })[0];
  }

  Reduction::Partial load(U32 place, U32 i) {
    if (!pass_.from_partials) {
      const U32 within =
          (pass_.by_lines ? reduced_->line_offsets(i) : reduced_->operand_offsets(i))[0];
      return reduction_.make_partial(from_.load(place + within), i);
    }
    const U32 at = place + i;
    return {from_.load(at), from_index_ ? from_index_->load(at).word() : i};
  }

  void store(U32 at, const Reduction::Partial& partial) {
    if (!pass_.to_partials) return to_->store(at, reduction_.result(partial));
    to_->store(at, partial.value);
    if (to_index_) to_index_->store(at, {TENON_UINT32, partial.index});
  }

  Code& code_;
  const Reduction& reduction_;
  const Pass pass_;
  const tenon_dtype wide_;
  const Elements from_;
  std::optional<Elements> from_index_, to_, to_index_;
  std::optional<AxesCode> kept_, reduced_;
};

class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(const Request& request, uint32_t mask)
      : device_(request.device()),
        reduction_(request.op(), request.input(0).dtype),
        from_(request.input(0).dtype),
        result_(request.output(0).dtype),
        mask_(mask) {}

  uint64_t workspace(const tenon_launch& launch) const override {
    const Sizes sizes = sizes_of(launch);
    return sizes.n_parts == 1 ? 0 : 12 * static_cast<uint64_t>(sizes.n_rows * sizes.n_parts);
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const Sizes sizes = sizes_of(launch);
    if (sizes.n_rows == 0) return nullptr;
    if (tenon_error* error = check_count(device_, sizes.length)) return error;
    const Operand from = operand_of(launch, 0), to = operand_of(launch, 1);
    Words words;
    push(words, sizes.n_rows);
    push(words, sizes.length);
    push(words, sizes.n_parts);
    push(words, sizes.part);
    const tenon_view& x = launch.inputs[0];
    const int64_t* const strides[] = {x.strides};
    Axes(x.rank, x.sizes, ~mask_, strides).push(words);
    const Axes reduced(x.rank, x.sizes, mask_, strides);
    reduced.push(words);
    const int64_t longest_short = longest_short_row(capabilities_of(device_));
    Pass pass = {.by_groups = sizes.part > longest_short,
                 .by_lines = reduced.has_at_most_one_axis()};
    if (sizes.n_parts == 1) {
      return run(encoder, pass, {from, to}, words, {sizes.n_rows, sizes.length});
    }
    // The workspace holds the values of the partial results, followed by their indices for argmax
    // and argmin.
    const int64_t n_partials = sizes.n_rows * sizes.n_parts;
    Operand values = workspace_of(launch), indices = values;
    values.end = values.begin + 8 * static_cast<uint64_t>(n_partials);
    indices.begin = indices.first = values.end;
    Operand written_values = values, written_indices = indices;
    values.is_written = indices.is_written = false;
    written_values.is_written = written_indices.is_written = true;
    pass.to_partials = true;
    if (tenon_error* error = run(encoder, pass, {from, written_values, written_indices}, words,
                                 {n_partials, sizes.part})) {
      return error;
    }
    Words joined;
    push(joined, sizes.n_rows);
    push(joined, sizes.n_parts);
    const Pass join = {.by_groups = sizes.n_parts > longest_short, .from_partials = true};
    const Items rows = {sizes.n_rows, sizes.n_parts};
    return reduction_.is_search() ? run(encoder, join, {values, indices, to}, joined, rows)
                                  : run(encoder, join, {values, to}, joined, rows);
  }

 private:
  // Number and length of the rows, or of the parts of rows, that a dispatch reduces.
  struct Items {
    int64_t n, length;
  };
  struct Sizes {
    int64_t n_rows = 1, length = 1, n_parts = 1, part = 1;
  };

  Sizes sizes_of(const tenon_launch& launch) const {
    const tenon_view& x = launch.inputs[0];
    Sizes sizes;
    for (size_t axis = 0; axis < x.rank; ++axis) {
      ((mask_ >> axis & 1) != 0 ? sizes.length : sizes.n_rows) *= x.sizes[axis];
    }
    sizes.part = sizes.length;
    if (sizes.length > kMaxWholeRow) {
      sizes.part = capabilities_of(device_).runs_on_host
                       ? longest_short_row(capabilities_of(device_))
                       : kPart;
      sizes.n_parts = (sizes.length + sizes.part - 1) / sizes.part;
    }
    return sizes;
  }

  tenon_error* run(Encoder& encoder, const Pass& pass, std::initializer_list<Operand> operands,
                   const Words& words, const Items& items) const {
    const size_t n = operands.size() - (pass.to_partials && !reduction_.is_search() ? 1 : 0);
    const auto n_operands = static_cast<uint32_t>(n);
    const LazyPipeline& lazy = pipelines_[8 * pass.by_groups + 4 * pass.from_partials +
                                          2 * pass.to_partials + pass.by_lines];
    const Pipeline* pipeline = nullptr;
    tenon_error* error = lazy.get(device_, n_operands, &pipeline, [&] {
      Code code(capabilities_of(device_), {.n_operands = n_operands, .local_size = kLocalSize});
      PassCode(code, reduction_, pass, from_, result_).write();
      return code.finish();
    });
    if (error != nullptr) return error;
    const auto n_items = static_cast<uint64_t>(items.n);
    const uint64_t iterations = iterations_of_runs(pass.by_groups, items.length);
    const Rounds rounds =
        pass.by_groups ? rounds_of_groups(n_items, iterations) : rounds_for(n_items, iterations);
    if (error = check_iterations(device_, rounds.iterations); error != nullptr) return error;
    return encoder.dispatch({pipeline, {operands.begin(), n}, words, rounds.groups});
  }

  tenon_device_p* const device_;
  const Reduction reduction_;
  const tenon_dtype from_, result_;
  const uint32_t mask_;
  LazyPipeline pipelines_[16];
};

Prepared prepare_reduction(const Request& request, uint32_t mask) {
  if (request.input(0).dtype == TENON_FLOAT64 && !capabilities_of(request.device()).float64) {
    return tenon_sdk::refuse("has no float64");
  }
  return {
      .kernel = std::make_unique<ReduceKernel>(request, mask),
      .traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC | TENON_KERNEL_WORKSPACE};
}

}  // namespace

// Prepares sum, prod, max and min. Their attribute structs have the same layout.
Prepared prepare_reduce(const Request& request) {
  const auto attrs = request.attrs<tenon_sum_attrs>();
  const size_t rank = request.input(0).rank;
  uint32_t mask = attrs.n_axes == 0 ? (uint32_t{1} << rank) - 1 : 0;
  for (size_t i = 0; i < attrs.n_axes; ++i) {
    mask |= uint32_t{1} << tenon_sdk::from_front(attrs.axes[i], rank);
  }
  return prepare_reduction(request, mask);
}

Prepared prepare_arg_reduce(const Request& request) {
  const auto attrs = request.attrs<tenon_argmax_attrs>();
  return prepare_reduction(request,
                           uint32_t{1} << tenon_sdk::from_front(attrs.axis, request.input(0).rank));
}

}  // namespace tenon_vulkan
