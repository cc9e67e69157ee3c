// The source of epilogues: loops that are fused after a matrix product.

#include "plugins/cuda/kernels/device_code.h"
#include "plugins/cuda/kernels/product.h"

namespace tenon_cuda {
namespace {

// Returns the number of inputs of the loop, not counting the product.
size_t n_inputs(const LoopPlan& plan) { return plan.inputs.size() - 1; }

// Returns the indices of the inputs with strided layout.
std::vector<size_t> strided_inputs(const LoopPlan& plan) {
  std::vector<size_t> strided;
  for (size_t v = 0; v < n_inputs(plan); ++v) {
    if (plan.inputs[v].strides == TENON_STRIDES_STRIDED) strided.push_back(v);
  }
  return strided;
}

}  // namespace

std::string epilogue_source(const std::optional<LoopPlan>& plan) {
  if (!plan) {
    return "struct Epilogue { char* y; };\n"
           "DEVICE void finish(const Epilogue& p, i64 i, T x) { ((T*)p.y)[i] = x; }\n";
  }
  const size_t n_operands = n_inputs(*plan) + plan->outputs.size();
  const std::vector<size_t> strided = strided_inputs(*plan);
  std::string text =
      "struct Operand { char* memory; u64 value[2]; };\n"
      "struct Epilogue {\n  i64 rank, sizes[16];\n  Operand operands[" +
      decimal(n_operands) + "];\n";
  if (!strided.empty()) text += "  i64 strides[" + decimal(strided.size()) + "][16];\n";
  text += "};\n" + compute_source(*plan) + "DEVICE void finish(const Epilogue& p, i64 i, T x) {\n";
  std::string walk;
  std::vector<std::string> index(n_inputs(*plan), "i");
  for (size_t k = 0; k < strided.size(); ++k) {
    index[strided[k]] = "at" + decimal(k);
    text += "  i64 at" + decimal(k) + " = 0;\n";
    walk += "    at" + decimal(k) + " += (rest - q * p.sizes[axis]) * p.strides[" + decimal(k) +
            "][axis];\n";
  }
  if (!strided.empty()) {
    text +=
        "  i64 rest = i;\n#pragma unroll 1\n"
        "  for (int axis = (int)p.rank - 1; axis >= 0; --axis) {\n"
        "    const i64 q = rest / p.sizes[axis];\n" +
        walk + "    rest = q;\n  }\n";
  }
  for (size_t i = 0; i < plan->outputs.size(); ++i) {
    text +=
        std::string("  ") + type_name(plan->dtype(plan->outputs[i])) + " out" + decimal(i) + ";\n";
  }
  text += "  compute(";
  for (size_t v = 0; v < n_inputs(*plan); ++v) {
    const std::string type = type_name(plan->inputs[v].dtype);
    const std::string operand = "p.operands[" + decimal(v) + "]";
    const std::string memory = "((const " + type + "*)" + operand + ".memory)";
    if (plan->inputs[v].strides == TENON_STRIDES_UNIFORM) {
      text += "*(const " + type + "*)(" + operand + ".memory != nullptr ? " + operand +
              ".memory : (const char*)" + operand + ".value), ";
    } else {
      text += memory + "[" + index[v] + "], ";
    }
  }
  text += "x";
  for (size_t i = 0; i < plan->outputs.size(); ++i) text += ", out" + decimal(i);
  text += ");\n";
  for (size_t i = 0; i < plan->outputs.size(); ++i) {
    text += std::string("  ((") + type_name(plan->dtype(plan->outputs[i])) + "*)p.operands[" +
            decimal(n_inputs(*plan) + i) + "].memory)[i] = out" + decimal(i) + ";\n";
  }
  return text + "}\n";
}

// Pushes the struct Epilogue that the source declares.
void push_epilogue(const std::optional<LoopPlan>& plan, size_t first_input,
                   const tenon_launch& launch, Parameters& parameters) {
  if (!plan) return parameters.push_address(address_of(launch.outputs[0]));
  const tenon_view& out = launch.outputs[0];
  std::vector<const int64_t*> strides;
  for (const size_t v : strided_inputs(*plan)) {
    strides.push_back(launch.inputs[first_input + v].strides);
  }
  const Axes axes(out.rank, out.sizes, kAllAxes, strides);
  parameters.push(static_cast<int64_t>(axes.sizes().size()));
  parameters.push_list(axes.sizes());
  for (size_t v = 0; v < n_inputs(*plan); ++v) {
    parameters.push_operand(launch.inputs[first_input + v]);
  }
  for (size_t i = 0; i < plan->outputs.size(); ++i) parameters.push_operand(launch.outputs[i]);
  for (size_t k = 0; k < strides.size(); ++k) parameters.push_list(axes.strides(k));
}

// Returns the number of words that push_epilogue() pushes.
size_t epilogue_words(const std::optional<LoopPlan>& plan) {
  if (!plan) return 1;
  const size_t n_operands = n_inputs(*plan) + plan->outputs.size();
  return 1 + kMaxRank + 3 * n_operands + kMaxRank * strided_inputs(*plan).size();
}

}  // namespace tenon_cuda
