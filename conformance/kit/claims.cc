#include "conformance/kit/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "conformance/kit/dtypes.h"

namespace tenon_kit {
namespace {

using DTypes = std::vector<tenon_dtype>;

struct Operand {
  char letter = 0;  // 0: `dtype` it is.
  tenon_dtype dtype = TENON_DTYPE_NONE;
};

struct Signature {
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::map<char, DTypes> classes;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  size_t from = 0;
  while (from <= text.size()) {
    const size_t to = std::min(text.find(at, from), text.size());
    if (to > from) parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

DTypes members(const std::string& word) {
  DTypes found;
  for (const DTypeFacts& f : all_dtypes()) {
    const bool unsigned_integer = is_integer(f.code) && !is_signed(f.code);
    if (word == f.name || word == "any" || (word == "float" && is_float(f.code)) ||
        (word == "int" && is_integer(f.code)) || (word == "uint" && unsigned_integer)) {
      found.push_back(f.code);
    }
  }
  if (word == "f128") found.push_back(TENON_FLOAT128);
  if (found.empty()) throw std::invalid_argument("a signature names \"" + word + "\"");
  return found;
}

std::vector<Operand> operands(const std::string& text) {
  std::vector<Operand> result;
  for (std::string word : split(text, ',')) {
    if (word.back() == '?' || word.back() == '*') word.pop_back();
    if (word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z') {
      result.push_back({word[0], TENON_DTYPE_NONE});
    } else {
      result.push_back({0, members(word).at(0)});
    }
  }
  return result;
}

Signature parse(const std::string& text) {
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos) throw std::invalid_argument("a signature without ->: " + text);
  std::vector<std::string> words = split(text.substr(arrow + 2), ' ');
  Signature signature;
  std::string in = text.substr(0, arrow);
  std::erase(in, ' ');
  signature.inputs = operands(in);
  if (!words.empty()) signature.outputs = operands(words[0]);
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i].size() < 3 || words[i][1] != ':') continue;  // SHAPED.
    DTypes& dtypes = signature.classes[words[i][0]];
    for (const std::string& word : split(words[i].substr(2), ',')) {
      const DTypes more = members(word);
      dtypes.insert(dtypes.end(), more.begin(), more.end());
    }
  }
  return signature;
}

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
    if (!op) continue;  // Of a later version: the core never asks for it.
    const Signature s = parse(std::string(kernel.signature.data, kernel.signature.size));
    // Every way to choose a dtype for each letter, one after the other.
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
      const auto bind = [&](const std::vector<Operand>& from) {
        DTypes bound;
        for (const Operand& o : from) bound.push_back(o.letter ? choice.at(o.letter) : o.dtype);
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
