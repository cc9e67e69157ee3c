#include "conformance/kit/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/kit/dtypes.h"
#include "conformance/kit/line_signature.h"

namespace tenon_kit {
namespace {

using DTypes = std::vector<tenon_dtype>;

}  // namespace

std::string dtypes_text(const DTypes& inputs, const DTypes& outputs) {
  std::set<tenon_dtype> all(inputs.begin(), inputs.end());
  all.insert(outputs.begin(), outputs.end());
  if (all.size() == 1) return name_of(*all.begin());
  const auto names = [](const DTypes& dtypes) {
    std::vector<std::string> words;
    for (const tenon_dtype d : dtypes) {
      if (words.empty() || words.back() != name_of(d)) words.push_back(name_of(d));
    }
    return fmt::format("{}", fmt::join(words, ","));
  };
  if (inputs.empty()) return names(outputs);
  if (outputs.empty()) return names(inputs);
  return names(inputs) + "->" + names(outputs);
}

Claims read_claims(const tenon_plugin& plugin) {
  Claims claims;
  std::set<std::pair<uint32_t, std::string>> seen;
  const auto* line = reinterpret_cast<const char*>(plugin.kernels);
  for (size_t i = 0; i < plugin.n_kernels; ++i, line += plugin.kernel_size) {
    const auto& kernel = *reinterpret_cast<const tenon_kernel*>(line);
    if (kernel.op == 0) {
      ++claims.n_custom;
      continue;
    }
    const OpFacts* op = find_op(kernel.op);
    if (!op) continue;  // The op belongs to a later version; the core never requests it.
    const LineSignature s =
        parse_line_signature(std::string(kernel.signature.data, kernel.signature.size));
    // Enumerate all assignments of dtypes to letters, one letter at a time.
    std::vector<std::map<char, tenon_dtype>> choices = {{}};
    for (const auto& [letter, dtypes] : s.classes) {
      std::vector<std::map<char, tenon_dtype>> longer;
      for (const auto& choice : choices) {
        for (const tenon_dtype dtype : dtypes) {
          longer.push_back(choice);
          longer.back()[letter] = dtype;
        }
      }
      choices = std::move(longer);
    }
    for (const auto& choice : choices) {
      const auto bind = [&](const std::vector<LineOperand>& from) {
        DTypes bound;
        for (const LineOperand& o : from) bound.push_back(o.letter ? choice.at(o.letter) : o.dtype);
        return bound;
      };
      Claim claim{op, bind(s.inputs), bind(s.outputs), ""};
      claim.dtypes = dtypes_text(claim.inputs, claim.outputs);
      if (seen.emplace(op->id, claim.dtypes).second) claims.rows.push_back(std::move(claim));
    }
  }
  return claims;
}

}  // namespace tenon_kit
