#include <algorithm>
#include <set>

#include "plugins/cuda/kernels/device_code.h"
#include "plugins/cuda/kernels/expansion_source.h"
#include "plugins/cuda/kernels/loop_plan.h"

namespace tenon_cuda {
namespace {

struct OpName {
  uint32_t op;
  const char* name;
};
constexpr OpName kOpNames[] = {
#define TENON_KERNEL(op, signature, prepare) {TENON_OP_##op, #op},
#include "plugins/cuda/kernels.def"
#undef TENON_KERNEL
};

bool is_float(tenon_dtype dtype) {
  return dtype == TENON_FLOAT16 || dtype == TENON_BFLOAT16 || dtype == TENON_FLOAT32 ||
         dtype == TENON_FLOAT64;
}

// Returns the source of struct Parameters, and of the function that reads a uniform operand.
std::string parameters_source(const LoopPlan& plan, size_t n_strided) {
  return "struct Operand { char* memory; u64 value[2]; };\n"
         "struct Parameters {\n  i64 n, rank, sizes[16];\n  Operand operands[" +
         decimal(plan.n_operands()) + "];\n" +
         (n_strided > 0 ? "  i64 strides[" + decimal(n_strided) + "][16];\n" : std::string()) +
         "};\n"
         "template <class T>\nDEVICE T uniform(const Operand& x) {\n"
         "  return *(const T*)(x.memory != nullptr ? x.memory : (const char*)x.value);\n}\n";
}

// Returns the source of a call of compute(). Its arguments are the expressions `input(v)` for
// inputs and the variables out0, out1, ... for outputs.
template <class Input>
std::string compute_call(const LoopPlan& plan, const std::string& indent, Input&& input,
                         const std::string& output) {
  std::string text = indent + "compute(";
  for (size_t v = 0; v < plan.inputs.size(); ++v) {
    text += (v > 0 ? ", " : "") + input(v);
  }
  for (size_t i = 0; i < plan.outputs.size(); ++i) text += ", out" + decimal(i) + output;
  return text + ");\n";
}

// Returns the source that loads each uniform input v into a variable u<v>.
std::string uniform_source(const LoopPlan& plan) {
  std::string text;
  for (size_t v = 0; v < plan.inputs.size(); ++v) {
    if (plan.inputs[v].strides != TENON_STRIDES_UNIFORM) continue;
    const std::string type = type_name(plan.inputs[v].dtype);
    text += "  const " + type + " u" + decimal(v) + " = uniform<" + type + ">(p.operands[" +
            decimal(v) + "]);\n";
  }
  return text;
}

// Returns the expression for an element of an operand.
std::string at(size_t operand, const std::string& type, const std::string& index) {
  return "((" + type + "*)p.operands[" + decimal(operand) + "].memory)[" + index + "]";
}

// Returns the source of loop_single, which processes one element at a time and computes the offsets
// of strided operands. `I` is the type of the index.
std::string single_source(const LoopPlan& plan) {
  std::string text = "template <class I>\nDEVICE void run_single(const Parameters& p) {\n";
  text += uniform_source(plan);
  text += "  FOR_EACH(i, p.n) {\n";
  size_t n_strided = 0;
  std::vector<std::string> input(plan.inputs.size());
  std::string walk;
  for (size_t v = 0; v < plan.inputs.size(); ++v) {
    const std::string type = type_name(plan.inputs[v].dtype);
    if (plan.inputs[v].strides == TENON_STRIDES_UNIFORM) {
      input[v] = "u" + decimal(v);
    } else if (plan.inputs[v].strides == TENON_STRIDES_DENSE) {
      input[v] = at(v, type, "i");
    } else {
      const std::string offset = "at" + decimal(n_strided);
      text += "    i64 " + offset + " = 0;\n";
      walk += "      " + offset + " += c * p.strides[" + decimal(n_strided++) + "][axis];\n";
      input[v] = at(v, type, offset);
    }
  }
  if (n_strided > 0) {
    text +=
        "    I rest = (I)i;\n    for (int axis = (int)p.rank - 1; axis >= 0; --axis) {\n"
        "      const I size = (I)p.sizes[axis], q = rest / size;\n"
        "      const i64 c = (i64)(rest - q * size);\n" +
        walk + "      rest = q;\n    }\n";
  }
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    text +=
        std::string("    ") + type_name(plan.dtype(plan.outputs[i])) + " out" + decimal(i) + ";\n";
  }
  text += compute_call(
      plan, "    ", [&](size_t v) { return input[v]; }, "");
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const std::string type = type_name(plan.dtype(plan.outputs[i]));
    text += "    " + at(plan.inputs.size() + i, type, "i") + " = out" + decimal(i) + ";\n";
  }
  text += "  }\n}\n";
  // Without strided operands, one variant is enough, because no offsets are computed from the
  // index.
  const bool counts = n_strided > 0;
  text += "KERNEL loop_single(PARAMETERS(Parameters) p) {\n";
  text += counts ? "  if (p.n <= 0x7fffffff) {\n    run_single<u32>(p);\n  } else {\n"
                   "    run_single<u64>(p);\n  }\n"
                 : "  run_single<u64>(p);\n";
  return text + "}\n";
}

