#include "plugins/vulkan/spirv/code.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace tenon_vulkan::spirv {
namespace {

bool is_float_arithmetic(spv::Op op) {
  return op == spv::Op::OpFAdd || op == spv::Op::OpFSub || op == spv::Op::OpFMul ||
         op == spv::Op::OpFDiv;
}

}  // namespace

Code::Code(const Capabilities& capabilities, const Shape& shape)
    : shape_(shape),
      may_flush_subnormals_(!capabilities.controls32.preserves_denorms),
      has_exact_range_division_(capabilities.runs_on_host),
      subgroups_are_quads_(capabilities.subgroup_quad && capabilities.subgroup_size == 4),
      n_concurrent_(
          std::gcd(shape.local_size, std::bit_floor(std::max(capabilities.subgroup_size, 1u)))) {
  module_.capability(spv::Capability::Shader);
  const Id nothing = module_.type(spv::Op::OpTypeVoid, {});
  const Id signature = module_.type(spv::Op::OpTypeFunction, {nothing});
  function_ = module_.new_id();
  append(variables_, spv::Op::OpFunction, {nothing, function_, 0, signature});
  append(variables_, spv::Op::OpLabel, {module_.new_id()});
  request_float_controls(capabilities);

  const Id block = storage_buffer_type(type(Scalar::kU32), 4);
  const Id block_of_vectors = shape.vectors == 0 ? 0 : storage_buffer_type(vector_type(4), 16);
  parameters_ = bind(block, 0);
  for (uint32_t i = 0; i < shape.n_operands; ++i) {
    const Memory::Kind kind = kind_of(i);
    operands_.push_back(
        kind == Memory::Kind::kTexels
            ? bind_texels(i + 1)
            : bind(kind == Memory::Kind::kVectors ? block_of_vectors : block, i + 1));
  }

  const Id constants = module_.new_type(spv::Op::OpTypeStruct, {type(Scalar::kU32)});
  module_.decorate(constants, spv::Decoration::Block);
  module_.decorate_member(constants, 0, spv::Decoration::Offset, {0});
  const Id pushed = module_.global(module_.pointer(spv::StorageClass::PushConstant, constants),
                                   spv::StorageClass::PushConstant);
  const Id at = module_.new_id();
  append(body_, spv::Op::OpAccessChain,
         {module_.pointer(spv::StorageClass::PushConstant, type(Scalar::kU32)), at, pushed,
          u32(0).id});
  first_parameter_ = emit<U32>(spv::Op::OpLoad, {at}).id;

  local_index_ = built_in(spv::BuiltIn::LocalInvocationId, 0);
  group_index_ = built_in(spv::BuiltIn::WorkgroupId, 0);
  n_groups_ = built_in(spv::BuiltIn::NumWorkgroups, 0);
}

// Requests the float controls that the device supports: preservation of NaN, infinities, signed
// zeros and subnormals, and rounding to nearest even.
void Code::request_float_controls(const Capabilities& capabilities) {
  const auto ask = [&](spv::Capability capability, spv::ExecutionMode mode, uint32_t width) {
    module_.extension("SPV_KHR_float_controls");
    module_.capability(capability);
    module_.execution_mode(function_, mode, {width});
  };
  const FloatControls &single = capabilities.controls32, &wide = capabilities.controls64;
  const auto ask_both = [&](spv::Capability capability, spv::ExecutionMode mode, bool single_has,
                            bool wide_has) {
    if (single_has) ask(capability, mode, 32);
    if (wide_has) ask(capability, mode, 64);
  };
  ask_both(spv::Capability::SignedZeroInfNanPreserve, spv::ExecutionMode::SignedZeroInfNanPreserve,
           single.preserves_signed_zero_inf_nan, wide.preserves_signed_zero_inf_nan);
  ask_both(spv::Capability::RoundingModeRTE, spv::ExecutionMode::RoundingModeRTE,
           single.rounds_to_nearest_even, wide.rounds_to_nearest_even);
  ask_both(spv::Capability::DenormPreserve, spv::ExecutionMode::DenormPreserve,
           single.preserves_denorms, wide.preserves_denorms);
}

