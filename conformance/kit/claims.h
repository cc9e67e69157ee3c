// Lists what a plugin claims: for each kernel line, the op and every assignment of its dtypes.

#pragma once

#include <tenon/plugin.h>

#include <string>
#include <vector>

#include "conformance/kit/op_registry.h"

namespace tenon_kit {

// A signature: one op with one assignment of dtypes, and a row of the report.
struct Claim {
  const OpFacts* op = nullptr;
  std::vector<tenon_dtype> inputs;  // One for each operand of the signature.
  std::vector<tenon_dtype> outputs;
  std::string dtypes;   // "f32", or "f32,i64" or "f32->i8" where they differ.
  bool claimed = true;  // Whether the plugin claims it; if false, only the registry has it.
};

// Claims in the order of the plugin's kernel lines, without duplicates. Lines of custom ops are
// only counted.
struct Claims {
  std::vector<Claim> rows;
  size_t n_custom = 0;
};
// Reads the kernel lines of a plugin.
Claims read_claims(const tenon_plugin& plugin);

// Formats a claim's dtypes, such as "f32,i64->bool".
std::string dtypes_text(const std::vector<tenon_dtype>& inputs,
                        const std::vector<tenon_dtype>& outputs);

}  // namespace tenon_kit
