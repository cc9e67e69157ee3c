#include "plugins/vulkan/kernels/named.h"

#include "plugins/vulkan/kernels/loop.h"

namespace tenon_vulkan {
namespace {

struct OpName {
  uint32_t op;
  const char* name;
};
constexpr OpName kOpNames[] = {
#define TENON_KERNEL(op, signature, prepare) {TENON_OP_##op, #op},
#include "plugins/vulkan/kernels.def"
#undef TENON_KERNEL
};

std::string name_of_op(uint32_t op) {
  for (const OpName& each : kOpNames) {
    if (each.op == op) return each.name;
  }
  return "op " + std::to_string(op);
}

Kernel& kernel_of(const Prepared& prepared) { return static_cast<Kernel&>(*prepared.kernel); }

}  // namespace

Prepared with_name(const Request& request, Prepared prepared) {
  if (prepared.kernel == nullptr || !has_names(request.device())) return prepared;
  kernel_of(prepared).set_name(name_of_op(request.op()));
  return prepared;
}

Prepared prepare_named_loop(const tenon_sdk::LoopRequest& request) {
  Prepared prepared = prepare_loop(request);
  if (prepared.kernel == nullptr || !has_names(request.device())) return prepared;
  std::string names;
  const auto add = [&](const tenon_kernel& line) {
    names += (names.empty() ? "loop(" : ",") + name_of_op(line.op);
  };
  if (request.anchor() != nullptr) add(*request.anchor()->line);
  for (size_t i = 0; i < request.n_instructions(); ++i) add(*request.instruction(i).line);
  kernel_of(prepared).set_name(names + ")");
  return prepared;
}

}  // namespace tenon_vulkan