// Returns the pointer type of a storage buffer of elements.
Id Code::storage_buffer_type(Id element, uint32_t element_bytes) {
  const Id elements = module_.new_type(spv::Op::OpTypeRuntimeArray, {element});
  module_.decorate(elements, spv::Decoration::ArrayStride, {element_bytes});
  const Id block = module_.new_type(spv::Op::OpTypeStruct, {elements});
  module_.decorate(block, spv::Decoration::Block);
  module_.decorate_member(block, 0, spv::Decoration::Offset, {0});
  return module_.pointer(spv::StorageClass::StorageBuffer, block);
}

// Declares the storage buffer with this binding number. Returns the variable.
Id Code::bind(Id pointer, uint32_t binding) {
  const Id variable = module_.global(pointer, spv::StorageClass::StorageBuffer);
  module_.decorate(variable, spv::Decoration::DescriptorSet, {0});
  module_.decorate(variable, spv::Decoration::Binding, {binding});
  module_.decorate(variable, spv::Decoration::Aliased, {});  // An output may alias an input.
  return variable;
}

// Declares the read-only texel buffer with this binding number. Returns the variable.
Id Code::bind_texels(uint32_t binding) {
  module_.capability(spv::Capability::ImageBuffer);
  const Id pointer = module_.pointer(spv::StorageClass::UniformConstant, texel_buffer_type());
  const Id variable = module_.global(pointer, spv::StorageClass::UniformConstant);
  module_.decorate(variable, spv::Decoration::DescriptorSet, {0});
  module_.decorate(variable, spv::Decoration::Binding, {binding});
  module_.decorate(variable, spv::Decoration::NonWritable, {});
  return variable;
}

// Returns the type of a texel buffer with four words per texel, which is accessed as a storage
// image.
Id Code::texel_buffer_type() {
  constexpr uint32_t kNoDepth = 0, kOne = 0, kSingleSample = 0, kReadAndWritten = 2;
  return module_.type(spv::Op::OpTypeImage,
                      {type(Scalar::kU32), word(spv::Dim::Buffer), kNoDepth, kOne, kSingleSample,
                       kReadAndWritten, word(spv::ImageFormat::Rgba32ui)});
}

// Returns the variable of a built-in input; declares it at the first use.
Id Code::input_variable(spv::BuiltIn which, Id pointer) {
  const auto [at, is_new] = inputs_.insert({which, 0});
  if (is_new) {
    at->second = module_.global(pointer, spv::StorageClass::Input);
    module_.decorate(at->second, spv::Decoration::BuiltIn, {word(which)});
  }
  return at->second;
}

// Loads a built-in input.
Id Code::input(spv::BuiltIn which, Id type) {
  const Id variable = input_variable(which, module_.pointer(spv::StorageClass::Input, type));
  const Id loaded = module_.new_id();
  append(body_, spv::Op::OpLoad, {type, loaded, variable});
  return loaded;
}

// Loads a component of a built-in input that is a vector of three words.
U32 Code::built_in(spv::BuiltIn which, uint32_t component) {
  const Id loaded = input(which, vector_type(3));
  return emit<U32>(spv::Op::OpCompositeExtract, {loaded, component});
}

// Loads the index of the invocation in its subgroup.
U32 Code::subgroup_lane() {
  module_.capability(spv::Capability::GroupNonUniform);
  return {this, input(spv::BuiltIn::SubgroupLocalInvocationId, type(Scalar::kU32))};
}

// Returns the value of `x` in invocation `lane` of the subgroup, by a shuffle instruction.
F32 Code::from_lane(F32 x, uint32_t lane) {
  module_.capability(spv::Capability::GroupNonUniformShuffle);
  const Id subgroup = u32(word(spv::Scope::Subgroup)).id;
  return emit<F32>(spv::Op::OpGroupNonUniformShuffle, {subgroup, x.id, u32(lane).id});
}

// Returns the value of `x` in invocation `lane` of the subgroup, by a broadcast instruction.
F32 Code::broadcast(F32 x, uint32_t lane) {
  module_.capability(subgroups_are_quads_ ? spv::Capability::GroupNonUniformQuad
                                          : spv::Capability::GroupNonUniformBallot);
  const Id subgroup = u32(word(spv::Scope::Subgroup)).id;
  return emit<F32>(subgroups_are_quads_ ? spv::Op::OpGroupNonUniformQuadBroadcast
                                        : spv::Op::OpGroupNonUniformBroadcast,
                   {subgroup, x.id, u32(lane).id});
}

