// An embedded C++ language that emits SPIR-V.
//
//   Code code(capabilities, {.n_operands = 2, .local_size = 64});
//   const Memory x = code.operand(0), y = code.operand(1);
//   code.for_each(code.parameter(0), [&](U32 i) { y.store(i, x.load(i) + 1u); });
//   const Words module = code.finish();
//
// Values are SSA values; mutable variables are of class Var. Floating-point operations are
// evaluated as written, without contraction.

#pragma once

#include <spirv/unified1/GLSL.std.450.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <utility>

#include "plugins/vulkan/capabilities.h"
#include "plugins/vulkan/spirv/module.h"

namespace tenon_vulkan::spirv {

class Code;

enum class Scalar : uint8_t { kBool, kU32, kF32, kF64 };

// An SSA value. All 32-bit integers have one type; the operations determine whether they are
// signed.
template <Scalar scalar>
struct Value {
  static constexpr Scalar kScalar = scalar;
  Code* code = nullptr;
  Id id = 0;
};
using Bool = Value<Scalar::kBool>;
using U32 = Value<Scalar::kU32>;
using F32 = Value<Scalar::kF32>;
using F64 = Value<Scalar::kF64>;

// A mutable variable in function storage.
template <class T>
class Var {
 public:
  Var(Code* code, Id pointer) : code_(code), pointer_(pointer) {}
  T get() const;
  void set(T value) const;

 private:
  Code* code_;
  Id pointer_;
};

// An array in shared (workgroup) memory.
template <class T>
class Shared {
 public:
  Shared(Code* code, Id variable) : code_(code), variable_(variable) {}
  T get(U32 index) const;
  void set(U32 index, T value) const;

 private:
  Code* code_;
  Id variable_;
};

// The binding of an operand as an array of 32-bit words. Index 0 is the start of the binding.
class Memory {
 public:
  enum class Kind : uint8_t { kWords, kVectors, kTexels };
  Memory(Code* code, Id variable, Kind kind = Kind::kWords)
      : code_(code), variable_(variable), kind_(kind) {}
  U32 load(U32 index) const;
  void store(U32 index, U32 value) const;
  // Atomic operations. They return the previous value of the word.
  U32 atomic(spv::Op op, U32 index, U32 value) const;
  U32 compare_exchange(U32 index, U32 expected, U32 value) const;

  // Access vectors of four words in operands that are declared as vectors or texels in Shape.
  // `index` counts vectors. Texels support load_vector() only.
  std::array<U32, 4> load_vector(U32 index) const;
  void store_vector(U32 index, std::span<const U32, 4> words) const;

 private:
  // Return a pointer to a word, and to a vector of four words.
  Id at(U32 index) const;
  Id vector_at(U32 index) const;

  Code* code_;
  Id variable_;
  Kind kind_;
};

class Code {
 public:
  struct Shape {
    uint32_t n_operands;
    uint32_t local_size;
    uint32_t vectors = 0;  // Mask of operands that are accessed as vectors of four words.
    uint32_t texels = 0;   // Mask of operands that are bound as texel buffers, which are read-only.
  };
  Code(const Capabilities& capabilities, const Shape& shape);
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  // Returns the SPIR-V module. No other function may be called afterwards.
  Words finish();

  // ---- environment of the invocation

