// Merges shaders, which are the parts of the merged shader. Deduplicates the declarations that
// their functions use: types and constants by content, variables by type and binding. The push
// constant is omitted; each part's function takes the index of its parameters as an argument
// instead.

#include "plugins/vulkan/spirv/sequence.h"

#include <cassert>
#include <map>
#include <unordered_map>
#include <utility>

namespace tenon_vulkan::spirv {
namespace {

struct Instruction {
  spv::Op op;
  std::span<const uint32_t> operands;
};

// Calls visit(Instruction) for each instruction.
template <class Visit>
void for_each_instruction(std::span<const uint32_t> module, const Visit& visit) {
  constexpr size_t kHeader = 5;
  for (size_t at = kHeader; at < module.size();) {
    const size_t n = module[at] >> 16;
    visit(Instruction{static_cast<spv::Op>(module[at] & 0xffff), module.subspan(at + 1, n - 1)});
    at += n;
  }
}

// The range [first, end) of the operands of an instruction that are literals; the other operands
// are ids.
struct Literals {
  size_t first, end;
};
constexpr size_t kAll = ~size_t{0};

// Returns which operands of an instruction are literals.
Literals literals_of(spv::Op op) {
  switch (op) {
    case spv::Op::OpTypeInt:
    case spv::Op::OpTypeFloat:
      return {1, kAll};
    case spv::Op::OpTypeVector:
    case spv::Op::OpTypeImage:
    case spv::Op::OpConstant:
    case spv::Op::OpVariable:
    case spv::Op::OpLoopMerge:
      return {2, kAll};
    case spv::Op::OpTypePointer:
    case spv::Op::OpSelectionMerge:
      return {1, 2};
    case spv::Op::OpFunction:
      return {2, 3};
    case spv::Op::OpExtInst:
      return {3, 4};
    case spv::Op::OpCompositeExtract:
      return {3, kAll};
    default:
      return {kAll, kAll};
  }
}

bool is_constant(spv::Op op) {
  return op == spv::Op::OpConstant || op == spv::Op::OpConstantTrue ||
         op == spv::Op::OpConstantFalse;
}

class Writer {
 public:
  Writer(const Capabilities& capabilities, uint32_t local_size)
      : code_(capabilities, {.n_operands = 0, .local_size = local_size}),
        module_(code_.module()),
        void_type_(module_.type(spv::Op::OpTypeVoid, {})),
        u32_(code_.type(Scalar::kU32)) {}

  Words write(std::span<const Part> parts) {
    const auto n_parts = word(parts.size());
    const Var<U32> step = code_.var(code_.u32(0));
    for (uint32_t i = 0; i < n_parts; ++i) {
      const Id function = add(parts[i]);
      const U32 end = code_.parameter(i);
      code_.while_(
          [&] { return step.get() < end; },
          [&] {
            const U32 now = step.get(), first = code_.parameter(now + n_parts);
            code_.emit(spv::Op::OpFunctionCall, {void_type_, module_.new_id(), function, first.id});
            code_.barrier();
            step.set(now + 1);
          });
    }
    return code_.finish();
  }

 private:
  // Adds the part's code as a function, which takes the index of its first parameter word as an
  // argument. Returns the id of the function.
  Id add(const Part& part) {
    part_ = &part;
    globals_.clear();
    decorations_.clear();
    ids_.clear();
    pushed_ = at_pushed_ = 0;
    Words function;
    Id argument = 0, own = 0;
    for_each_instruction(part.module, [&](const Instruction& each) {
      if (argument == 0 && each.op != spv::Op::OpFunction) return note(each);
      const auto& operands = each.operands;
      if (each.op == spv::Op::OpFunction) {
        const Id type = module_.type(spv::Op::OpTypeFunction, {void_type_, u32_});
        append(function, each.op, {void_type_, own = module_.new_id(), operands[2], type});
        append(function, spv::Op::OpFunctionParameter, {u32_, argument = module_.new_id()});
      } else if (each.op == spv::Op::OpAccessChain && operands[2] == pushed_) {
        at_pushed_ = operands[1];
      } else if (each.op == spv::Op::OpLoad && operands[2] == at_pushed_) {
        ids_[operands[1]] = argument;
      } else {
        append(function, each.op, renumbered(each, 0));
      }
    });
    code_.add_function(function);
    return own;
  }

  // Records a declaration, that is, an instruction before the function.
  void note(const Instruction& each) {
    const auto& operands = each.operands;
    switch (each.op) {
      case spv::Op::OpCapability:
        return module_.capability(static_cast<spv::Capability>(operands[0]));
      case spv::Op::OpExtension:
        return module_.extension(reinterpret_cast<const char*>(operands.data()));
      case spv::Op::OpDecorate:
      case spv::Op::OpMemberDecorate:
        return decorations_[operands[0]].push_back(each);
      case spv::Op::OpMemoryModel:
      case spv::Op::OpEntryPoint:
      case spv::Op::OpExecutionMode:
        return;  // Skipped, because the merged module has its own instruction of this kind.
      case spv::Op::OpVariable:
        if (operands[2] == word(spv::StorageClass::PushConstant)) pushed_ = operands[1];
        break;
      default:
        break;
    }
    const bool has_type = is_constant(each.op) || each.op == spv::Op::OpVariable;
    globals_[operands[has_type ? 1 : 0]] = each;
  }

