#include "conformance/kit/line_signature.h"

#include <fmt/format.h>

#include <stdexcept>

#include "conformance/kit/dtypes.h"

namespace tenon_kit {
namespace {

bool is_letter(char c) { return c >= 'A' && c <= 'Z'; }
bool is_word_character(char c) {
  return is_letter(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Returns the dtypes for which a member of a dtype class stands, such as "float"; empty if invalid.
std::vector<tenon_dtype> dtypes_of_class(std::string_view word) {
  std::vector<tenon_dtype> found;
  for (const DTypeFacts& f : all_dtypes()) {
    const bool unsigned_integer = is_integer(f.code) && !is_signed(f.code);
    if (word == f.name || word == "any" || (word == "float" && is_float(f.code)) ||
        (word == "int" && is_integer(f.code)) || (word == "uint" && unsigned_integer)) {
      found.push_back(f.code);
    }
  }
  if (word == "f128") found.push_back(TENON_FLOAT128);
  return found;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  LineSignature parse() {
    LineSignature s;
    operands(s.inputs);
    expect("->");
    operands(s.outputs);
    while (skip_blanks(), at_ < text_.size()) {
      const std::string_view word = take_word();
      if (word == "SHAPED") {
        s.shaped = true;
      } else if (word == "LOOP") {
        s.loop = true;
      } else if (word == "ANCHOR") {
        s.anchor = true;
      } else if (word.size() == 1 && is_letter(word[0])) {
        expect(":");
        s.classes[word[0]] = members_of_class();
      } else {
        stop("a class, SHAPED, LOOP or ANCHOR");
      }
    }
    if (s.shaped + s.loop + s.anchor > 1) stop("one of SHAPED, LOOP and ANCHOR");
    if (s.loop && s.inputs.empty()) stop("inputs of a LOOP");
    if ((s.loop || s.anchor) && s.outputs.size() != 1) stop("one output of a LOOP or an ANCHOR");
    for (const auto* list : {&s.inputs, &s.outputs}) {
      for (const LineOperand& operand : *list) {
        if (operand.letter && !s.classes.contains(operand.letter)) stop("a class for every letter");
        if (operand.variadic && &operand != &list->back())
          stop("no operand may follow the one with *");
      }
    }
    return s;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) stop(token);
  }
  std::string_view take_word() {
    const size_t from = at_;
    while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
    if (at_ == from) stop("a word");
    return text_.substr(from, at_ - from);
  }

  void operands(std::vector<LineOperand>& out) {
    skip_blanks();
    if (at_ == text_.size() || !is_word_character(text_[at_])) return;
    do {
      const std::string_view word = take_word();
      LineOperand operand;
      if (word.size() == 1 && is_letter(word[0])) {
        operand.letter = word[0];
      } else {
        const std::vector<tenon_dtype> named = dtypes_of_class(word);
        if (named.size() != 1) stop_at(word, "a dtype or a letter");
        operand.dtype = named[0];
      }
      operand.optional = take("?");
      operand.variadic = take("*");
      out.push_back(operand);
    } while (take(","));
    skip_blanks();
  }

  std::vector<tenon_dtype> members_of_class() {
    std::vector<tenon_dtype> all;
    do {
      const std::string_view word = take_word();
      const std::vector<tenon_dtype> named = dtypes_of_class(word);
      if (named.empty()) stop_at(word, "a dtype, float, int, uint or any");
      all.insert(all.end(), named.begin(), named.end());
    } while (take(","));
    return all;
  }

  // Throws an error at the beginning of `word`.
  [[noreturn]] void stop_at(std::string_view word, std::string_view expected) {
    at_ = static_cast<size_t>(word.data() - text_.data());
    stop(expected);
  }

  [[noreturn]] void stop(std::string_view expected) const {
    throw std::invalid_argument(
        fmt::format("signature \"{}\": expected {} at position {}", text_, expected, at_));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

LineSignature parse_line_signature(std::string_view text) { return Parser(text).parse(); }

}  // namespace tenon_kit
