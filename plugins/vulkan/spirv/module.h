// Builds a SPIR-V module: allocates ids, deduplicates types and constants, and orders the sections
// as the specification (section 2.4) requires.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <spirv/unified1/spirv.hpp11>
#include <string_view>
#include <vector>

namespace tenon_vulkan::spirv {

using Id = uint32_t;
using Words = std::vector<uint32_t>;

// Converts an enumerator or a number to a word of SPIR-V.
inline uint32_t word(auto value) { return static_cast<uint32_t>(value); }

// The operand words of an instruction. This is a view, which is valid only during the call that it
// is passed to.
struct Operands : std::span<const uint32_t> {
  using std::span<const uint32_t>::span;
  Operands(std::span<const uint32_t> words) : span(words) {}
  Operands(std::initializer_list<uint32_t> words) : span(words.begin(), words.size()) {}
};

// Appends one instruction.
void append(Words& to, spv::Op op, Operands operands);
// Appends a literal string as operands.
void append_text(Words& operands, std::string_view text);

class Module {
 public:
  Id new_id() { return next_id_++; }

  // Declare a capability or an extension, unless it is already declared.
  void capability(spv::Capability capability);
  void extension(std::string_view name);
  // Returns the id of the extended instruction set GLSL.std.450.
  Id glsl();
  void decorate(Id target, spv::Decoration decoration, Operands literals = {});
  void decorate_member(Id type, uint32_t member, spv::Decoration decoration,
                       Operands literals = {});

  // Returns the type that the instruction declares; equal instructions share one type.
  Id type(spv::Op op, Operands operands);
  // Returns a new type that is not deduplicated, for structs and arrays with decorations.
  Id new_type(spv::Op op, Operands operands);
  // Returns the type of pointers to `pointee`.
  Id pointer(spv::StorageClass storage, Id pointee);
  // Return the constant with this value; equal constants share one id.
  Id constant(Id type, std::initializer_list<uint32_t> words) {
    return constant(spv::Op::OpConstant, type, words);
  }
  Id constant(Id type, bool value);
  Id constant(spv::Op op, Id type, Operands words);
  // Declares a variable outside functions, and returns its id.
  Id global(Id pointer_type, spv::StorageClass storage);

  // Declares a function as an entry point for compute shaders.
  void entry_point(Id function, std::string_view name);
  // Sets an execution mode of an entry point.
  void execution_mode(Id function, spv::ExecutionMode mode, Operands literals);

  // Returns the words of the module. `functions`: the instructions of all its functions.
  Words finish(std::span<const uint32_t> functions) const;

 private:
  // Appends a declaration with a new id, and returns the id. `has_type`: the instruction has a
  // result type, which precedes the result id. Type instructions have none.
  Id declare(spv::Op op, Operands operands, bool has_type);

  Id next_id_ = 1;
  Id glsl_ = 0;
  Words capabilities_, extensions_, imports_, entry_points_, modes_, decorations_, globals_;
  std::vector<Id> interface_;
  std::map<Words, Id> declared_;
  std::map<Words, bool> emitted_;
};

}  // namespace tenon_vulkan::spirv
