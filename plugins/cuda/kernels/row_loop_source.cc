// Generates the source of loops over rows, including reductions. A loop has stages. In each stage,
// threads iterate once over their elements, compute the inputs of the stage's reductions and its
// outputs, and join their partial results (device/reduce.cuh). Then they compute values per row.
// Values per element of earlier stages are recomputed, which costs less than storing them.

#include <algorithm>
#include <map>

#include "plugins/cuda/kernels/device_code.h"
#include "plugins/cuda/kernels/loop_plan.h"

namespace tenon_cuda {
namespace {

class RowSource {
 public:
  explicit RowSource(const LoopPlan& plan) : plan_(plan) {
    // A value that depends on a reduction belongs to a later stage than the reduction's input.
    for (uint32_t v = 0; v < plan.n_values(); ++v) {
      uint32_t stage = 0;
      if (!plan.is_input(v)) {
        for (const uint32_t input : plan.producer(v).inputs) {
          stage = std::max(stage, stages_[input]);
        }
        if (plan.producer(v).reduces) ++stage;
      }
      stages_.push_back(stage);
    }
  }

  std::string text() {
    std::string text = prelude_source(plan_);
    text += device_file("reduce.cuh");
    const std::string n = decimal(plan_.n_operands());
    text +=
        "struct Operand { char* memory; u64 value[2]; };\n"
        "struct Parameters {\n  i64 n_rows, length;\n  i64 beside_rank, beside_sizes[16];\n"
        "  i64 along_rank, along_sizes[16];\n  Operand operands[" +
        n + "];\n  i64 beside[" + n + "][16], along[" + n +
        "][16];\n};\n"
        "template <class T>\nDEVICE T load(const Operand& x, i64 at) {\n"
        "  return ((const T*)(x.memory != nullptr ? x.memory : (const char*)x.value))[at];\n}\n"
        "DEVICE i64 offset_along(const Parameters& p, i64 i, int operand) {\n"
        "  if (p.along_rank == 1) return i * p.along[operand][0];\n"
        "  return offset_of(i, (int)p.along_rank, p.along_sizes, p.along[operand]);\n}\n";
    text += kernel(false) + kernel(true);
    return text;
  }

 private:
  using Names = std::map<uint32_t, std::string>;  // Names of the variables that hold values.

  std::string kernel(bool by_block) {
    by_block_ = by_block;
    std::string text = by_block ? "KERNEL rows_by_block(PARAMETERS(Parameters) p) {\n"
                                : "KERNEL rows_by_thread(PARAMETERS(Parameters) p) {\n";
    for (uint32_t v = 0; by_block && v < plan_.n_values(); ++v) {
      if (!reduces(v)) continue;
      text += "  __shared__ " + reduce_type(v) + "::Partial shared" + decimal(v) + "[kWarps];\n";
    }
    text += by_block ? "  for (i64 row = blockIdx.x; row < p.n_rows; row += gridDim.x) {\n"
                     : "  FOR_EACH(row, p.n_rows) {\n";
    for (uint32_t k = 0; k < plan_.n_operands(); ++k) {
      text += "    const i64 row" + decimal(k) +
              " = offset_of(row, (int)p.beside_rank, p.beside_sizes, p.beside[" + decimal(k) +
              "]);\n";
    }
    Names of_row;
    for (uint32_t v = 0; v < plan_.inputs.size(); ++v) {
      if (plan_.is_per_row(v)) text += per_row_input(v, of_row);
    }
    text += values_per_row(0, of_row);
    const uint32_t last = *std::max_element(stages_.begin(), stages_.end());
    for (uint32_t stage = 0; stage <= last; ++stage) {
      // These are two statements, because the second one reads the names that the first one adds to
      // of_row.
      text += this->stage(stage, of_row);
      text += values_per_row(stage + 1, of_row);
    }
    text += outputs_per_row(of_row);
    return text + "  }\n}\n";
  }

  bool reduces(uint32_t v) const { return !plan_.is_input(v) && plan_.producer(v).reduces; }
  std::string reduce_type(uint32_t v) const {
    const LoopPlan::Instruction& each = plan_.producer(v);
    return "Reduce_" + op_name(each.op) + "<" + type_name(plan_.dtype(each.inputs[0])) + ">";
  }

  std::string per_row_input(uint32_t v, Names& of_row) const {
    of_row[v] = "v" + decimal(v);
    const std::string type = type_name(plan_.dtype(v));
    return "    const " + type + " v" + decimal(v) + " = load<" + type + ">(p.operands[" +
           decimal(v) + "], row" + decimal(v) + ");\n";
  }

  // Returns the source that computes the values per row of this stage, except results of
  // reductions. The inputs of these values are per row or uniform.
  std::string values_per_row(uint32_t stage, Names& of_row) const {
    std::string text;
    for (auto v = static_cast<uint32_t>(plan_.inputs.size()); v < plan_.n_values(); ++v) {
      if (!plan_.is_per_row(v) || reduces(v) || stages_[v] != stage) continue;
      std::vector<std::string> inputs;
      for (const uint32_t input : plan_.producer(v).inputs) {
        if (of_row.count(input) == 0) text += per_row_input(input, of_row);
        inputs.push_back(of_row.at(input));
      }
      of_row[v] = "v" + decimal(v);
      text += std::string("    const ") + type_name(plan_.dtype(v)) + " v" + decimal(v) + " = " +
              call_source(plan_, plan_.producer(v), inputs) + ";\n";
    }
    return text;
  }