  // Returns the operands from index `from` on, with their ids replaced by those of the merged
  // module.
  Words renumbered(const Instruction& each, size_t from) {
    const Literals literals = literals_of(each.op);
    Words words;
    for (size_t i = from; i < each.operands.size(); ++i) {
      const bool is_literal = i >= literals.first && i < literals.end;
      words.push_back(is_literal ? each.operands[i] : renumbered(each.operands[i]));
    }
    return words;
  }

  Id renumbered(Id id) {
    const auto known = ids_.find(id);
    if (known != ids_.end()) return known->second;
    const auto global = globals_.find(id);
    const Id made = global == globals_.end() ? new_local(id) : declared(id, global->second);
    ids_[id] = made;
    return made;
  }

  Id new_local(Id id) {
    const Id made = module_.new_id();
    const auto found = decorations_.find(id);
    if (found != decorations_.end()) decorate(made, found->second);
    return made;
  }

  Id declared(Id id, const Instruction& each) {
    if (each.op == spv::Op::OpExtInstImport) return module_.glsl();
    if (each.op == spv::Op::OpVariable) return variable(id, each);
    if (is_constant(each.op)) {
      return module_.constant(each.op, renumbered(each.operands[0]), each.operands.subspan(2));
    }
    const Words operands = renumbered(each, 1);
    const auto found = decorations_.find(id);
    if (found == decorations_.end()) return module_.type(each.op, operands);
    Words key = operands;
    key.push_back(word(each.op));
    for (const Instruction& decoration : found->second) {
      key.insert(key.end(), decoration.operands.begin() + 1, decoration.operands.end());
    }
    const auto [at, is_new] = decorated_.insert({std::move(key), 0});
    if (is_new) decorate(at->second = module_.new_type(each.op, operands), found->second);
    return at->second;
  }

  Id variable(Id id, const Instruction& each) {
    const Id pointer = renumbered(each.operands[0]);
    const auto storage = static_cast<spv::StorageClass>(each.operands[2]);
    if (storage == spv::StorageClass::Input) {
      const auto which = static_cast<spv::BuiltIn>(decoration(id, spv::Decoration::BuiltIn));
      return code_.input_variable(which, pointer);
    }
    assert(storage == spv::StorageClass::StorageBuffer);
    const uint32_t own = decoration(id, spv::Decoration::Binding);
    const bool is_operand = own > 0;
    const uint32_t binding = is_operand ? part_->bindings[own - 1] : 0;
    const auto [at, is_new] = variables_.insert({{pointer, binding, is_operand}, 0});
    if (is_new) {
      at->second = code_.bind(pointer, binding);
      // Operands are coherent, because an invocation may load elements that other invocations
      // stored before a barrier.
      if (is_operand) module_.decorate(at->second, spv::Decoration::Coherent);
    }
    return at->second;
  }

  uint32_t decoration(Id id, spv::Decoration which) const {
    for (const Instruction& each : decorations_.at(id)) {
      if (each.operands[1] == word(which)) return each.operands[2];
    }
    assert(false);
    return 0;
  }

  void decorate(Id id, std::span<const Instruction> decorations) {
    for (const Instruction& each : decorations) {
      if (each.op == spv::Op::OpMemberDecorate) {
        module_.decorate_member(id, each.operands[1],
                                static_cast<spv::Decoration>(each.operands[2]),
                                each.operands.subspan(3));
      } else {
        module_.decorate(id, static_cast<spv::Decoration>(each.operands[1]),
                         each.operands.subspan(2));
      }
    }
  }

  Code code_;
  Module& module_;
  const Id void_type_, u32_;
  std::map<Words, Id> decorated_;  // Ids of decorated types.
  struct Bound {
    Id pointer;
    uint32_t binding;
    bool is_operand;
    auto operator<=>(const Bound&) const = default;
  };
  std::map<Bound, Id> variables_;

  // ---- state of the current part
  const Part* part_ = nullptr;
  std::unordered_map<Id, Instruction> globals_;
  std::unordered_map<Id, std::vector<Instruction>> decorations_;
  std::unordered_map<Id, Id> ids_;  // Ids in the merged module.
  Id pushed_ = 0, at_pushed_ = 0;   // The ids of the push constant and of the pointer to its word.
};

}  // namespace

// Returns a module that runs the shaders of the parts one after another.
Words merge_shaders(std::span<const Part> parts, const Capabilities& capabilities,
                    uint32_t local_size) {
  return Writer(capabilities, local_size).write(parts);
}

}  // namespace tenon_vulkan::spirv
