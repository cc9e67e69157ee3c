// Loops over rows. An invocation processes a short row and a workgroup processes a longer row.
// Reduction kernels (kernels/reduction.h) use the same order, so that sums have the same bits.
//
// A loop has stages. In each, the invocations iterate over their elements once, compute the inputs
// of the stage's reductions and results, and perform the reductions; values per row follow. Values
// per element of earlier stages are recomputed, which costs less than storing them.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/lazy_pipeline.h"
#include "plugins/vulkan/kernels/loop.h"
#include "plugins/vulkan/kernels/reduction.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::U32;

// Parameters: the number of rows, their length, the outer axes and the axes along the rows.
constexpr uint32_t kRows = 0, kLength = 1, kAxes = 2;

class RowLoopCode {
 public:
  // `by_groups`: a group, not an invocation, processes a row. `by_lines`: rows are along one axis.
  RowLoopCode(Code& code, const LoopPlan& plan, bool by_groups, bool by_lines)
      : code_(code),
        plan_(plan),
        by_groups_(by_groups),
        by_lines_(by_lines),
        length_(code.parameter(kLength)) {
    for (const LoopPlan::Input& input : plan.inputs) add_operand(input.dtype);
    for (const uint32_t value : plan.outputs) add_operand(plan.dtype(value));
    const auto n = static_cast<uint32_t>(memory_.size());
    beside_.emplace(code, code.u32(kAxes), n);
    along_.emplace(code, beside_->end(), n);
    for (const LoopPlan::Instruction& instruction : plan.instructions) {
      if (!instruction.reduces) continue;
      reductions_.push_back(
          std::make_unique<Reduction>(instruction.op, plan.dtype(instruction.inputs[0])));
      if (by_groups) {
        groups_.push_back(std::make_unique<GroupReduction>(code, *reductions_.back()));
      }
    }
  }

  void write() {
    const U32 n_rows = code_.parameter(kRows);
    const auto body = [&](U32 row) { write_row(row); };
    if (by_groups_) {
      code_.for_(code_.group_index(), n_rows, code_.n_groups(), body);
    } else {
      code_.for_each(n_rows, body);
    }
  }

 private:
  using Values = std::vector<std::optional<Element>>;

  void add_operand(tenon_dtype dtype) {
    memory_.emplace_back(code_, static_cast<uint32_t>(memory_.size()), dtype);
  }
  size_t n_inputs() const { return plan_.inputs.size(); }
  const LoopPlan::Instruction& instruction_of(uint32_t value) const {
    return plan_.instructions[value - n_inputs()];
  }

  void write_row(U32 row) {
    const std::vector<U32> places = beside_->operand_offsets(row);
    Values of_row(n_inputs() + plan_.instructions.size());
    for (uint32_t v = 0; v < n_inputs(); ++v) {
      if (plan_.is_per_row(v)) of_row[v] = memory_[v].load(places[v]);
    }
    std::vector<bool> is_written(plan_.outputs.size(), false);
    while (true) {
      complete(of_row);
      // Finds the reductions and outputs whose operands are all available now.
      std::vector<uint32_t> reduced, given;
      size_t first_reduction = 0;
      std::vector<size_t> numbers;
      for (uint32_t v = static_cast<uint32_t>(n_inputs()); v < of_row.size(); ++v) {
        if (!instruction_of(v).reduces) continue;
        if (!of_row[v] && is_there(instruction_of(v).inputs[0], of_row)) {
          reduced.push_back(v);
          numbers.push_back(first_reduction);
        }
        ++first_reduction;
      }
      for (uint32_t i = 0; i < plan_.outputs.size(); ++i) {
        const uint32_t value = plan_.outputs[i];
        if (!is_written[i] && !plan_.is_per_row(value) && is_there(value, of_row)) {
          given.push_back(i);
          is_written[i] = true;
        }
      }
      if (reduced.empty() && given.empty()) break;
      iterate_row(places, reduced, numbers, given, of_row);
    }
    for (uint32_t i = 0; i < plan_.outputs.size(); ++i) {
      const uint32_t value = plan_.outputs[i];
      if (!plan_.is_per_row(value)) continue;
      const size_t operand = n_inputs() + i;
      const auto store = [&] { memory_[operand].store(places[operand], *of_row[value]); };
      if (by_groups_) {
        code_.if_(code_.local_index() == 0, store);
      } else {
        store();
      }
    }
  }

