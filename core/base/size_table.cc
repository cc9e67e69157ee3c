#include "core/base/size_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/search.h"

namespace tenon {
namespace {

using Test = SizeTest::Kind;

thread_local SizeTable* current_table = nullptr;
thread_local std::string_view deciding_op;
thread_local bool gradient_decides = false;

// Returns the source of a guard that is added now.
std::string current_cause() {
  if (deciding_op.empty()) return "the function";
  return (gradient_decides ? "the gradient of " : "") + std::string(deciding_op);
}

// Bounds equal to kMinBound or kMaxBound mean "unbounded".
constexpr int64_t kMaxBound = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinBound = -kMaxBound;
constexpr int64_t kLargestSize = int64_t{1} << 48;

int64_t clamp_to_bounds(__int128 value) {
  return static_cast<int64_t>(std::clamp<__int128>(value, kMinBound, kMaxBound));
}

// Returns the opposite test.
SizeTest negated(const SizeTest& test) {
  switch (test.kind) {
    case Test::kEqual:
      return {Test::kNotEqual, test.a, test.b};
    case Test::kNotEqual:
      return {Test::kEqual, test.a, test.b};
    case Test::kLess:
      return {Test::kLessEqual, test.b, test.a};
    default:
      return {Test::kLess, test.b, test.a};
  }
}

}  // namespace

// ---- called from size.h

int64_t Size::pin_to_number() const { return SizeTable::current().pin(*this); }

Size detail::size_formula(SizeOp op, Size a, Size b) { return SizeTable::current().make(op, a, b); }

bool detail::decide_size_test(const SizeTest& test) { return SizeTable::current().decide(test); }

bool detail::hold_size_test(const SizeTest& test) { return SizeTable::current().hold(test); }

void Size::fail_number(int64_t value) {
  fail(Code::kInvalidArgument, "{} is not a valid size or bound of a size", {value});
}

std::optional<int64_t> example_of(Size size) {
  return size.known() ? size.word() : SizeTable::current().example(size, false);
}

SizeTable::Use::Use(SizeTable& table) : outer_(std::exchange(current_table, &table)) {}
SizeTable::Use::~Use() { current_table = outer_; }

SizeTable& SizeTable::current() {
  require_code(current_table, Code::kInternal, "a symbolic size was used outside its trace");
  return *current_table;
}

bool SizeTable::is_current(const SizeTable& table) { return current_table == &table; }

std::string to_string(Size size) {
  return size.known()                                               ? std::to_string(size.word())
         : current_table && size.id() < current_table->n_formulas() ? current_table->text(size)
                                                                    : "?";
}

// ---- formulas

Size SizeTable::symbol(const std::string& name, std::optional<int64_t> example) {
  for (const AtomId id : symbols_) {
    if (atoms_[id].name == name) return atom_size(id);
  }
  Atom made;
  made.name = name;
  made.index = symbols_.size();
  made.example = example;
  made.least = 0;
  made.greatest = kLargestSize;
  symbols_.push_back(static_cast<AtomId>(atoms_.size()));
  atoms_.push_back(std::move(made));
  return atom_size(symbols_.back());
}

Size SizeTable::new_data_dependent() {
  std::string name;
  const auto is_taken = [&](AtomId id) { return atoms_[id].name == name; };
  size_t n = 0;
  do {
    name = "d" + std::to_string(n++);
  } while (any_of(symbols_, is_taken));
  const Size size = symbol(name);
  mark_data_dependent(size);
  return size;
}

void SizeTable::mark_data_dependent(Size size) {
  const std::optional<size_t> symbol = symbol_of(size);
  if (!symbol) return;
  atoms_[symbols_[*symbol]].is_data_dependent = true;
  has_data_dependent_ = true;
}

void SizeTable::set_upper_bound(Size size, Size most) {
  hold({Test::kLessEqual, size.word(), most.word()});
  const std::optional<size_t> symbol = symbol_of(size);
  const bool is_informative = !most.known() || most.word() < kLargestSize;
  if (symbol && is_informative) atoms_[symbols_[*symbol]].most = most;
}

std::vector<size_t> SizeTable::data_dependent_symbols_of(Size size) const {
  std::vector<size_t> all;
  if (!has_data_dependent_ || size.known()) return all;
  for (const Term& term : formulas_[size.id()]) {
    for (const AtomId id : term.atoms) {
      const Atom& x = atoms_[id];
      if (x.kind != Atom::Kind::kSymbol) {
        for (const Size operand : {x.a, x.b}) {
          for (const size_t symbol : data_dependent_symbols_of(operand)) all.push_back(symbol);
        }
      } else if (x.is_data_dependent) {
        all.push_back(x.index);
      }
    }
  }
  return all;
}

Polynomial SizeTable::polynomial(Size size) const {
  if (!size.known()) return formulas_[size.id()];
  if (size.word() == 0) return {};
  return {{{}, size.word()}};
}

Size SizeTable::size_of(Polynomial polynomial) {
  if (polynomial.empty()) return 0;
  if (polynomial.size() == 1 && polynomial[0].atoms.empty()) return polynomial[0].coefficient;
  const auto [at, is_new] =
      ids_.try_emplace(std::move(polynomial), static_cast<uint32_t>(formulas_.size()));
  if (is_new) formulas_.push_back(at->first);
  return Size::formula(at->second);
}

// Returns the polynomial of `size` after substituting the atoms that learn_equal() replaced.
Polynomial SizeTable::resolved_polynomial(Size size) {
  const Polynomial given = polynomial(size);
  Polynomial result;
  for (const Term& term : given) {
    Polynomial product = {{{}, term.coefficient}};
    for (const AtomId id : term.atoms) {
      const Atom::Kind kind = atoms_[id].kind;
      if (atoms_[id].instead) {
        product = times(product, resolved_polynomial(*atoms_[id].instead));
      } else if (kind == Atom::Kind::kSymbol) {
        product = times(product, Polynomial{{{id}, 1}});
      } else {
        const Size old_a = atoms_[id].a, old_b = atoms_[id].b;
        const Size a = resolved(old_a), b = resolved(old_b);
        const bool same = identical(a, old_a) && identical(b, old_b);
        product =
            times(product, same                             ? Polynomial{{{id}, 1}}
                           : kind == Atom::Kind::kQuotient  ? polynomial(divide(a, b))
                           : kind == Atom::Kind::kRemainder ? polynomial(remainder(a, b))
                                                            : polynomial(extreme(kind, a, b)));
      }
    }
    result = plus(std::move(result), product, 1);
  }
  return result;
}

Size SizeTable::resolved(Size size) {
  return size.known() ? size : size_of(resolved_polynomial(size));
}

Size SizeTable::make(detail::SizeOp op, Size a, Size b) {
  using detail::SizeOp;
  a = resolved(a);
  b = resolved(b);
  switch (op) {
    case SizeOp::kAdd:
      return size_of(plus(polynomial(a), polynomial(b), 1));
    case SizeOp::kSub:
      return size_of(plus(polynomial(a), polynomial(b), -1));
    case SizeOp::kMul:
      return size_of(times(polynomial(a), polynomial(b)));
    case SizeOp::kDiv:
      return divide(a, b);
    case SizeOp::kMod:
      return remainder(a, b);
    case SizeOp::kMin:
      return extreme(Atom::Kind::kMinimum, a, b);
    default:
      return extreme(Atom::Kind::kMaximum, a, b);
  }
}

Size SizeTable::atom(Atom made) {
  for (AtomId id = 0; id < atoms_.size(); ++id) {
    const Atom& x = atoms_[id];
    if (x.kind == made.kind && x.kind != Atom::Kind::kSymbol && identical(x.a, made.a) &&
        identical(x.b, made.b)) {
      return atom_size(id);
    }
  }
  atoms_.push_back(std::move(made));
  return atom_size(static_cast<AtomId>(atoms_.size() - 1));
}

Size SizeTable::divide(Size a, Size b) {
  if (a.known() && b.known()) return a.word() / b.word();
  const Polynomial p = polynomial(a), q = polynomial(b);
  if (const auto exact = exact_quotient(p, q)) return size_of(*exact);
  const Range of_a = range(p), of_b = range(q);
  Atom made{
      .kind = Atom::Kind::kQuotient, .a = a, .b = b, .least = kMinBound, .greatest = kMaxBound};
  if (of_a.least >= 0 && of_b.least >= 1) {
    made.least = of_a.least / of_b.greatest;
    made.greatest = of_a.greatest / of_b.least;
  }
  return atom(std::move(made));
}

Size SizeTable::remainder(Size a, Size b) {
  if (a.known() && b.known()) return a.word() % b.word();
  const Polynomial p = polynomial(a), q = polynomial(b);
  if (exact_quotient(p, q)) return 0;
  const Range of_a = range(p), of_b = range(q);
  Atom made{
      .kind = Atom::Kind::kRemainder, .a = a, .b = b, .least = kMinBound, .greatest = kMaxBound};
  if (of_a.least >= 0 && of_b.least >= 1) {
    made.least = 0;
    made.greatest = of_b.greatest - 1;
  }
  return atom(std::move(made));
}

// Returns the minimum or the maximum, as `kind` specifies.
Size SizeTable::extreme(Atom::Kind kind, Size a, Size b) {
  const bool is_least = kind == Atom::Kind::kMinimum;
  if (prove({Test::kLessEqual, a.word(), b.word()}) == true) return is_least ? a : b;
  if (prove({Test::kLessEqual, b.word(), a.word()}) == true) return is_least ? b : a;
  if (b.word() < a.word()) std::swap(a, b);  // Makes the result independent of operand order.
  const Range x = range(polynomial(a)), y = range(polynomial(b));
  const auto pick = [&](int64_t of_x, int64_t of_y) {
    return is_least ? std::min(of_x, of_y) : std::max(of_x, of_y);
  };
  return atom({.kind = kind,
               .a = a,
               .b = b,
               .least = pick(x.least, y.least),
               .greatest = pick(x.greatest, y.greatest)});
}

// ---- facts

SizeTable::Range SizeTable::range(const Polynomial& polynomial) const {
  __int128 least = 0, greatest = 0;
  for (const Term& term : polynomial) {
    int64_t low = 1, high = 1;
    for (const AtomId id : term.atoms) {
      const Atom& x = atoms_[id];
      const __int128 ends[] = {
          static_cast<__int128>(low) * x.least, static_cast<__int128>(low) * x.greatest,
          static_cast<__int128>(high) * x.least, static_cast<__int128>(high) * x.greatest};
      low = clamp_to_bounds(*std::min_element(ends, ends + 4));
      high = clamp_to_bounds(*std::max_element(ends, ends + 4));
    }
    const __int128 one = static_cast<__int128>(term.coefficient) * low;
    const __int128 other = static_cast<__int128>(term.coefficient) * high;
    least += std::min(one, other);
    greatest += std::max(one, other);
  }
  return {clamp_to_bounds(least), clamp_to_bounds(greatest)};
}

std::optional<bool> SizeTable::prove(const SizeTest& test) {
  const Polynomial difference = plus(resolved_polynomial(Size::from_word(test.b)),
                                     resolved_polynomial(Size::from_word(test.a)), -1);
  const auto [least, greatest] = range(difference);
  switch (test.kind) {
    case Test::kLess:
      if (least > 0) return true;
      if (greatest <= 0) return false;
      break;
    case Test::kLessEqual:
      if (least >= 0) return true;
      if (greatest < 0) return false;
      break;
    default: {
      const bool is_equal = test.kind == Test::kEqual;
      if (difference.empty()) return is_equal;
      if (least > 0 || greatest < 0) return !is_equal;
      break;
    }
  }
  // An earlier decision, written differently, may imply the answer. Resolving a guard may call
  // prove() again. The flag stops that recursion.
  if (is_querying_guards_) return std::nullopt;
  is_querying_guards_ = true;
  const std::optional<bool> answer = answer_from_guards(test, difference);
  is_querying_guards_ = false;
  return answer;
}

std::optional<bool> SizeTable::answer_from_guards(const SizeTest& test,
                                                  const Polynomial& difference) {
  const Size difference_size = size_of(difference);
  for (const SizeTest& guard : guards_) {
    if (const auto answer = answer_from_guard(guard, test, difference_size)) return answer;
  }
  for (const LateGuard& guard : late_guards_) {
    if (const auto answer = answer_from_guard(guard.test, test, difference_size)) return answer;
  }
  return std::nullopt;
}

std::optional<bool> SizeTable::answer_from_guard(const SizeTest& guard, const SizeTest& test,
                                                 Size difference_size) {
  const bool same = guard.kind == test.kind, opposite = guard.kind == negated(test).kind;
  if (!same && !opposite) return std::nullopt;
  const Size other = size_of(plus(resolved_polynomial(Size::from_word(guard.b)),
                                  resolved_polynomial(Size::from_word(guard.a)), -1));
  const bool swapped = identical(other, make(detail::SizeOp::kSub, 0, difference_size));
  const bool ordered = test.kind == Test::kLess || test.kind == Test::kLessEqual;
  if (same && (identical(other, difference_size) || (!ordered && swapped))) return true;
  if (opposite && (ordered ? swapped : identical(other, difference_size) || swapped)) return false;
  return std::nullopt;
}

// Matches polynomials of the form `sign * atom + number`, where `sign` is 1 or -1.
namespace {
struct SignedAtomPlusNumber {
  explicit SignedAtomPlusNumber(const Polynomial& p) {
    const bool has_number = !p.empty() && p[0].atoms.empty();
    if (p.size() != (has_number ? 2u : 1u)) return;
    const Term& term = p.back();
    if (term.atoms.size() != 1 || (term.coefficient != 1 && term.coefficient != -1)) return;
    found = true;
    atom = term.atoms[0];
    sign = term.coefficient;
    number = has_number ? p[0].coefficient : 0;
  }
  bool found = false;
  uint32_t atom = 0;
  int64_t sign = 1, number = 0;
};
}  // namespace

void SizeTable::learn_at_least(const Polynomial& difference, int64_t least) {
  const SignedAtomPlusNumber alone(difference);
  if (!alone.found) return;
  Atom& x = atoms_[alone.atom];
  // sign * x + number >= least
  if (alone.sign > 0) {
    x.least = std::max(x.least, clamp_to_bounds(static_cast<__int128>(least) - alone.number));
  } else {
    x.greatest = std::min(x.greatest, clamp_to_bounds(static_cast<__int128>(alone.number) - least));
  }
}

// Uses the equality `difference == 0` to replace one atom, the newest possible, by a formula of the
// others.
void SizeTable::learn_equal(const Polynomial& difference) {
  std::optional<size_t> best;
  for (size_t i = 0; i < difference.size(); ++i) {
    const Term& term = difference[i];
    if (term.atoms.size() != 1 || (term.coefficient != 1 && term.coefficient != -1)) continue;
    const auto holds_it = [&](const Term& other) {
      return &other != &term && contains(other.atoms, term.atoms[0]);
    };
    // If another atom is compound (a quotient, for example), it may contain this atom. The formula
    // that replaces this atom would then refer to the atom itself.
    const bool composite = any_of(difference, [&](const Term& other) {
      return any_of(other.atoms, [&](AtomId id) {
        return atoms_[id].kind != Atom::Kind::kSymbol && id != term.atoms[0];
      });
    });
    if (any_of(difference, holds_it) || composite) continue;
    if (!best || term.atoms[0] > difference[*best].atoms[0]) best = i;
  }
  if (!best) return;
  const Term chosen = difference[*best];
  Polynomial rest = difference;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(*best));
  rest = plus(Polynomial{}, rest, -chosen.coefficient);
  learn_at_least(rest, atoms_[chosen.atoms[0]].least);
  atoms_[chosen.atoms[0]].instead = size_of(std::move(rest));
}