// Ends the main function and returns the SPIR-V module.
Words Code::finish() {
  append(body_, spv::Op::OpReturn, {});
  append(body_, spv::Op::OpFunctionEnd, {});
  module_.entry_point(function_, "main");
  module_.execution_mode(function_, spv::ExecutionMode::LocalSize, {shape_.local_size, 1, 1});
  Words function = variables_;
  function.insert(function.end(), body_.begin(), body_.end());
  function.insert(function.end(), functions_.begin(), functions_.end());
  return module_.finish(function);
}

// ---- types and constants

Id Code::type(Scalar scalar) {
  switch (scalar) {
    case Scalar::kBool:
      return module_.type(spv::Op::OpTypeBool, {});
    case Scalar::kU32:
      return module_.type(spv::Op::OpTypeInt, {32, 0});
    case Scalar::kF32:
      return module_.type(spv::Op::OpTypeFloat, {32});
    case Scalar::kF64:
      module_.capability(spv::Capability::Float64);
      return module_.type(spv::Op::OpTypeFloat, {64});
  }
  return 0;
}

Id Code::vector_type(uint32_t n) {
  return module_.type(spv::Op::OpTypeVector, {type(Scalar::kU32), n});
}

// Returns a constant with this value.
U32 Code::u32(uint32_t value) { return {this, module_.constant(type(Scalar::kU32), {value})}; }

// Returns a constant with this value.
F32 Code::f32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return {this, module_.constant(type(Scalar::kF32), {bits})};
}

// Returns a constant with this value.
F64 Code::f64(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return {this, module_.constant(type(Scalar::kF64), {word(bits), word(bits >> 32)})};
}

// Returns a constant with this value.
Bool Code::boolean(bool value) { return {this, module_.constant(type(Scalar::kBool), value)}; }

// ---- parameters and memory

// Returns whether the operand is declared as words, vectors or texels.
Memory::Kind Code::kind_of(uint32_t operand) const {
  if ((shape_.texels >> operand & 1) != 0) return Memory::Kind::kTexels;
  return (shape_.vectors >> operand & 1) != 0 ? Memory::Kind::kVectors : Memory::Kind::kWords;
}

U32 Code::load_parameter_word(U32 index) {
  return Memory(this, parameters_).load(U32{this, first_parameter_} + index);
}
U32 Code::parameter(uint32_t index) { return load_parameter_word(u32(shape_.n_operands + index)); }
U32 Code::parameter(U32 index) { return load_parameter_word(index + shape_.n_operands); }
// Returns the byte offset of an operand in its binding.
U32 Code::operand_offset(uint32_t operand) { return load_parameter_word(u32(operand)); }

// Returns a pointer to the word at `index`.
Id Memory::at(U32 index) const {
  Module& module = code_->module();
  const Id pointer = module.pointer(spv::StorageClass::StorageBuffer, code_->type(Scalar::kU32));
  const Id first = code_->u32(0).id;
  if (kind_ == Kind::kVectors) {
    const Id vector = (index >> 2).id, component = (index & 3).id, id = module.new_id();
    code_->emit(spv::Op::OpAccessChain, {pointer, id, variable_, first, vector, component});
    return id;
  }
  const Id id = module.new_id();
  code_->emit(spv::Op::OpAccessChain, {pointer, id, variable_, first, index.id});
  return id;
}

U32 Memory::load(U32 index) const { return code_->emit<U32>(spv::Op::OpLoad, {at(index)}); }

void Memory::store(U32 index, U32 value) const {
  code_->emit(spv::Op::OpStore, {at(index), value.id});
}

// Applies an atomic instruction to a word. Returns the previous value of the word.
U32 Memory::atomic(spv::Op op, U32 index, U32 value) const {
  const U32 scope = code_->u32(word(spv::Scope::Device)), semantics = code_->u32(0);
  return code_->emit<U32>(op, {at(index), scope.id, semantics.id, value.id});
}