// Returns the source of loop_vector, which processes several elements at a time with one access per
// operand.
std::string vector_source(const LoopPlan& plan) {
  const std::string lanes = decimal(vector_width(plan));
  std::string text = "template <class T>\nstruct alignas(" + lanes +
                     " * sizeof(T)) Vector { T lane[" + lanes +
                     "]; };\nKERNEL loop_vector(PARAMETERS(Parameters) p) {\n" +
                     uniform_source(plan) + "  FOR_EACH(i, p.n / " + lanes + ") {\n";
  for (size_t v = 0; v < plan.inputs.size(); ++v) {
    if (plan.inputs[v].strides != TENON_STRIDES_DENSE) continue;
    const std::string type = std::string("Vector<") + type_name(plan.inputs[v].dtype) + ">";
    text += "    const " + type + " x" + decimal(v) + " = " + at(v, type, "i") + ";\n";
  }
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    text += std::string("    Vector<") + type_name(plan.dtype(plan.outputs[i])) + "> out" +
            decimal(i) + ";\n";
  }
  text += "#pragma unroll\n    for (int k = 0; k < " + lanes + "; ++k) {\n";
  const auto lane = [&](size_t v) {
    const bool is_dense = plan.inputs[v].strides == TENON_STRIDES_DENSE;
    return is_dense ? "x" + decimal(v) + ".lane[k]" : "u" + decimal(v);
  };
  text += compute_call(plan, "      ", lane, ".lane[k]") + "    }\n";
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const std::string type = std::string("Vector<") + type_name(plan.dtype(plan.outputs[i])) + ">";
    text += "    " + at(plan.inputs.size() + i, type, "i") + " = out" + decimal(i) + ";\n";
  }
  text += "  }\n";

  // Processes the remaining elements one at a time.
  text += "  for (i64 i = p.n / " + lanes + " * " + lanes +
          " + first_number(); i < p.n; i += number_step()) {\n";
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    text +=
        std::string("    ") + type_name(plan.dtype(plan.outputs[i])) + " out" + decimal(i) + ";\n";
  }
  const auto element = [&](size_t v) {
    const bool is_dense = plan.inputs[v].strides == TENON_STRIDES_DENSE;
    return is_dense ? at(v, type_name(plan.inputs[v].dtype), "i") : "u" + decimal(v);
  };
  text += compute_call(plan, "    ", element, "");
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const std::string type = type_name(plan.dtype(plan.outputs[i]));
    text += "    " + at(plan.inputs.size() + i, type, "i") + " = out" + decimal(i) + ";\n";
  }
  return text + "  }\n}\n";
}

}  // namespace

std::string op_name(uint32_t op) {
  for (const OpName& each : kOpNames) {
    if (each.op == op) return each.name;
  }
  return "op " + std::to_string(op);
}

