// Generates the hand-written shaders in SPIR-V assembly language.

#include <string>

#include "benches/bare_vulkan.h"

namespace benches {
namespace {

constexpr uint32_t kLocalSize = 64, kRowOfGroups = 1024;

// Returns the start of a shader in SPIR-V assembly. It declares two buffers of elements of the type
// `element`, and computes the invocation index %i. Includes the given lines of decorations and
// constants.
std::string head(const std::string& element, uint32_t element_bytes, const std::string& decorations,
                 const std::string& constants) {
  return R"(
    OpCapability Shader
    OpExtension "SPV_KHR_storage_buffer_storage_class"
    %glsl = OpExtInstImport "GLSL.std.450"
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main" %id %groups
    OpExecutionMode %main LocalSize )" +
         std::to_string(kLocalSize) + R"( 1 1
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %groups BuiltIn NumWorkgroups
    OpDecorate %array ArrayStride )" +
         std::to_string(element_bytes) + R"(
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %block Block
    OpDecorate %from DescriptorSet 0
    OpDecorate %from Binding 0
    OpDecorate %to DescriptorSet 0
    OpDecorate %to Binding 1
)" + decorations +
         R"(
    %void = OpTypeVoid
    %bool = OpTypeBool
    %float = OpTypeFloat 32
    %uint = OpTypeInt 32 0
    %uint3 = OpTypeVector %uint 3
    %uint4 = OpTypeVector %uint 4
    %array = OpTypeRuntimeArray %)" +
         element + R"(
    %block = OpTypeStruct %array
    %block_pointer = OpTypePointer StorageBuffer %block
    %pointer = OpTypePointer StorageBuffer %)" +
         element + R"(
    %input = OpTypePointer Input %uint3
    %id = OpVariable %input Input
    %groups = OpVariable %input Input
    %from = OpVariable %block_pointer StorageBuffer
    %to = OpVariable %block_pointer StorageBuffer
    %zero = OpConstant %uint 0
    %one = OpConstant %uint 1
    %local_size = OpConstant %uint )" +
         std::to_string(kLocalSize) + R"(
    %row = OpConstant %uint )" +
         std::to_string(kRowOfGroups * kLocalSize) + constants + R"(
    %signature = OpTypeFunction %void
    %main = OpFunction %void None %signature
    %entry = OpLabel
    %ids = OpLoad %uint3 %id
    %x = OpCompositeExtract %uint %ids 0
    %y = OpCompositeExtract %uint %ids 1
    %above = OpIMul %uint %y %row
    %i = OpIAdd %uint %above %x
)";
}

constexpr const char* kEnd = R"(
    OpReturn
    OpFunctionEnd
)";

}  // namespace

// Returns the numbers of workgroups (x, y, z) for `n_invocations` invocations.
std::array<uint32_t, 3> groups_in_rows(uint32_t n_invocations) {
  return {kRowOfGroups, n_invocations / (kRowOfGroups * kLocalSize), 1};
}

// Returns the numbers of workgroups (x, y, z) with which copy_shader() copies n words.
std::array<uint32_t, 3> copy_groups(Copy copy, uint32_t n_words) {
  if (copy == Copy::kVec4Loop) return {kRowOfGroups, 1, 1};
  return groups_in_rows(copy == Copy::kWord ? n_words : n_words / 4);
}

// Returns a shader that copies n 32-bit words from the input to the output.
std::string copy_shader(Copy copy, uint32_t n_words) {
  const std::string element = copy == Copy::kWord ? "uint" : "uint4";
  const std::string move = R"(
    %source = OpAccessChain %pointer %from %zero %at
    %target = OpAccessChain %pointer %to %zero %at
    %moved = OpLoad %)" + element +
                           R"( %source
    OpStore %target %moved
)";
  const uint32_t element_bytes = copy == Copy::kWord ? 4 : 16;
  if (copy != Copy::kVec4Loop) {
    return head(element, element_bytes, "", "") + "%at = OpCopyObject %uint %i" + move + kEnd;
  }
  return head(element, element_bytes, "",
              "\n%n = OpConstant %uint " + std::to_string(n_words / 4)) +
         R"(
    %sizes = OpLoad %uint3 %groups
    %n_groups = OpCompositeExtract %uint %sizes 0
    %step = OpIMul %uint %n_groups %local_size
    OpBranch %loop
    %loop = OpLabel
    %at = OpPhi %uint %i %entry %after %next
    OpLoopMerge %done %next None
    OpBranch %test
    %test = OpLabel
    %inside = OpULessThan %bool %at %n
    OpBranchConditional %inside %body %done
    %body = OpLabel
)" + move +
         R"(
    OpBranch %next
    %next = OpLabel
    %after = OpIAdd %uint %at %step
    OpBranch %loop
    %done = OpLabel
)" + kEnd;
}

// Returns a shader that computes n_rounds multiply-adds in each of n_chains independent chains.
// Chain k starts with (k + 2) * x. The value x is loaded from memory, so that compilers cannot
// evaluate the chain in advance.
std::string multiply_add_shader(MultiplyAdd how, uint32_t n_chains, uint32_t n_rounds) {
  std::string decorations, begin, phis, body, end;
  for (uint32_t k = 0; k < n_chains; ++k) {
    const std::string c = std::to_string(k), before = k == 0 ? "" : std::to_string(k - 1);
    begin += "%first" + c + " = OpFAdd %float " + (k == 0 ? "%x0" : "%first" + before) + " %x0\n";
    phis += "%chain" + c + " = OpPhi %float %first" + c + " %entry %next" + c + " %next\n";
    if (how == MultiplyAdd::kFused) {
      body += "%next" + c + " = OpExtInst %float %glsl Fma %chain" + c + " %x0 %x0\n";
    } else {
      decorations += "OpDecorate %product" + c + " NoContraction\n";
      decorations += "OpDecorate %next" + c + " NoContraction\n";
      body += "%product" + c + " = OpFMul %float %chain" + c + " %x0\n";
      body += "%next" + c + " = OpFAdd %float %product" + c + " %x0\n";
    }
    if (k == 0) {
      end += "%all0 = OpCopyObject %float %chain0\n";
    } else {
      end += "%all" + c + " = OpFAdd %float %all" + before + " %chain" + c + "\n";
    }
  }
  return head("float", 4, decorations, "\n%n = OpConstant %uint " + std::to_string(n_rounds)) + R"(
    %source = OpAccessChain %pointer %from %zero %i
    %target = OpAccessChain %pointer %to %zero %i
    %x0 = OpLoad %float %source
)" + begin +
         R"(
    OpBranch %loop
    %loop = OpLabel
    %round = OpPhi %uint %zero %entry %after %next
)" + phis +
         R"(
    OpLoopMerge %done %next None
    OpBranch %test
    %test = OpLabel
    %inside = OpULessThan %bool %round %n
    OpBranchConditional %inside %body %done
    %body = OpLabel
)" + body +
         R"(
    OpBranch %next
    %next = OpLabel
    %after = OpIAdd %uint %round %one
    OpBranch %loop
    %done = OpLabel
)" + end +
         "OpStore %target %all" + std::to_string(n_chains - 1) + "\n" + kEnd;
}

}  // namespace benches