U32 Memory::compare_exchange(U32 index, U32 expected, U32 value) const {
  const U32 scope = code_->u32(word(spv::Scope::Device)), semantics = code_->u32(0);
  return code_->emit<U32>(spv::Op::OpAtomicCompareExchange,
                          {at(index), scope.id, semantics.id, semantics.id, value.id, expected.id});
}

// Returns a pointer to vector `index`, which has four words.
Id Memory::vector_at(U32 index) const {
  Module& module = code_->module();
  const Id pointer = module.pointer(spv::StorageClass::StorageBuffer, code_->vector_type(4));
  const Id id = module.new_id();
  code_->emit(spv::Op::OpAccessChain, {pointer, id, variable_, code_->u32(0).id, index.id});
  return id;
}

std::array<U32, 4> Memory::load_vector(U32 index) const {
  Module& module = code_->module();
  Id vector;
  if (kind_ == Kind::kTexels) {
    const Id image = module.new_id();
    code_->emit(spv::Op::OpLoad, {code_->texel_buffer_type(), image, variable_});
    vector = module.new_id();
    code_->emit(spv::Op::OpImageRead, {code_->vector_type(4), vector, image, index.id});
  } else {
    const Id from = vector_at(index);
    vector = module.new_id();
    code_->emit(spv::Op::OpLoad, {code_->vector_type(4), vector, from});
  }
  std::array<U32, 4> words;
  for (uint32_t i = 0; i < 4; ++i) {
    words[i] = code_->emit<U32>(spv::Op::OpCompositeExtract, {vector, i});
  }
  return words;
}

void Memory::store_vector(U32 index, std::span<const U32, 4> words) const {
  const Id to = vector_at(index), vector = code_->module().new_id();
  code_->emit(spv::Op::OpCompositeConstruct,
              {code_->vector_type(4), vector, words[0].id, words[1].id, words[2].id, words[3].id});
  code_->emit(spv::Op::OpStore, {to, vector});
}

// Function variables must be declared at the beginning of the function.
Id Code::new_variable(Scalar scalar) {
  const Id pointer = module_.pointer(spv::StorageClass::Function, type(scalar));
  const Id id = module_.new_id();
  append(variables_, spv::Op::OpVariable, {pointer, id, word(spv::StorageClass::Function)});
  return id;
}

// Declares an array of `n` elements in shared memory and returns a pointer to it.
Id Code::new_shared(Scalar scalar, uint32_t n) {
  const Id array = module_.type(spv::Op::OpTypeArray, {type(scalar), u32(n).id});
  return module_.global(module_.pointer(spv::StorageClass::Workgroup, array),
                        spv::StorageClass::Workgroup);
}

namespace {

template <class T>
Id shared_element_pointer(Code& code, Id variable, U32 index) {
  Module& module = code.module();
  const Id id = module.new_id();
  code.emit(spv::Op::OpAccessChain,
            {module.pointer(spv::StorageClass::Workgroup, code.type(T::kScalar)), id, variable,
             index.id});
  return id;
}

}  // namespace

template <class T>
T Shared<T>::get(U32 index) const {
  return code_->emit<T>(spv::Op::OpLoad, {shared_element_pointer<T>(*code_, variable_, index)});
}
template <class T>
void Shared<T>::set(U32 index, T value) const {
  code_->emit(spv::Op::OpStore, {shared_element_pointer<T>(*code_, variable_, index), value.id});
}
template class Shared<U32>;
template class Shared<F32>;
template class Shared<F64>;

// ---- instructions

Id Code::emit(spv::Op op, Scalar result, std::initializer_list<uint32_t> operands) {
  Words all = {type(result), module_.new_id()};
  all.insert(all.end(), operands);
  append(body_, op, all);
  if (is_float_arithmetic(op)) module_.decorate(all[1], spv::Decoration::NoContraction);
  return all[1];
}

Id Code::emit_glsl(GLSLstd450 function, Scalar result, std::initializer_list<uint32_t> operands) {
  Words all = {type(result), module_.new_id(), module_.glsl(), word(function)};
  all.insert(all.end(), operands);
  append(body_, spv::Op::OpExtInst, all);
  return all[1];
}