  // Whether the device may treat subnormal inputs and results as zeros.
  bool may_flush_subnormals() const { return may_flush_subnormals_; }
  // Whether division is accurate for all magnitudes, as on CPUs. Other devices may multiply by the
  // reciprocal, which is subnormal and flushed to zero if the divisor is large.
  bool has_exact_range_division() const { return has_exact_range_division_; }
  uint32_t local_size() const { return shape_.local_size; }
  U32 local_index() const { return local_index_; }  // Index of the invocation in its group.
  U32 group_index() const { return group_index_; }
  // Returns the number of workgroups of the dispatch.
  U32 n_groups() const { return n_groups_; }
  // Index of this invocation in the dispatch.
  U32 invocation_index() const;
  U32 subgroup_lane();  // Index of this invocation in the subgroup.
  // Return the value of `x` in invocation `lane` of the subgroup. All invocations must be active.
  // from_lane() emits OpGroupNonUniformShuffle and broadcast() emits OpGroupNonUniformBroadcast;
  // some drivers implement only one of them efficiently.
  F32 from_lane(F32 x, uint32_t lane);
  F32 broadcast(F32 x, uint32_t lane);
  // Returns the memory of the operand with this number.
  Memory operand(uint32_t number) const { return {code(), operands_[number], kind_of(number)}; }
  // Load one of the kernel's own parameters, which follow the operand offsets in the parameters.
  U32 parameter(uint32_t index);
  U32 parameter(U32 index);
  // Returns the byte offset of an operand in its binding.
  U32 operand_offset(uint32_t operand);

  // ---- constants

  // Return a constant with this value.
  U32 u32(uint32_t value);
  F32 f32(float value);
  F64 f64(double value);
  Bool boolean(bool value);

  // ---- control flow

  template <class Then>
  void if_(Bool condition, Then&& then) {
    const Branch branch = begin_if(condition);
    then();
    end_if(branch);
  }
  template <class Then, class Else>
  void if_(Bool condition, Then&& then, Else&& otherwise) {
    const Branch branch = begin_if_else(condition);
    then();
    begin_else(branch);
    otherwise();
    end_if(branch);
  }
  // Loops while condition(), a Bool, is true.
  template <class Condition, class Body>
  void while_(Condition&& condition, Body&& body) {
    const Loop loop = begin_loop();
    test_loop(loop, condition());
    body();
    end_loop(loop);
  }
  // Runs body(U32) for begin, begin + step, ... below `end`.
  template <class Body>
  void for_(U32 begin, U32 end, U32 step, Body&& body);
  // Like for_ with step 1, unrolled by eight.
  template <class Body>
  void for_many(U32 begin, U32 end, Body&& body);
  // Returns the number of loop iterations of for_many() over `n` indices: those of the unrolled
  // loop and of the loop for the remainder, including the final test of each.
  static constexpr uint64_t iterations_of_many(uint64_t n) { return n / 8 + n % 8 + 2; }
  // Runs body(U32) for each index below n, distributed over all invocations of the dispatch. The
  // invocations of a subgroup process neighbouring indices, so they access the same cache lines. On
  // software drivers, one subgroup runs at a time until it ends; there, this order also limits the
  // number of memory pages that it accesses.
  template <class Body>
  void for_each(U32 n, Body&& body);
  // Barrier of the workgroup. Makes earlier writes to shared memory and operands visible to the
  // group.
  void barrier();

  // ---- variables

  // Declares a mutable variable and sets it to `initial`.
  template <class T>
  Var<T> var(T initial) {
    const Var<T> made(this, new_variable(T::kScalar));
    made.set(initial);
    return made;
  }
  // Declares an array of `n` elements in shared memory.
  template <class T>
  Shared<T> shared(uint32_t n) {
    return {this, new_shared(T::kScalar, n)};
  }

  // Returns a pointer to a variable in function storage.
  Id new_variable(Scalar scalar);

  // ---- instructions

  // Emits an instruction, or a call of a function of GLSL.std.450, and returns its result.
  template <class T>
  T emit(spv::Op op, std::initializer_list<uint32_t> operands) {
    return {this, emit(op, T::kScalar, operands)};
  }
  template <class T>
  T glsl(GLSLstd450 function, std::initializer_list<uint32_t> operands) {
    return {this, emit_glsl(function, T::kScalar, operands)};
  }
  // Returns the low and the high word of the 64-bit product of two unsigned words.
  std::pair<U32, U32> multiply_wide(U32 a, U32 b);
  // Returns the sum of two unsigned words and its carry.
  std::pair<U32, U32> add_carry(U32 a, U32 b);
  // Returns the difference of two unsigned words and its borrow.
  std::pair<U32, U32> sub_borrow(U32 a, U32 b);
  // Returns the double with these low and high words.
  F64 as_f64(U32 low, U32 high);
  // Returns the low and the high word of a double.
  std::pair<U32, U32> words_of(F64 x);