  // Computes the values per row whose operands are available.
  void complete(Values& of_row) {
    for (uint32_t v = static_cast<uint32_t>(n_inputs()); v < of_row.size(); ++v) {
      const LoopPlan::Instruction& instruction = instruction_of(v);
      if (of_row[v] || !instruction.is_per_row || instruction.reduces) continue;
      std::vector<Element> inputs;
      for (const uint32_t input : instruction.inputs) {
        // Loads a uniform input, which has one element.
        if (!of_row[input] && input < n_inputs()) of_row[input] = memory_[input].load(code_.u32(0));
        if (of_row[input]) inputs.push_back(*of_row[input]);
      }
      if (inputs.size() < instruction.inputs.size()) continue;
      of_row[v] = scalar_op(instruction.op, inputs, instruction.dtype);
    }
  }

  // Whether a value per element can be computed now: all values per row that it depends on are
  // available.
  bool is_there(uint32_t value, const Values& of_row) const {
    if (of_row[value] || (value < n_inputs() && !plan_.is_per_row(value))) return true;
    if (plan_.is_per_row(value)) return false;
    const std::vector<uint32_t>& inputs = instruction_of(value).inputs;
    return std::all_of(inputs.begin(), inputs.end(),
                       [&](uint32_t input) { return is_there(input, of_row); });
  }

  void iterate_row(const std::vector<U32>& places, const std::vector<uint32_t>& reduced,
                   const std::vector<size_t>& numbers, const std::vector<uint32_t>& given,
                   Values& of_row) {
    std::vector<const Reduction*> reductions;
    for (const size_t number : numbers) reductions.push_back(reductions_[number].get());
    const U32 begin = by_groups_ ? code_.local_index() : code_.u32(0);
    const U32 step = code_.u32(by_groups_ ? kLocalSize : 1);
    const auto body = [&](U32 i, std::span<const PartialVar> run) {
      const std::vector<U32> within =
          by_lines_ ? along_->line_offsets(i) : along_->operand_offsets(i);
      Values of_element = of_row;
      for (size_t k = 0; k < reduced.size(); ++k) {
        const Element x = compute(instruction_of(reduced[k]).inputs[0], places, within, of_element);
        run[k].set(reductions[k]->join(run[k].get(), reductions[k]->make_partial(x, i)));
      }
      for (const uint32_t output : given) {
        const size_t operand = n_inputs() + output;
        memory_[operand].store(places[operand] + within[operand],
                               compute(plan_.outputs[output], places, within, of_element));
      }
    };
    const auto own = reduce_in_runs(code_, reductions, begin, length_, step, body);
    for (size_t k = 0; k < reduced.size(); ++k) {
      const Reduction::Partial whole =
          by_groups_ ? groups_[numbers[k]]->reduce_group(own[k]) : own[k];
      of_row[reduced[k]] = reductions[k]->result(whole);
    }
  }

  Element compute(uint32_t value, const std::vector<U32>& places, const std::vector<U32>& within,
                  Values& of_element) {
    if (!of_element[value]) {
      if (value < n_inputs()) {
        of_element[value] = memory_[value].load(places[value] + within[value]);
      } else {
        std::vector<Element> inputs;
        for (const uint32_t input : instruction_of(value).inputs) {
          inputs.push_back(compute(input, places, within, of_element));
        }
        of_element[value] =
            scalar_op(instruction_of(value).op, inputs, instruction_of(value).dtype);
      }
    }
    return *of_element[value];
  }

  Code& code_;
  const LoopPlan& plan_;
  const bool by_groups_, by_lines_;
  const U32 length_;
  std::vector<Elements> memory_;  // The operands: inputs, then outputs.
  std::optional<AxesCode> beside_, along_;
  // The reductions and their group-wide variants, one for each reducing instruction.
  std::vector<std::unique_ptr<Reduction>> reductions_;
  std::vector<std::unique_ptr<GroupReduction>> groups_;
};

