#include "plugins/vulkan/spirv/module.h"

namespace tenon_vulkan::spirv {
namespace {

constexpr uint32_t kMagic = spv::MagicNumber;
constexpr uint32_t kVersion = 0x00010300;  // The newest version that Vulkan 1.1 accepts.
constexpr uint32_t kGenerator = 0;

}  // namespace

// Appends one instruction.
void append(Words& to, spv::Op op, Operands operands) {
  to.push_back(word(operands.size() + 1) << 16 | word(op));
  to.insert(to.end(), operands.begin(), operands.end());
}

// Appends a literal string as operands.
void append_text(Words& operands, std::string_view text) {
  for (size_t at = 0; at <= text.size(); at += 4) {
    uint32_t packed = 0;
    for (size_t i = 0; i < 4 && at + i < text.size(); ++i) {
      packed |= uint32_t{static_cast<unsigned char>(text[at + i])} << (8 * i);
    }
    operands.push_back(packed);
  }
}

// Declares a capability, unless it is already declared.
void Module::capability(spv::Capability capability) {
  if (emitted_.insert({{0, word(capability)}, true}).second) {
    append(capabilities_, spv::Op::OpCapability, {word(capability)});
  }
}

// Declares an extension, unless it is already declared.
void Module::extension(std::string_view name) {
  Words text;
  append_text(text, name);
  Words key = text;
  key.insert(key.begin(), 1);
  if (emitted_.insert({key, true}).second) append(extensions_, spv::Op::OpExtension, text);
}

// Returns the id of the instruction set GLSL.std.450; imports it at the first use.
Id Module::glsl() {
  if (glsl_ == 0) {
    Words operands = {glsl_ = new_id()};
    append_text(operands, "GLSL.std.450");
    append(imports_, spv::Op::OpExtInstImport, operands);
  }
  return glsl_;
}

void Module::decorate(Id target, spv::Decoration decoration, Operands literals) {
  Words operands = {target, word(decoration)};
  operands.insert(operands.end(), literals.begin(), literals.end());
  append(decorations_, spv::Op::OpDecorate, operands);
}

void Module::decorate_member(Id type, uint32_t member, spv::Decoration decoration,
                             Operands literals) {
  Words operands = {type, member, word(decoration)};
  operands.insert(operands.end(), literals.begin(), literals.end());
  append(decorations_, spv::Op::OpMemberDecorate, operands);
}

// Appends a declaration with a new id, and returns the id.
Id Module::declare(spv::Op op, Operands operands, bool has_type) {
  Words with_id(operands.begin(), operands.end());
  const Id id = new_id();
  with_id.insert(with_id.begin() + (has_type ? 1 : 0), id);
  append(globals_, op, with_id);
  return id;
}

// Returns the type that the instruction declares; equal instructions share one type.
Id Module::type(spv::Op op, Operands operands) {
  Words key = {word(op)};
  key.insert(key.end(), operands.begin(), operands.end());
  const auto [at, is_new] = declared_.insert({std::move(key), 0});
  if (is_new) at->second = declare(op, operands, false);
  return at->second;
}

// Declares a new type, even if an equal one exists.
Id Module::new_type(spv::Op op, Operands operands) { return declare(op, operands, false); }

// Returns the type of pointers to `pointee`.
Id Module::pointer(spv::StorageClass storage, Id pointee) {
  return type(spv::Op::OpTypePointer, {word(storage), pointee});
}

// Returns the constant that the instruction declares; equal instructions share one constant.
Id Module::constant(spv::Op op, Id type, Operands words) {
  Words operands = {type};
  operands.insert(operands.end(), words.begin(), words.end());
  Words key = operands;
  key.insert(key.begin(), word(op));
  const auto [at, is_new] = declared_.insert({std::move(key), 0});
  if (is_new) at->second = declare(op, operands, true);
  return at->second;
}

Id Module::constant(Id type, bool value) {
  return constant(value ? spv::Op::OpConstantTrue : spv::Op::OpConstantFalse, type, {});
}

// Declares a variable outside functions, and returns its id.
Id Module::global(Id pointer_type, spv::StorageClass storage) {
  const uint32_t operands[] = {pointer_type, word(storage)};
  const Id id = declare(spv::Op::OpVariable, operands, true);
  // Before SPIR-V 1.4, the interface of an entry point lists only Input and Output variables.
  if (storage == spv::StorageClass::Input) interface_.push_back(id);
  return id;
}

// Declares a function as an entry point for compute shaders.
void Module::entry_point(Id function, std::string_view name) {
  Words operands = {word(spv::ExecutionModel::GLCompute), function};
  append_text(operands, name);
  operands.insert(operands.end(), interface_.begin(), interface_.end());
  append(entry_points_, spv::Op::OpEntryPoint, operands);
}

// Sets an execution mode of an entry point.
void Module::execution_mode(Id function, spv::ExecutionMode mode, Operands literals) {
  Words operands = {function, word(mode)};
  operands.insert(operands.end(), literals.begin(), literals.end());
  append(modes_, spv::Op::OpExecutionMode, operands);
}

// Returns the words of the module. `functions`: the instructions of all its functions.
Words Module::finish(std::span<const uint32_t> functions) const {
  Words words = {kMagic, kVersion, kGenerator, next_id_, 0};
  const auto add = [&](std::span<const uint32_t> section) {
    words.insert(words.end(), section.begin(), section.end());
  };
  add(capabilities_);
  add(extensions_);
  add(imports_);
  append(words, spv::Op::OpMemoryModel,
         {word(spv::AddressingModel::Logical), word(spv::MemoryModel::GLSL450)});
  add(entry_points_);
  add(modes_);
  add(decorations_);
  add(globals_);
  add(functions);
  return words;
}

}  // namespace tenon_vulkan::spirv