SizeTable::Cause::Cause(std::string_view op, bool is_gradient)
    : outer_op_(std::exchange(deciding_op, op)),
      outer_is_gradient_(std::exchange(gradient_decides, is_gradient)) {}

SizeTable::Cause::~Cause() {
  deciding_op = outer_op_;
  gradient_decides = outer_is_gradient_;
}

// Adds a guard that makes the test true.
void SizeTable::record(const SizeTest& test) {
  const Polynomial difference = plus(resolved_polynomial(Size::from_word(test.b)),
                                     resolved_polynomial(Size::from_word(test.a)), -1);
  std::vector<size_t> symbols = data_dependent_symbols_of(Size::from_word(test.a));
  for (const size_t symbol : data_dependent_symbols_of(Size::from_word(test.b)))
    symbols.push_back(symbol);
  if (symbols.empty()) {
    guards_.push_back(test);
    causes_.push_back(current_cause());
  } else {
    late_guards_.push_back({test, *std::max_element(symbols.begin(), symbols.end())});
  }
  switch (test.kind) {
    case Test::kEqual:
      return learn_equal(difference);
    case Test::kLess:
      return learn_at_least(difference, 1);
    case Test::kLessEqual:
      return learn_at_least(difference, 0);
    case Test::kNotEqual:
      break;
  }
  // The difference is not 0. If 0 is its lower or upper bound, the bound can be tightened by 1.
  const auto [least, greatest] = range(difference);
  if (least == 0) learn_at_least(difference, 1);
  if (greatest == 0) learn_at_least(plus(Polynomial{}, difference, -1), 1);
}