// Emits an instruction whose result is a struct of two words, and returns both words.
std::pair<U32, U32> Code::emit_pair(spv::Op op, U32 a, U32 b) {
  const Id both = module_.type(spv::Op::OpTypeStruct, {type(Scalar::kU32), type(Scalar::kU32)});
  const Id id = module_.new_id();
  append(body_, op, {both, id, a.id, b.id});
  return {emit<U32>(spv::Op::OpCompositeExtract, {id, 0}),
          emit<U32>(spv::Op::OpCompositeExtract, {id, 1})};
}

// Returns the low and the high word of the 64-bit product.
std::pair<U32, U32> Code::multiply_wide(U32 a, U32 b) {
  return emit_pair(spv::Op::OpUMulExtended, a, b);
}
std::pair<U32, U32> Code::add_carry(U32 a, U32 b) { return emit_pair(spv::Op::OpIAddCarry, a, b); }
std::pair<U32, U32> Code::sub_borrow(U32 a, U32 b) {
  return emit_pair(spv::Op::OpISubBorrow, a, b);
}

// Returns the double with these low and high words.
F64 Code::as_f64(U32 low, U32 high) {
  const Id both = module_.new_id();
  append(body_, spv::Op::OpCompositeConstruct, {vector_type(2), both, low.id, high.id});
  return emit<F64>(spv::Op::OpBitcast, {both});
}

// Returns the low and the high word of a double.
std::pair<U32, U32> Code::words_of(F64 x) {
  const Id both = module_.new_id();
  append(body_, spv::Op::OpBitcast, {vector_type(2), both, x.id});
  return {emit<U32>(spv::Op::OpCompositeExtract, {both, 0}),
          emit<U32>(spv::Op::OpCompositeExtract, {both, 1})};
}

// ---- structured control flow: every branch declares its merge block

Code::Branch Code::begin_if(Bool condition) {
  const Id then = module_.new_id(), merge = module_.new_id();
  emit(spv::Op::OpSelectionMerge, {merge, 0});
  emit(spv::Op::OpBranchConditional, {condition.id, then, merge});
  label(then);
  return {merge, merge};
}

Code::Branch Code::begin_if_else(Bool condition) {
  const Id then = module_.new_id(), otherwise = module_.new_id(), merge = module_.new_id();
  emit(spv::Op::OpSelectionMerge, {merge, 0});
  emit(spv::Op::OpBranchConditional, {condition.id, then, otherwise});
  label(then);
  return {otherwise, merge};
}

void Code::begin_else(const Branch& branch) {
  emit(spv::Op::OpBranch, {branch.merge});
  label(branch.otherwise);
}

void Code::end_if(const Branch& branch) {
  emit(spv::Op::OpBranch, {branch.merge});
  label(branch.merge);
}

Code::Loop Code::begin_loop() {
  const Loop loop = {module_.new_id(), module_.new_id(), module_.new_id()};
  const Id test = module_.new_id();
  emit(spv::Op::OpBranch, {loop.header});
  label(loop.header);
  emit(spv::Op::OpLoopMerge, {loop.merge, loop.next, 0});
  emit(spv::Op::OpBranch, {test});
  label(test);
  return loop;
}

// Emits the test at the start of an iteration: the loop ends if `condition` is false.
void Code::test_loop(const Loop& loop, Bool condition) {
  const Id body = module_.new_id();
  emit(spv::Op::OpBranchConditional, {condition.id, body, loop.merge});
  label(body);
}

void Code::end_loop(const Loop& loop) {
  emit(spv::Op::OpBranch, {loop.next});
  label(loop.next);
  emit(spv::Op::OpBranch, {loop.header});
  label(loop.merge);
}

void Code::barrier() {
  const auto semantics = word(spv::MemorySemanticsMask::AcquireRelease) |
                         word(spv::MemorySemanticsMask::WorkgroupMemory) |
                         word(spv::MemorySemanticsMask::UniformMemory);
  const uint32_t group = u32(word(spv::Scope::Workgroup)).id;
  emit(spv::Op::OpControlBarrier, {group, group, u32(semantics).id});
}

}  // namespace tenon_vulkan::spirv
