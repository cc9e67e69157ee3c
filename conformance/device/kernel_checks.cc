// Checks the list of kernels, and the life cycle of a kernel: prepare, launch, release.

#include <map>

#include "conformance/device/device_check.h"
#include "conformance/device/failing_memory.h"
#include "conformance/device/launching.h"
#include "conformance/device/step.h"
#include "conformance/kit/dtypes.h"
#include "conformance/kit/line_signature.h"
#include "conformance/kit/op_registry.h"
#include "conformance/kit/packed_attrs.h"

namespace tenon_kit::device {
namespace {

std::string to_std_string(const tenon_string& string) {
  return string.data ? std::string(string.data, string.size) : std::string();
}

// Checks that each entry of the kernel list has a valid signature that matches its op.
void test_kernel_entries(const Subject& subject) {
  const Plugin plugin(subject);
  if (plugin.facts->n_kernels == 0) throw Unsupported("the plugin has no kernels");
  for (size_t i = 0; i < plugin.facts->n_kernels; ++i) {
    const tenon_kernel& line = plugin.kernel_entry(i);
    require(line.signature.data != nullptr, "kernel line {} has no signature", i);
    require(line.prepare != nullptr, "kernel line {}, \"{}\", has no `prepare` function", i,
            to_std_string(line.signature));
    LineSignature s;
    try {
      s = parse_line_signature(to_std_string(line.signature));
    } catch (const std::exception& error) {
      throw Fault(fmt::format("kernel line {}: {}", i, error.what()));
    }
    require(!s.outputs.empty(), "kernel line {}, \"{}\", has no outputs", i,
            to_std_string(line.signature));
    if (line.op == 0) {
      require(!to_std_string(line.name).empty(),
              "kernel line {} is for a custom op but does not name it", i);
      continue;
    }
    require(to_std_string(line.name).empty(),
            "kernel line {} has the built-in op {}, so its name must be empty, but is {}", i,
            line.op, to_std_string(line.name));
    const OpFacts* op = find_op(line.op);
    require(op != nullptr,
            "kernel line {}, \"{}\", is for op {}, which this version of Tenon does not have", i,
            to_std_string(line.signature), line.op);
    size_t required = 0;
    bool variadic = false;
    for (const InputFacts& input : op->inputs) {
      required += !input.optional && !input.variadic;
      variadic = variadic || input.variadic;
    }
    require(s.inputs.size() >= required && (variadic || s.inputs.size() <= op->inputs.size()),
            "kernel line {}, \"{}\", has {} inputs, but {} takes {}", i,
            to_std_string(line.signature), s.inputs.size(), op->name, op->inputs.size());
    require(op->attrs.empty() || line.attrs_size > 0,
            "kernel line {}: {} has attributes, but attrs_size is 0", i, op->name);
  }
}

// ---- life cycle

// A call of one kernel entry (line) with vectors of five ones.
struct Example {
  size_t line = 0;
  std::vector<Arg> inputs, outputs;
};

Arg vector_of_ones(tenon_dtype dtype) {
  const Bytes::size_type size = facts(dtype).size;
  const std::vector<std::byte> one = encode(Reals(5, Real(1)), dtype);
  Arg arg = {dtype, {5}, Bytes(5 * size), false};
  std::memcpy(arg.bytes.data(), one.data(), one.size());
  return arg;
}

// Returns an example for each kernel line of an op whose operands all have the same shape. Where
// the line permits a class of dtypes, the example has the first of them.
std::vector<Example> examples(const Plugin& plugin) {
  std::vector<Example> found;
  for (size_t i = 0; i < plugin.facts->n_kernels; ++i) {
    const tenon_kernel& line = plugin.kernel_entry(i);
    const OpFacts* op = line.op ? find_op(line.op) : nullptr;
    if (!op || !(op->elementwise || op->name == "copy") || op->n_outputs != 1) continue;
    const LineSignature s = parse_line_signature(to_std_string(line.signature));
    Example example = {i, {}, {}};
    const auto dtype_of = [&](const LineOperand& operand) {
      return operand.letter ? s.classes.at(operand.letter).at(0) : operand.dtype;
    };
    for (const LineOperand& operand : s.inputs)
      example.inputs.push_back(vector_of_ones(dtype_of(operand)));
    for (const LineOperand& operand : s.outputs) {
      example.outputs.push_back({dtype_of(operand), {5}, {}, false});
    }
    found.push_back(std::move(example));
  }
  return found;
}

// Returns the op and the signature of kernel line `i`, for messages.
std::string name_of_line(const Plugin& plugin, size_t i) {
  const tenon_kernel& line = plugin.kernel_entry(i);
  return find_op(line.op)->name + " \"" + to_std_string(line.signature) + "\"";
}

// Checks that a kernel is prepared once, launched several times with the same result, and released.
void test_life_cycle(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  size_t n_run = 0;
  for (const Example& example : examples(bench.plugin())) {
    const std::string name = name_of_line(bench.plugin(), example.line);
    begin_step(name);
    const PackedAttrs attrs(*find_op(bench.plugin().kernel_entry(example.line).op), {});
    const Prepared kernel(bench, example.line, attrs.data(), example.inputs, example.outputs);
    if (!kernel.get()) continue;  // Another kernel line may accept this call.
    ++n_run;
    Launching launching(bench, stream, kernel, example.inputs, example.outputs);
    Bytes first;
    for (int i = 0; i < 3; ++i) {
      expect_success(launching.launch(), name.c_str());
      const Bytes bytes = launching.output(0);
      if (i == 0) first = bytes;
      expect_bytes(bytes, first, name + ", launched again");
    }
  }
  if (n_run == 0) throw Unsupported("the plugin has no elementwise kernel line");
}

// Checks that kernels that are never launched leak nothing.
void test_unlaunched_kernels(const Subject& subject) {
  const Bench bench(subject);
  const std::vector<Example> all = examples(bench.plugin());
  if (all.empty()) throw Unsupported("the plugin has no elementwise kernel line");
  const auto prepare_all = [&] {
    for (const Example& example : all) {
      begin_step(name_of_line(bench.plugin(), example.line));
      const PackedAttrs attrs(*find_op(bench.plugin().kernel_entry(example.line).op), {});
      const Prepared kernel(bench, example.line, attrs.data(), example.inputs, example.outputs);
    }
  };
  prepare_all();
  const uint64_t left = host_memory_left_by([&] {
    for (int i = 0; i < 20; ++i) prepare_all();
  });
  if (left > 20 * 8 * all.size()) {
    throw Leak(fmt::format(
        "after {} kernels were prepared and released 20 times, {} more bytes are allocated",
        all.size(), left));
  }
}

// ---- refusals

// Checks that `prepare` returns a kernel or refuses, but does not fail, for ranks 0, 3 and
// TENON_MAX_RANK and for all request flags. For STRICT, the kernel must be DETERMINISTIC. A kernel
// that was prepared for rank 4 must also launch.
void test_refusals(const Subject& subject) {
  const Bench bench(subject);
  const std::vector<Example> all = examples(bench.plugin());
  if (all.empty()) throw Unsupported("the plugin has no elementwise kernel line");
  for (Example example : all) {
    begin_step(name_of_line(bench.plugin(), example.line));
    const PackedAttrs attrs(*find_op(bench.plugin().kernel_entry(example.line).op), {});
    for (const size_t rank : {size_t{0}, size_t{3}, size_t{TENON_MAX_RANK}}) {
      for (Arg& arg : example.inputs) arg.sizes.assign(rank, 1);
      for (Arg& arg : example.outputs) arg.sizes.assign(rank, 1);
      for (const uint32_t flags : {0u, uint32_t{TENON_REQUEST_DETERMINISTIC},
                                   uint32_t{TENON_REQUEST_STRICT | TENON_REQUEST_DETERMINISTIC}}) {
        const Prepared kernel(bench, example.line, attrs.data(), example.inputs, example.outputs,
                              flags);
        require(!(flags & TENON_REQUEST_STRICT) || !kernel.get() ||
                    (kernel.traits() & TENON_KERNEL_DETERMINISTIC),
                "{}: for STRICT, it returned a kernel that is not DETERMINISTIC",
                name_of_line(bench.plugin(), example.line));
      }
    }
  }
  const Stream stream(bench);
  // Launches each kernel that the plugin prepares for rank 4.
  for (Example example : all) {
    begin_step(name_of_line(bench.plugin(), example.line));
    for (Arg& arg : example.inputs) arg.sizes = {1, 5, 1, 1};
    for (Arg& arg : example.outputs) arg.sizes = {1, 5, 1, 1};
    const PackedAttrs attrs(*find_op(bench.plugin().kernel_entry(example.line).op), {});
    const Prepared kernel(bench, example.line, attrs.data(), example.inputs, example.outputs);
    if (!kernel.get()) continue;
    Launching launching(bench, stream, kernel, example.inputs, example.outputs);
    expect_success(launching.launch(), name_of_line(bench.plugin(), example.line).c_str());
    stream.finish();
  }
}

}  // namespace

std::vector<DeviceCheck> kernel_checks() {
  return {
      {"kernels", "lines", 0, "Every signature is valid and matches its op.", test_kernel_entries},
      {"kernels", "kernel_life", 0,
       "A kernel is prepared once, launched often with the same result, and released.",
       test_life_cycle},
      {"kernels", "kernels_unlaunched", 0, "Kernels that are never launched leak nothing.",
       test_unlaunched_kernels},
      {"kernels", "refusals", 0,
       "A kernel entry refuses what it does not support, and a refusal is not an error.",
       test_refusals},
  };
}

}  // namespace tenon_kit::device
