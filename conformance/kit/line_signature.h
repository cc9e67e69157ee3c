// Parses the signature of a kernel line. The comment at tenon_kernel in tenon/plugin.h defines the
// grammar.

#pragma once

#include <tenon/plugin.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenon_kit {

struct LineOperand {
  char letter = 0;  // 0 if the operand has the fixed `dtype`.
  tenon_dtype dtype = TENON_DTYPE_NONE;
  bool optional = false;
  bool variadic = false;
};

struct LineSignature {
  std::vector<LineOperand> inputs;
  std::vector<LineOperand> outputs;
  std::map<char, std::vector<tenon_dtype>> classes;
  bool shaped = false;
  bool loop = false, anchor = false;
};

// Parses a signature. On a syntax error, throws std::invalid_argument with the expected syntax and
// the position.
LineSignature parse_line_signature(std::string_view text);

}  // namespace tenon_kit