  // Return the ids of types.
  Id type(Scalar scalar);
  Id vector_type(uint32_t n);  // The type of a vector of n words.
  Id texel_buffer_type();      // The type of an operand that is bound as texels.
  // Emits an instruction and returns the id of its result, whose type is `result`.
  Id emit(spv::Op op, Scalar result, std::initializer_list<uint32_t> operands);
  // Emits an instruction without a result, or one whose type and result id are in `operands`.
  void emit(spv::Op op, std::initializer_list<uint32_t> operands) { append(body_, op, operands); }
  Module& module() { return module_; }

  // ---- declarations

  // Declares the storage buffer with this binding number, and returns its variable. `pointer`: the
  // pointer type of the variable.
  Id bind(Id pointer, uint32_t binding);
  // Returns the variable of a built-in input; declares it at the first use. `pointer`: the pointer
  // type of the variable.
  Id input_variable(spv::BuiltIn which, Id pointer);
  // Adds a complete function, as its instructions, to the module.
  void add_function(std::span<const uint32_t> function) {
    functions_.insert(functions_.end(), function.begin(), function.end());
  }

 private:
  struct Branch {
    Id otherwise, merge;
  };
  struct Loop {
    Id header, next, merge;
  };
  Code* code() const { return const_cast<Code*>(this); }
  // Returns whether Shape declares the operand as words, vectors or texels.
  Memory::Kind kind_of(uint32_t operand) const;
  // Declares an array in shared memory and returns a pointer to it.
  Id new_shared(Scalar scalar, uint32_t n);
  // Emits a call of a function of GLSL.std.450 and returns the id of its result.
  Id emit_glsl(GLSLstd450 function, Scalar result, std::initializer_list<uint32_t> operands);
  // Emits an instruction whose result is a struct of two words.
  std::pair<U32, U32> emit_pair(spv::Op op, U32 a, U32 b);
  // Loads word `index` of the dispatch's parameters, which begin with the offsets of the operands.
  U32 load_parameter_word(U32 index);
  // Begins a block with this id.
  void label(Id id) { emit(spv::Op::OpLabel, {id}); }
  Branch begin_if(Bool condition);
  Branch begin_if_else(Bool condition);
  void begin_else(const Branch& branch);
  void end_if(const Branch& branch);
  Loop begin_loop();
  // Emits the test at the start of an iteration: the loop ends if `condition` is false.
  void test_loop(const Loop& loop, Bool condition);
  void end_loop(const Loop& loop);
  void request_float_controls(const Capabilities& capabilities);
  Id storage_buffer_type(Id element, uint32_t element_bytes);
  // Declares the texel buffer with this binding number.
  Id bind_texels(uint32_t binding);
  // Loads a built-in input of this type.
  Id input(spv::BuiltIn which, Id type);
  // Loads a component of a built-in input, such as the index of the workgroup.
  U32 built_in(spv::BuiltIn which, uint32_t component);