  // Returns the name of the variable of a value per element. Appends the code that computes it to
  // `text`.
  std::string element(uint32_t v, Names& names, std::string& text) const {
    if (const auto found = names.find(v); found != names.end()) return found->second;
    const std::string type = type_name(plan_.dtype(v)), name = "e" + decimal(v);
    std::string value;
    if (plan_.is_input(v)) {
      value = "load<" + type + ">(p.operands[" + decimal(v) + "], row" + decimal(v) +
              " + offset_along(p, i, " + decimal(v) + "))";
    } else {
      std::vector<std::string> inputs;
      for (const uint32_t input : plan_.producer(v).inputs) {
        inputs.push_back(element(input, names, text));
      }
      value = call_source(plan_, plan_.producer(v), inputs);
    }
    text += "        const " + type + " " + name + " = " + value + ";\n";
    return names[v] = name;
  }

  std::string stage(uint32_t stage, Names& of_row) const {
    std::vector<uint32_t> reduced;
    for (uint32_t v = 0; v < plan_.n_values(); ++v) {
      if (reduces(v) && stages_[v] == stage + 1) reduced.push_back(v);
    }
    std::string body;
    Names of_element = of_row;
    for (const uint32_t v : reduced) {
      const std::string x = element(plan_.producer(v).inputs[0], of_element, body);
      body += "        run" + decimal(v) + " = " + reduce_type(v) + "::join(run" + decimal(v) +
              ", " + reduce_type(v) + "::of(" + x + ", i));\n";
    }
    for (uint32_t i = 0; i < plan_.outputs.size(); ++i) {
      const uint32_t v = plan_.outputs[i];
      if (plan_.is_per_row(v) || stages_[v] != stage) continue;
      const std::string k = decimal(plan_.inputs.size() + i), x = element(v, of_element, body);
      body += std::string("        ((") + type_name(plan_.dtype(v)) + "*)p.operands[" + k +
              "].memory)[row" + k + " + offset_along(p, i, " + k + ")] = " + x + ";\n";
    }
    if (body.empty()) return {};
    std::string text = by_block_ ? by_chunks(reduced, body) : in_sequence(reduced, body);
    for (const uint32_t v : reduced) {
      of_row[v] = "v" + decimal(v);
      text += std::string("    const ") + type_name(plan_.dtype(v)) + " v" + decimal(v) + " = " +
              reduce_type(v) + "::result(whole" + decimal(v) + ");\n";
    }
    return text;
  }

  std::string start(const char* name, uint32_t v, const char* indent) const {
    return indent + reduce_type(v) + "::Partial " + name + decimal(v) + " = " + reduce_type(v) +
           "::identity();\n";
  }

  std::string in_sequence(const std::vector<uint32_t>& reduced, const std::string& body) const {
    std::string text;
    for (const uint32_t v : reduced) text += start("run", v, "    ");
    text += "    for (i64 i = 0; i < p.length; ++i) {\n" + body + "    }\n";
    for (const uint32_t v : reduced) {
      text += "    const " + reduce_type(v) + "::Partial whole" + decimal(v) + " = run" +
              decimal(v) + ";\n";
    }
    return text;
  }

  std::string by_chunks(const std::vector<uint32_t>& reduced, const std::string& body) const {
    if (reduced.empty()) {
      return "    for (i64 i = threadIdx.x; i < p.length; i += kBlock) {\n" + body + "    }\n";
    }
    std::string text;
    for (const uint32_t v : reduced) text += start("whole", v, "    ");
    text += "    for (i64 chunk = 0; chunk * kChunk < p.length; ++chunk) {\n";
    for (const uint32_t v : reduced) text += start("run", v, "      ");
    text +=
        "      const i64 end = min((chunk + 1) * kChunk, p.length);\n"
        "      for (i64 i = chunk * kChunk + threadIdx.x; i < end; i += kBlock) {\n" +
        body + "      }\n";
    for (const uint32_t v : reduced) {
      const std::string n = decimal(v);
      text += "      run" + n + " = join_block<" + reduce_type(v) + ">(run" + n + ", shared" + n +
              ");\n      if (p.length <= kChunk) {\n        whole" + n + " = run" + n +
              ";\n      } else if (chunk % kBlock == threadIdx.x) {\n        whole" + n + " = " +
              reduce_type(v) + "::join(whole" + n + ", run" + n + ");\n      }\n";
    }
    text += "    }\n    if (p.length > kChunk) {\n";
    for (const uint32_t v : reduced) {
      const std::string n = decimal(v);
      text += "      whole" + n + " = join_block<" + reduce_type(v) + ">(whole" + n + ", shared" +
              n + ");\n";
    }
    return text + "    }\n";
  }

  std::string outputs_per_row(const Names& of_row) const {
    std::string text;
    for (uint32_t i = 0; i < plan_.outputs.size(); ++i) {
      const uint32_t v = plan_.outputs[i];
      if (!plan_.is_per_row(v)) continue;
      const std::string k = decimal(plan_.inputs.size() + i);
      text += std::string(by_block_ ? "    if (threadIdx.x == 0) " : "    ") + "((" +
              type_name(plan_.dtype(v)) + "*)p.operands[" + k + "].memory)[row" + k +
              "] = " + of_row.at(v) + ";\n";
    }
    return text;
  }

  const LoopPlan& plan_;
  std::vector<uint32_t> stages_;
  bool by_block_ = false;
};

}  // namespace

std::string row_loop_source(const LoopPlan& plan) { return RowSource(plan).text(); }

}  // namespace tenon_cuda
