#include "core/device/signature.h"

#include "core/base/error.h"
#include "core/base/search.h"

namespace tenon {
namespace {

// Returns the bit mask of a single dtype.
constexpr uint16_t bit(DType d) { return static_cast<uint16_t>(1u << static_cast<unsigned>(d)); }

// Returns the bit mask of the dtypes for which `predicate` is true.
uint16_t dtypes_where(bool (*predicate)(DType)) {
  uint16_t set = 0;
  for (size_t i = 1; i < kDTypeCount; ++i) {
    if (predicate(static_cast<DType>(i))) set |= bit(static_cast<DType>(i));
  }
  return set;
}

// Returns the bit mask of the dtypes in the class `word`, such as "float"; 0 if there is no such
// class.
uint16_t dtypes_of_class(std::string_view word) {
  if (word == "any") return dtypes_where([](DType d) { return d < DType::kF128; });
  if (word == "float")
    return dtypes_where([](DType d) { return is_floating(d) && d != DType::kF128; });
  if (word == "int") return dtypes_where(is_integer);
  if (word == "uint") return dtypes_where(is_unsigned_integer);
  // The core runs ops on storage dtypes itself, so that kernels never see them.
  const DType dtype = dtype_from_name(word);
  return dtype == DType::kNone || is_storage(dtype) ? 0 : bit(dtype);
}

}  // namespace

class SignatureParser {
 public:
  explicit SignatureParser(std::string_view text) : text_(text) {}

  Signature parse() {
    Signature s;
    operands(s.inputs_);
    expect("->");
    operands(s.outputs_);
    while (skip_blanks(), at_ < text_.size()) {
      const std::string_view word = take_word();
      if (word == "SHAPED") {
        s.shaped_ = true;
      } else if (word == "LOOP") {
        s.loop_ = true;
      } else if (word == "ANCHOR") {
        s.is_anchor_ = true;
      } else if (word.size() == 1 && is_letter(word[0])) {
        expect(":");
        classes_[word[0] - 'A'] = members();
      } else {
        stop("a class, SHAPED, LOOP or ANCHOR");
      }
    }
    if (s.shaped_ + s.loop_ + s.is_anchor_ > 1) stop("one of SHAPED, LOOP and ANCHOR");
    if (s.loop_) check_loop(s);
    if (s.is_anchor_ && s.outputs_.size() != 1) stop("one output of an ANCHOR");
    for (auto* operands : {&s.inputs_, &s.outputs_}) {
      for (Signature::Operand& operand : *operands) {
        if (operand.letter < 0) continue;
        operand.dtypes = classes_[static_cast<size_t>(operand.letter)];
        if (operand.dtypes != 0) continue;
        const char letter = static_cast<char>('A' + operand.letter);
        stop(format("a class for {}, such as {}:float,",
                    {std::string_view(&letter, 1), std::string_view(&letter, 1)}));
      }
    }
    return s;
  }

 private:
  void check_loop(const Signature& s) const {
    const auto is_open = [](const auto& operand) { return operand.optional || operand.variadic; };
    if (s.inputs_.empty() || s.outputs_.size() != 1) stop("inputs and one output of a LOOP");
    if (any_of(s.inputs_, is_open)) stop("a LOOP to have all of its operands");
  }

  static bool is_letter(char c) { return c >= 'A' && c <= 'Z'; }
  static bool is_word(char c) {
    return is_letter(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  }

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
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == from) stop("a word");
    return text_.substr(from, at_ - from);
  }

  void operands(std::vector<Signature::Operand>& out) {
    skip_blanks();
    if (at_ == text_.size() || !is_word(text_[at_])) return;
    do {
      const std::string_view word = take_word();
      Signature::Operand operand;
      if (word.size() == 1 && is_letter(word[0])) {
        operand.letter = static_cast<int8_t>(word[0] - 'A');
      } else {
        operand.dtypes = dtypes_of_class(word);
        if (operand.dtypes == 0) stop_at(word, "a dtype or a letter");
      }
      operand.optional = take("?");
      operand.variadic = take("*");
      out.push_back(operand);
    } while (take(","));
  }

  uint16_t members() {
    uint16_t set = 0;
    do {
      const std::string_view word = take_word();
      const uint16_t one = dtypes_of_class(word);
      if (one == 0) stop_at(word, "a dtype, float, int, uint or any");
      set |= one;
    } while (take(","));
    return set;
  }

  // Throws an error that reports the position of `word`.
  [[noreturn]] void stop_at(std::string_view word, std::string_view expected) {
    at_ = static_cast<size_t>(word.data() - text_.data());
    stop(expected);
  }

  [[noreturn]] void stop(std::string_view expected) const {
    fail(Code::kInvalidArgument, "signature \"{}\": expected {} at position {}",
         {text_, expected, at_});
  }

  std::string_view text_;
  size_t at_ = 0;
  uint16_t classes_[26] = {};
};

Signature Signature::parse(std::string_view text) { return SignatureParser(text).parse(); }

bool Signature::match_operands(const std::vector<Operand>& operands, std::span<const DType> dtypes,
                               DType (&bound)[26]) {
  size_t at = 0;
  for (const DType dtype : dtypes) {
    if (at == operands.size()) return false;
    const Operand& operand = operands[at];
    if (!operand.variadic) ++at;
    if (dtype == DType::kNone) {
      if (!operand.optional) return false;
      continue;
    }
    if (!(operand.dtypes & bit(dtype))) return false;
    if (operand.letter < 0) continue;
    DType& same = bound[operand.letter];
    if (same != DType::kNone && same != dtype) return false;
    same = dtype;
  }
  while (at < operands.size() && (operands[at].optional || operands[at].variadic)) ++at;
  return at == operands.size();
}

bool Signature::matches(std::span<const DType> inputs, std::span<const DType> outputs) const {
  DType bound[26] = {};
  return match_operands(inputs_, inputs, bound) && match_operands(outputs_, outputs, bound);
}

}  // namespace tenon