  const Shape shape_;
  const bool may_flush_subnormals_;
  const bool has_exact_range_division_;
  const bool subgroups_are_quads_;
  const uint32_t
      n_concurrent_;  // Number of consecutive invocations of a group that run concurrently.
  Module module_;
  Words variables_, body_, functions_;
  Id function_ = 0, parameters_ = 0, first_parameter_ = 0;
  std::vector<Id> operands_;
  std::map<spv::BuiltIn, Id> inputs_;  // Variables of built-in inputs.
  U32 local_index_, group_index_, n_groups_;
};

// ---- arithmetic

#define TENON_SPIRV_BINARY(T, Result, symbol, op)           \
  inline Result operator symbol(T a, T b) {                 \
    return a.code->emit<Result>(spv::Op::op, {a.id, b.id}); \
  }
TENON_SPIRV_BINARY(U32, U32, +, OpIAdd)
TENON_SPIRV_BINARY(U32, U32, -, OpISub)
TENON_SPIRV_BINARY(U32, U32, *, OpIMul)
TENON_SPIRV_BINARY(U32, U32, /, OpUDiv)
TENON_SPIRV_BINARY(U32, U32, %, OpUMod)
TENON_SPIRV_BINARY(U32, U32, &, OpBitwiseAnd)
TENON_SPIRV_BINARY(U32, U32, |, OpBitwiseOr)
TENON_SPIRV_BINARY(U32, U32, ^, OpBitwiseXor)
TENON_SPIRV_BINARY(U32, U32, <<, OpShiftLeftLogical)
TENON_SPIRV_BINARY(U32, U32, >>, OpShiftRightLogical)
TENON_SPIRV_BINARY(U32, Bool, ==, OpIEqual)
TENON_SPIRV_BINARY(U32, Bool, !=, OpINotEqual)
TENON_SPIRV_BINARY(U32, Bool, <, OpULessThan)
TENON_SPIRV_BINARY(U32, Bool, <=, OpULessThanEqual)
TENON_SPIRV_BINARY(U32, Bool, >, OpUGreaterThan)
TENON_SPIRV_BINARY(U32, Bool, >=, OpUGreaterThanEqual)
TENON_SPIRV_BINARY(F32, F32, +, OpFAdd)
TENON_SPIRV_BINARY(F32, F32, -, OpFSub)
TENON_SPIRV_BINARY(F32, F32, *, OpFMul)
TENON_SPIRV_BINARY(F64, F64, +, OpFAdd)
TENON_SPIRV_BINARY(F64, F64, -, OpFSub)
TENON_SPIRV_BINARY(F64, F64, *, OpFMul)
TENON_SPIRV_BINARY(Bool, Bool, &, OpLogicalAnd)
TENON_SPIRV_BINARY(Bool, Bool, |, OpLogicalOr)
TENON_SPIRV_BINARY(Bool, Bool, !=, OpLogicalNotEqual)
// Compare floats. NaN is unequal to every float, and neither less nor greater than any.
#define TENON_SPIRV_COMPARE(T)                         \
  TENON_SPIRV_BINARY(T, Bool, ==, OpFOrdEqual)         \
  TENON_SPIRV_BINARY(T, Bool, !=, OpFUnordNotEqual)    \
  TENON_SPIRV_BINARY(T, Bool, <, OpFOrdLessThan)       \
  TENON_SPIRV_BINARY(T, Bool, <=, OpFOrdLessThanEqual) \
  TENON_SPIRV_BINARY(T, Bool, >, OpFOrdGreaterThan)    \
  TENON_SPIRV_BINARY(T, Bool, >=, OpFOrdGreaterThanEqual)
TENON_SPIRV_COMPARE(F32)
TENON_SPIRV_COMPARE(F64)
#undef TENON_SPIRV_COMPARE
#undef TENON_SPIRV_BINARY

// Divide with an error of at most 2.5 ULP.
F32 operator/(F32 a, F32 b);
F64 operator/(F64 a, F64 b);

inline Bool operator!(Bool a) { return a.code->emit<Bool>(spv::Op::OpLogicalNot, {a.id}); }
inline U32 operator~(U32 a) { return a.code->emit<U32>(spv::Op::OpNot, {a.id}); }
inline U32 operator-(U32 a) { return a.code->emit<U32>(spv::Op::OpSNegate, {a.id}); }

// Define operators whose right operand is a constant.
#define TENON_SPIRV_CONSTANT(symbol) \
  inline auto operator symbol(U32 a, uint32_t b) { return a symbol a.code->u32(b); }
TENON_SPIRV_CONSTANT(+)
TENON_SPIRV_CONSTANT(-)
TENON_SPIRV_CONSTANT(*)
TENON_SPIRV_CONSTANT(/)
TENON_SPIRV_CONSTANT(%)
TENON_SPIRV_CONSTANT(&)
TENON_SPIRV_CONSTANT(|)
TENON_SPIRV_CONSTANT(^)
TENON_SPIRV_CONSTANT(<<)
TENON_SPIRV_CONSTANT(>>)
TENON_SPIRV_CONSTANT(==)
TENON_SPIRV_CONSTANT(!=)
TENON_SPIRV_CONSTANT(<)
TENON_SPIRV_CONSTANT(<=)
TENON_SPIRV_CONSTANT(>)
TENON_SPIRV_CONSTANT(>=)
#undef TENON_SPIRV_CONSTANT

// Signed operations.
inline Bool signed_less(U32 a, U32 b) {
  return a.code->emit<Bool>(spv::Op::OpSLessThan, {a.id, b.id});
}
inline Bool signed_less(U32 a, uint32_t b) { return signed_less(a, a.code->u32(b)); }
inline U32 signed_divide(U32 a, U32 b) { return a.code->emit<U32>(spv::Op::OpSDiv, {a.id, b.id}); }
inline U32 signed_shift_right(U32 a, U32 by) {
  return a.code->emit<U32>(spv::Op::OpShiftRightArithmetic, {a.id, by.id});
}
inline U32 signed_shift_right(U32 a, uint32_t by) { return signed_shift_right(a, a.code->u32(by)); }
// Extends the lowest `bits` bits to a signed word.
inline U32 sign_extend(U32 a, uint32_t bits) {
  return signed_shift_right(a << (32 - bits), 32 - bits);
}

template <Scalar scalar>
Value<scalar> select(Bool condition, Value<scalar> a, Value<scalar> b) {
  return condition.code->emit<Value<scalar>>(spv::Op::OpSelect, {condition.id, a.id, b.id});
}
inline U32 select(Bool condition, uint32_t a, uint32_t b) {
  return select(condition, condition.code->u32(a), condition.code->u32(b));
}
inline U32 min(U32 a, U32 b) { return select(b < a, b, a); }
inline U32 max(U32 a, U32 b) { return select(a < b, b, a); }
// Returns 1 for true and 0 for false.
inline U32 to_u32(Bool a) { return select(a, 1, 0); }

// Reinterpret a float as its bits, and back.
inline U32 bits_of(F32 x) { return x.code->emit<U32>(spv::Op::OpBitcast, {x.id}); }
inline F32 float_of(U32 bits) { return bits.code->emit<F32>(spv::Op::OpBitcast, {bits.id}); }

inline U32 Code::invocation_index() const { return group_index_ * local_size() + local_index_; }

// ---- templates from above

template <class T>
T Var<T>::get() const {
  return code_->emit<T>(spv::Op::OpLoad, {pointer_});
}
template <class T>
void Var<T>::set(T value) const {
  code_->emit(spv::Op::OpStore, {pointer_, value.id});
}

template <class Body>
void Code::for_(U32 begin, U32 end, U32 step, Body&& body) {
  const Var<U32> i = var(begin);
  while_([&] { return i.get() < end; },
         [&] {
           const U32 now = i.get();
           body(now);
           i.set(now + step);
         });
}

template <class Body>
void Code::for_many(U32 begin, U32 end, Body&& body) {
  constexpr uint32_t kAtOnce = 8;
  const Var<U32> i = var(begin);
  while_([&] { return (i.get() < end) & (end - i.get() >= kAtOnce); },
         [&] {
           const U32 now = i.get();
           for (uint32_t k = 0; k < kAtOnce; ++k) body(now + k);
           i.set(now + kAtOnce);
         });
  for_(i.get(), end, u32(1), body);
}

template <class Body>
void Code::for_each(U32 n, Body&& body) {
  const U32 all = n_groups() * local_size();
  const U32 rounds = (n + (all - 1)) / all;
  const U32 own = invocation_index();
  const U32 lane = own & (n_concurrent_ - 1);
  const U32 begin = (own - lane) * rounds + lane;
  for_(begin, min(n, begin + rounds * n_concurrent_), u32(n_concurrent_), body);
}

}  // namespace tenon_vulkan::spirv
