// What a plugin claims: for each line of its kernels, the op and every way to bind its dtypes.

#pragma once

#include <tenon/plugin.h>

#include <string>
#include <vector>

#include "conformance/kit/op_registry.h"

namespace tenon_kit {

// One op on one choice of dtypes: a row of the report.
struct Claim {
  const OpFacts* op = nullptr;
  std::vector<tenon_dtype> inputs;  // One for each operand of the signature.
  std::vector<tenon_dtype> outputs;
  std::string dtypes;   // "f32", or "f32,i64" or "f32->i8" where they differ.
  bool claimed = true;  // False: the plugin does not, and the registry has it.
};

// In the order of the plugin's lines, each pair once. Lines of custom ops are left out, and
// counted.
struct Claims {
  std::vector<Claim> rows;
  size_t n_custom = 0;
};
Claims read_claims(const tenon_plugin& plugin);

// The dtypes of a claim by name.
std::string dtypes_text(const std::vector<tenon_dtype>& inputs,
                        const std::vector<tenon_dtype>& outputs);

}  // namespace tenon_kit