std::string loop_name(const LoopPlan& plan) {
  if (plan.instructions.size() == 1) return op_name(plan.instructions[0].op);
  std::string names;
  for (const LoopPlan::Instruction& each : plan.instructions) {
    names += (names.empty() ? "loop(" : ",") + op_name(each.op);
  }
  return names.empty() ? "copy" : names + ")";
}

// Returns the source of the call for an instruction, such as "op_add(v0, v1)".
std::string call_source(const LoopPlan& plan, const LoopPlan::Instruction& instruction,
                        const std::vector<std::string>& inputs) {
  std::string function = "op_" + op_name(instruction.op);
  if (instruction.op == TENON_OP_cast) {
    function += std::string("<") + type_name(instruction.dtype) + ">";
  } else if (instruction.op == TENON_OP_pow && !is_float(plan.dtype(instruction.inputs[0]))) {
    function = "int_pow";
  }
  std::string text = function + "(";
  for (size_t i = 0; i < inputs.size(); ++i) text += (i > 0 ? ", " : "") + inputs[i];
  return text + ")";
}

// Returns the source of the function compute(), which runs the instructions on one element.
std::string compute_source(const LoopPlan& plan) {
  std::string text = "DEVICE void compute(";
  for (size_t v = 0; v < plan.inputs.size(); ++v) {
    text += std::string(v > 0 ? ", " : "") + type_name(plan.inputs[v].dtype) + " v" + decimal(v);
  }
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    text += std::string(", ") + type_name(plan.dtype(plan.outputs[i])) + "& out" + decimal(i);
  }
  text += ") {\n";
  for (size_t i = 0; i < plan.instructions.size(); ++i) {
    const LoopPlan::Instruction& each = plan.instructions[i];
    std::vector<std::string> inputs;
    for (const uint32_t value : each.inputs) inputs.push_back("v" + decimal(value));
    text += std::string("  const ") + type_name(each.dtype) + " v" +
            decimal(plan.inputs.size() + i) + " = " + call_source(plan, each, inputs) + ";\n";
  }
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    text += "  out" + decimal(i) + " = v" + decimal(plan.outputs[i]) + ";\n";
  }
  return text + "}\n";
}

// Returns the source of all functions that the instructions call.
std::string prelude_source(const LoopPlan& plan) {
  std::string text(device_file("types.cuh"));
  text += device_file("scalar.cuh");
  std::set<std::pair<uint32_t, tenon_dtype>> written;
  for (const LoopPlan::Instruction& each : plan.instructions) {
    if (each.inputs.empty() || each.reduces) continue;
    const tenon_dtype dtype = plan.dtype(each.inputs[0]);
    if (!is_float(dtype) || !has_expansion(each.op)) continue;
    if (!written.insert({each.op, dtype}).second) continue;
    text += expansion_source(each.op, op_name(each.op), dtype);
  }
  return text;
}

// Returns the number of elements that loop_vector accesses at once in each operand.
uint32_t vector_width(const LoopPlan& plan) {
  size_t largest = 1;
  for (uint32_t i = 0; i < plan.n_operands(); ++i) {
    largest = std::max(largest, tenon_sdk::size_of(plan.operand_dtype(i)));
  }
  return static_cast<uint32_t>(std::max<size_t>(1, 16 / largest));
}

std::string loop_source(const LoopPlan& plan) {
  size_t n_strided = 0;
  for (const LoopPlan::Input& input : plan.inputs) {
    if (input.strides == TENON_STRIDES_STRIDED) ++n_strided;
  }
  std::string text = prelude_source(plan) + parameters_source(plan, n_strided) +
                     compute_source(plan) + single_source(plan);
  // Loops with strided operands have an empty loop_vector, because strided elements are not
  // contiguous.
  text += n_strided == 0 ? vector_source(plan) : "KERNEL loop_vector(PARAMETERS(Parameters)) {}\n";
  return text;
}

}  // namespace tenon_cuda
