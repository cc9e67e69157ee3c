// Evaluates sizes for given values of the symbols, and formats formulas.

#include <algorithm>

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/base/size_table.h"

namespace tenon {
namespace {

using Test = SizeTest::Kind;

// Evaluates a test of two numbers.
bool compare(Test kind, int64_t a, int64_t b) { return SizeTest{kind, a, b}; }

}  // namespace

// ---- numbers

// Evaluates a size. value_of(symbol) returns the value of a symbol, if it is known.
template <class ValueOf>
std::optional<int64_t> SizeTable::value(Size size, const ValueOf& value_of) const {
  if (size.known()) return size.word();
  int64_t sum = 0;
  for (const Term& term : formulas_[size.id()]) {
    int64_t product = term.coefficient;
    for (const AtomId id : term.atoms) {
      const Atom& x = atoms_[id];
      std::optional<int64_t> factor;
      if (x.kind == Atom::Kind::kSymbol) {
        factor = value_of(x);
      } else {
        const auto a = value(x.a, value_of), b = value(x.b, value_of);
        if (!a || !b) return std::nullopt;
        switch (x.kind) {
          case Atom::Kind::kMinimum:
            factor = std::min(*a, *b);
            break;
          case Atom::Kind::kMaximum:
            factor = std::max(*a, *b);
            break;
          // A guard or a rule of the op has already required a nonzero divisor.
          case Atom::Kind::kQuotient:
            factor = *b == 0 ? 0 : checked_math::div(*a, *b);
            break;
          default:
            factor = *b == 0 ? 0 : checked_math::mod(*a, *b);
            break;
        }
      }
      if (!factor) return std::nullopt;
      product = narrow_to_int64(static_cast<__int128>(product) * *factor);
    }
    sum = narrow_to_int64(static_cast<__int128>(sum) + product);
  }
  return sum;
}

// Returns the value of a size in the traced call. If `invent` is true, symbols that have no value
// there get an arbitrary large one.
std::optional<int64_t> SizeTable::example(Size size, bool invent) {
  return value(resolved(size), [&](const Atom& symbol) -> std::optional<int64_t> {
    if (symbol.example || !invent) return symbol.example;
    return 1009 + 6 * static_cast<int64_t>(symbol.index);
  });
}

// Returns the result of a test in the traced call; `invent` is as for sizes.
std::optional<bool> SizeTable::example(const SizeTest& test, bool invent) {
  const auto a = example(Size::from_word(test.a), invent);
  const auto b = example(Size::from_word(test.b), invent);
  if (!a || !b) return std::nullopt;
  return compare(test.kind, *a, *b);
}

Size SizeTable::evaluate(Size size, std::span<const Size> values) const {
  const auto number = value(size, [&](const Atom& x) {
    const Size given = values[x.index];
    return given.known() ? std::optional(given.word()) : std::nullopt;
  });
  if (number) return *number;
  Size sum = 0;
  for (const Term& term : formulas_[size.id()]) {
    Size product = term.coefficient;
    for (const AtomId id : term.atoms) {
      const Atom& x = atoms_[id];
      if (x.kind == Atom::Kind::kSymbol) {
        product *= values[x.index];
        continue;
      }
      const Size a = evaluate(x.a, values), b = evaluate(x.b, values);
      product *= x.kind == Atom::Kind::kMinimum    ? least(a, b)
                 : x.kind == Atom::Kind::kMaximum  ? greatest(a, b)
                 : x.kind == Atom::Kind::kQuotient ? a / b
                                                   : a % b;
    }
    sum += product;
  }
  return sum;
}

SizeTest SizeTable::evaluate(const SizeTest& test, std::span<const Size> values) const {
  return {test.kind, evaluate(Size::from_word(test.a), values).word(),
          evaluate(Size::from_word(test.b), values).word()};
}

Sizes SizeTable::import_symbols(const SizeTable& other,
                                std::span<const std::optional<int64_t>> examples) {
  host_may_read_ = other.host_may_read_;
  Sizes symbols;
  for (size_t i = 0; i < examples.size(); ++i) {
    symbols.push_back(other.is_data_dependent(i) ? new_data_dependent()
                                                 : symbol(other.symbol_name(i), examples[i]));
  }
  // Copies the guards, because evaluating a size may modify them in `other`.
  const std::vector<SizeTest> guards = other.guards_;
  for (const SizeTest& guard : guards) other.evaluate(guard, symbols).hold();
  return symbols;
}

// Replaces data-dependent sizes by their upper bounds, or by 0 if there is no bound.
Sizes SizeTable::with_upper_bounds(Sizes sizes) const {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (is_data_dependent(i)) sizes[i] = evaluate(atoms_[symbols_[i]].most, sizes);
  }
  return sizes;
}

// Fails if a guard on this data-dependent symbol does not hold for the values of the symbols.
void SizeTable::check_data_dependent(size_t symbol, std::span<const Size> values) const {
  for (const LateGuard& guard : late_guards_) {
    if (guard.symbol != symbol) continue;
    const auto is_known = [&](Size size) {
      return all_of(data_dependent_symbols_of(size),
                    [&](size_t i) { return !identical(values[i], -1); });
    };
    if (!is_known(Size::from_word(guard.test.a)) || !is_known(Size::from_word(guard.test.b))) {
      continue;
    }
    require(evaluate(guard.test, values).hold(), "{} is {}, but the function was traced for {}",
            symbol_name(symbol), values[symbol], text(guard.test));
  }
}

std::optional<size_t> SizeTable::symbol_of(Size size) const {
  if (size.known()) return std::nullopt;
  const Polynomial& terms = formulas_[size.id()];
  if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1) {
    return std::nullopt;
  }
  const Atom& x = atoms_[terms[0].atoms[0]];
  return x.kind == Atom::Kind::kSymbol ? std::optional(x.index) : std::nullopt;
}

// ---- text

std::string SizeTable::text(Size size) const {
  if (size.known()) return std::to_string(size.word());
  std::string out;
  const Polynomial& terms = formulas_[size.id()];
  // The constant comes last, as in the usual notation.
  for (size_t i = 0; i < terms.size(); ++i) {
    const Term& term = terms[(i + (terms[0].atoms.empty() ? 1 : 0)) % terms.size()];
    const int64_t c = term.coefficient;
    out += out.empty() ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + ");
    const int64_t magnitude = c < 0 ? -c : c;
    bool first = true;
    if (magnitude != 1 || term.atoms.empty()) {
      out += std::to_string(magnitude);
      first = false;
    }
    for (const AtomId id : term.atoms) {
      if (!first) out += "*";
      first = false;
      const Atom& x = atoms_[id];
      switch (x.kind) {
        case Atom::Kind::kSymbol:
          out += x.name;
          break;
        case Atom::Kind::kQuotient:
          out += "div(" + text(x.a) + ", " + text(x.b) + ")";
          break;
        case Atom::Kind::kRemainder:
          out += "mod(" + text(x.a) + ", " + text(x.b) + ")";
          break;
        case Atom::Kind::kMinimum:
          out += "min(" + text(x.a) + ", " + text(x.b) + ")";
          break;
        case Atom::Kind::kMaximum:
          out += "max(" + text(x.a) + ", " + text(x.b) + ")";
          break;
      }
    }
  }
  return out;
}

std::string SizeTable::text(const SizeTest& test) const {
  static constexpr const char* kSigns[] = {" == ", " != ", " < ", " <= "};
  return text(Size::from_word(test.a)) + kSigns[static_cast<size_t>(test.kind)] +
         text(Size::from_word(test.b));
}

}  // namespace tenon