class RowLoop final : public Kernel {
 public:
  RowLoop(tenon_device_p* device, LoopPlan plan) : device_(device), plan_(std::move(plan)) {
    // passes[v] is the number of the pass that computes value `v`. A value that depends on a
    // reduction belongs to a later pass than the reduction's input.
    std::vector<uint64_t> passes(plan_.inputs.size(), 1);
    for (const LoopPlan::Instruction& each : plan_.instructions) {
      uint64_t pass = 1;
      for (const uint32_t input : each.inputs) pass = std::max(pass, passes[input]);
      if (each.reduces || !each.is_per_row) n_passes_ = std::max(n_passes_, pass);
      passes.push_back(pass + (each.reduces ? 1 : 0));
    }
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    static constexpr int64_t kZeros[TENON_MAX_RANK] = {};
    const tenon_view& x = launch.inputs[0];
    const uint32_t n_operands = launch.n_inputs + launch.n_outputs;
    Operand operands[Axes::kMaxOperands];
    const int64_t* beside[Axes::kMaxOperands];
    const int64_t* along[Axes::kMaxOperands];
    for (uint32_t i = 0; i < n_operands; ++i) {
      const bool is_input = i < launch.n_inputs;
      const tenon_view& view = is_input ? launch.inputs[i] : launch.outputs[i - launch.n_inputs];
      const uint32_t value = is_input ? i : plan_.outputs[i - launch.n_inputs];
      const bool is_uniform = view.strides_class == TENON_STRIDES_UNIFORM;
      operands[i] = operand_of(launch, i);
      beside[i] = is_uniform ? kZeros : view.strides;
      along[i] = is_uniform || plan_.is_per_row(value) ? kZeros : view.strides;
    }
    int64_t n_rows = 1, length = 1;
    for (size_t axis = 0; axis < x.rank; ++axis) {
      ((plan_.row_axes >> axis & 1) != 0 ? length : n_rows) *= x.sizes[axis];
    }
    if (n_rows == 0) return nullptr;
    Words words;
    push(words, n_rows);
    push(words, length);
    const Axes others(x.rank, x.sizes, ~plan_.row_axes, {beside, n_operands});
    others.push(words);
    const Axes rows(x.rank, x.sizes, plan_.row_axes, {along, n_operands});
    rows.push(words);
    const bool by_groups = length > longest_short_row(capabilities_of(device_)),
               by_lines = rows.has_at_most_one_axis();
    const Pipeline* pipeline = nullptr;
    tenon_error* error =
        pipelines_[2 * by_groups + by_lines].get(device_, n_operands, &pipeline, [&] {
          Code code(capabilities_of(device_), {.n_operands = n_operands, .local_size = kLocalSize});
          RowLoopCode(code, plan_, by_groups, by_lines).write();
          return code.finish();
        });
    if (error != nullptr) return error;
    const auto n = static_cast<uint64_t>(n_rows);
    const uint64_t of_element = 1 + (by_lines ? 0 : rows.iterations());
    const uint64_t iterations = others.iterations() + iterations_of(plan_, true) +
                                n_passes_ * iterations_of_runs(by_groups, length, of_element);
    const Rounds rounds = by_groups ? rounds_of_groups(n, iterations) : rounds_for(n, iterations);
    if (error = check_iterations(device_, rounds.iterations); error != nullptr) return error;
    return encoder.dispatch({pipeline, {operands, n_operands}, words, rounds.groups});
  }

 private:
  tenon_device_p* const device_;
  const LoopPlan plan_;
  uint64_t n_passes_ = 1;  // Number of passes over the elements of a row.
  const LazyPipeline pipelines_[4];
};

}  // namespace

// On drivers that limit loop iterations, refuses plans with ops whose code contains loops, because
// an invocation already iterates over thousands of elements several times.
Prepared prepare_row_loop(tenon_device_p* device, LoopPlan plan) {
  if (capabilities_of(device).max_iterations < UINT64_MAX && iterations_of(plan) > 0) {
    return tenon_sdk::refuse(
        "would need more loop iterations per invocation than the driver permits");
  }
  return {.kernel = std::make_unique<RowLoop>(device, std::move(plan)),
          .traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC};
}

}  // namespace tenon_vulkan