// Evaluates a test. If known facts do not decide it, a guard records the result.
bool SizeTable::decide(const SizeTest& test) {
  if (const auto proved = prove(test)) return *proved;
  const bool answer = *example(test, true);
  record(answer ? test : negated(test));
  return answer;
}

// Makes a test true, by a guard if necessary. Returns false if it cannot be true.
bool SizeTable::hold(const SizeTest& test) {
  if (const auto proved = prove(test)) return *proved;
  if (example(test, false) == false) return false;
  record(test);
  return true;
}

// Fixes a size to its number in the traced call, by a guard, and returns that number.
int64_t SizeTable::pin(Size size) {
  size = resolved(size);
  if (size.known()) return size.word();
  const auto number = example(size, false);
  require_code(number.has_value(), Code::kFailedPrecondition,
               "size {} is unknown, but a number is required here: specify it in the signature",
               text(size));
  record({Test::kEqual, size.word(), *number});
  return *number;
}

int64_t SizeTable::read_on_host(Size size, std::string_view tensor, size_t axis) {
  size = resolved(size);
  if (size.known()) return size.word();
  const auto number = example(size, false);
  const Cause cause("a read by the host");
  if (host_may_read_ && number) return pin(size);
  const std::string_view why = !number ? "is known only when the function runs"
                               : host_may_read_
                                   ? ""
                                   : "is declared unknown by the signature of the function";
  fail(Code::kFailedPrecondition,
       "axis {} of {} has size {}, which {}: the host cannot read it during tracing. Use "
       "tenon_shape, which returns the sizes as a tensor",
       {axis, tensor, text(size), why});
}

int64_t SizeTable::read_or_record_failure(Size size, std::string_view tensor,
                                          size_t axis) noexcept {
  try {
    return read_on_host(size, tensor, axis);
  } catch (...) {
    if (!failed_read_) failed_read_ = std::current_exception();
  }
  return example(size, false).value_or(0);
}

}  // namespace tenon
